"""A range of messages once more through chunker and embedder, into stores beside the ones in use."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import orjson
from pydantic import ValidationError

from backscroll.replay.compare import Cuts, Found, cuts_of, found_of
from backscroll.replay.look import Which, look
from backscroll.replay.recall import Planner, excerpts_of, recorded_excerpts
from backscroll.replay.scratch import Scratch, scratch
from services.gateway.inspector.recorded import Record
from shared.bus import Bus
from shared.contracts.events import ExchangeRecorded, MessagesRecorded
from shared.models.open import open_embedder, open_reranker
from shared.models.port import Embedder, Reranker
from shared.settings import Settings

Tell = Callable[[str, int], None]
"""Of progress: what is done, and how many of it."""


@dataclass(frozen=True)
class Asked:
    """One recorded request, planned over both stores."""

    record: str
    action: str
    indexed: float
    """Share of its messages that the range held."""
    recorded: Found
    """What it had against what it finds as set now."""
    changed: Found | None
    """What it finds as set now against what it finds with other settings."""


@dataclass
class Rerun:
    events: int = 0
    messages: int = 0
    cuts: Cuts | None = None
    faulty: dict[str, str] = field(default_factory=dict)
    where: tuple[str, ...] = ()
    asked: list[Asked] = field(default_factory=list)


@dataclass(frozen=True)
class Side:
    scratch: Scratch
    embedder: Embedder
    planner: Planner


class Sides:
    """As set now, and with other settings where there are any."""

    def __init__(self, settings: Settings, other: Settings | None, name: str | None) -> None:
        self._settings = {"now": settings} | ({"changed": other} if other is not None else {})
        self._name = name

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[dict[str, Side]]:
        async with AsyncExitStack() as stack:
            sides: dict[str, Side] = {}
            for part, settings in self._settings.items():
                embedder, reranker = await _models(stack, settings)
                made = await stack.enter_async_context(scratch(settings, self._name, part, embedder))
                sides[part] = Side(made, embedder, Planner(settings, made.store, embedder, reranker))
            yield sides


async def _models(stack: AsyncExitStack, settings: Settings) -> tuple[Embedder, Reranker]:
    embedder, reranker = open_embedder(settings), open_reranker(settings)
    stack.push_async_callback(embedder.close)
    stack.push_async_callback(reranker.close)
    return embedder, reranker


async def rerun(
    bus: Bus, messages: Which, records: Which, sides: dict[str, Side], *, vectors: bool, tell: Tell
) -> Rerun:
    """Reads streams, writes to the scratch stores alone."""
    done = Rerun(where=tuple(side.scratch.where for side in sides.values()))
    async for seen in look(bus, messages):
        if not isinstance(seen.event, MessagesRecorded):
            continue
        for side in sides.values():
            await side.scratch.index(seen.event, side.embedder if vectors else None)
        done.events += 1
        done.messages += len(seen.event.messages)
        tell("events indexed", done.events)
    now, other = sides["now"], sides.get("changed")
    done.cuts = cuts_of(now.scratch.chunks, (other or now).scratch.chunks)
    done.faulty = (other or now).scratch.faulty
    async for seen in look(bus, records):
        if isinstance(seen.event, ExchangeRecorded) and (asked := await _planned(seen.event, now, other)):
            done.asked.append(asked)
            tell("requests planned", len(done.asked))
    return done


async def _planned(event: ExchangeRecorded, now: Side, other: Side | None) -> Asked | None:
    """None for a record that does not say what was asked: of an earlier version, or of the gateway's own
    plan."""
    try:
        record = Record.model_validate(orjson.loads(event.body))
    except ValidationError:
        return None
    if record.asked is None:
        return None
    asked = record.asked
    before = await now.planner.plan(asked)
    after = await other.planner.plan(asked) if other else None
    if before is None:
        return None
    found = excerpts_of(asked, before)
    return Asked(
        record=record.id,
        action=record.action or record.mode,
        indexed=await now.planner.indexed(asked),
        recorded=found_of(recorded_excerpts(record, asked), found),
        changed=found_of(found, excerpts_of(asked, after)) if after is not None else None,
    )
