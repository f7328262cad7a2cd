"""compose.yaml: valid, confined, and of one mind with what it starts."""

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml
from compose_spec.models import ComposeSpecification
from typer.main import get_command

from backscroll.cli import app
from shared.bus.permissions import OPERATOR, SERVICES
from shared.settings import Settings
from tests.support.compose import ROOT, compose, env_file, variables
from tests.support.dockerfile import environment

PROFILES = {"demo", "cpu", "gpu", "observe", "operator"}
UNCHECKED = {"provision", "operator", "demo-key", "demo", "collector", "tempo"}
"""Those that end by themselves, and two whose images hold nothing to check with."""
OURS = {*SERVICES, "provision", "operator", "engine", "demo-key", "demo"}
PUBLISHED = {"gateway", "prometheus", "grafana"}
FILLED = {
    "nothing": {},
    "the example": env_file(ROOT / ".env.example"),
    "passwords": {f"NATS_{user.upper()}_PASSWORD": f"pw{user}" for user in (*SERVICES, OPERATOR)},
}


@cache
def services(given: str = "nothing") -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose(FILLED[given])["services"]
    return found


@pytest.mark.parametrize("given", FILLED)
def test_it_is_what_the_specification_knows(given: str) -> None:
    told = compose(FILLED[given])
    assert unknown(told) == []
    used = {v.split(":")[0] for s in told["services"].values() for v in s.get("volumes", []) if v[0] != "."}
    assert used == set(told["volumes"])
    assert {n for s in told["services"].values() for n in s["networks"]} == set(told["networks"])


def unknown(told: Any) -> list[str]:
    """Fields that the specification does not have. Raises where it does not take a value."""
    read = ComposeSpecification.model_validate(told).model_dump(by_alias=True, exclude_unset=True)
    return list(_missing(told, read, ""))


def _missing(told: Any, read: Any, path: str) -> Iterator[str]:
    if isinstance(told, dict) and isinstance(read, dict):
        for name, inner in told.items():
            if name in read:
                yield from _missing(inner, read[name], f"{path}.{name}")
            elif not name.startswith("x-"):
                yield f"{path}.{name}"


def test_a_field_that_nobody_knows_is_noticed() -> None:
    told = compose()
    told["services"]["nats"]["healthchek"] = {}
    told["services"]["nats"]["deploy"]["resources"]["limits"]["mem"] = "1g"
    assert unknown(told) == [".services.nats.deploy.resources.limits.mem", ".services.nats.healthchek"]


@pytest.mark.parametrize("name", services())
def test_every_container_is_confined(name: str) -> None:
    service = services()[name]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"cpus", "memory", "pids"} == set(service["deploy"]["resources"]["limits"])
    assert "max-size" in service["logging"]["options"]


@pytest.mark.parametrize("name", services())
def test_every_image_is_pinned(name: str) -> None:
    tag = services()[name]["image"].rpartition(":")[2]
    assert re.search(r"\d+\.\d+\.\d+", tag)


@pytest.mark.parametrize("name", services())
def test_every_container_is_checked_or_ends(name: str) -> None:
    told = services()[name].get("healthcheck", {})
    assert bool(told.get("disable")) == (name in UNCHECKED)
    # The image has a check of its own.
    assert "test" in told or name in OURS | UNCHECKED


@pytest.mark.parametrize("name", services())
def test_what_is_mounted_is_there(name: str) -> None:
    for volume in services()[name].get("volumes", []):
        source, target, *mode = volume.split(":")
        if source.startswith("."):
            assert (ROOT / source).exists(), volume
            assert mode == ["ro"]
        assert target.startswith("/")


@pytest.mark.parametrize("name", services())
def test_what_it_waits_for_is_started_and_can_be_waited_for(name: str) -> None:
    everything = services()
    mine = set(everything[name].get("profiles", []))
    for other, how in everything[name].get("depends_on", {}).items():
        theirs = set(everything[other].get("profiles", []))
        assert not theirs or theirs & mine or how.get("required") is False
        ends = other in UNCHECKED
        assert how["condition"] == ("service_completed_successfully" if ends else "service_healthy")


def test_profiles_are_those_that_are_documented() -> None:
    assert {p for service in services().values() for p in service.get("profiles", [])} == PROFILES
    always = {name for name, service in services().items() if "profiles" not in service}
    assert always == {*SERVICES, "nats", "qdrant", "provision"}


def test_only_the_gateway_and_what_watches_are_published_and_on_loopback() -> None:
    assert {name for name, service in services().items() if "ports" in service} == PUBLISHED
    for name in PUBLISHED:
        assert all(port.startswith("127.0.0.1:") for port in services()[name]["ports"])
    for name in ("nats", "qdrant", "chunker", "assembler"):
        assert services()[name]["networks"] == ["inside"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_variable_is_a_setting_and_every_value_is_taken(name: str) -> None:
    for given in FILLED:
        told = {**environment(), **services(given)[name].get("environment", {})}
        told = {
            k: v for k, v in told.items() if k.startswith("BACKSCROLL_") and k != "BACKSCROLL_CONFIG" and v
        }
        values = {k.removeprefix("BACKSCROLL_").lower(): v for k, v in told.items()}
        assert values.keys() <= Settings.model_fields.keys()
        Settings(**values)


@pytest.mark.parametrize("user", SERVICES)
def test_a_service_comes_as_its_own_user_and_knows_no_other_password(user: str) -> None:
    told = services("passwords")
    environment = told[user]["environment"]
    assert environment["BACKSCROLL_NATS_URL"] == f"nats://{user}:pw{user}@nats:4222"
    assert re.findall(r"pw[a-z]+", str(environment)) == [f"pw{user}"]
    assert told["nats"]["environment"][f"NATS_{user.upper()}_PASSWORD"] == f'"pw{user}"'


def test_embedder_and_retriever_are_of_one_mind() -> None:
    for given in FILLED:
        told = services(given)
        mine, theirs = (told[name]["environment"] for name in ("embedder", "retriever"))
        about = {k for k in mine if "QDRANT" in k or "EMBED" in k}
        assert {k: mine[k] for k in about} == {k: theirs[k] for k in about}
        assert told["qdrant"]["environment"]["QDRANT__SERVICE__API_KEY"] == mine["BACKSCROLL_QDRANT_API_KEY"]


@pytest.mark.parametrize("name", sorted(OURS - {"demo", "demo-key", "operator"}))
def test_every_command_is_there(name: str) -> None:
    program, *arguments = services()[name]["command"]
    if program == "backscroll":
        assert arguments[0] in get_command(app).commands  # type: ignore[attr-defined]
    else:
        assert (program, arguments[0]) == ("python", "-m")
        assert importlib.util.find_spec(f"{arguments[1]}.__main__")


def test_commands_of_the_demo_are_there() -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    for name in ("demo", "demo-key", "operator"):
        for command in re.findall(r"backscroll ([a-z]+)", " ".join(services()[name]["command"])):
            assert command in known


def test_the_example_explains_every_variable_and_no_other() -> None:
    assert env_file(ROOT / ".env.example").keys() - {"COMPOSE_PROFILES"} == variables().keys()
    lines = (ROOT / ".env.example").read_text().splitlines()
    for block in "\n".join(lines).split("\n\n"):
        assert block.startswith("#")


def test_a_variable_that_is_named_like_a_setting_is_one() -> None:
    ours = {name for name in variables() if name.startswith("BACKSCROLL_")}
    assert {name.removeprefix("BACKSCROLL_").lower() for name in ours} <= Settings.model_fields.keys()


def test_no_secret_is_in_the_example() -> None:
    told = env_file(ROOT / ".env.example")
    assert [name for name, value in told.items() if value and re.search("PASSWORD|KEY", name)] == []


def test_the_example_uses_the_model_servers_that_its_profile_starts() -> None:
    told = env_file(ROOT / ".env.example")
    started = services("the example")
    for variable in ("BACKSCROLL_EMBED_URL", "BACKSCROLL_RERANK_URL"):
        host = re.fullmatch(r"http://([a-z]+):8080(/v1)?", told[variable])
        assert host is not None
        assert told["COMPOSE_PROFILES"] in started[host[1]]["profiles"]
        on_gpu = started[f"{host[1]}-gpu"]
        assert on_gpu["networks"]["inside"]["aliases"] == [host[1]]
        assert on_gpu["command"] == started[host[1]]["command"]


def test_prometheus_asks_every_service_where_it_answers() -> None:
    (job,) = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    assert set(found["names"]) == set(SERVICES)
    for name in SERVICES:
        assert services()[name]["environment"]["BACKSCROLL_HEALTH_PORT"] == str(found["port"])


def test_what_watches_is_pointed_at_what_is_there() -> None:
    names = services().keys()
    files = [*(ROOT / "deploy").rglob("*.yaml"), *(ROOT / "deploy").rglob("*.yml")]
    assert len(files) >= 5
    for file in files:
        assert yaml.safe_load(file.read_text())
        for host in re.findall(r"http://([a-z]+):\d+", file.read_text()):
            assert host in names
    provider = yaml.safe_load((ROOT / "deploy/grafana/provisioning/dashboards/dashboards.yaml").read_text())
    path = provider["providers"][0]["options"]["path"]
    assert f"./k8s/backscroll/dashboards:{path}:ro" in services()["grafana"]["volumes"]
