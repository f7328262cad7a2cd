"""The demo engine with faults: a path that answers what a test wants."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from backscroll.engine import create_engine, engine_of
from tests.support.served import served

CHAT = "/v1/chat/completions"
TOKENIZE = "/tokenize"


class ScriptedEngine:
    """`faults` has an app for each path that is not to be answered by the engine; `engine` is the engine."""

    def __init__(self, window: int) -> None:
        app = create_engine(window, keep_seen=1000)
        self.engine = engine_of(app)
        self.faults: dict[str, ASGIApp] = {}
        self.url = ""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.faults.get(scope["path"], self._app)(scope, receive, send)


@contextmanager
def scripted_engine(window: int) -> Iterator[ScriptedEngine]:
    engine = ScriptedEngine(window)
    with served(engine) as url:
        engine.url = f"{url}/v1"
        yield engine
