"""Names on the bus: streams, durables, subjects, methods.

Ids come from users, so they are encoded before they become a token of a subject: a dot, a wildcard or
a space in one must neither change the shape of the subject nor reach another tenant's.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.contracts.base import Contract
from shared.contracts.events import ChunksCreated, DeadLetter, ExchangeRecorded, MessagesRecorded, OfSession
from shared.contracts.rpc import Assemble, Assembled, Erase, Receipt, Rerank, Reranked, Retrieve, Retrieved

MESSAGES = "MESSAGES"
CHUNKS = "CHUNKS"
DOCUMENTS = "DOCUMENTS"
RECORDS = "RECORDS"
DEADLETTERS = "DEADLETTERS"

STREAM_SUBJECTS = {
    MESSAGES: "ev.v1.*.*.messages",
    CHUNKS: "ev.v1.*.*.chunks",
    DOCUMENTS: "ev.v1.*.*.documents",
    RECORDS: "ev.v1.*.*.record.*",
    DEADLETTERS: "dl.v1.*.*.*",
}

PLAIN = re.compile(r"[A-Za-z0-9_-]{1,48}")
LONGEST = 40
"""Bytes of an id that are encoded as they are; 64 characters in base32."""


def token(user_id: str) -> str:
    """One subject token for any string; two ids never share one (a long id becomes a 160-bit hash)."""
    if PLAIN.fullmatch(user_id):
        return f"i-{user_id}"
    raw = user_id.encode("utf-8", "surrogatepass")
    if len(raw) <= LONGEST:
        return "b-" + base64.b32encode(raw).decode().rstrip("=").lower()
    return "h-" + hashlib.blake2b(raw, digest_size=20).hexdigest()


def id_of(a_token: str) -> str:
    """The id that a token was made of; a long one's token is a hash, and comes back as it is."""
    form, _, rest = a_token.partition("-")
    if form == "i":
        return rest
    if form == "b":
        padded = rest.upper() + "=" * (-len(rest) % 8)
        return base64.b32decode(padded).decode("utf-8", "surrogatepass")
    return a_token


def pattern(stream: str, tenant: str | None = None, session: str | None = None) -> str:
    """Matches what the stream holds of a tenant and a session; None stands for any."""
    tokens = STREAM_SUBJECTS[stream].split(".")
    for place, wanted in ((2, tenant), (3, session)):
        if wanted is not None:
            tokens[place] = token(wanted)
    return ".".join(tokens)


def messages(tenant: str, session: str) -> str:
    return f"ev.v1.{token(tenant)}.{token(session)}.messages"


def chunks(tenant: str, session: str) -> str:
    return f"ev.v1.{token(tenant)}.{token(session)}.chunks"


def documents(tenant: str, store: str) -> str:
    return f"ev.v1.{token(tenant)}.{token(store)}.documents"


def record(tenant: str, session: str, record_id: str) -> str:
    return f"ev.v1.{token(tenant)}.{token(session)}.record.{token(record_id)}"


def dead_letter(of: str, service: str) -> str:
    """Beside the subject that the faulty message came on: same tenant, same session."""
    _, _, tenant, session, *_ = of.split(".")
    return f"dl.v1.{tenant}.{session}.{token(service)}"


ROUTES: dict[type[OfSession], tuple[str, Callable[..., str]]] = {
    MessagesRecorded: (MESSAGES, lambda e: messages(e.tenant, e.session)),
    ChunksCreated: (CHUNKS, lambda e: chunks(e.tenant, e.session)),
    ExchangeRecorded: (RECORDS, lambda e: record(e.tenant, e.session, e.record)),
}
"""Stream and subject of each event."""

HOLDS: dict[str, type[OfSession]] = {
    **{stream: event for event, (stream, _) in ROUTES.items()},
    DEADLETTERS: DeadLetter,
}
"""What each stream holds."""

E = TypeVar("E", bound=OfSession)
Req = TypeVar("Req", bound=Contract)
Rep = TypeVar("Rep", bound=Contract)


@dataclass(frozen=True)
class Durable(Generic[E]):
    """A pull consumer that all replicas of a service share."""

    name: str
    stream: str
    event: type[E]


CHUNKER = Durable("chunker", MESSAGES, MessagesRecorded)
TERMS = Durable("terms", CHUNKS, ChunksCreated)
VECTORS = Durable("vectors", CHUNKS, ChunksCreated)
DURABLES: tuple[Durable[MessagesRecorded] | Durable[ChunksCreated], ...] = (CHUNKER, TERMS, VECTORS)


@dataclass(frozen=True)
class Method(Generic[Req, Rep]):
    """A request with its reply. `part` is what a caller is degraded by where nobody answers."""

    name: str
    request: type[Req]
    reply: type[Rep]
    part: str

    @property
    def subject(self) -> str:
        return f"rpc.v1.{self.name}"


ASSEMBLE = Method("assemble", Assemble, Assembled, "assembler_unavailable")
RETRIEVE = Method("retrieve", Retrieve, Retrieved, "retriever_unavailable")
ERASE = Method("erase", Erase, Receipt, "embedder_unavailable")
RERANK = Method("rerank", Rerank, Reranked, "rerank_unavailable")
