"""`python -m evals.soak --requests 20000 --seed 1`: how many of so many requests went wrong; 0 is right."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from backscroll.standalone import standalone
from evals.soak.engines import DIM, engines, hashed_vectors
from evals.soak.play import Failure, Play, Tally
from evals.soak.said import PATHS, DialectName
from shared.settings import Settings
from shared.telemetry import configure_logging

WINDOWS = (2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768)
KEPT_FAILURES = 20
SAY_EVERY = 500
"""Requests between two lines of progress where no bar can be drawn."""
TIMEOUT = httpx.Timeout(180, connect=10)
console = Console()


async def soak(
    requests: int,
    seed: int,
    windows: tuple[int, ...],
    dialects: tuple[DialectName, ...],
    at_once: int,
    only: int | None,
    data: Path,
    failures: Path,
) -> Tally:
    """What fails is written to `failures` as it does."""
    async with hashed_vectors() as vectors, engines(windows) as (targets, engine_settings):
        settings = Settings(
            host="127.0.0.1",
            port=0,
            data_dir=data,
            engine_url=engine_settings[0].url,
            engines=engine_settings,
            embed_url=vectors,
            embed_dim=DIM,
        )
        async with (
            standalone(settings) as running,
            httpx.AsyncClient(base_url=running.url.removesuffix("/v1"), timeout=TIMEOUT) as http,
        ):
            play = Play(http, targets, seed, dialects)
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            with Progress(*columns, console=console) as progress:
                task = progress.add_task("soaking", total=requests)
                kept = 0
                async for tally in play.run(requests, at_once, only):
                    failed = f"soaking, {len(tally.failures)} wrong"
                    progress.update(task, completed=tally.requests, description=failed)
                    for failure in tally.failures[kept:KEPT_FAILURES]:
                        replay = command(seed, windows, dialects, f"--client {failure.client}")
                        path = keep(failure, failures, kept, replay)
                        console.print(f"{failure.kind}: {path}; again: {replay}", soft_wrap=True)
                        kept += 1
                    if not console.is_terminal and tally.requests % SAY_EVERY == 0:
                        console.print(f"{tally.requests:,} requests, {len(tally.failures)} wrong")
            return play.tally


def command(seed: int, windows: tuple[int, ...], dialects: tuple[DialectName, ...], rest: str) -> str:
    sizes = "" if windows == WINDOWS else f" --windows {','.join(map(str, windows))}"
    spoken = "" if dialects == tuple(PATHS) else f" --dialects {','.join(dialects)}"
    return f"python -m evals.soak --seed {seed}{sizes}{spoken} {rest}"


def keep(failure: Failure, directory: Path, number: int, replay: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{number:03}.json"
    path.write_text(json.dumps({"replay": replay, **asdict(failure)}, ensure_ascii=True, indent=1))
    return path


def main(
    requests: Annotated[int, typer.Option(help="How many.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 1,
    windows: Annotated[str, typer.Option(help="Tokens, with commas.")] = ",".join(map(str, WINDOWS)),
    dialects: Annotated[str, typer.Option(help="With commas.")] = ",".join(PATHS),
    at_once: Annotated[int, typer.Option(help="Clients at the same time.")] = 6,
    client: Annotated[int | None, typer.Option(help="Only the client of this number.")] = None,
    failures: Annotated[Path, typer.Option(help="Where failing requests go.")] = Path("soak-failures"),
) -> None:
    """Exit status 1 where anything went wrong."""
    sizes = tuple(int(w) for w in windows.split(","))
    spoken = tuple(name for name in PATHS if name in dialects.split(","))
    configure_logging("WARNING")
    with TemporaryDirectory() as data:
        tally = asyncio.run(soak(requests, seed, sizes, spoken, at_once, client, Path(data), failures))
    console.print(command(seed, sizes, spoken, f"--requests {requests}"), soft_wrap=True)
    console.print(f"Requests  {tally.requests:,}: {dict(tally.seen.most_common())}")
    console.print(f"Wrong     {len(tally.failures)}: {dict(tally.kinds.most_common())}")
    raise typer.Exit(1 if tally.failures else 0)


if __name__ == "__main__":
    typer.run(main)
