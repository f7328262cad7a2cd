"""`python -m evals SUITE`: recall, judged on the prompts that the engine received."""

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from evals.case import Case
from evals.data import NoData, data_root
from evals.metrics import Judged, aeh, er, interval
from evals.run import Setup, run
from evals.suites import beam, locomo
from shared.telemetry import configure_logging

console = Console()
Load = Callable[[Path], Iterable[Case]]
SUITES: dict[str, tuple[Load, list[int]]] = {
    "locomo": (locomo.load, [2048, 4096, 8192]),
    "beam-100k": (partial(beam.load, size="100K"), [8192, 32_768]),
    "beam-500k": (partial(beam.load, size="500K"), [32_768]),
    "beam-1m": (partial(beam.load, size="1M"), [32_768, 262_144]),
}


def main(
    suite: Annotated[str, typer.Argument(help=f"One of {', '.join(SUITES)}.")],
    data: Annotated[Path | None, typer.Option(help="The evaluation data.")] = None,
    budget: Annotated[list[int] | None, typer.Option(help="Tokens of recent turns and block.")] = None,
    cases: Annotated[int, typer.Option(help="How many conversations.")] = 1000,
    skip: Annotated[int, typer.Option(help="Conversations left out at the beginning.")] = 0,
    vectors: Annotated[bool, typer.Option(help="With the bundled embedding model.")] = True,
    setting: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, as in the settings.")] = None,
    out: Annotated[Path | None, typer.Option(help="Judgements as JSON lines.")] = None,
    cache: Annotated[Path, typer.Option(help="Embeddings on disk.")] = Path(".backscroll/eval-vectors.db"),
) -> None:
    """Run one suite and print ER and AEH by budget, and by kind of question."""
    configure_logging("error")
    load, budgets = SUITES[suite]
    try:
        wanted: list[Case] = list(islice(load(data_root(data)), skip, skip + cases))
    except NoData as missing:
        console.print(f"[red]{missing}[/red]", soft_wrap=True)
        raise typer.Exit(2) from missing
    changed = dict(item.split("=", 1) for item in setting or [])
    setup = Setup("backscroll", changed, vectors, cache)
    with Progress(console=console) as progress:
        results = asyncio.run(run(setup, wanted, budget or budgets, progress))
    if out is not None:
        with out.open("a") as lines:
            lines.writelines(json.dumps({"budget": b, **vars(j)}) + "\n" for b, j in results)
    console.print(_table(suite, results))


def _table(suite: str, results: list[tuple[int, Judged]]) -> Table:
    table = Table(title=suite)
    for column in ("budget", "kind", "questions", "ER", "AEH", "95%", "prompt tokens"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for budget in sorted({b for b, _ in results}):
        judged = [j for b, j in results if b == budget]
        for kind in ["all", *sorted({j.kind for j in judged})]:
            of_kind = [j for j in judged if kind in ("all", j.kind)]
            low, high = interval(of_kind, aeh)
            tokens = sum(j.tokens for j in of_kind) / len(of_kind)
            table.add_row(
                f"{budget:,}",
                kind,
                str(len(of_kind)),
                f"{er(of_kind):.3f}",
                f"{aeh(of_kind):.3f}",
                f"{low:.3f}-{high:.3f}",
                f"{tokens:,.0f}",
            )
    return table


if __name__ == "__main__":
    typer.run(main)
