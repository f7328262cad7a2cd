"""Dashboards and alert rules ask only for what the code exports, with the labels that it has."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from shared import telemetry

CHART = Path(__file__).parents[2] / "k8s" / "backscroll"
DASHBOARDS = sorted(CHART.glob("dashboards/*.json"))
RULES = sorted(CHART.glob("alerts/*.yaml"))


def exported() -> dict[str, set[str]]:
    """Labels by the name of each series."""
    series: dict[str, set[str]] = {}
    for metric in vars(telemetry).values():
        if not isinstance(metric, MetricWrapperBase):
            continue
        labels = set(metric._labelnames)
        name = metric._name
        if isinstance(metric, Histogram):
            series |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            series[f"{name}_total" if isinstance(metric, Counter) else name] = labels
    return series


def expressions() -> Iterator[tuple[str, str]]:
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                yield panel["title"], target["expr"]
    for path in RULES:
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                yield rule["alert"], rule["expr"]


EXPRESSIONS = list(expressions())


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS, ids=[where for where, _ in EXPRESSIONS])
def test_every_series_and_label_is_exported(where: str, expression: str) -> None:
    series = exported()
    named = re.findall(r"(backscroll_\w+)(?:\{([^}]*)\})?", expression)
    assert named, where
    for name, matchers in named:
        assert name in series, name
        assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= series[name]
    labels = set.union(*(series[name] for name, _ in named))
    for grouped in re.findall(r"by \(([^)]*)\)", expression):
        assert {label.strip() for label in grouped.split(",")} <= labels


def test_every_metric_is_shown_or_watched() -> None:
    shown = " ".join(expression for _, expression in EXPRESSIONS)
    names = {re.sub(r"_(?:bucket|sum|count|total)$", "", name) for name in exported()}
    assert {name for name in names if name not in shown} == set()


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda p: p.stem)
def test_panels_have_ids_and_places_of_their_own(path: Path) -> None:
    board: dict[str, Any] = json.loads(path.read_text())
    panels = board["panels"]
    assert len({p["id"] for p in panels}) == len(panels)
    cells = [
        (x, y)
        for p in panels
        for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
        for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_every_alert_says_what_is_wrong() -> None:
    rules = [r for path in RULES for g in yaml.safe_load(path.read_text())["groups"] for r in g["rules"]]
    assert all(r["annotations"]["summary"] and r["labels"]["severity"] for r in rules)
    assert len({r["alert"] for r in rules}) == len(rules)
