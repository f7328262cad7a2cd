"""`backscroll reindex`: the collection that the settings name, filled from one that is there."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from backscroll import options
from backscroll.reach import operator_bus
from backscroll.reindex.fill import Eras, Filled, Tell, fill
from backscroll.work import finish, settings_of
from shared.bus.erased import OfEra, Session
from shared.errors import PermanentFault
from shared.models.open import open_embedder
from shared.settings import Settings
from shared.store import open_store
from shared.store.open import collections, of_prefix, open_collection
from shared.telemetry import configure_logging

console = Console()
told = Console(stderr=True)


def reindex(
    source: Annotated[
        str | None,
        typer.Option("--from", help="The collection to read.", show_default="the one other that is there"),
    ] = None,
    yes: options.Yes = False,
    as_json: options.Json = False,
    data: Annotated[
        Path | None, typer.Option("--data", help="The data directory of a stopped `backscroll up`.")
    ] = None,
) -> None:
    """Fill the collection of the embedding model that is set now from the texts of another one, which is only
    read and can go on serving. Can be run again: it does what is left."""
    configure_logging("error")
    settings = settings_of(data_dir=data)
    done = finish(_reindex(settings, source, yes))
    if as_json:
        print(json.dumps(asdict(done)))
        return
    console.print(f"{done.messages} messages copied, {done.chunks} chunks of them embedded", highlight=False)
    if done.erased:
        console.print(f"{done.erased} messages left out: their session was erased", highlight=False)
    if done.waiting:
        console.print(f"{done.waiting} messages were still being written: run it again", highlight=False)
    for digest, why in done.faulty.items():
        console.print(f"chunk {digest} has no vector, only its words: {escape(why)}", soft_wrap=True)


async def _reindex(settings: Settings, source: str | None, yes: bool) -> Filled:
    async with AsyncExitStack() as stack:
        embedder = open_embedder(settings)
        stack.push_async_callback(embedder.close)
        new = open_store(settings, embedder.name, embedder.dim)
        stack.push_async_callback(new.close)
        there = await collections(settings)
        name = _source(source, new.name, there, settings.collection)
        old = open_collection(settings, name, there[name])
        stack.push_async_callback(old.close)
        # The one that is there first: its lock tells whether a `backscroll up` has it open.
        await old.ensure()
        count = await old.said_count()
        told.print(f"Reads {name}: {count} messages. Fills {new.name} by {embedder.name}.", highlight=False)
        # Off the loop: the connection must be kept alive while somebody thinks.
        if not yes:
            await asyncio.to_thread(typer.confirm, "Go on?", abort=True)
        await new.ensure()
        eras = await stack.enter_async_context(_eras(settings))
        with _progress() as tell:
            return await fill(old, new, embedder, eras, tell)


def _source(wanted: str | None, new: str, there: Iterable[str], prefix: str) -> str:
    others = [name for name in there if name != new]
    likely = of_prefix(prefix, others)
    if wanted is None and len(likely) == 1:
        return likely[0]
    if wanted in others:
        return wanted
    listed = ", ".join(others) or "none"
    if wanted == new:
        raise PermanentFault(f"{new} is the collection to fill. To be read: {listed}")
    if wanted is not None:
        raise PermanentFault(f"There is no collection {wanted}. To be read: {listed}")
    raise PermanentFault(f"Which collection is to be read (--from) into {new}? There are: {listed}")


@asynccontextmanager
async def _eras(settings: Settings) -> AsyncIterator[Eras]:
    """Edge is open here alone: nobody erases meanwhile, and what was erased is gone from it."""
    if settings.qdrant_url is None:
        yield _no_eras
        return
    async with operator_bus(settings) as bus:
        yield bus.erased.eras


async def _no_eras(given: Iterable[OfEra]) -> dict[Session, int]:
    return {(each.tenant, each.session): 0 for each in given}


@contextmanager
def _progress() -> Iterator[Tell]:
    """On stderr, so that what is found can be piped."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=told, transient=True) as shown:
        task = shown.add_task("messages")

        def tell(done: Filled) -> None:
            shown.update(task, total=done.total, completed=done.seen, description=f"{done.chunks} chunks")

        yield tell
