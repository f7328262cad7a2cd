"""Vectors for texts: each embedded once, the faulty ones found alone."""

from collections import Counter
from collections.abc import Callable, Sequence

from services.embedder.batch import Text, batches
from shared.errors import BadAnswer, DependencyUnavailable, PermanentFault, TextTooLarge
from shared.models.port import Embedder, Vector
from shared.models.vectors import PART, pooled
from shared.telemetry import EMBED_ERRORS, EMBEDS_DONE, EMBEDS_QUEUED
from shared.text.split import split

KNOWN_GOOD = "The sky is blue."
"""Fails only where the server does: before a text is given up, this one must succeed."""
BAD_ANSWERS = 5
"""A server that has no usable vector for one text this often, but has for another, will never have one."""
SMALLEST_PIECE = 64
"""Characters. A server that calls this too large is set up wrongly."""


class Embedding:
    """The embedding of one batch of events, and of its repetitions where the server fails in between.

    `vectors` are made and not stored yet, `faulty` says why a text has none; both by digest. They outlive a
    failure, so that what was embedded before it is not embedded again.
    """

    def __init__(self, embedder: Embedder, stopping: Callable[[], bool]) -> None:
        self._embedder = embedder
        self._stopping = stopping
        self._bad_answers: Counter[str] = Counter()
        self.vectors: dict[str, Vector] = {}
        self.faulty: dict[str, str] = {}

    async def embed(self, texts: Sequence[Text]) -> None:
        """Until each text has a vector or a fault. Can be repeated after a `DependencyUnavailable`."""
        new = [t for t in texts if t.digest not in self.vectors and t.digest not in self.faulty]
        EMBEDS_QUEUED.inc(len(new))
        try:
            for batch in batches(new, self._embedder.batch, self._embedder.batch_tokens):
                if self._stopping():
                    raise DependencyUnavailable("bus_unavailable", "the service is stopping")
                await self._batch(batch)
        finally:
            EMBEDS_QUEUED.dec(len(new))

    async def _batch(self, texts: Sequence[Text]) -> None:
        try:
            vectors = await self._passages([t.text for t in texts])
        except (PermanentFault, BadAnswer) as error:
            if len(texts) > 1:
                half = len(texts) // 2
                await self._batch(texts[:half])
                await self._batch(texts[half:])
            else:
                await self._alone(texts[0], error)
            return
        self.vectors |= {t.digest: vector for t, vector in zip(texts, vectors, strict=True)}
        EMBEDS_DONE.inc(len(texts))

    async def _alone(self, text: Text, error: PermanentFault | BadAnswer) -> None:
        """Split what is too large; otherwise give the text up, if it is the text."""
        if isinstance(error, TextTooLarge):
            try:
                self.vectors[text.digest] = await self._in_pieces(text.text)
                EMBEDS_DONE.inc()
                return
            except (PermanentFault, BadAnswer) as piece:
                error = piece
        try:
            await self._passages([KNOWN_GOOD])
        except PermanentFault as refusal:
            raise DependencyUnavailable(PART, f"the server refuses any text: {refusal}") from refusal
        if isinstance(error, BadAnswer):
            self._bad_answers[text.digest] += 1
            if self._bad_answers[text.digest] < BAD_ANSWERS:
                raise error
        self.faulty[text.digest] = str(error)

    async def _in_pieces(self, text: str) -> Vector:
        """The pieces' vectors, pooled by length. Raises `TextTooLarge` where it cannot be cut further."""
        ranges = split(text, len(text) // 2) if len(text) > SMALLEST_PIECE else []
        pieces = [text[start:end] for start, end in ranges if text[start:end].strip()]
        if not pieces or max(map(len, pieces)) == len(text):
            raise TextTooLarge(f"{len(text)} characters are too large and cannot be cut")
        vectors = []
        for piece in pieces:
            try:
                vectors += await self._passages([piece])
            except TextTooLarge:
                vectors.append(await self._in_pieces(piece))
        return pooled(vectors, [len(piece) for piece in pieces])

    async def _passages(self, texts: Sequence[str]) -> list[Vector]:
        try:
            return await self._embedder.passages(texts)
        except (DependencyUnavailable, PermanentFault):
            EMBED_ERRORS.inc()
            raise
