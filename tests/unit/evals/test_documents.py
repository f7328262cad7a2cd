"""docs/evaluation/README.md names what there is."""

import re
from pathlib import Path

from evals.gates import GATES
from evals.suites import SUITES
from evals.systems import SYSTEMS, TURN_SYSTEMS

TEXT = (Path(__file__).parents[3] / "docs" / "evaluation" / "README.md").read_text()


def section(heading: str) -> str:
    return re.split(r"^## ", TEXT.split(f"\n## {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]


def test_every_suite_is_told() -> None:
    told = set(re.findall(r"`([\w-]+)`", section("Suites")))
    endings = {name for name in told if name.startswith("-")}
    assert told - endings <= SUITES.keys()
    named = {name for name in SUITES if name.startswith("scattered") and name.endswith(tuple(endings))}
    assert SUITES.keys() - named == told - endings


def test_every_system_and_gate_is_told() -> None:
    assert set(re.findall(r"`([\w-]+)`", section("Systems"))) >= SYSTEMS.keys() | TURN_SYSTEMS.keys()
    assert all(f"| {gate} |" in section("Gates") for gate in GATES)
