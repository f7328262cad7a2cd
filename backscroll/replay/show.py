"""What `backscroll replay` says before, meanwhile, and in the end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from backscroll.replay.look import Which
from backscroll.replay.plan import Again
from backscroll.replay.rerun import Rerun, Tell
from backscroll.replay.reset import Reset

BEGINNING = 80
"""Characters of an excerpt."""


@contextmanager
def progress(console: Console) -> Iterator[Tell]:
    """On stderr, so that what is found can be piped."""
    columns = (SpinnerColumn(), TextColumn("{task.completed} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks = {}

        def tell(what: str, count: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=None)
            shown.update(tasks[what], completed=count)

        yield tell


def plan_of_run(
    console: Console, messages: Which, where: Sequence[str], changes: Sequence[str] | None
) -> None:
    told = Console(stderr=True)
    told.print(f"Reads {messages.stream} {escape(messages.subject)}; nothing that is in use is written to.")
    for name, each in zip(("As set now", "Changed"), where, strict=False):
        with_what = f" with {escape(', '.join(changes or ()))}" if name == "Changed" else ""
        told.print(f"{name}{with_what}: into {escape(each)}", soft_wrap=True)


def run_done(console: Console, done: Rerun, with_changes: bool) -> None:
    console.print(f"{done.events} events, {done.messages} messages")
    if done.cuts is not None:
        table = Table("", "chunks", "tokens", "mean", "longest")
        rows = [("as set now", done.cuts.before), ("changed", done.cuts.after)][: 1 + with_changes]
        for name, cut in rows:
            table.add_row(name, str(cut.chunks), str(cut.tokens), f"{cut.mean:.0f}", str(cut.longest))
        console.print(table)
        if with_changes:
            console.print(f"{done.cuts.alike} chunks alike; {done.cuts.changed} messages are cut elsewhere")
    for address, why in done.faulty.items():
        console.print(f"{address}: {escape(why)}", soft_wrap=True)
    if done.asked:
        _requests(console, done, with_changes)


def _requests(console: Console, done: Rerun, with_changes: bool) -> None:
    more = ("changed", "of these") if with_changes else ()
    table = Table("record", "was", "indexed", "recorded", "found now", "of these", *more)
    for asked in done.asked:
        was = asked.recorded
        row = [asked.record, asked.action, f"{asked.indexed:.0%}", str(was.before), str(was.after)]
        row.append(f"{was.share:.0%}")
        if asked.changed is not None:
            row += [str(asked.changed.after), f"{asked.changed.share:.0%}"]
        table.add_row(*row)
    console.print(table)
    console.print("Characters of excerpts; 'of these': what the column before it still holds.")


def told_of_run(done: Rerun) -> dict[str, Any]:
    told = asdict(done)
    for asked, each in zip(told["asked"], done.asked, strict=True):
        asked["recorded"]["share"] = each.recorded.share
        if each.changed is not None:
            asked["changed"]["share"] = each.changed.share
    return told


def plan_of_reset(console: Console, what: Reset) -> None:
    if not what.again:
        console.print(f"{what.stream} holds nothing from there on: there is nothing to deliver again.")
        return
    console.print(
        f"{what.durable} is handed {what.again} events of {what.stream} from {what.first} on, once more; "
        f"{what.waiting} of them are not settled anyway. They are handled as new ones are: what is there "
        f"already is not written or embedded again, what is missing is.",
        soft_wrap=True,
    )


def plan_done(console: Console, again: Again) -> None:
    table = Table("", "recorded", "planned again")
    for name, was, now in again.lines:
        style = "" if was == now else "bold"
        table.add_row(name, str(was), str(now), style=style)
    console.print(table)
    console.print("; ".join(again.plan.reasons), soft_wrap=True)
    names = {"both": "kept", "left": "lost", "right": "gained"}
    for moved in again.excerpts:
        text = " ".join(moved.text.split())[:BEGINNING]
        place = f"turn {moved.turn}, {moved.position}.{moved.unit} {moved.start}-{moved.end}"
        console.print(f"{names[moved.side]:6} {place}  {escape(text)}", soft_wrap=True, highlight=False)


def told_of_plan(again: Again) -> dict[str, Any]:
    return {
        "record": again.record.id,
        "compared": {name: [was, now] for name, was, now in again.lines},
        "reasons": again.plan.reasons,
        "degraded": again.plan.degraded,
        "excerpts": [asdict(moved) for moved in again.excerpts],
    }
