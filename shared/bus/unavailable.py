"""What nats-py raises while the server does not answer, as our error."""

import contextlib
from collections.abc import Iterator

import nats.errors

from shared.errors import DependencyUnavailable


@contextlib.contextmanager
def unavailable(doing: str) -> Iterator[None]:
    try:
        yield
    except (nats.errors.Error, OSError, TimeoutError) as error:
        raise DependencyUnavailable("bus_unavailable", f"{doing}: {type(error).__name__}") from error
