"""The Helm chart as the API server would get it: rendered by Helm's own code, read as YAML."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python as helm
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "k8s" / "backscroll"
STAND_INS = Path(__file__).parent / "charts"
"""For the charts that ours depends on: nothing is fetched in a test."""

Manifest = dict[str, Any]
Values = dict[str, Any]
Sets = dict[str, list[Manifest]]
"""Manifests by the name of the values that they are rendered with."""

SERVICES = ("gateway", "chunker", "embedder", "retriever", "assembler")


def with_stand_ins(folder: Path) -> Path:
    """A copy of the chart that has its dependencies."""
    copy = folder / "backscroll"
    shutil.copytree(CHART, copy)
    shutil.copytree(STAND_INS, copy / "charts")
    return copy


def values_file(name: str) -> Values:
    return dict(yaml.safe_load((CHART / name).read_text()))


def laid_over(values: Values, more: Values) -> Values:
    """As Helm lays one values file over another."""
    merged = dict(values)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = laid_over(merged[key], value) if both else value
    return merged


def rendered(path: Path, values: Values, **release: Any) -> list[Manifest]:
    """Raises `helm.HelmError` with what the chart or its schema says against the values."""
    # Loaded each time: a dependency that one render turns off is gone from the loaded chart.
    with helm.Chart.load(path) as chart:
        chart.validate_schema(values)
        files = chart.render(values, **{"name": "rel", "namespace": "chat", **release})
    texts = [text for name, text in files.items() if not name.endswith(".txt")]
    return [doc for text in texts for doc in yaml.safe_load_all(text) if doc]


def of_kind(manifests: list[Manifest], *kinds: str) -> list[Manifest]:
    return [m for m in manifests if m["kind"] in kinds]


def named(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    (found,) = [m for m in of_kind(manifests, kind) if m["metadata"]["name"] == name]
    return found


def deployment(manifests: list[Manifest], part: str) -> Manifest:
    return named(manifests, "Deployment", f"rel-backscroll-{part}")


def ours(manifests: list[Manifest]) -> list[Manifest]:
    """Without those of the stand-ins."""
    return [m for m in manifests if "app.kubernetes.io/part-of" in m["metadata"].get("labels", {})]


def workloads(manifests: list[Manifest]) -> list[Manifest]:
    return of_kind(manifests, "Deployment", "StatefulSet", "Job")


def pod(workload: Manifest) -> Manifest:
    """Its template: `metadata` and `spec`."""
    return dict(workload["spec"]["template"])


def containers(workload: Manifest) -> list[Manifest]:
    spec = pod(workload)["spec"]
    return [*spec.get("initContainers", []), *spec["containers"]]


def env_of(workload: Manifest) -> dict[str, Manifest]:
    return {e["name"]: e for c in containers(workload) for e in c.get("env", [])}


def selects(selector: dict[str, str], labels: dict[str, str]) -> bool:
    return bool(selector) and selector.items() <= labels.items()


def every(value: Any, key: str) -> Iterator[Any]:
    """Each value under a key of this name, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from every(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from every(inner, key)
