"""`backscroll eval`: suites, run under systems that are compared with each other in one report."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evals.machine import commit
from evals.plan import Wanted, planned
from evals.report.write import write_report
from evals.results import Results
from evals.session import Session
from evals.suites import SUITES
from evals.systems import SYSTEMS, TURN_SYSTEMS
from shared.telemetry import configure_logging

console = Console()
NAMES = ", ".join(SUITES)
OUT = Path(".backscroll/eval")
CACHE = Path(".backscroll/eval-vectors.db")
REPORT = "report"


def evaluate(
    suite: Annotated[
        list[str], typer.Argument(help=f"`all`, or some of {NAMES}. Or `report` and files of raw results.")
    ],
    data: Annotated[Path | None, typer.Option(help="The evaluation data (docs/evaluation).")] = None,
    budget: Annotated[list[int] | None, typer.Option(help="Tokens, in place of the suite's own.")] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help=f"Some of {', '.join(SYSTEMS | TURN_SYSTEMS)}."),
    ] = None,
    setting: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, of Backscroll.")] = None,
    ablate: Annotated[bool, typer.Option(help="Backscroll with each mechanism off, one at a time.")] = False,
    quick: Annotated[bool, typer.Option(help="The quick part of each suite.")] = False,
    cases: Annotated[int | None, typer.Option(help="At most so many conversations.")] = None,
    questions: Annotated[int | None, typer.Option(help="At most so many of each conversation.")] = None,
    vectors: Annotated[
        bool | None, typer.Option(help="With the bundled embedding model; by default as the suite says.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the synthetic suites.")] = 1,
    out: Annotated[Path, typer.Option(help="Raw results; what is there is not asked again.")] = OUT,
    cache: Annotated[Path, typer.Option(help="Embeddings on disk.")] = CACHE,
    report: Annotated[Path | None, typer.Option(help="Directory of the report; unset: in `--out`.")] = None,
) -> None:
    """Whether what the model needs from far back is in its prompt, and at what price."""
    configure_logging("error")
    commit()
    where = report or out / "report"
    if suite[0] == REPORT:
        written = write_report([Results(Path(file)) for file in suite[1:]], where)
        console.print(f"{written}", soft_wrap=True)
        return
    try:
        wanted = Wanted(
            suite, system or (), budget or (), setting or (), ablate, quick, cases, questions, vectors, seed
        )
        jobs = planned(wanted)
    except ValueError as wrong:
        console.print(f"[red]{wrong}[/red]", soft_wrap=True)
        raise typer.Exit(2) from wrong
    session = Session(console, out, cache, data)
    asyncio.run(session.run(jobs))
    written = write_report(list(session.results.values()), where, [job.run().key for job in session.done])
    console.print(f"The report is at {written}", soft_wrap=True)
    for fault in session.faults()[:10]:
        console.print(f"[red]{fault}[/red]", soft_wrap=True, markup=True)
    if session.faults():
        raise typer.Exit(1)
