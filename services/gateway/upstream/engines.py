"""Which engine serves which model."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

import orjson
import structlog

from services.gateway.dialects import chat
from services.gateway.dialects.base import Dialect
from services.gateway.prepare.preparer import Preparer
from services.gateway.prepare.templates import LENIENT, Template
from services.gateway.upstream.engine import Engine
from shared.errors import EngineUnavailable, ModelNotFound

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Served:
    """An engine, the models that it is set for, and what prepares its prompts."""

    engine: Engine
    preparer: Preparer
    models: tuple[str, ...] = ()
    """Names, `*` for any characters; empty: every model that no other engine names."""
    chat_only: bool = False
    template: Template = LENIENT

    def translates(self, dialect: Dialect) -> bool:
        return self.chat_only and dialect.NAME != chat.NAME


class Engines:
    def __init__(self, served: Iterable[Served]) -> None:
        self.all = tuple(served)

    @property
    def only(self) -> Served | None:
        """The engine, where there is one for everything."""
        return self.all[0] if len(self.all) == 1 and not self.all[0].models else None

    @property
    def default(self) -> Served:
        """For requests that name no model."""
        return next((s for s in self.all if not s.models), self.all[0])

    def of(self, model: str) -> Served:
        """An exact name goes before a pattern, a pattern before the engine for all others."""
        exact = (s for s in self.all if model in s.models)
        like = (s for s in self.all if _like(model, s.models))
        rest = (s for s in self.all if not s.models)
        for found in chain(exact, like, rest):
            return found
        raise ModelNotFound(f"No engine is set for the model '{model}'.")

    async def models(self, headers: list[tuple[str, str]]) -> bytes:
        """One list of what all engines list, each model from the engine that serves it."""
        lists = await asyncio.gather(*(self._listed(served, headers) for served in self.all))
        if all(listed is None for listed in lists):
            raise EngineUnavailable("No engine lists its models.")
        cards: dict[str, Any] = {}
        for served, listed in zip(self.all, lists, strict=True):
            for card in listed or []:
                if self._serves(served, card["id"]):
                    cards.setdefault(card["id"], card)
        return orjson.dumps({"object": "list", "data": list(cards.values())})

    def _serves(self, served: Served, model: str) -> bool:
        try:
            return self.of(model) is served
        except ModelNotFound:
            return False

    async def _listed(self, served: Served, headers: list[tuple[str, str]]) -> list[dict[str, Any]] | None:
        """None where the engine does not tell."""
        try:
            reply = await served.engine.send("GET", "models", headers, b"")
            try:
                body = b"".join([part async for part in reply.body])
            finally:
                await reply.close()
            listed = orjson.loads(body)["data"] if reply.status == 200 else None
        except (EngineUnavailable, orjson.JSONDecodeError, KeyError, TypeError) as error:
            log.warning("engine lists no models", engine=served.engine.name, error=type(error).__name__)
            return None
        cards = listed if isinstance(listed, list) else []
        return [card for card in cards if isinstance(card, dict) and isinstance(card.get("id"), str)]


def _like(model: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in patterns)
