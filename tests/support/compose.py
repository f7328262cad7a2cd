"""compose.yaml as Docker Compose reads it: merged, with its variables filled in."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>[A-Z_]+)(?::-(?P<default>[^}]*))?\})")


def text() -> str:
    return (ROOT / "compose.yaml").read_text()


def variables() -> dict[str, str]:
    """Names in compose.yaml with their defaults."""
    return {m["name"]: m["default"] or "" for m in VARIABLE.finditer(text()) if m["name"]}


def compose(given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """With these variables; an empty one counts as unset."""
    values = dict(given or {})
    filled: dict[str, Any] = _filled(yaml.safe_load(text()), values)
    return filled


def _filled(node: Any, values: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: _filled(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(value, values) for value in node]
    if not isinstance(node, str):
        return node
    return VARIABLE.sub(lambda m: "$" if m["dollar"] else values.get(m["name"]) or m["default"] or "", node)


def env_file(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)
