"""Messages as the store takes them, made up from a few words."""

import random
from collections.abc import Sequence

import numpy as np

from shared.contracts.base import Kind, Role
from shared.conversation.address import address, address_key, tenant_key, text_digest
from shared.store.port import IndexedMessage, Vector
from shared.text.terms import document_terms
from tests.support.chunks import chunk

DIM = 8
WORDS = ["amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty", "knoll"]


def indexed(
    name: str,
    texts: Sequence[str] = (),
    vectors: Sequence[Vector | None] = (),
    tenant: str = "t",
    role: Role = Role.USER,
    kind: Kind = Kind.USER,
    tool: str | None = None,
) -> IndexedMessage:
    """A message whose units are `texts`, one chunk each; `name` decides its address."""
    hexed = address(tenant_key(tenant), name.encode()).hex()
    chunks = tuple(
        chunk(text, hexed, unit=unit, role=role, kind=kind, tool=tool, tokens=len(text.split()))
        for unit, text in enumerate(texts)
    )
    return IndexedMessage(hexed, chunks, tuple(document_terms(c.text) for c in chunks), tuple(vectors))


def key_of(message: IndexedMessage) -> int:
    return address_key(bytes.fromhex(message.address))


def unit_vector(seed: int, dim: int = DIM) -> Vector:
    vector = np.random.default_rng(seed).standard_normal(dim).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def random_messages(rng: random.Random, count: int, tenant: str = "t") -> list[IndexedMessage]:
    """With none to three chunks each, some texts equal, vectors equal where texts are."""
    messages = []
    for n in range(count):
        texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(rng.randint(0, 3))]
        vectors = [unit_vector(int(text_digest(text)[:8], 16)) for text in texts]
        messages.append(indexed(f"{tenant}/{n}", texts, vectors, tenant))
    return messages
