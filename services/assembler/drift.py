"""Drift: does what stands in the prompt still answer the question, and does something else? (reference §5.7)

A cross-encoder is asked, not an embedding: measured on the same texts .80 against .0004 where cosine
says .70 against .48, which never crosses a threshold.
"""

from dataclasses import dataclass

from shared.contracts.rpc import ChunkRef, Reranked


@dataclass(frozen=True)
class Verdict:
    drifted: bool
    """Nothing inside reaches the threshold, and a candidate does."""
    best_inside: float
    best_outside: float
    threshold: float
    take: tuple[ChunkRef, ...] = ()
    """The candidate that a drift was found by: it is taken for certain."""

    @property
    def wanted(self) -> bool:
        """A candidate answers, whatever stands in the prompt: a question may have several answers, and a
        scorer by words sees one in most prompts. Skipping all patches where the best text inside reaches
        the threshold cost a fifth of the evidence (ADR 0015)."""
        return self.best_outside >= self.threshold

    def lines(self) -> dict[str, float]:
        return {"inside": self.best_inside, "outside": self.best_outside, "threshold": self.threshold}


def judge(inside: tuple[ChunkRef, ...], outside: tuple[ChunkRef, ...], reply: Reranked) -> Verdict | None:
    """None where there was nothing to judge by: no reranker, or no candidate.

    Drifted when the best inside is below the threshold *and* a candidate reaches it and is better, so
    that a "thanks" triggers nothing. The question itself counts on neither side.
    """
    if not reply.scores or not outside:
        return None
    scored = list(zip((*inside, *outside), reply.scores, reply.same_text, strict=True))
    insiders = [score for _, score, same in scored[: len(inside)] if not same]
    candidates = [(score, ref) for ref, score, same in scored[len(inside) :] if not same]
    if not candidates:
        return None
    best_inside = max(insiders, default=0.0)
    best_outside, ref = max(candidates, key=lambda c: (c[0], c[1]))
    drifted = best_inside < reply.threshold <= best_outside and best_outside > best_inside
    return Verdict(drifted, best_inside, best_outside, reply.threshold, (ref,) if drifted else ())
