"""The prefix account against what an engine that caches prefixes finds."""

from itertools import takewhile
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backscroll.engine import validate_messages
from services.gateway.dialects.base import Usage
from services.gateway.prepare.measure import Measured, prompt_bound
from services.gateway.prepare.prefix import account
from services.gateway.prepare.prepared import Prepared
from services.gateway.prepare.source import body_source, head_source
from services.gateway.reading.request import Request
from services.gateway.upstream.overflow import Overflow
from shared.errors import ContextLengthExceeded
from shared.prompt.place import excerpt_tokens
from shared.prompt.plan import PATCH_FRAME_TOKENS, Excerpt, Layout, Patch
from shared.prompt.state import Tip
from tests.support.histories import Message, histories
from tests.support.pipeline import Pipeline, sent

GENERATION_PROMPT = 8
"""Tokens at a prompt's end that say whose turn it is; they go on as the answer does."""


def said(turns: int, first: int = 0) -> list[Message]:
    messages: list[Message] = []
    for i in range(first, first + turns):
        text = (
            f"Day {i}: swept deck {i % 9}, painted rail number {i}, weather code W{i * 31}. " + "Aye. " * 20
        )
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": f"Logged day {i}."}]
    return messages


def asked(turns: int) -> list[Message]:
    """The request of a chat in its n-th turn."""
    return said(turns)[:-1]


async def reasons(pipeline: Pipeline, *requests: list[Message]) -> list[str]:
    found = []
    for messages in requests:
        prefix = (await pipeline.ask(messages)).prefix
        assert prefix is not None
        assert prefix.shared + sum(prefix.parts.values()) == prefix.tokens
        found.append(prefix.reason)
    return found


def ids(pipeline: Pipeline, prepared: Prepared) -> list[int]:
    return list(pipeline.engine.count({"messages": sent(prepared)}))


def common(first: list[int], second: list[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=histories(most_turns=10, size=20), mode=st.sampled_from(["rebuild", "patch"]))
async def test_what_is_called_shared_is_shared(messages: list[Message], mode: str) -> None:
    """Wholly where nothing changed; else at most what the engine finds, as far as a bound can tell."""
    pipeline = Pipeline(2048, drift_mode=mode)
    prompts: dict[int, list[int]] = {}
    for length in range(1, len(messages) + 1):
        if messages[length - 1]["role"] not in ("user", "tool") or validate_messages(messages[:length]):
            continue
        try:
            prepared = await pipeline.ask(messages[:length])
        except ContextLengthExceeded:
            continue
        prompt, prefix, parent = ids(pipeline, prepared), prepared.prefix, prepared.parent
        assert prepared.tip is not None or prefix is None
        if prepared.tip is not None:
            prompts[prepared.tip.length] = prompt
        if prefix is None:
            continue
        assert prefix.shared + sum(prefix.parts.values()) == prefix.tokens
        assert min([prefix.shared, *prefix.parts.values()]) >= 0
        if parent is None:
            assert prefix.reason == "cold"
        elif parent.length in prompts and prefix.reason in ("new", "patch"):
            before = prompts[parent.length]
            assert common(before, prompt) >= len(before) - GENERATION_PROMPT


async def test_a_chat_that_grows_adds_what_is_new() -> None:
    pipeline = Pipeline(4096, block_drift_rebuild=False)
    assert await reasons(pipeline, asked(80), asked(81)) == ["cold", "new"]
    before = ids(pipeline, await pipeline.ask(asked(82)))
    prepared = await pipeline.ask(asked(83))
    prompt = ids(pipeline, prepared)
    assert prepared.prefix is not None
    told = prepared.prefix.as_told(len(prompt))
    assert told.tokens == len(prompt) == told.shared + sum(told.parts.values())
    assert abs(told.shared - common(before, prompt)) < 0.02 * len(prompt)
    assert prepared.prefix.header == (
        f"shared={prepared.prefix.shared}, tokens={prepared.measured.tokens}, reason=new"
    )


async def test_an_eviction_is_told_with_what_it_moved() -> None:
    pipeline = Pipeline(4096, block_drift_rebuild=False)
    seen = []
    for turns in range(30, 150):
        prepared = await pipeline.ask(asked(turns))
        if prepared.prefix is None:
            continue
        seen.append(prepared.prefix.reason)
        if prepared.plan is not None and prepared.plan.action == "evict":
            assert prepared.prefix.reason == "evict"
            assert prepared.prefix.parts["evict"] > prepared.prefix.parts["new"] > 0
    assert "evict" in seen
    assert set(seen) <= {"new", "evict", "cold"}


async def test_an_old_block_is_told_as_expired() -> None:
    pipeline = Pipeline(4096)
    await pipeline.ask(asked(80))
    pipeline.now += pipeline.settings.assembly_ttl_s + 1
    assert await reasons(pipeline, asked(81)) == ["expire"]


async def test_another_system_prompt_shares_nothing() -> None:
    pipeline = Pipeline(4096)
    clocks: list[Message] = [{"role": "system", "content": f"It is {hour} o'clock."} for hour in (9, 10)]
    found = await reasons(pipeline, [clocks[0], *asked(80)], [clocks[1], *asked(81)])
    assert found == ["cold", "head"]


async def test_a_client_that_changes_its_history_is_told_so() -> None:
    pipeline = Pipeline(4096, block_drift_rebuild=False)
    await reasons(pipeline, asked(80), asked(81))
    rewritten = [*asked(80), {"role": "assistant", "content": "As you say."}, *said(3, 90), *asked(1)]
    assert await reasons(pipeline, rewritten) == ["history"]
    # Bytes that no address tells apart, but that the engine reads.
    thinking = asked(82)
    thinking[-4] = {**thinking[-4], "reasoning_content": "Let me think."}
    assert await reasons(pipeline, thinking) == ["history"]


async def test_a_refused_prompt_is_no_surprise() -> None:
    pipeline = Pipeline(4096)
    await pipeline.ask(asked(80))
    refused = await pipeline.prepare(asked(81))
    told = Overflow(window=3000, tokens=None)
    smaller = await pipeline.preparer.prepare_smaller(pipeline.request(asked(81)), "s", refused, told)
    assert smaller.prefix is not None
    assert smaller.prefix.reason == "refused"


async def test_a_short_chat_costs_no_account() -> None:
    assert (await Pipeline(8192).ask(asked(2))).prefix is None


async def replay(pipeline: Pipeline, restarts: bool) -> list[bytes]:
    bodies = []
    for turns in range(60, 80):
        fields: dict[str, Any] = {"temperature": 0.5, "stream": False}
        prepared = await pipeline.ask(asked(turns), **fields)
        bodies.append(prepared.body)
        if restarts:
            pipeline.restart()
    return bodies


async def test_what_backscroll_writes_tells_no_time_and_no_names() -> None:
    """Another day, another session, another gateway for each request: the same bytes."""
    one, two = Pipeline(4096, drift_mode="patch"), Pipeline(4096, drift_mode="patch")
    two.now += 86_400 * 400
    assert await replay(one, restarts=False) == await replay(two, restarts=True)


async def test_an_edited_message_keeps_the_order_of_its_fields() -> None:
    pipeline = Pipeline(4096)
    history = asked(80)
    for message in history:
        message["x_last"] = {"b": 1, "a": 2}
    prepared = await pipeline.ask(history)
    first = next(m for m in sent(prepared) if "<excerpts>" in str(m["content"]))
    assert list(first) == ["role", "content", "x_last"]
    assert orjson.dumps(first["x_last"]) in prepared.body


async def test_what_the_engine_counted_of_the_prompt_before_is_exact() -> None:
    pipeline = Pipeline(4096, block_drift_rebuild=False)
    lengths = []
    for turns in (80, 81):
        prepared = await pipeline.ask(asked(turns))
        lengths.append(len(ids(pipeline, prepared)))
        pipeline.preparer.learn(pipeline.request(asked(turns)), prepared, Usage(prompt_tokens=lengths[-1]))
        await pipeline.preparer.settle()
    assert prepared.prefix is not None
    assert prepared.prefix.shared == lengths[0]
    assert prepared.prefix.parts == {"new": lengths[1] - lengths[0]}


def test_what_is_quoted_before_a_change_counts_as_it_was_planned() -> None:
    """A patch that is left out leaves the one before it, frame included, as it was."""
    request = Pipeline(4096).request(asked(20))
    excerpt = Excerpt(0, 0, 0, 9, "", 300)
    first, second = Patch(30, (excerpt,)), Patch(34, (excerpt,))
    tip = tip_of(request, Layout(window_start=20, patches=(first, second)))
    layout = Layout(window_start=20, patches=(first,))
    bound = prompt_bound(request, layout) + excerpt_tokens(layout, 1.0)
    prefix = account(request, tip, layout, Measured(bound, exact=False, bound=bound), "shrunk")
    tokens = request.head_tokens + int(request.shape.tokens[20:34].sum())
    assert (prefix.shared, prefix.reason) == (tokens + PATCH_FRAME_TOKENS + 300, "shrunk")


def tip_of(request: Request, layout: Layout) -> Tip:
    length = len(request.shape)
    return Tip(
        length=length,
        layout=layout,
        tokens=1000,
        exact=False,
        head=head_source(request),
        source=body_source(request, length),
        ratio=1.0,
        built_at=0.0,
    )
