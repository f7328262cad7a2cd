"""Probes, provisioning, scaling, users, dashboards."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from shared.bus.embedded import binary
from shared.bus.provisioning import MAX_ACK_PENDING
from shared.bus.subjects import DURABLES
from tests.support.chart import (
    SERVICES,
    Manifest,
    Sets,
    Values,
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


def test_the_gateway_is_asked_on_its_own_port_and_drained(rendered_sets: Sets) -> None:
    for part in SERVICES:
        (container,) = containers(deployment(rendered_sets["default"], part))
        assert container["command"] == ["python", "-m", f"services.{part}"]
        probed = {
            container[f"{probe}Probe"]["httpGet"]["port"] for probe in ("startup", "liveness", "readiness")
        }
        # The other port answers 503 while NATS is away, which would take every gateway out of service.
        assert probed == {"http" if part == "gateway" else "health"}
        assert container["livenessProbe"]["httpGet"]["path"] == "/health/live"
        assert container["readinessProbe"]["httpGet"]["path"] == "/health/ready"
        assert ("lifecycle" in container) == (part == "gateway")
        startup = container["startupProbe"]
        # A service waits a minute for NATS before it answers.
        assert startup["periodSeconds"] * startup["failureThreshold"] > 60


def test_probes_of_one_service_are_laid_over_those_of_all(rendered_sets: Sets) -> None:
    (container,) = containers(deployment(rendered_sets["everything"], "chunker"))
    assert container["readinessProbe"]["initialDelaySeconds"] == 3
    assert container["readinessProbe"]["timeoutSeconds"] == 6
    assert "initialDelaySeconds" not in container["livenessProbe"]


def test_nats_elsewhere_is_provisioned_before_anything_else(rendered_sets: Sets) -> None:
    hooks = {
        m["kind"]: m["metadata"]["annotations"]
        for m in rendered_sets["external"]
        if "helm.sh/hook" in m["metadata"].get("annotations", {})
    }
    assert hooks.keys() == {"ServiceAccount", "ConfigMap", "Job"}
    for annotations in hooks.values():
        assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert "before-hook-creation" in annotations["helm.sh/hook-delete-policy"]
    weight = {kind: int(annotations["helm.sh/hook-weight"]) for kind, annotations in hooks.items()}
    assert max(weight["ServiceAccount"], weight["ConfigMap"]) < weight["Job"]
    (job,) = of_kind(rendered_sets["external"], "Job")
    mine = {m["metadata"]["name"] for m in rendered_sets["external"] if m["kind"] in hooks}
    assert {v["configMap"]["name"] for v in pod(job)["spec"]["volumes"] if "configMap" in v} <= mine
    assert job["spec"]["activeDeadlineSeconds"] < 300, "Helm waits five minutes for a hook"
    (container,) = containers(job)
    assert container["command"] == ["backscroll", "provision", "--update"]


def test_nats_of_the_release_is_provisioned_beside_the_services(chart: Path) -> None:
    def job(values: Values, revision: int) -> Manifest:
        (found,) = of_kind(rendered(chart, values, revision=revision), "Job")
        return found

    first = job(DEFAULT, 1)
    assert "annotations" not in first["metadata"], "a hook would come before NATS, or wait for the services"
    # Fields of a Job cannot be changed: another revision, or other settings, are another Job.
    other = laid_over(DEFAULT, {"settings": {"stream_max_age_s": 3600}})
    names = [j["metadata"]["name"] for j in (first, job(DEFAULT, 2), job(other, 1))]
    assert len(set(names)) == 3


def test_services_scale_by_the_lag_of_their_durables(rendered_sets: Sets) -> None:
    scaled = of_kind(rendered_sets["production"], "ScaledObject")
    triggers = [trigger for each in scaled for trigger in each["spec"]["triggers"]]
    consumers = {(t["metadata"]["stream"], t["metadata"]["consumer"]) for t in triggers}
    assert consumers == {(durable.stream, durable.name) for durable in DURABLES}
    for trigger in triggers:
        assert trigger["type"] == "nats-jetstream"
        host, _, port = trigger["metadata"]["natsServerMonitoringEndpoint"].partition(":")
        service = named(rendered_sets["production"], "Service", host.split(".")[0])
        assert service["spec"]["clusterIP"] == "None"
        assert int(port) in {p["port"] for p in service["spec"]["ports"]}
        assert host == f"{service['metadata']['name']}.chat.svc.cluster.local"
    for each in scaled:
        assert 1 <= each["spec"]["minReplicaCount"] <= each["spec"]["maxReplicaCount"]


def test_no_number_of_replicas_outruns_what_a_durable_hands_out(chart: Path) -> None:
    schema = json.loads((chart / "values.schema.json").read_text())
    for part in ("chunker", "embedder"):
        keda = schema["properties"][part]["properties"]["keda"]["properties"]
        assert keda["maxReplicas"]["maximum"] * 64 <= MAX_ACK_PENDING


def users_of_nats(manifests: list[Manifest]) -> dict[str, Manifest]:
    authorization = named(manifests, "ConfigMap", "rel-nats-config")["data"]["authorization"]
    return {user["user"]: user for user in yaml.safe_load(authorization)["users"]}


def variable(user: Manifest) -> str:
    found = re.fullmatch(r"<< \$(\w+) >>", user["password"])
    assert found
    return found[1]


def test_nats_takes_its_users_from_the_chart(rendered_sets: Sets, tmp_path: Path) -> None:
    manifests = rendered_sets["production"]
    config = tmp_path / "nats.conf"
    authorization = {"authorization": {"users": list(users_of_nats(manifests).values())}}
    # As the chart of nats-io writes it: JSON with its variables bare.
    config.write_text(re.sub(r'"<<\s+(.*)\s+>>"', r"\1", json.dumps(authorization, indent=1)))
    variables = env_of(named(manifests, "StatefulSet", "rel-nats"))
    env = {name: '"1e5secret"' for name in variables if name.endswith("_PASSWORD")}
    checked = subprocess.run(
        [str(binary()), "-t", "-c", str(config)], env=env, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_servers_of_the_release_know_who_comes(rendered_sets: Sets) -> None:
    manifests = rendered_sets["production"]
    asked = {name: variable(user) for name, user in users_of_nats(manifests).items()}
    server = env_of(named(manifests, "StatefulSet", "rel-nats"))
    for workload in workloads(ours(manifests)):
        if "NATS_PASSWORD" not in env_of(workload):
            continue
        user = env_of(workload)["BACKSCROLL_NATS_URL"]["value"].split("//")[1].split(":")[0]
        quoted = re.fullmatch(r'"\$\((\w+)\)"', server[asked[user]]["value"])
        assert quoted
        assert list(server).index(quoted[1]) < list(server).index(asked[user])
        presented = env_of(workload)["NATS_PASSWORD"]["valueFrom"]["secretKeyRef"]
        assert server[quoted[1]]["valueFrom"]["secretKeyRef"] == presented
    key = env_of(deployment(manifests, "embedder"))["BACKSCROLL_QDRANT_API_KEY"]["valueFrom"]
    assert PRODUCTION["qdrant"]["apiKey"]["valueFrom"] == key


def test_dashboards_and_rules_are_taken_as_they_are(chart: Path, tmp_path: Path) -> None:
    rule = {
        "groups": [
            {
                "name": "g",
                "rules": [{"alert": "A", "expr": "up == 0", "annotations": {"summary": "{{ $labels.job }}"}}],
            }
        ]
    }
    board = {"title": "T", "panels": [{"legendFormat": "{{service}}", "expr": 'a{b="c"}'}]}

    copy = shutil.copytree(chart, tmp_path / "backscroll")
    for folder in ("alerts", "dashboards"):
        (copy / folder).mkdir(exist_ok=True)
    (copy / "alerts" / "own.yaml").write_text(yaml.safe_dump(rule))
    (copy / "dashboards" / "own.json").write_text(json.dumps(board, indent=1))
    manifests = rendered(copy, PRODUCTION)
    assert named(manifests, "PrometheusRule", "rel-backscroll-own")["spec"] == rule
    shown = named(manifests, "ConfigMap", "rel-backscroll-dashboard-own")
    assert json.loads(shown["data"]["own.json"]) == board
    assert shown["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_optional_objects_are_made_only_when_asked_for(rendered_sets: Sets) -> None:
    optional = {"Ingress", "HTTPRoute", "ServiceMonitor", "ScaledObject", "HorizontalPodAutoscaler"}
    for name in ("default", "minimal"):
        assert of_kind(rendered_sets[name], *optional, "PrometheusRule") == []
    assert {m["kind"] for m in rendered_sets["everything"]} >= optional
    assert of_kind(rendered_sets["minimal"], "NetworkPolicy", "StatefulSet") == []
