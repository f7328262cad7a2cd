"""Running one service alone: its bus, its health endpoint, its end.

`/health/live` answers while the process does; `/health/ready` asks the bus and what else was named;
`/metrics` is Prometheus text.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Sequence
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any

import structlog
import tenacity
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from shared.bus import Bus, connect
from shared.errors import BackscrollError, DependencyUnavailable, PermanentFault
from shared.settings import Settings
from shared.telemetry import configure_logging, metrics
from shared.tracing import configure_tracing

log = structlog.get_logger(__name__)

Start = Callable[[Settings, Bus], Awaitable[None]]
Check = Callable[[], Awaitable[object]]

STARTING_S = 60.0
"""How long the bus may take to come up: services start in no order."""
CHECK_S = 5.0


async def run_service(
    name: str,
    start: Start,
    settings: Settings,
    checks: Sequence[Check] = (),
    finish: Check | None = None,
) -> None:
    """Until SIGTERM or SIGINT; then running handlers finish and the bus is closed.

    `start` binds the service's handlers. `checks` raise where the service is not ready. `finish`
    ends what still needs the bus. Raises
    `PermanentFault` where the bus is not provisioned as expected, `DependencyUnavailable` where it
    does not come up.
    """
    configure_logging(settings.log_level)
    configure_tracing(name, settings.otlp_endpoint)
    if settings.nats_url is None:
        raise PermanentFault("BACKSCROLL_NATS_URL is not set: a service alone needs a NATS server")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    bus = await _connected(settings.nats_url, name)
    try:
        await bus.check(settings)
        await start(settings, bus)
        async with serving(health_app([bus.ready, *checks]), settings.host, settings.health_port) as port:
            log.info("service_started", service=name, health_port=port)
            await stop.wait()
        log.info("service_stopping", service=name)
    finally:
        if finish is not None:
            await finish()
        await bus.close()


def run(service: Coroutine[Any, Any, None]) -> None:
    """To its end; what it fails of on purpose is one line of its log, and exit code 1."""
    try:
        asyncio.run(service)
    except BackscrollError as error:
        log.error("service_failed", reason=str(error))
        raise SystemExit(1) from None


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(DependencyUnavailable),
    wait=tenacity.wait_exponential(multiplier=0.1, max=2),
    stop=tenacity.stop_after_delay(STARTING_S),
    reraise=True,
)
async def _connected(url: str, name: str) -> Bus:
    return await connect(url, service=name)


def health_app(checks: Sequence[Check]) -> Starlette:
    async def live(_: Request) -> JSONResponse:
        return JSONResponse({"status": "live"})

    async def ready(_: Request) -> JSONResponse:
        try:
            async with asyncio.timeout(CHECK_S):
                await asyncio.gather(*(check() for check in checks))
        except DependencyUnavailable as error:
            return JSONResponse({"status": "not ready", "part": error.part}, status_code=503)
        except Exception as error:
            log.warning("check_failed", error=type(error).__name__)
            return JSONResponse({"status": "not ready", "part": type(error).__name__}, status_code=503)
        return JSONResponse({"status": "ready"})

    return Starlette(
        routes=[Route("/health/live", live), Route("/health/ready", ready), Route("/metrics", metrics)]
    )


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Ours are handled already; uvicorn would raise them anew before the bus is closed."""
        yield


@contextlib.asynccontextmanager
async def serving(app: Starlette, host: str, port: int, drain_s: int = 10) -> AsyncIterator[int]:
    """An app served beside what else the process does; yields the port, a free one for 0.

    At the end running answers have `drain_s` to finish; what then still runs is broken off.

    Raises `PermanentFault` where the address is taken.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=drain_s,
    )
    try:
        socket = config.bind_socket()
    except SystemExit as failed:
        # uvicorn's way to say that the address is taken.
        raise PermanentFault(f"{host}:{port} cannot be listened on: is it in use already?") from failed
    # asyncio does it for sockets of its own making only; without it the second write of an answer, and
    # each event of a stream, waits for the client's delayed acknowledgement: 40 ms.
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    # From here on connections wait in its queue, though the server has not begun.
    socket.listen(config.backlog)
    server = _Server(config)
    task = asyncio.create_task(server.serve([socket]))
    try:
        yield socket.getsockname()[1]
    finally:
        server.should_exit = True
        await task
