"""What holds for every manifest, in every value set."""

import re
from pathlib import Path

import helm_python as helm
import kubernetes_validate
import pytest

from shared.settings import Settings
from tests.support.chart import (
    Manifest,
    containers,
    env_of,
    every,
    named,
    of_kind,
    ours,
    pod,
    selects,
    workloads,
)
from tests.support.chart_values import VALUE_SETS

CUSTOM = {"ScaledObject", "ServiceMonitor", "PrometheusRule", "HTTPRoute"}
"""Kinds that no Kubernetes schema knows."""
SECRET = re.compile(r"(KEY|PASSWORD|SECRET|TOKEN)$")


def test_helm_finds_nothing_to_say(chart: Path, value_set: str) -> None:
    report = helm.lint(chart, VALUE_SETS[value_set], strict=True, kube_version="v1.30.0")
    assert report["errors"] == []
    assert [m["error"] for m in report["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("version", ["1.32", "1.37"])
def test_kubernetes_takes_every_manifest(manifests: list[Manifest], version: str) -> None:
    for manifest in manifests:
        if manifest["kind"] not in CUSTOM:
            kubernetes_validate.validate(manifest, version, strict=True)


def test_no_two_manifests_are_the_same_object(manifests: list[Manifest]) -> None:
    names = [(m["apiVersion"], m["kind"], m["metadata"]["name"]) for m in manifests]
    assert len(names) == len(set(names))
    assert all(len(name) <= 63 for _, _, name in names)


def test_pods_are_confined(manifests: list[Manifest]) -> None:
    for workload in workloads(ours(manifests)):
        spec = pod(workload)["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["enableServiceLinks"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not spec.keys() & {"hostNetwork", "hostPID", "hostIPC"}
        assert not any("hostPath" in volume for volume in spec["volumes"])
        for container in containers(workload):
            security = container["securityContext"]
            assert security["allowPrivilegeEscalation"] is False
            assert security["readOnlyRootFilesystem"] is True
            assert security["runAsNonRoot"] is True
            assert security["capabilities"] == {"drop": ["ALL"]}


def test_no_pod_runs_as_the_default_service_account(manifests: list[Manifest]) -> None:
    for workload in workloads(ours(manifests)):
        account = named(manifests, "ServiceAccount", pod(workload)["spec"]["serviceAccountName"])
        assert account["automountServiceAccountToken"] is False
        assert account["metadata"]["name"] != "default"


def test_containers_have_requests_limits_and_a_tag(manifests: list[Manifest]) -> None:
    for workload in workloads(ours(manifests)):
        for container in containers(workload):
            for kind in ("requests", "limits"):
                assert {"cpu", "memory"} <= container["resources"][kind].keys()
            assert re.fullmatch(r"[^:]+(:\d+/[^:]+)?:[\w][\w.-]+", container["image"])
            assert not container["image"].endswith(":latest")


def test_what_serves_is_probed_on_a_port_that_it_has(manifests: list[Manifest]) -> None:
    for deployment in of_kind(ours(manifests), "Deployment"):
        (container,) = containers(deployment)
        if not container.get("ports"):
            continue
        ports = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["port"] in ports
        assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 60


def test_selectors_match_labels(manifests: list[Manifest]) -> None:
    templates = [pod(w)["metadata"]["labels"] for w in workloads(manifests)]
    for workload in of_kind(manifests, "Deployment", "StatefulSet"):
        selector = workload["spec"]["selector"]["matchLabels"]
        assert selects(selector, pod(workload)["metadata"]["labels"])
        assert sum(selects(selector, labels) for labels in templates) == 1, selector
    for service in of_kind(manifests, "Service"):
        assert sum(selects(service["spec"]["selector"], labels) for labels in templates) == 1
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        assert sum(selects(budget["spec"]["selector"]["matchLabels"], labels) for labels in templates) == 1
    for policy in of_kind(manifests, "NetworkPolicy"):
        selector = policy["spec"]["podSelector"]["matchLabels"]
        assert any(selects(selector, labels) for labels in templates), policy["metadata"]["name"]
        for peer in every(policy["spec"], "from"):
            for inner in every(peer, "podSelector"):
                assert any(selects(inner["matchLabels"], labels) for labels in templates)


def test_ports_that_are_named_exist(manifests: list[Manifest]) -> None:
    pods = [pod(w) for w in workloads(manifests)]

    def ports_of(selector: dict[str, str]) -> set[str | int]:
        found = [p for p in pods if selects(selector, p["metadata"]["labels"])]
        ports = [port for p in found for c in p["spec"]["containers"] for port in c.get("ports", [])]
        return {value for port in ports for value in (port["name"], port["containerPort"])}

    for service in of_kind(manifests, "Service"):
        for port in service["spec"]["ports"]:
            assert port["targetPort"] in ports_of(service["spec"]["selector"])
    for policy in of_kind(manifests, "NetworkPolicy"):
        own = ports_of(policy["spec"]["podSelector"]["matchLabels"])
        for rule in policy["spec"].get("ingress", []):
            assert {port["port"] for port in rule["ports"]} <= own
        for rule in policy["spec"].get("egress", []):
            for selector in every(rule.get("to", []), "podSelector"):
                assert {port["port"] for port in rule["ports"]} <= ports_of(selector["matchLabels"])
    for monitor in of_kind(manifests, "ServiceMonitor"):
        services = [
            s
            for s in of_kind(manifests, "Service")
            if selects(monitor["spec"]["selector"]["matchLabels"], s["metadata"].get("labels", {}))
        ]
        assert len(services) >= 5
        for endpoint in monitor["spec"]["endpoints"]:
            parts = [s for s in services if any(p["name"] == endpoint["port"] for p in s["spec"]["ports"])]
            assert len(parts) == 5


def test_routes_lead_to_the_gateway(manifests: list[Manifest]) -> None:
    gateway = named(manifests, "Service", "rel-backscroll-gateway")
    names = {port["name"] for port in gateway["spec"]["ports"]}
    numbers = {port["port"] for port in gateway["spec"]["ports"]}
    for ingress in of_kind(manifests, "Ingress"):
        for backend in every(ingress["spec"], "service"):
            assert backend["name"] == gateway["metadata"]["name"]
            assert backend["port"]["name"] in names
    for route in of_kind(manifests, "HTTPRoute"):
        for backends in every(route["spec"], "backendRefs"):
            assert [b["name"] for b in backends] == [gateway["metadata"]["name"]]
            assert {b["port"] for b in backends} <= numbers


def test_what_is_mounted_exists(manifests: list[Manifest]) -> None:
    for workload in workloads(ours(manifests)):
        volumes = pod(workload)["spec"]["volumes"]
        names = [volume["name"] for volume in volumes]
        assert len(names) == len(set(names))
        for container in containers(workload):
            assert {mount["name"] for mount in container["volumeMounts"]} <= set(names)
        for volume in volumes:
            if volume["name"] == "config":
                named(manifests, "ConfigMap", volume["configMap"]["name"])


def test_secrets_come_by_reference_alone(manifests: list[Manifest]) -> None:
    assert of_kind(manifests, "Secret") == []
    for workload in workloads(ours(manifests)):
        for name, variable in env_of(workload).items():
            if SECRET.search(name):
                assert variable["valueFrom"]["secretKeyRef"]["name"], name
        url = env_of(workload).get("BACKSCROLL_NATS_URL", {}).get("value", "")
        assert "@" not in url or ":$(NATS_PASSWORD)@" in url


def test_variables_are_settings(manifests: list[Manifest]) -> None:
    settings = {f"BACKSCROLL_{name.upper()}" for name in Settings.model_fields} | {"BACKSCROLL_CONFIG"}
    for workload in workloads(ours(manifests)):
        names = {name for name in env_of(workload) if name.startswith("BACKSCROLL")}
        assert names <= settings
        if names:
            assert {"BACKSCROLL_CONFIG", "BACKSCROLL_NATS_URL"} <= names


def test_variables_that_refer_to_others_come_after_them(manifests: list[Manifest]) -> None:
    for workload in workloads(ours(manifests)):
        seen: set[str] = set()
        for name, variable in env_of(workload).items():
            assert set(re.findall(r"\$\(([^)]+)\)", variable.get("value", ""))) <= seen
            seen.add(name)


def test_one_thing_alone_sets_the_number_of_replicas(manifests: list[Manifest]) -> None:
    scaled = [
        m["spec"]["scaleTargetRef"]["name"]
        for m in of_kind(manifests, "HorizontalPodAutoscaler", "ScaledObject")
    ]
    assert len(scaled) == len(set(scaled))
    for deployment in of_kind(ours(manifests), "Deployment"):
        assert ("replicas" in deployment["spec"]) != (deployment["metadata"]["name"] in scaled)
    assert set(scaled) <= {d["metadata"]["name"] for d in of_kind(manifests, "Deployment")}
