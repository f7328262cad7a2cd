"""The engine's own count of a prompt and its window, asked as seldom as can be."""

import asyncio
import time
from collections.abc import Callable

import httpx
import structlog

from shared.errors import BadAnswer, DependencyUnavailable
from shared.tokens.adapters.port import PART, Adapter, Line, NotOfferedError
from shared.tokens.cache import Generations
from shared.tokens.prompt import Prompt
from shared.tokens.ways import pick, ways_of
from shared.tokens.windows import Listed, card_window, listed_models, server_windows

log = structlog.get_logger(__name__)

FRESH_S = 60.0
"""How long the engine's list of models is believed; whether it changed is seen then."""
HOLD_OFF_S = 5.0
"""After a count that failed nobody waits for another one so long."""
MOST_PICKED = 256
COUNTS_KEPT = 4096


class EngineCounter:
    """One per engine. What it knows is forgotten when the engine was down or lists other models."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        engine_url: str,
        timeout_s: float,
        *,
        api_key: str | None = None,
        kind: str = "auto",
        local: Adapter | None = None,
        as_sent: Callable[[Prompt], Prompt] | None = None,
    ) -> None:
        """`engine_url` carries `/v1`; `kind` is the setting `token_counter`, `local` a tokenizer file.

        `as_sent` says what the engine is sent instead of a prompt, where that is another one.
        """
        self._as_sent = as_sent
        self._line = Line(client, engine_url, timeout_s, api_key)
        self._ways = ways_of(self._line, self._told, local, kind)
        self._picked: dict[tuple[str, str], Adapter | None] = {}
        self._counts: Generations[int] = Generations(COUNTS_KEPT)
        self._windows: dict[str, dict[str, int]] = {}
        self._listed: Listed | None = None
        self._was_down = False
        self._asked_at = -FRESH_S
        self._refreshing = asyncio.Lock()
        self._down_until = 0.0
        self.generation = 0
        """Changes when the engine does: what was learned of the one before says nothing of this one."""

    async def count(self, prompt: Prompt) -> int | None:
        """Tokens of the whole prompt; None where nothing counts prompts of its dialect.

        Raises `DependencyUnavailable("count_estimated", ...)` where something does but not just now.
        """
        if self._as_sent is not None:
            prompt = self._as_sent(prompt)
        key = prompt.digest()
        known = self._counts.get(key)
        if known is not None:
            return known
        if time.monotonic() < self._down_until:
            raise DependencyUnavailable(PART, "the counter failed a moment ago")
        try:
            way = await self.picked(prompt.model, prompt.dialect)
            if way is None:
                return None
            count = await way.count(prompt)
        except NotOfferedError as refused:
            # It counts others: this one it refuses, for its length or its form. The bound decides.
            raise DependencyUnavailable(PART, str(refused)) from refused
        except BadAnswer:
            # This prompt, perhaps: others are asked all the same.
            raise
        except DependencyUnavailable:
            self._down_until = time.monotonic() + HOLD_OFF_S
            self._picked.clear()
            raise
        self._counts[key] = count
        return count

    async def picked(self, model: str, dialect: str = "chat") -> Adapter | None:
        """The way that counts a model's prompts of a dialect; found at first use."""
        key = (model, dialect)
        if key not in self._picked:
            if len(self._picked) >= MOST_PICKED:
                self._picked.clear()
            way = self._picked[key] = await pick(self._ways, model, dialect)
            log.info("token counter", model=model, dialect=dialect, counter=way.name if way else "bound")
        return self._picked[key]

    async def window(self, model: str) -> int | None:
        """What the engine tells of a model's window; asked again once a minute."""
        told = await self.windows(model)
        return min(told.values(), default=None)

    async def windows(self, model: str) -> dict[str, int]:
        """By the endpoint that told it."""
        if time.monotonic() - self._asked_at >= FRESH_S:
            # Whoever comes meanwhile waits: without the window its prompt would be for another one.
            async with self._refreshing:
                if time.monotonic() - self._asked_at >= FRESH_S:
                    await self._refresh()
                    self._asked_at = time.monotonic()
        found = {where: told.get(model, told.get("")) for where, told in self._windows.items()}
        return {where: window for where, window in found.items() if window is not None}

    async def _refresh(self) -> None:
        listed = await listed_models(self._line)
        if listed is None:
            # The request itself will meet the engine next and report what is wrong with it.
            self._was_down = True
            return
        other = self._listed is not None and _identity(listed) != _identity(self._listed)
        if self._was_down or other:
            self._forget()
        self._listed, self._was_down = listed, False
        lengths = {name: window for name, card in listed.items() if (window := card_window(card))}
        if lengths:
            self._windows["/v1/models"] = lengths
        elif told := await server_windows(self._line):
            self._windows[told[0]] = told[1]

    def _forget(self) -> None:
        self.generation += 1
        self._picked.clear()
        self._counts.clear()
        self._windows.clear()

    def _told(self, model: str, window: int) -> None:
        told = self._windows.setdefault("/tokenize", {})
        if len(told) < MOST_PICKED:
            told[model] = window


def _identity(listed: Listed) -> dict[str, int | None]:
    return {name: card_window(card) for name, card in listed.items()}
