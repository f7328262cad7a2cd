"""A client that hangs up ends its request at once, whatever it waits for just then."""

import asyncio

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.telemetry import CLIENTS_GONE


class EndWithClient:
    """Cancels the request's task when its client is gone; what holds an engine's answer then closes it.

    Servers drop what is sent to a client that is gone without a word (uvicorn), so it has to be watched
    for. The watching begins where the request's body ends: before, the body's reader learns it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return
        watch: asyncio.Task[None] | None = None
        gone = False

        async def hear() -> None:
            nonlocal gone
            while (await receive())["type"] != "http.disconnect":
                pass
            gone = True
            task.cancel()

        async def receive_watched() -> Message:
            nonlocal watch
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body") and watch is None:
                watch = asyncio.create_task(hear())
            return message

        try:
            await self._app(scope, receive_watched, send)
        except ClientDisconnect:
            CLIENTS_GONE.inc()
        except asyncio.CancelledError:
            if not gone or task.uncancel():
                raise
            CLIENTS_GONE.inc()
        finally:
            if watch is not None:
                watch.cancel()
