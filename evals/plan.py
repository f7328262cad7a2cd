"""From the options of the command to jobs, in the order in which they are run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evals.job import Job
from evals.suite import Suite
from evals.suites import SUITES
from evals.systems import BY_DEFAULT, SYSTEMS, TURN_SYSTEMS, System, ablations

ALL = "all"


@dataclass(frozen=True)
class Wanted:
    suites: Sequence[str]
    systems: Sequence[str] = ()
    """Empty: those that are compared by default."""
    budgets: Sequence[int] = ()
    settings: Sequence[str] = ()
    """`NAME=VALUE`; a value may be JSON."""
    ablate: bool = False
    quick: bool = False
    cases: int | None = None
    questions: int | None = None
    vectors: bool | None = None
    seed: int = 1


def planned(wanted: Wanted) -> list[Job]:
    """Raises `ValueError` for a name that is not known."""
    given = dict(_setting(text) for text in wanted.settings)
    return [
        _job(wanted, suite, system, given) for suite in _suites(wanted) for system in _systems(wanted, suite)
    ]


def _job(wanted: Wanted, suite: Suite, system: System, given: dict[str, Any]) -> Job:
    quick = suite.quick if wanted.quick else None
    vectors = wanted.vectors
    if vectors is None:
        vectors = quick.vectors if quick else suite.vectors
    return Job(
        suite=suite,
        system=system,
        budgets=tuple(wanted.budgets) or (quick.budgets if quick else suite.budgets),
        vectors=vectors and suite.vectors,
        seed=wanted.seed,
        given=given,
        cases=_least(wanted.cases, quick.cases if quick else None),
        questions=_least(wanted.questions, quick.questions if quick else None),
    )


def _suites(wanted: Wanted) -> list[Suite]:
    names = list(SUITES) if ALL in wanted.suites else list(wanted.suites)
    found = [_known(SUITES, name, "suite") for name in names]
    return [suite for suite in found if suite.quick] if wanted.quick else found


def _systems(wanted: Wanted, suite: Suite) -> list[System]:
    """A system that only the other kind of suite has is left out."""
    if wanted.ablate:
        return ablations()
    of_suite = SYSTEMS if suite.mode == "questions" else TURN_SYSTEMS
    for name in wanted.systems:
        _known(SYSTEMS | TURN_SYSTEMS, name, "system")
    return [of_suite[name] for name in wanted.systems or BY_DEFAULT[suite.mode] if name in of_suite]


def _known(names: dict[str, Any], name: str, what: str) -> Any:
    if name not in names:
        raise ValueError(f"there is no {what} {name}: one of {', '.join(names)}")
    return names[name]


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _setting(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise ValueError(f"{text} is not NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
