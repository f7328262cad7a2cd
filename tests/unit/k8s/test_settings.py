"""Values become the settings of each service."""

import os
from pathlib import Path

import pytest
import yaml

from shared.bus.provisioning import expected
from shared.settings import Settings
from tests.support.chart import (
    SERVICES,
    Manifest,
    Sets,
    containers,
    deployment,
    env_of,
    laid_over,
    named,
    of_kind,
    ours,
    pod,
    rendered,
    workloads,
)
from tests.support.chart_values import DEFAULT, PRODUCTION

GIB = 1024**3


def settings_of(
    manifests: list[Manifest], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """What a service of this pod would start with; every secret is `secret`."""
    workload = deployment(manifests, part)
    volume = next(v for v in pod(workload)["spec"]["volumes"] if v["name"] == "config")
    (file,) = named(manifests, "ConfigMap", volume["configMap"]["name"])["data"].items()
    (tmp_path / file[0]).write_text(file[1])
    for name in list(os.environ):
        if name.startswith("BACKSCROLL"):
            monkeypatch.delenv(name)
    env: dict[str, str] = {}
    for name, variable in env_of(workload).items():
        value = variable.get("value", "secret")
        for known, text in env.items():
            value = value.replace(f"$({known})", text)
        env[name] = value
    mounted = Path(env["BACKSCROLL_CONFIG"])
    mounts = {m["name"]: m["mountPath"] for c in containers(workload) for m in c["volumeMounts"]}
    assert mounted == Path(mounts["config"]) / file[0]
    for name, value in {**env, "BACKSCROLL_CONFIG": str(tmp_path / file[0])}.items():
        if name.startswith("BACKSCROLL"):
            monkeypatch.setenv(name, value)
    return Settings()


@pytest.mark.parametrize("part", [*SERVICES, "toolbox"])
def test_a_service_starts_with_what_the_values_say(
    rendered_sets: Sets, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(rendered_sets["everything"], part, tmp_path, monkeypatch)
    assert settings.host == "0.0.0.0"
    (container,) = containers(deployment(rendered_sets["everything"], part))
    for port in container.get("ports", []):
        listens = {"http": settings.port, "health": settings.health_port}
        assert port["containerPort"] == listens[port["name"]]
    assert settings.max_context == 32768
    assert settings.profile == "agent"
    assert settings.publish_from == 0.5
    assert settings.retry_on_overfit is False
    assert settings.stream_replicas == 3
    assert settings.stream_max_bytes == 8 * GIB
    assert settings.engine_url == "http://vllm.engines.svc:8000/v1"
    assert settings.embed_url == "http://rel-backscroll-embedding:8080/v1"
    assert settings.rerank_url == "http://rel-backscroll-rerank:8080"
    assert settings.qdrant_url == "http://rel-qdrant:6333"
    user = "operator" if part == "toolbox" else part
    assert settings.nats_url == f"nats://{user}:secret@rel-nats:4222"
    assert settings.qdrant_api_key == ("secret" if part in ("embedder", "retriever", "toolbox") else None)
    assert settings.engine_api_key == ("secret" if part in ("gateway", "toolbox") else None)


def test_engines_and_servers_elsewhere(
    rendered_sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(rendered_sets["external"], "gateway", tmp_path, monkeypatch)
    first, second = settings.engines
    assert (first.name, first.models, first.api_key_env) == ("a", ("a-*",), "ENGINE_KEY_0")
    assert (second.name, second.chat_only, second.context, second.api_key_env) == ("b", True, 32768, None)
    assert settings.nats_url == "tls://gateway:secret@nats.test:4333"
    assert settings.qdrant_url == "https://qdrant.test"
    assert settings.keys_file == Path("/etc/backscroll-keys/keys.json")
    gateway = deployment(rendered_sets["external"], "gateway")
    assert env_of(gateway)["ENGINE_KEY_0"]["valueFrom"]["secretKeyRef"] == {
        "name": "engine-a",
        "key": "api-key",
    }
    (keys,) = [v for v in pod(gateway)["spec"]["volumes"] if v["name"] == "keys"]
    assert keys["secret"]["secretName"] == "api-keys"


def test_without_model_servers_the_bundled_models_are_used(
    rendered_sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(rendered_sets["minimal"], "retriever", tmp_path, monkeypatch)
    assert settings.embed_url is None
    assert settings.rerank_url is None
    assert settings.nats_url == "nats://nats.test:4222"


@pytest.mark.parametrize("name", ["default", "production"])
def test_the_volume_of_nats_holds_every_stream(
    rendered_sets: Sets, chart: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = yaml.safe_load((chart / "values.yaml").read_text())
    values = laid_over(values, PRODUCTION) if name == "production" else values
    size = values["nats"]["config"]["jetstream"]["fileStore"]["pvc"]["size"]
    settings = settings_of(rendered_sets[name], "chunker", tmp_path, monkeypatch)
    reserved = sum(stream.max_bytes or 0 for stream in expected(settings).streams)
    assert reserved <= int(size.removesuffix("Gi")) * GIB
    nodes = values["nats"]["config"].get("cluster", {}).get("replicas", 1)
    assert settings.stream_replicas <= nodes


@pytest.mark.parametrize("release", ["nats", "my-qdrant", "backscroll"])
def test_other_names_of_the_release_lead_to_the_same_servers(
    chart: Path, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = rendered(chart, DEFAULT, name=release)
    services = {m["metadata"]["name"] for m in of_kind(manifests, "Service")}
    config = next(m for m in of_kind(manifests, "ConfigMap") if "backscroll.toml" in (m.get("data") or {}))
    (store,) = [line for line in config["data"]["backscroll.toml"].splitlines() if "qdrant_url" in line]
    assert store.split("//")[1].split(":")[0] in services
    for workload in workloads(ours(manifests)):
        if "BACKSCROLL_NATS_URL" in env_of(workload):
            url = env_of(workload)["BACKSCROLL_NATS_URL"]["value"]
            assert url.split("//")[1].split(":")[0] in services


def test_a_setting_may_be_a_map(chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ages = {"RECORDS": 86400, "MESSAGES": 604800}
    manifests = rendered(chart, laid_over(DEFAULT, {"settings": {"stream_max_ages": ages}}))
    assert settings_of(manifests, "gateway", tmp_path, monkeypatch).stream_max_ages == ages
