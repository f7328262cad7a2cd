"""What a report tells: the results of a suite, by system and budget."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from evals.judged import Judged, Repeated
from evals.results import Results, Row, Run
from evals.turns.turn import Embedded, Turn

ALL = "all"
REFERENCE = "backscroll"


@dataclass(frozen=True)
class Filed:
    """One system on one suite."""

    run: Run
    rows: Sequence[Row]

    @property
    def system(self) -> str:
        return self.run.system

    @cached_property
    def judged(self) -> list[Judged]:
        return [row for row in self.rows if isinstance(row, Judged)]

    @cached_property
    def turns(self) -> list[Turn]:
        return [row for row in self.rows if isinstance(row, Turn)]

    @property
    def embedded(self) -> list[Embedded]:
        return [row for row in self.rows if isinstance(row, Embedded)]

    @property
    def repeated(self) -> list[Repeated]:
        return [row for row in self.rows if isinstance(row, Repeated)]

    def at(self, budget: int, kind: str = ALL) -> list[Judged]:
        return [j for j in self.judged if j.budget == budget and kind in (ALL, j.kind)]


@dataclass(frozen=True)
class Suited:
    """All systems on one suite, the newest run of each."""

    name: str
    systems: Sequence[Filed]

    @property
    def budgets(self) -> list[int]:
        return sorted({j.budget for filed in self.systems for j in filed.judged})

    @property
    def windows(self) -> list[int]:
        return sorted({t.window for filed in self.systems for t in filed.turns})

    @property
    def kinds(self) -> list[str]:
        return sorted({j.kind for filed in self.systems for j in filed.judged} - {ALL})

    @property
    def reference(self) -> Filed | None:
        return next((filed for filed in self.systems if filed.system == REFERENCE), None)


def suites_of(results: Sequence[Results], keys: Sequence[str] | None) -> Iterator[Suited]:
    """`keys`: of the runs that are told; None: of each system the one that was begun last."""
    found: dict[str, dict[str, Filed]] = {}
    for file in results:
        for key, run in file.runs.items():
            rows = file.rows.get(key)
            if rows and (keys is None or key in keys):
                found.setdefault(run.suite, {})[run.system] = Filed(run, rows)
    for name, systems in found.items():
        yield Suited(name, list(systems.values()))
