"""Values that do not fit are refused before anything is installed."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import helm_python as helm
import pytest

from shared.settings import Settings
from tests.support.chart import ROOT, Values, laid_over, rendered, values_file
from tests.support.chart_generated import (
    AGAIN,
    OWNED,
    SCHEMA,
    USERS,
    engine_schema,
    settings_schema,
    users_template,
)
from tests.support.chart_values import DEFAULT, EXTERNAL, MINIMAL, PRODUCTION

UNKNOWN = "not allowed"


def nested(path: str, value: Any) -> Values:
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


REFUSED = [
    ("replica", 2, UNKNOWN),
    ("gateway.replicas", 0, "minimum"),
    ("gateway.replicas", "two", "integer"),
    ("gateway.keda", {"enabled": True}, UNKNOWN),
    ("embedder.autoscaling", {"enabled": True}, UNKNOWN),
    ("embedder.keda.maxReplicas", 65, "maximum"),
    ("chunker.keda.lag", 0, "minimum"),
    ("gateway.autoscaling.targetCPU", 0, "minimum"),
    ("gateway.drainSeconds", 50, "maximum"),
    ("gateway.resources.limits.memory", "2 GB", "pattern"),
    ("gateway.probes.liveness.path", "/", UNKNOWN),
    ("gateway.securityContext", {"runAsUser": 0}, UNKNOWN),
    ("gateway.extraEnv", [{"name": "OTHER_API_KEY", "value": "plain"}], "valueFrom"),
    ("engine.url", "engine.test:8000", "pattern"),
    ("engine.url", "http://user:password@engine.test", "pattern"),
    ("engine.apiKey", "plain", UNKNOWN),
    ("engines", [{"name": "a"}], "url"),
    ("engines", [{"name": "a", "url": "http://a.test/v1", "api_key_env": "KEY"}], UNKNOWN),
    ("bus.existingSecret", "Not A Name", "pattern"),
    ("settings.max_context", 100, "minimum"),
    ("settings.max_context", "much", "integer"),
    ("settings.profile", "fast", "must be one of"),
    ("settings.max_contexts", 32768, UNKNOWN),
    ("settings.engine_api_key", "plain", UNKNOWN),
    ("settings.health_port", 9000, UNKNOWN),
    ("embedding.server.image.tag", "", "minLength"),
    ("embedding", {"url": "http://embed.test/v1", "server": {"enabled": True}}, "not"),
    ("rerank", {"url": "http://rerank.test", "server": {"enabled": True}}, "not"),
    ("topologySpread.whenUnsatisfiable", "Never", "must be one of"),
    ("ingress.paths", ["/"], "not"),
    ("ingress.paths", ["/metrics"], "not"),
    ("httpRoute", {"enabled": True}, "minItems"),
    ("networkPolicy.clients", [{}], "minProperties"),
    ("monitoring.serviceMonitor.interval", "often", "pattern"),
    ("image.pullPolicy", "Sometimes", "must be one of"),
    ("bus.url", "nats://elsewhere.test:4222", "maxLength"),
    ("store.url", "http://elsewhere.test:6333", "maxLength"),
    ("qdrant.apiKey", "plain", "anyOf"),
    ("qdrant.apiKey", True, "anyOf"),
]


@pytest.mark.parametrize(("path", "value", "reason"), REFUSED, ids=[f"{p}={v}"[:60] for p, v, _ in REFUSED])
def test_the_schema_refuses(chart: Path, path: str, value: Any, reason: str) -> None:
    with pytest.raises(helm.HelmError) as refused:
        rendered(chart, laid_over(DEFAULT, nested(path, value)))
    said = str(refused.value)
    place = path.split(".")[0]
    assert f"/{place}" in said or f"'{place}'" in said
    assert reason in said


@pytest.mark.parametrize(
    ("path", "value", "missing"),
    [
        ("bus.existingSecret", "nats", "/nats/config/merge': missing property 'authorization'"),
        ("store.existingSecret", "qdrant", "/qdrant': missing property 'apiKey'"),
        ("nats.config.merge.authorization", {"$tplYaml": "users: []"}, "/bus/existingSecret"),
        ("qdrant.apiKey.valueFrom.secretKeyRef", {"name": "a", "key": "b"}, "/store/existingSecret"),
    ],
)
def test_bundled_servers_ask_for_what_the_services_present(
    chart: Path, path: str, value: Any, missing: str
) -> None:
    with pytest.raises(helm.HelmError, match=missing):
        rendered(chart, laid_over(DEFAULT, nested(path, value)))


@pytest.mark.parametrize("url", ["nats.test:4222", "nats://user:password@nats.test:4222", "http://nats.test"])
def test_the_address_of_nats_is_one_without_a_password(chart: Path, url: str) -> None:
    with pytest.raises(helm.HelmError, match="/bus/url"):
        rendered(chart, laid_over(MINIMAL, {"bus": {"url": url}}))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, r"engine.url \(or engines\) is needed"),
        (laid_over(MINIMAL, {"bus": {"url": ""}}), "bus.url is needed"),
        (laid_over(MINIMAL, {"store": {"url": ""}}), "store.url is needed"),
        (laid_over(MINIMAL, {"embedder": {"keda": {"enabled": True}}}), "bus.monitor is needed"),
        (
            laid_over(DEFAULT, {"gateway": {"autoscaling": {"enabled": True, "minReplicas": 9}}}),
            "gateway.autoscaling.minReplicas is above maxReplicas",
        ),
        (
            laid_over(DEFAULT, {"chunker": {"keda": {"enabled": True, "minReplicas": 9}}}),
            "chunker.keda.minReplicas is above maxReplicas",
        ),
    ],
)
def test_the_chart_says_what_is_missing(chart: Path, values: Values, said: str) -> None:
    with pytest.raises(helm.HelmError, match=said):
        rendered(chart, values)


def test_the_schema_knows_every_parameter_with_its_bounds() -> None:
    schema = json.loads(SCHEMA.read_text())
    assert schema["properties"]["settings"] == settings_schema(), AGAIN
    assert schema["properties"]["engines"]["items"] == engine_schema(), AGAIN


def test_the_users_of_nats_are_those_of_the_code() -> None:
    assert USERS.read_text() == users_template(), AGAIN


def test_no_parameter_that_is_a_secret_can_be_set_in_values() -> None:
    secret = {name for name, field in Settings.model_fields.items() if not field.repr}
    assert secret
    assert secret <= OWNED <= Settings.model_fields.keys()


@pytest.mark.parametrize("name", ["values.yaml", "values-production.yaml"])
def test_no_value_holds_a_secret(name: str) -> None:
    def strings(value: Any, path: str = "") -> list[tuple[str, str]]:
        if isinstance(value, dict):
            return [found for key, inner in value.items() for found in strings(inner, f"{path}.{key}")]
        if isinstance(value, list):
            return [found for inner in value for found in strings(inner, path)]
        return [(path, value)] if isinstance(value, str) else []

    for path, value in strings(values_file(name)):
        assert (
            not re.search(r"(?i)(password|token|credential|api.?key)$", path) or not value or "$(" in value
        ), path
        assert not re.search(r"://[^/]*@", value), path


def test_the_chart_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    chart = values_file("Chart.yaml")
    assert chart["version"] == chart["appVersion"] == project


@pytest.mark.parametrize("values", [DEFAULT, MINIMAL, EXTERNAL, PRODUCTION], ids="dmep")
def test_notes_are_told(chart: Path, values: Values) -> None:
    with helm.Chart.load(chart) as loaded:
        notes = loaded.render(values, name="rel", namespace="chat")["backscroll/templates/NOTES.txt"]
    assert notes.strip()
    assert "<no value>" not in notes
    assert ("backscroll keys add" in notes) == ("keys" not in values)
