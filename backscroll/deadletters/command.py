"""`backscroll deadletters`: look at what was given up, try it again, or drop it."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from backscroll import options
from backscroll.deadletters.letters import Filter, Letter, by_number, drop, find, original, retry
from backscroll.reach import run
from shared.bus import Bus
from shared.errors import PermanentFault
from shared.settings import Settings

deadletters = typer.Typer(
    no_args_is_help=True, help="What was given up: the reason, the original, another try."
)
console = Console()

IN_SHORT = ("number", "at", "tenant", "session", "service", "original", "reason")
"""What is told of each letter; `show` tells the content as well."""

Service = Annotated[str | None, typer.Option("--service", help="Given up by this service only.")]
Numbers = Annotated[list[int] | None, typer.Argument(help="Numbers that `list` shows.")]
All = Annotated[bool, typer.Option("--all", help="Every letter that the filters let through.")]


@deadletters.command(name="list")
def list_letters(
    tenant: options.Tenant = None,
    session: options.Session = None,
    service: Service = None,
    since: options.Since = None,
    until: options.Until = None,
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """Oldest first; content is shown by `show` alone."""
    wanted = Filter(tenant, options.label(session), service, options.within(since, until))

    async def work(bus: Bus, _: Settings) -> list[Letter]:
        return [letter async for letter in find(bus, wanted)]

    letters = run(work, data)
    if as_json:
        for letter in letters:
            print(json.dumps(_told(letter)))
        return
    table = Table("number", "given up", "tenant", "session", "service", "original", "reason")
    for letter in letters:
        told = _told(letter)
        table.add_row(*(escape(str(told[name])) for name in IN_SHORT))
    console.print(table)
    console.print(f"{len(letters)} dead letters")


@deadletters.command()
def show(
    number: Annotated[int, typer.Argument(help="The number that `list` shows.")],
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """The reason, the part that failed, and the original. Shows content."""

    async def work(bus: Bus, _: Settings) -> dict[str, Any]:
        letter = await _of(bus, number)
        whole = await original(bus, letter.letter)
        item = letter.letter.item
        return _told(letter) | {
            "failed": json.loads(item) if item else None,
            "event": None if whole is None else json.loads(whole),
        }

    told = run(work, data)
    if as_json:
        print(json.dumps(told, ensure_ascii=False))
        return
    for name in IN_SHORT:
        console.print(f"{name:9} {escape(str(told[name]))}", soft_wrap=True, highlight=False)
    for name, missing in (("failed", "nothing of it could be read"), ("event", "is gone from the stream")):
        console.print(f"\n{name}:" if told[name] is not None else f"\n{name}: {missing}")
        if told[name] is not None:
            console.print_json(data=told[name], ensure_ascii=False)


@deadletters.command(name="retry")
def retry_letters(
    numbers: Numbers = None,
    everything: All = False,
    tenant: options.Tenant = None,
    session: options.Session = None,
    service: Service = None,
    since: options.Since = None,
    until: options.Until = None,
    data: options.Data = None,
) -> None:
    """Publish the originals once more, and put the letters away. Doing it twice does nothing more."""
    wanted = Filter(tenant, options.label(session), service, options.within(since, until))

    async def work(bus: Bus, _: Settings) -> bool:
        kept = False
        for number, letter in await _chosen(bus, numbers, everything, wanted):
            done = "is not there: retried or dropped before" if letter is None else await retry(bus, letter)
            kept = kept or done.startswith("kept")
            console.print(f"{number}: {escape(done)}", soft_wrap=True, highlight=False)
        return kept

    if run(work, data):
        raise typer.Exit(1)


@deadletters.command(name="drop")
def drop_letters(
    numbers: Numbers = None,
    everything: All = False,
    tenant: options.Tenant = None,
    session: options.Session = None,
    service: Service = None,
    since: options.Since = None,
    until: options.Until = None,
    yes: options.Yes = False,
    data: options.Data = None,
) -> None:
    """Delete letters for good; their originals age out by themselves."""
    wanted = Filter(tenant, options.label(session), service, options.within(since, until))

    async def work(bus: Bus, _: Settings) -> None:
        letters = [x for _, x in await _chosen(bus, numbers, everything, wanted) if x is not None]
        if letters and not yes:
            typer.confirm(f"Drop {len(letters)} dead letters?", abort=True)
        for letter in letters:
            await drop(bus, letter)
        console.print(f"{len(letters)} dropped")

    run(work, data)


async def _of(bus: Bus, number: int) -> Letter:
    letter = await by_number(bus, number)
    if letter is None:
        raise PermanentFault(f"There is no dead letter {number}: it was retried, dropped, or has aged out.")
    return letter


async def _chosen(
    bus: Bus, numbers: list[int] | None, everything: bool, wanted: Filter
) -> list[tuple[int, Letter | None]]:
    if bool(numbers) == everything:
        raise PermanentFault("Name the numbers of letters, or give --all with or without filters.")
    if numbers:
        return [(number, await by_number(bus, number)) for number in numbers]
    return [(letter.number, letter) async for letter in find(bus, wanted)]


def _told(letter: Letter) -> dict[str, Any]:
    about = letter.letter
    return {
        "number": letter.number,
        "at": options.shown_time(about.at),
        "tenant": letter.tenant,
        "session": letter.session,
        "service": about.service,
        "original": f"{about.stream} {about.sequence}",
        "reason": about.reason,
    }
