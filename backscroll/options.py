"""Options that several operator's commands share, and what they mean."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from services.gateway.reading.session import named
from shared.bus.stored import Range

AGO = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

Tenant = Annotated[str | None, typer.Option("--tenant", help="Of this tenant only.")]
Session = Annotated[
    str | None, typer.Option("--session", help="Of this session only, as its client names it.")
]
Since = Annotated[
    str | None, typer.Option("--since", help="From this time on: 2026-12-01T10:00, or 90s, 10m, 2h, 3d ago.")
]
Until = Annotated[str | None, typer.Option("--until", help="Up to this time.")]
First = Annotated[int | None, typer.Option("--from-seq", help="From this sequence number on.")]
Last = Annotated[int | None, typer.Option("--to-seq", help="Up to this sequence number.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Data = Annotated[Path | None, typer.Option("--data", help="The data directory of a running `backscroll up`.")]


def label(session: str | None) -> str | None:
    """What events and records call the session that a client names so."""
    return None if session is None else named(session)


def within(since: str | None, until: str | None, first: int | None = None, last: int | None = None) -> Range:
    now = time.time()
    return Range(moment(since, now), moment(until, now), first, last)


def moment(text: str | None, now: float) -> float | None:
    """Seconds since the epoch; a time without a zone is UTC. Raises `typer.BadParameter`."""
    if text is None:
        return None
    if ago := AGO.fullmatch(text):
        return now - float(ago[1]) * SECONDS[ago[2]]
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no time: 2026-12-01T10:00, or 10m, 2h, 3d ago") from error
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def shown_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
