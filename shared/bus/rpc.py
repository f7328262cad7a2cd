"""Requests with replies. What a handler raises comes back as a `Failure` and is raised at the caller."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import nats.errors
import structlog
from faststream.nats import NatsBroker, NatsMessage
from faststream.nats.response import NatsResponse
from opentelemetry.trace import SpanKind

from shared.bus.claims import Claims
from shared.bus.codec import decode, encode
from shared.bus.subjects import Method
from shared.contracts.base import Contract
from shared.contracts.rpc import Failure
from shared.errors import BackscrollError, DependencyUnavailable, PermanentFault
from shared.telemetry import RPC_SECONDS
from shared.tracing import carrier, continued, span

log = structlog.get_logger(__name__)

FAILED = "Backscroll-Failed"
WORKERS = 64
"""Requests of one method that one replica handles at a time; more wait in its queue."""

Req = TypeVar("Req", bound=Contract)
Rep = TypeVar("Rep", bound=Contract)
Serve = Callable[[Req], Awaitable[Rep]]


async def serve(
    broker: NatsBroker, claims: Claims, method: Method[Req, Rep], handler: Serve[Req, Rep]
) -> None:
    """Answer a method; replicas share it through a queue group of its name."""

    async def answer(message: NatsMessage) -> NatsResponse:
        headers: dict[str, str] = {}
        try:
            body = await claims.check_out(message.body, message.headers)
            with span(f"rpc {method.name}", SpanKind.SERVER, parent=continued(message.headers)):
                reply: Contract = await handler(decode(method.request, body))
        except Exception as error:
            reply = failure(method, error)
            headers = {FAILED: "1"}
        try:
            body, claim = await claims.check_in(encode(reply))
        except DependencyUnavailable as error:
            body, claim = encode(failure(method, error)), {FAILED: "1"}
        return NatsResponse(body, headers=headers | claim)

    subscriber = broker.subscriber(method.subject, queue=method.name, max_workers=WORKERS, decoder=undecoded)
    subscriber(answer)
    await subscriber.start()
    # Subscribing is not answered: without a round trip a caller on another connection can be told that
    # nobody answers, by a replica that says it is ready. And nats-py (2.16) writes a ping at once, past a
    # subscription that still waits to be written, so it takes a second one: on a busy machine 16 of 150
    # replicas were not found after the first, none after both.
    await broker.connection.flush()
    await broker.connection.flush()


async def call(
    broker: NatsBroker,
    claims: Claims,
    disconnected: "asyncio.Future[None]",
    method: Method[Req, Rep],
    request: Req,
    timeout_s: float,
) -> Rep:
    """One request. A lost connection ends it at once: `disconnected` is done when the connection is."""
    started = time.perf_counter()
    outcome = "failed"
    try:
        with span(f"rpc {method.name}", SpanKind.CLIENT):
            body, headers = await claims.check_in(encode(request))
            answer = await _ask(broker, disconnected, method, body, headers | carrier(), timeout_s)
            reply = await claims.check_out(answer.body, answer.headers)
        if FAILED in answer.headers:
            raise error_of(method, decode(Failure, reply))
        result = decode(method.reply, reply)
        outcome = "answered"
        return result
    finally:
        RPC_SECONDS.labels(method.name, outcome).observe(time.perf_counter() - started)


async def _ask(
    broker: NatsBroker,
    disconnected: "asyncio.Future[None]",
    method: Method[Any, Any],
    body: bytes,
    headers: dict[str, str],
    timeout_s: float,
) -> NatsMessage:
    asked = asyncio.ensure_future(broker.request(body, method.subject, headers=headers, timeout=timeout_s))
    try:
        waited: set[asyncio.Future[Any]] = {asked, disconnected}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            raise DependencyUnavailable("bus_unavailable", f"{method.name}: connection lost")
        return asked.result()
    except nats.errors.NoRespondersError as error:
        raise DependencyUnavailable(method.part, f"{method.name}: nobody answers") from error
    except TimeoutError as error:
        raise DependencyUnavailable(method.part, f"{method.name}: no answer in {timeout_s} s") from error
    except (nats.errors.Error, OSError) as error:
        raise DependencyUnavailable("bus_unavailable", f"{method.name}: {type(error).__name__}") from error
    finally:
        asked.cancel()


async def undecoded(message: NatsMessage) -> NatsMessage:
    """FastStream would guess at JSON; bodies here are zstd frames or claims."""
    return message


def failure(method: Method[Any, Any], error: Exception) -> Failure:
    if isinstance(error, DependencyUnavailable):
        return Failure(kind="retryable", part=error.part, message=str(error))
    if isinstance(error, BackscrollError):
        return Failure(kind="permanent", part=method.part, message=str(error))
    log.error("handler_failed", method=method.name, exc_info=error)
    return Failure(kind="internal", part=method.part, message=type(error).__name__)


def error_of(method: Method[Any, Any], failed: Failure) -> BackscrollError:
    """An error inside a handler degrades the caller as a handler that is away does."""
    if failed.kind == "permanent":
        return PermanentFault(f"{method.name}: {failed.message}")
    return DependencyUnavailable(failed.part, f"{method.name}: {failed.message}")
