"""The tables of a report, in Markdown."""

from collections.abc import Sequence
from statistics import median

from evals.judged import Judged
from evals.metrics import aeh, all_found, difference, er, found, interval
from evals.report.figures import Filed, Suited
from evals.turns.run import Played
from evals.turns.table import COLUMNS, line

NONE = "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The first `left` columns hold words, the rest figures."""
    marks = ["---" if column < left else "---:" for column in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, marks, *rows))


def overview(suites: Sequence[Suited]) -> str:
    """All evidence found, of every suite and system."""
    names = list(dict.fromkeys(filed.system for suited in suites for filed in suited.systems if filed.judged))
    rows = []
    for suited in suites:
        by_name = {filed.system: filed for filed in suited.systems}
        for budget in suited.budgets:
            of_each = [by_name[name].at(budget) if name in by_name else [] for name in names]
            rows.append([suited.name, f"{budget:,}", str(max(map(len, of_each))), *map(_aeh, of_each)])
    return table(["suite", "budget", "questions", *names], rows)


def recall(suited: Suited) -> str:
    """Every system at every budget; differences are of all evidence found, paired by question."""
    ranks = sorted({k for filed in suited.systems for j in filed.judged for k, _ in j.at})
    head = ["system", "budget", "questions", "ER", "95%", "AEH", "95%", "Backscroll's AEH is more by", "95%"]
    head += ["prompt tokens", "ms", *(f"R@{k}" for k in ranks)]
    return table(
        head, [_recall_row(suited, filed, b, ranks) for b in suited.budgets for filed in suited.systems]
    )


def _recall_row(suited: Suited, filed: Filed, budget: int, ranks: Sequence[int]) -> list[str]:
    judged = filed.at(budget)
    if not judged:
        return [filed.system, f"{budget:,}", "0", *[NONE] * (8 + len(ranks))]
    reference = suited.reference
    versus = [NONE, NONE]
    if reference is not None and reference is not filed:
        mean, low, high = difference(reference.at(budget), judged, all_found)
        versus = [f"{mean:+.3f}", span(judged, low, high, "+")]
    shares = [dict(j.at) for j in judged]
    return [
        filed.system,
        f"{budget:,}",
        f"{len(judged):,}",
        f"{er(judged):.3f}",
        span(judged, *interval(judged, found)),
        f"**{aeh(judged):.3f}**",
        span(judged, *interval(judged, all_found)),
        *versus,
        f"{sum(j.tokens for j in judged) / len(judged):,.0f}",
        f"{1000 * median(j.seconds for j in judged):,.0f}",
        *(f"{sum(s.get(k, 0.0) for s in shares) / len(shares):.3f}" for k in ranks),
    ]


def span(judged: Sequence[Judged], low: float, high: float, sign: str = "") -> str:
    """Empty where there is one conversation alone to draw from."""
    return f"{low:{sign}.3f} to {high:{sign}.3f}" if len({j.case for j in judged}) > 1 else NONE


def by_kind(suited: Suited) -> str:
    """All evidence found, by kind of question; empty where there is one kind."""
    if len(suited.kinds) < 2:
        return ""
    head = ["kind", "questions", "budget", *(filed.system for filed in suited.systems)]
    rows = []
    for kind in suited.kinds:
        for budget in suited.budgets:
            of_kind = [filed.at(budget, kind) for filed in suited.systems]
            count = max(map(len, of_kind))
            rows.append([kind, str(count), f"{budget:,}", *map(_aeh, of_kind)])
    return table(head, rows)


def _aeh(judged: Sequence[Judged]) -> str:
    return f"{aeh(judged):.3f}" if judged else NONE


def played(suited: Suited) -> str:
    """Suites that are played turn by turn: price and recall of requests longer than the window."""
    rows = []
    for window in suited.windows:
        for filed in suited.systems:
            turns = [turn for turn in filed.turns if turn.window == window]
            embedded = next((e for e in filed.embedded if e.window == window), None)
            if turns:
                system, *cells = line(filed.system, Played(turns, embedded))
                rows.append([system, f"{window:,}", *cells])
    return table([COLUMNS[0], "window", *COLUMNS[1:]], rows)


def mechanisms(suited: Suited) -> str:
    """What each mechanism contributes: Backscroll less Backscroll without it; empty without ablations."""
    reference = suited.reference
    without = [filed for filed in suited.systems if filed.system.startswith("without ")]
    if reference is None or not without:
        return ""
    rows = []
    for filed in without:
        for budget in suited.budgets:
            full, less = reference.at(budget), filed.at(budget)
            shares = difference(full, less, found)
            whole = difference(full, less, all_found)
            rows.append(
                [
                    filed.system.removeprefix("without "),
                    f"{budget:,}",
                    f"{shares[0]:+.3f}",
                    span(less, *shares[1:], "+"),
                    f"**{whole[0]:+.3f}**",
                    span(less, *whole[1:], "+"),
                ]
            )
    return table(["mechanism", "budget", "ER", "95%", "AEH", "95%"], rows)
