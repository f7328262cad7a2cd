"""A chat that grows over several windows of a real engine: refusals, counts, prefix cache."""

from collections.abc import Callable
from itertools import pairwise

import httpx
import pytest

from tests.engine.chat import Turn, history, paragraph, say

pytestmark = pytest.mark.timeout(1800)

WINDOW = 4096
TURNS = 32
CACHED_SHARE = 0.9
"""Of the prompt before. The rest is the answer, which is not always cut into the tokens it was made of."""


@pytest.fixture(scope="module")
def turns(gateway: httpx.Client) -> list[Turn]:
    """From the first word on, so that passed through, assembled and grown prompts are all among them."""
    messages = history(0)
    return [say(gateway, messages, paragraph(n) + paragraph(n + 1000)) for n in range(TURNS)]


def test_the_chat_is_several_windows_long_and_nothing_is_refused(
    turns: list[Turn], engine: httpx.Client, figure: Callable[[str], None]
) -> None:
    said = "".join(paragraph(n) + paragraph(n + 1000) for n in range(TURNS))
    tokens = len(engine.post("/tokenize", json={"content": said}).json()["tokens"])
    assert tokens > 2 * WINDOW
    assert {turn.mode for turn in turns} == {"passthrough", "assembled"}
    # Also none that a retry mended.
    assert [turn.degraded for turn in turns if turn.degraded] == []
    figure(f"chat: {TURNS} turns, {tokens} tokens, largest prompt {max(t.prompt_tokens for t in turns)}")


def test_our_counts_are_the_engines(turns: list[Turn], figure: Callable[[str], None]) -> None:
    records = [(turn, turn.record) for turn in turns if turn.record]
    exact = [(t.prompt_tokens, r["prompt_tokens"]) for t, r in records if r["prompt_tokens_exact"]]
    bound = [(t.prompt_tokens, r["prompt_tokens"]) for t, r in records if not r["prompt_tokens_exact"]]
    figure(f"counts: {len(exact)} exact, {len(bound)} by a bound; {exact[:3]} {bound[:3]}")
    assert exact
    assert [pair for pair in exact if pair[0] != pair[1]] == []
    assert [pair for pair in bound if pair[0] > pair[1]] == []
    for _, record in records:
        assert record["prompt_tokens"] <= record["limit"] < record["window"] == WINDOW


def test_a_prompt_that_only_grew_is_read_from_the_cache(
    turns: list[Turn], figure: Callable[[str], None]
) -> None:
    grown = [(a, b) for a, b in pairwise(turns) if layout(a) == layout(b)]
    shares = [b.cached_tokens / a.prompt_tokens for a, b in grown]
    least = min(shares)
    figure(f"cached: {len(shares)} of {len(turns) - 1} turns only grew; cached at least {least:.3f} of it")
    assert len([b for _, b in grown if b.mode == "assembled"]) >= TURNS // 4
    assert least >= CACHED_SHARE


def layout(turn: Turn) -> object:
    return turn.record["layout"] if turn.record else None
