"""One collection filled from another one's texts, embedded by another model.

What is there already is not embedded again, so that a second run, or one after a crash, does what is left.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

import tenacity

from services.embedder.embed import Embedding
from services.embedder.terms import with_terms
from services.embedder.vectors import groups, vectors_of, with_vectors
from shared.bus.erased import OfEra, Session
from shared.errors import DependencyUnavailable
from shared.models.port import Embedder
from shared.store.copying import Said
from shared.store.mapping import message_key
from shared.store.points import PointStore
from shared.store.port import IndexedMessage

Eras = Callable[[Iterable[OfEra]], Awaitable[dict[Session, int]]]
"""Of the sessions that are asked for (shared/bus/erased.py)."""
Tell = Callable[["Filled"], None]
PATIENCE_S = 600.0
"""A model server that is started anew meanwhile does not end hours of work."""


@dataclass
class Filled:
    total: int
    """How often a message was said, in the old collection; of these `seen`."""
    seen: int = 0
    messages: int = 0
    chunks: int = 0
    waiting: int = 0
    """Messages whose chunks were still being written to the old one."""
    erased: int = 0
    """Messages left out, or deleted again, as their session was erased."""
    faulty: dict[str, str] = field(default_factory=dict)
    """Why a chunk has no vector, by its digest; it is found by its words."""


async def fill(old: PointStore, new: PointStore, embedder: Embedder, eras: Eras, tell: Tell) -> Filled:
    """Only reads the old one. Raises `DependencyUnavailable` for what does not answer for long."""
    done = Filled(await old.said_count())
    async for page in old.said():
        now = await eras(said.origin for said in page)
        by_tenant: defaultdict[str, list[Said]] = defaultdict(list)
        for said in page:
            if _living(said, now):
                by_tenant[said.origin.tenant].append(said)
            else:
                done.erased += 1
        for tenant, living in by_tenant.items():
            await _copy(old, new, embedder, tenant, living, done)
            tell(done)
        done.seen += len(page)
        tell(done)
    done.erased += await _forget_erased(new, eras)
    return done


async def _copy(
    old: PointStore, new: PointStore, embedder: Embedder, tenant: str, said: Sequence[Said], done: Filled
) -> None:
    missing = await new.missing(tenant, [each.address for each in said])
    messages = with_terms(await old.messages(tenant, sorted(missing)))
    done.waiting += len(missing) - len(messages)
    await new.copy([each for each in said if each.address not in missing], [])
    embedding = Embedding(embedder, lambda: False)
    for group in groups(messages, lambda message: len(message.chunks)):
        await _put(new, embedding, tenant, said, group)
        done.messages += len(group)
        done.chunks += sum(len(message.chunks) for message in group)
    done.faulty |= embedding.faulty


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(DependencyUnavailable),
    wait=tenacity.wait_exponential(multiplier=0.5, max=15),
    stop=tenacity.stop_after_delay(PATIENCE_S),
    reraise=True,
)
async def _put(
    new: PointStore, embedding: Embedding, tenant: str, said: Sequence[Said], group: Sequence[IndexedMessage]
) -> None:
    vectors = await vectors_of(tenant, group, new, embedding)
    keys = {message_key(message) for message in group}
    await new.copy(
        [each for each in said if each.address in keys], [with_vectors(message, vectors) for message in group]
    )


async def _forget_erased(new: PointStore, eras: Eras) -> int:
    """Who erased a session while or after it was copied reached the collection in use alone."""
    dead: dict[Session, int] = {}
    async for page in new.said():
        now = await eras(said.origin for said in page)
        dead |= {_session(said): now[_session(said)] for said in page if not _living(said, now)}
    gone = [await new.forget(tenant, session, era) for (tenant, session), era in dead.items()]
    if dead:
        await new.compact()
    return sum(forgotten.messages for forgotten in gone)


def _session(said: Said) -> Session:
    return said.origin.tenant, said.origin.session


def _living(said: Said, now: dict[Session, int]) -> bool:
    return said.origin.era >= now[_session(said)]
