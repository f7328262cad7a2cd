"""`python -m evals.bench`"""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console

from evals.bench.client import Client
from evals.bench.engine import run_engine
from evals.bench.history import History
from evals.bench.measure import Results, first_request, known_session, small_requests
from evals.bench.services import Ports, run_services
from evals.bench.table import show, write

START_S = 60.0
STOP_S = 20.0


@contextmanager
def _running() -> Iterator[tuple[int, Ports]]:
    """Engine and services, each a process of its own."""
    processes = multiprocessing.get_context("spawn")

    def start(run: Any, *arguments: Any) -> tuple[Any, Any, Any]:
        ours, theirs = processes.Pipe()
        process = processes.Process(target=run, args=(theirs, *arguments), daemon=True)
        process.start()
        theirs.close()  # so that reading ends where the process does
        if not ours.poll(START_S):
            raise TimeoutError(f"{run.__name__} did not start")
        return process, ours, ours.recv()

    with TemporaryDirectory(prefix="backscroll-bench-") as folder:
        engine, _, engine_port = start(run_engine)
        services, stop, ports = start(run_services, engine_port, folder)
        try:
            yield engine_port, ports
        finally:
            stop.send("stop")
            services.join(STOP_S)
            engine.terminate()
            engine.join()


def main(
    quick: Annotated[bool, typer.Option(help="A tenth of the history, few repetitions.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the figures here, as JSON lines.")] = None,
) -> None:
    """Where the time goes, with an engine and models that take none."""
    console = Console()
    history = History(1_000 if quick else 10_000)
    results = Results()
    with _running() as (engine_port, ports), console.status("pass-through") as status:
        long = Client(ports.gateway, "bench")
        ways = {
            "engine alone": Client(engine_port),
            "bare Starlette and httpx": Client(ports.bare),
            "Backscroll": Client(ports.gateway, "small"),
        }
        results.small = small_requests(ways, 50 if quick else 400)
        status.update(f"first request of {len(history.raw):,} messages")
        results.cold = first_request(long, history)
        results.known = known_session(long, history, *((6, 1) if quick else (30, 8)), status.update)
    show(results, console)
    if json:
        write(results, json)


if __name__ == "__main__":
    typer.run(main)
