"""Requests of any dialect without a pipeline, and every window that they can be cut to."""

from collections.abc import Iterator
from typing import Any

import orjson

from services.gateway.dialects.base import Dialect
from services.gateway.reading.request import Reader, Request
from shared.conversation.address import text_digest
from shared.conversation.facts import FactsCache, Weights
from shared.conversation.history import RoleCode
from shared.prompt.place import anchor_of
from shared.prompt.plan import Cut, Excerpt, Layout, Patch
from shared.prompt.render import render
from shared.prompt.window import step_starts, window_at
from shared.tokens.estimate import Coefficients

READER_WEIGHTS = Weights(Coefficients(), 8)


def request_of(items: Any, dialect: Dialect, **fields: Any) -> Request:
    reader = Reader("t", READER_WEIGHTS, 1024, FactsCache(), 100_000)
    return Request(orjson.dumps({"model": "m", dialect.ITEMS: items, **fields}), reader, dialect)


def cut_everywhere(request: Request) -> Iterator[tuple[Layout, list[dict[str, Any]]]]:
    """The messages of every window that a plan may ask for, with a block, a patch and cut texts."""
    history = request.shape.history(1.0)
    said = next((p for p in range(len(history)) if request.units(p)), None)
    for start in step_starts(history).tolist():
        window = window_at(history, start)
        inside = (*window.pinned, *range(start, len(history)))
        cuts = tuple(
            Cut(p, u.unit, 0, max(len(u.text) // 2, 1), 1)
            for p in inside
            for u in request.units(p)
            if u.kind != "tool_call"
        )
        quote: tuple[Excerpt, ...] = ()
        if said is not None:
            whole = request.units(said)[0].text
            quote = (Excerpt(said, 0, 0, len(whole), text_digest(whole), 1),)
        asking = [p for p in inside if history.roles[p] != RoleCode.ASSISTANT]
        patches = tuple(Patch(p, quote) for p in asking if quote)
        for layout in (
            Layout(window_start=start, pinned=window.pinned),
            Layout(window_start=start, pinned=window.pinned, cuts=cuts, block=quote, patches=patches),
        ):
            view = render(layout, len(history), anchor_of(history.roles, layout), request)
            yield layout, [orjson.loads(m) for m in request.render(view)]
