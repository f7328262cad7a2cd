"""The tables of gates: by system, and whatever failed."""

from collections import Counter
from collections.abc import Sequence

from evals.gates import DETERMINISM, GATES, gate_of
from evals.report.figures import Filed, Suited
from evals.report.tables import NONE, table


def by_system(suites: Sequence[Suited]) -> str:
    """How many prompts of each system fail each gate, over all suites."""
    every = [filed for suited in suites for filed in suited.systems]
    names = list(dict.fromkeys(filed.system for filed in every))
    return table(
        ["system", "prompts", *GATES],
        [[name, *_cells([filed for filed in every if filed.system == name])] for name in names],
    )


def failed(suites: Sequence[Suited]) -> str:
    """The same for each suite and system that failed any; empty where none did."""
    rows = [
        [suited.name, filed.system, *_cells([filed])]
        for suited in suites
        for filed in suited.systems
        if _count([filed]).total()
    ]
    return table(["suite", "system", "prompts", *GATES], rows, left=2) if rows else ""


def _cells(filed: Sequence[Filed]) -> list[str]:
    count = _count(filed)
    asked = sum(len(f.judged) + sum(not turn.refused for turn in f.turns) for f in filed)
    again = sum(r.asked for f in filed for r in f.repeated)
    cells = {gate: str(count[gate]) for gate in GATES}
    cells[DETERMINISM] = f"{count[DETERMINISM]} of {again}" if again else NONE
    return [f"{asked:,}", *cells.values()]


def _count(filed: Sequence[Filed]) -> Counter[str]:
    """Each gate once a prompt."""
    count: Counter[str] = Counter()
    for each in filed:
        faults = [row.faults for row in each.judged] + [row.faults for row in each.turns]
        for of_prompt in faults:
            count.update({gate_of(fault) for fault in of_prompt})
        count[DETERMINISM] += sum(r.differed for r in each.repeated)
    return count
