"""Runs jobs one after the other, with bars, and keeps every row on disk as soon as it is known."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evals.case import Case
from evals.data import NoData
from evals.embeddings import EmbeddingCache
from evals.gates import faults_of
from evals.job import Job, spread
from evals.judged import Judged, Repeated
from evals.plain import ask_plain
from evals.played import play_all
from evals.results import Results, Row
from evals.run import ask_again, ask_all
from evals.systems import PRODUCT


class Session:
    def __init__(self, console: Console, out: Path, cache: Path, data: Path | None) -> None:
        self.results: dict[str, Results] = {}
        self.done: list[Job] = []
        self._console = console
        self._out = out
        self._data = data
        self._cache_file = cache
        self._cases: dict[tuple[str, int | None], list[Case]] = {}

    async def run(self, jobs: Sequence[Job]) -> None:
        """A job whose data or vectors are missing is left out with a line that says so."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        cache = EmbeddingCache(self._cache_file)
        try:
            with Progress(*columns, console=self._console) as progress:
                for job in jobs:
                    await self._one(job, cache, progress)
        finally:
            await cache.close()
        self._say(f"{cache.tokens:,} tokens were embedded")

    async def _one(self, job: Job, cache: EmbeddingCache, progress: Progress) -> None:
        if job.system.needs_vectors and not job.vectors:
            self._say(f"{job}: left out, it needs vectors and this suite is run by terms alone")
            return
        try:
            cases = self._cases_of(job)
        except NoData as missing:
            self._say(f"{job}: left out, {missing}")
            return
        name = job.suite.name
        results = self.results.setdefault(name, Results(self._out / f"{name}.jsonl"))
        if job.suite.mode == "questions":
            await _ask(job, cases, results, cache if job.vectors else None, progress)
        else:
            await play_all(job, cases, results, cache if job.vectors else None, progress)
        self.done.append(job)

    def faults(self) -> list[str]:
        """Every gate that a prompt of these jobs failed."""
        return [
            f"{job}: {fault}"
            for job in self.done
            for row in self.results[job.suite.name].of(job.run())
            for fault in faults_of(row)
        ]

    def _cases_of(self, job: Job) -> list[Case]:
        """Read once a suite; each with the questions that the job asks."""
        key = (job.suite.name, job.cases)
        if key not in self._cases:
            self._cases.clear()
            self._cases[key] = list(islice(job.suite.cases(self._data, job.seed), job.cases))
        return [replace(case, questions=spread(case.questions, job.questions)) for case in self._cases[key]]

    def _say(self, line: str) -> None:
        self._console.print(line, soft_wrap=True, markup=False)


async def _ask(
    job: Job, cases: list[Case], results: Results, cache: EmbeddingCache | None, progress: Progress
) -> None:
    run = job.run()
    results.begin(run)
    asked = results.asked(run)
    every = {(c.name, q.id, b) for c in cases for q in c.questions for b in job.budgets}
    task = progress.add_task(str(job), total=len(every), completed=len(every & asked))

    def keep(row: Row) -> None:
        results.add(run, row)
        if isinstance(row, Judged):
            progress.advance(task)

    if job.system.baseline:
        await ask_plain(job, cases, asked, cache, keep)
        return
    if every - asked:
        await ask_all(job, cases, asked, cache, keep)
    told = any(isinstance(row, Repeated) for row in results.of(run))
    if cases and not told and job.system.name in PRODUCT:
        await ask_again(job, cases, results.of(run), cache, keep)
