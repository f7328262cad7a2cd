"""Wires the gateway: the one place where its parts are built."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette

from services.gateway.app import Gateway, create_app
from services.gateway.engine import Engine
from services.gateway.prepare import Preparer
from services.gateway.prepared import Policy
from services.gateway.request import Reader
from services.gateway.tips import Tips
from shared.bus import Bus
from shared.conversation.facts import FactsCache, Weights
from shared.errors import PermanentFault
from shared.prompt.budget import limits_of
from shared.settings import Settings
from shared.tokens.counter import EngineCounter
from shared.tokens.estimate import Coefficients

TENANT = "default"
CONNECTIONS = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=60)


@asynccontextmanager
async def gateway_app(settings: Settings, bus: Bus) -> AsyncIterator[Starlette]:
    """The app; at the end what runs beside its requests is waited for."""
    if settings.engine_url is None:
        raise PermanentFault("BACKSCROLL_ENGINE_URL is not set: the gateway needs an engine")
    coefficients = Coefficients(
        cjk=settings.tok_per_char_cjk,
        digit=settings.tok_per_char_digit,
        other=settings.tok_per_char_other,
    )
    policy = Policy(
        limits=limits_of(settings),
        coefficients=coefficients,
        max_context=settings.max_context,
        publish_from=settings.publish_from,
        embed_wait_s=settings.embed_wait_s,
        clamp_margin_tokens=settings.clamp_margin_tokens,
        clamp_margin_div=settings.clamp_margin_div,
    )
    reader = Reader(
        tenant=TENANT,
        weights=Weights(coefficients, settings.msg_overhead_tokens),
        image_tokens=settings.image_tokens,
        cache=FactsCache(),
    )
    timeout = httpx.Timeout(settings.engine_timeout_s, connect=10)
    async with httpx.AsyncClient(timeout=timeout, limits=CONNECTIONS) as client:
        counter = EngineCounter(client, settings.engine_url, settings.count_timeout_s)
        preparer = Preparer(bus, Tips(bus.tips, settings.max_sessions), counter, policy, time.time)
        gateway = Gateway(
            bus=bus,
            engine=Engine(client, settings.engine_url, settings.engine_api_key),
            preparer=preparer,
            reader=reader,
            max_body_bytes=settings.max_body_bytes,
            retry_on_overfit=settings.retry_on_overfit,
        )
        yield create_app(gateway)
        await preparer.settle()
