"""`backscroll replay`: look into streams, run a range again, hand events out again, plan a request again."""

import asyncio
import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from backscroll import options
from backscroll.reach import run
from backscroll.replay import show
from backscroll.replay.look import Seen, Which, look
from backscroll.replay.plan import Again, plan_again
from backscroll.replay.rerun import Rerun, Sides, rerun
from backscroll.replay.reset import Reset, planned, reset
from backscroll.replay.settings import values_of
from services.gateway.http.access import OPEN_TENANT
from services.gateway.inspector.replan import Change
from shared.bus import Bus
from shared.bus.subjects import HOLDS, MESSAGES, RECORDS
from shared.overrides import changed
from shared.settings import Settings

replay = typer.Typer(
    no_args_is_help=True,
    help="Look into streams; run a range again beside what is in use; plan a request again.",
)
console = Console()

Stream = Annotated[str, typer.Argument(help=f"One of {', '.join(HOLDS)}.")]
Content = Annotated[bool, typer.Option("--content", help="Show what was said too.")]
Changes = Annotated[
    list[str] | None, typer.Option("--setting", help="NAME=VALUE, to see what it would change; repeatable.")
]


@replay.command(name="list")
def list_events(
    stream: Stream = MESSAGES,
    tenant: options.Tenant = None,
    session: options.Session = None,
    since: options.Since = None,
    until: options.Until = None,
    first: options.First = None,
    last: options.Last = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 100,
    content: Content = False,
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """What a stream holds, oldest first. Only reads."""
    which = _which(stream, tenant, session, since, until, first, last)

    async def work(bus: Bus, _: Settings) -> None:
        shown = 0
        async for seen in look(bus, which):
            if shown == limit:
                console.print(f"More than {limit}; --limit shows more, --from-seq goes on.")
                return
            _print(seen, content, as_json)
            shown += 1

    run(work, data)


@replay.command()
def follow(
    stream: Stream = MESSAGES,
    tenant: options.Tenant = None,
    session: options.Session = None,
    since: options.Since = "0s",
    content: Content = False,
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """What comes to a stream, as it comes, until interrupted. Only reads."""
    which = _which(stream, tenant, session, since)

    async def work(bus: Bus, _: Settings) -> None:
        async for seen in look(bus, which, follow=True):
            _print(seen, content, as_json)

    run(work, data)


@replay.command(name="run")
def run_again(
    tenant: options.Tenant = None,
    session: options.Session = None,
    since: options.Since = None,
    until: options.Until = None,
    first: options.First = None,
    last: options.Last = None,
    changes: Changes = None,
    into: Annotated[str | None, typer.Option(help="Keep the scratch stores under this name.")] = None,
    vectors: Annotated[bool, typer.Option(help="Embed too; else by terms alone.")] = True,
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """Messages of a range once more through chunker and embedder, into scratch stores; then the recorded
    requests of the same time over these. Nothing that is in use is written to."""
    messages = _which(MESSAGES, tenant, session, since, until, first, last)
    # Sequences are a stream's own.
    records = _which(RECORDS, tenant, session, since, until)

    async def work(bus: Bus, settings: Settings) -> Rerun:
        wanted = values_of(changes or ())
        other = changed(settings, wanted) if wanted else None
        async with Sides(settings, other, into).opened() as sides:
            show.plan_of_run(console, messages, [side.scratch.where for side in sides.values()], changes)
            with show.progress(console) as tell:
                return await rerun(bus, messages, records, sides, vectors=vectors, tell=tell)

    done = run(work, data)
    if as_json:
        print(json.dumps(show.told_of_run(done)))
    else:
        show.run_done(console, done, bool(changes))


@replay.command(name="reset")
def reset_durable(
    durable: Annotated[str, typer.Argument(help="chunker, terms or vectors.")],
    first: options.First = None,
    since: options.Since = None,
    yes: options.Yes = False,
    data: options.Data = None,
) -> None:
    """Hand a durable its events once more, after a fault was mended. The one command here that changes
    something that is in use: it says what, and asks."""
    if (first is None) == (since is None):
        raise typer.BadParameter("Say from where: --from-seq or --since.")
    within = options.within(since, None, first)

    async def work(bus: Bus, _: Settings) -> Reset:
        what = await planned(bus, durable, within)
        show.plan_of_reset(console, what)
        if what.again:
            # Off the loop: the connection must be kept alive while somebody thinks.
            if not yes:
                await asyncio.to_thread(typer.confirm, "Deliver them again?", abort=True)
            await reset(bus, what)
        return what

    if run(work, data).again:
        console.print("They are being delivered.")


@replay.command()
def plan(
    record: Annotated[str, typer.Argument(help="Id of a record: `X-Backscroll-Record`.")],
    tenant: Annotated[str, typer.Option(help="Whose record it is.")] = OPEN_TENANT,
    changes: Changes = None,
    window: Annotated[int | None, typer.Option(help="As if the engine had this window, tokens.")] = None,
    without_state: Annotated[
        bool, typer.Option("--without-state", help="As if it were the first request of its conversation.")
    ] = False,
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """Plan a recorded request again on the running services, and show what would be different. Only asks."""
    asked = Change(values_of(changes or ()), window, without_state)

    async def work(bus: Bus, settings: Settings) -> Again:
        return await plan_again(bus, settings, tenant, record, asked)

    again = run(work, data)
    if as_json:
        print(json.dumps(show.told_of_plan(again)))
    else:
        show.plan_done(console, again)


def _which(
    stream: str,
    tenant: str | None,
    session: str | None,
    since: str | None,
    until: str | None = None,
    first: int | None = None,
    last: int | None = None,
) -> Which:
    if stream not in HOLDS:
        raise typer.BadParameter(f"There is no stream {stream!r}: {', '.join(HOLDS)}.")
    return Which(stream, tenant, options.label(session), options.within(since, until, first, last))


def _print(seen: Seen, content: bool, as_json: bool) -> None:
    told = seen.told(content=content)
    if as_json:
        print(json.dumps(told, ensure_ascii=False), flush=True)
        return
    for line in _lines(told):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def _lines(told: dict[str, object]) -> Iterable[str]:
    at = options.shown_time(float(str(told["at"])))
    yield f"{told['sequence']:>8}  {at}  {told['tenant']}/{told['session']}  {told['holds']}"
    if "event" in told:
        yield json.dumps(told["event"], ensure_ascii=False, indent=2)
