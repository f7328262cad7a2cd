"""The promises, under attack: any valid history, at any window."""

import os
from typing import Any

import orjson
import pytest
import regex
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from backscroll.engine import validate_messages
from services.gateway.prepare.prepared import Prepared
from shared.errors import ContextLengthExceeded
from tests.support.histories import Message, histories
from tests.support.pipeline import Pipeline, sent

attack = settings(
    max_examples=int(os.environ.get("ATTACKS", "40")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
)
windows = st.sampled_from([2048, 2500, 4096, 8192])
GREETING: list[Message] = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
UNEVEN = "plain words here " * 455 + "x9f$" * 160 + " plain words here" * 455
"""Of one ratio at its ends, which are what is kept of it first, and of another in its middle."""


def text_of(message: Message) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content)


def excerpts(prepared: Prepared) -> list[str]:
    """The quoted texts of every frame in the prompt."""
    frames = [
        f for m in sent(prepared) for f in regex.findall(r"<excerpts>\n(.*?)</excerpts>", text_of(m), regex.S)
    ]
    return [
        line
        for frame in frames
        for line in frame.split("\n")[1:]
        if line and not line.startswith(("---", "["))
    ]


@attack
@given(histories(size=40), windows, st.none() | st.integers(1, 10_000))
async def test_it_always_fits(messages: list[Message], window: int, max_tokens: int | None) -> None:
    pipeline = Pipeline(window)
    fields: dict[str, Any] = {} if max_tokens is None else {"max_tokens": max_tokens}
    try:
        prepared = await pipeline.ask(messages, **fields)
    except ContextLengthExceeded:
        # Only a head or a last step with images, calls or parts that cannot be cut is ever too long.
        head = [m for m in messages if m["role"] in ("system", "developer")]
        last = [messages[-1]] if messages[-1]["role"] == "user" else messages[-8:]
        assert any(m.get("tool_calls") or isinstance(m.get("content"), list) for m in [*head, *last])
        return
    assert validate_messages(sent(prepared)) == []
    assert pipeline.engine.refusals == 0


@attack
@given(histories(size=40), windows)
async def test_nothing_foreign(messages: list[Message], window: int) -> None:
    pipeline = Pipeline(window)
    await pipeline.prepare([{"role": "user", "content": "a foreign secret " * 2000}], "other")
    try:
        prepared = await pipeline.prepare(messages)
    except ContextLengthExceeded:
        return
    said = (
        "\n".join(
            text_of(m)
            + "".join(
                f"{c['function']['name']}({c['function']['arguments']})" for c in m.get("tool_calls", [])
            )
            for m in messages
        )
        .replace("</excerpts>", "<\\/excerpts>")
        .replace("<excerpts>", "<\\excerpts>")
    )
    for line in excerpts(prepared):
        assert line in said
    assert "foreign" not in "".join(excerpts(prepared))


@attack
@example([*GREETING, {"role": "user", "content": UNEVEN}], 2048)
@given(histories(most_turns=6, size=40), windows)
async def test_the_same_request_gives_the_same_bytes(messages: list[Message], window: int) -> None:
    first, second = Pipeline(window), Pipeline(window)
    try:
        one = await first.prepare(messages)
    except ContextLengthExceeded:
        return
    two = await second.prepare(messages)
    retry = await first.prepare(messages)
    first.restart()
    elsewhere = await first.prepare(messages)
    assert one.body == two.body == retry.body == elsewhere.body


@pytest.mark.parametrize("mode", ["rebuild", "patch"])
@attack
@given(messages=histories(most_turns=10, size=20), window=st.sampled_from([2048, 4096]))
async def test_what_was_sent_stays_the_prefix(mode: str, messages: list[Message], window: int) -> None:
    """Request by request: unless something was evicted or rebuilt, the next prompt begins with the last.

    A patch stands beside the message that asked, which is new, so it changes nothing before it.
    """
    pipeline = Pipeline(window, drift_mode=mode)
    last: list[bytes] = []
    for length in range(1, len(messages) + 1):
        if messages[length - 1]["role"] not in ("user", "tool") or validate_messages(messages[:length]):
            continue
        try:
            prepared = await pipeline.ask(messages[:length])
        except ContextLengthExceeded:
            continue
        prompt = [orjson.dumps(m) for m in sent(prepared)]
        kept = prepared.plan is None or prepared.plan.action in ("reuse", "patch")
        if prepared.parent is not None and kept and not prepared.shrunk:
            assert prompt[: len(last)] == last
        last = prompt


@attack
@given(histories(size=40), windows)
async def test_cuts_never_break_a_character(messages: list[Message], window: int) -> None:
    pipeline = Pipeline(window)
    try:
        prepared = await pipeline.prepare(messages)
    except ContextLengthExceeded:
        return
    clusters = {g for m in messages for g in regex.findall(r"\X", text_of(m))}
    for cut in prepared.layout.cuts:
        kept = next(m for m in sent(prepared) if "characters omitted ...]" in text_of(m))
        tail = text_of(kept).split("characters omitted ...]\n", 1)[1]
        assert regex.match(r"\X", tail).group() in clusters if tail else cut.end > 0


@pytest.mark.parametrize("broken", ["assembler", "bus", "store", "counter", "blind"])
@attack
@given(messages=histories(size=40), window=windows)
async def test_it_fits_when_a_part_is_down(broken: str, messages: list[Message], window: int) -> None:
    pipeline = Pipeline(window)
    pipeline.bus.assembler_down = broken in ("assembler", "bus")
    pipeline.state.down = broken == "bus"
    pipeline.bus.store.down = broken == "store"
    pipeline.counter.down = broken == "counter"
    pipeline.counter.blind = broken == "blind"
    try:
        prepared = await pipeline.ask(messages)
    except ContextLengthExceeded:
        return
    assert pipeline.engine.refusals == 0
    assert validate_messages(sent(prepared)) == []
    if prepared.mode == "assembled" and broken in ("assembler", "bus"):
        assert prepared.degraded
