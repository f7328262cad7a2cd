"""Wires the gateway: the one place where its parts are built."""

import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware

from services.gateway.http.access import OPEN_TENANT, Guard, KeyRing, may_be_open
from services.gateway.http.app import Gateway, create_app
from services.gateway.http.converse import Conversing
from services.gateway.http.keys import key_store
from services.gateway.inspector.routes import Inspector
from services.gateway.prepare.prepared import Policy
from services.gateway.prepare.preparer import Preparer
from services.gateway.prepare.templates import Template
from services.gateway.prepare.tips import Tips
from services.gateway.prepare.toolpolicies import read_policies
from services.gateway.reading.request import Reader
from services.gateway.translate.translation import chat_prompt
from services.gateway.upstream.engine import Engine, Patience
from services.gateway.upstream.engines import Engines, Served
from shared.bus import Bus
from shared.conversation.facts import FactsCache, Weights
from shared.errors import PermanentFault
from shared.prompt.budget import limits_of
from shared.settings import EngineSettings, Settings
from shared.tokens.estimate import Coefficients
from shared.tokens.open import open_counter

# uvicorn, which vLLM and SGLang run on, closes a connection after 5 s without a request; one that is used
# again at that moment breaks off. Soaked on a busy machine with 60 s: 2 of 2,000 requests.
CONNECTIONS = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=4)
CONNECT_S = 10.0
"""An engine's machine answers at once or is not there; how long an answer takes is `Patience`."""


@asynccontextmanager
async def gateway_app(settings: Settings, bus: Bus) -> AsyncIterator[Starlette]:
    """The app; at the end what runs beside its requests is waited for."""
    coefficients = Coefficients(
        cjk=settings.tok_per_char_cjk,
        digit=settings.tok_per_char_digit,
        other=settings.tok_per_char_other,
    )
    reader = Reader(
        tenant=OPEN_TENANT,
        weights=Weights(coefficients, settings.msg_overhead_tokens),
        image_tokens=settings.image_tokens,
        cache=FactsCache(),
        max_messages=settings.max_messages,
    )
    tips = Tips(bus.tips, bus.erased, settings.max_sessions)
    keys = KeyRing(key_store(settings, bus.keys), may_be_open=may_be_open(settings))
    await keys.start()
    async with AsyncExitStack() as stack:
        served = []
        for engine in engines_of(settings):
            # A pool for each: one engine's connections never wait for another's.
            timeout = httpx.Timeout(None, connect=CONNECT_S)
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=timeout, limits=CONNECTIONS))
            policy = policy_of(settings, coefficients, engine)
            served.append(serve(settings, engine, client, bus, tips, policy))
        engines = Engines(served)
        conversing = Conversing(
            bus=bus,
            engines=engines,
            reader=reader,
            max_body_bytes=settings.max_body_bytes,
            retry_on_overfit=settings.retry_on_overfit,
        )
        guard = Middleware(Guard, keys=keys, most=settings.max_concurrent_requests)
        inspector = Inspector(bus, keys, settings.assemble_timeout_s).mount()
        yield create_app(Gateway(bus, engines, conversing, settings.max_body_bytes), guard, inspector)
        for each in served:
            await each.preparer.settle()


def engines_of(settings: Settings) -> list[EngineSettings]:
    """Raises `PermanentFault` where none is set or two share a name."""
    engines = list(settings.engines)
    if settings.engine_url is not None:
        engines.append(EngineSettings(name="default", url=settings.engine_url))
    if not engines:
        raise PermanentFault("BACKSCROLL_ENGINE_URL is not set: the gateway needs an engine")
    if len({engine.name for engine in engines}) < len(engines):
        raise PermanentFault("Two engines have the same name ('default' is the one of `engine_url`).")
    return engines


def key_of(settings: Settings, engine: EngineSettings) -> str | None:
    """Raises `PermanentFault` for a variable that is not set: without a key the engine refuses everything."""
    if engine.api_key_env is None:
        return settings.engine_api_key if engine.url == settings.engine_url else None
    key = os.environ.get(engine.api_key_env)
    if not key:
        raise PermanentFault(f"Engine '{engine.name}': the variable {engine.api_key_env} is not set")
    return key


def policy_of(settings: Settings, coefficients: Coefficients, engine: EngineSettings) -> Policy:
    return Policy(
        limits=limits_of(settings),
        coefficients=coefficients,
        max_context=engine.context or settings.max_context,
        publish_from=settings.publish_from,
        embed_wait_s=settings.embed_wait_s,
        assemble_timeout_s=settings.assemble_timeout_s,
        clamp_margin_tokens=settings.clamp_margin_tokens,
        clamp_margin_div=settings.clamp_margin_div,
        template=Template(engine.strict_alternation, engine.developer_role, engine.tool_ids),
        tools=read_policies(settings.tool_policies),
    )


def serve(
    settings: Settings,
    engine: EngineSettings,
    client: httpx.AsyncClient,
    bus: Bus,
    tips: Tips,
    policy: Policy,
) -> Served:
    patience = Patience(settings.engine_timeout_s, settings.engine_idle_timeout_s)
    as_sent = partial(chat_prompt, template=policy.template) if engine.chat_only else None
    key = key_of(settings, engine)
    counter = open_counter(settings, client, engine.url, key, as_sent)
    return Served(
        engine=Engine(engine.name, client, engine.url, key, patience),
        preparer=Preparer(bus, tips, counter, policy, time.time),
        models=engine.models,
        chat_only=engine.chat_only,
        template=policy.template,
    )
