"""Where the messages of a request are in the store."""

from typing import Any

import orjson

from services.gateway.dialects import chat
from services.gateway.reading.request import Reader, Request
from shared.conversation.facts import FactsCache, Weights
from shared.settings import Settings
from shared.tokens.estimate import Coefficients


def address_keys(messages: list[dict[str, Any]], tenant: str = "default") -> list[int]:
    """One a message that has an address, in order."""
    settings = Settings()
    weights = Weights(Coefficients(), settings.msg_overhead_tokens)
    reader = Reader(tenant, weights, settings.image_tokens, FactsCache(), settings.max_messages)
    request = Request(orjson.dumps({"model": "m", "messages": messages}), reader, chat)
    keys: list[int] = request.shape.history(1.0).address_keys.tolist()
    return keys
