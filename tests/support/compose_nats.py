"""The NATS server that compose.yaml describes, alone."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.support.compose_run import Compose


class ComposeNats:
    def __init__(self, run: Compose) -> None:
        self._run = run
        self.port = run.nats_port

    def url(self, user: str) -> str:
        return self._run.nats_url(user)


@contextmanager
def compose_nats(data: Path) -> Iterator[ComposeNats]:
    with closing(Compose(data, {}, {})) as run:
        run.start_nats()
        yield ComposeNats(run)
