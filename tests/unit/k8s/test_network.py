"""Each pod reaches what it needs and is reached by who needs it."""

from pathlib import Path
from typing import Any

from tests.support.chart import (
    SERVICES,
    Sets,
    every,
    laid_over,
    named,
    ours,
    pod,
    rendered,
    workloads,
)
from tests.support.chart_values import DEFAULT

REACHED = {
    "gateway": {"nats", "engine"},
    "chunker": {"nats"},
    "embedder": {"nats", "qdrant", "embedding"},
    "retriever": {"nats", "qdrant", "embedding", "rerank"},
    "assembler": {"nats"},
    "provision": {"nats"},
    "toolbox": {"nats", "qdrant", "embedding", "rerank", "engine", "gateway"},
}


def reached(rule: dict[str, Any]) -> str:
    """The part that an egress rule opens the way to."""
    for labels in every(rule.get("to", []), "matchLabels"):
        own = labels.get("app.kubernetes.io/name") == "backscroll"
        if name := labels.get("app.kubernetes.io/component" if own else "app.kubernetes.io/name"):
            return str(name)
    return "engine"


def test_each_pod_reaches_what_it_needs_and_nothing_else(rendered_sets: Sets) -> None:
    manifests = rendered_sets["production"]
    for part, needed in REACHED.items():
        policy = named(manifests, "NetworkPolicy", f"rel-backscroll-{part}")
        assert {reached(rule) for rule in policy["spec"]["egress"]} == needed
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]


def test_the_two_sides_of_the_network_policies_agree(rendered_sets: Sets) -> None:
    manifests = rendered_sets["production"]
    for part in ("nats", "qdrant", "embedding", "rerank"):
        policy = named(manifests, "NetworkPolicy", f"rel-backscroll-{part}")
        admitted = {
            labels["app.kubernetes.io/component"]
            for rule in policy["spec"]["ingress"]
            for labels in every(rule, "matchLabels")
            if "app.kubernetes.io/component" in labels
        }
        assert admitted == {client for client, needed in REACHED.items() if part in needed}


def test_what_is_not_allowed_is_denied(rendered_sets: Sets) -> None:
    policy = named(rendered_sets["production"], "NetworkPolicy", "rel-backscroll-default")
    assert policy["spec"]["podSelector"]["matchLabels"] == {"app.kubernetes.io/instance": "rel"}
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policy["spec"]
    (names,) = policy["spec"]["egress"]
    assert {port["port"] for port in names["ports"]} == {53}
    for workload in workloads(ours(rendered_sets["production"])):
        part = pod(workload)["metadata"]["labels"]["app.kubernetes.io/component"]
        named(rendered_sets["production"], "NetworkPolicy", f"rel-backscroll-{part}")


def test_servers_elsewhere_are_reached_on_their_ports(rendered_sets: Sets) -> None:
    def ports(part: str) -> set[int]:
        policy = named(rendered_sets["external"], "NetworkPolicy", f"rel-backscroll-{part}")
        return {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}

    assert ports("gateway") == {4333, 443, 9000}
    assert ports("chunker") == {4333}
    # The client of Qdrant takes 6333 where an address names no port.
    assert ports("embedder") == {4333, 6333, 8080}
    assert ports("retriever") == {4333, 6333, 8080, 8081}


def test_a_trace_collector_is_reached(chart: Path) -> None:
    manifests = rendered(chart, laid_over(DEFAULT, {"settings": {"otlp_endpoint": "http://otel.test:4318"}}))
    for part in SERVICES:
        policy = named(manifests, "NetworkPolicy", f"rel-backscroll-{part}")
        assert 4318 in {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
