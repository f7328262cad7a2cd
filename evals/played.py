"""Suites that are played turn by turn, a conversation at a time, so that they can be resumed."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.progress import Progress

from evals.case import Case
from evals.embeddings import EmbeddingCache
from evals.job import Job
from evals.results import Results
from evals.turns.run import Plan, Played, run
from evals.turns.systems import SYSTEMS, System
from evals.turns.turn import Embedded, Turn


async def play_all(
    job: Job, cases: Sequence[Case], results: Results, cache: EmbeddingCache | None, progress: Progress
) -> None:
    """What is in the results already is not played again; a replay counts over all its cases at once."""
    filed = job.run()
    results.begin(filed)
    rows = results.of(filed)
    system = replace(SYSTEMS.get(job.system.name, System()), settings={})
    replayed = job.suite.mode == "replay"
    for window in job.budgets:
        plan = Plan(window, system, job.suite.judged, job.seed, job.settings, replayed)
        if replayed:
            left = [] if any(isinstance(r, Embedded) and r.window == window for r in rows) else [list(cases)]
        else:
            known = {r.case for r in rows if isinstance(r, Turn) and r.window == window}
            left = [[case] for case in cases if case.name not in known]
        for together in left:
            played = await run(plan, together, cache, _bars(job, progress))
            for row in _rows(played):
                results.add(filed, row)


def _bars(job: Job, progress: Progress) -> Callable[[str, int], Callable[[], None]]:
    def begin(case: str, total: int) -> Callable[[], None]:
        task = progress.add_task(f"{job} · {case}", total=total)
        return lambda: progress.advance(task)

    return begin


def _rows(played: Played) -> list[Turn | Embedded]:
    return [*played.turns, *([played.embedded] if played.embedded else [])]
