"""Streams of a chat engine, told in the other dialects as the official SDKs read them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import anthropic
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.dialects import anthropic as anthropic_dialect
from services.gateway.dialects import responses as responses_dialect
from services.gateway.dialects.base import Dialect
from services.gateway.translate.translation import Translation
from services.gateway.upstream.ending import Ending
from tests.support.chat_stream import DONE, call, data, delta, ending, finish, text, usage
from tests.support.told import STREAM, openai_client, streamed_message, streamed_response

BODIES = {
    "anthropic": b'{"model":"m","stream":true,"stop_sequences":["END"],"messages":[]}',
    "responses": b'{"model":"m","stream":true,"input":"hi"}',
}
DIALECTS: tuple[Dialect, ...] = (anthropic_dialect, responses_dialect)
both = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.NAME)
TWO_CALLS = (
    text("I look. ")
    + call(0, id="a", name="find")
    + call(0, '{"q":')
    + call(0, '"héllo 🙂"}')
    + call(1, '{"p', id="b", name="open")
    + call(1, 'ath":"x"}')
    + ending("tool_calls")
)
MIXED = (
    call(0, id="a", name="find")
    + call(1, '{"p', id="b", name="open")
    + call(0, '{"q":')
    + call(1, 'ath":"x"}')
    + call(0, '"héllo 🙂"}')
    + ending("tool_calls")
)
SAME_INDEX = (
    call(0, '{"q":"héllo 🙂"}', id="a", name="find")
    + call(0, '{"path":"x"}', id="b", name="open")
    + ending("stop")
)
REASONED = (
    delta(reasoning_content="Let me ") + delta(reasoning="see. ") + text("Sunday") + text("!") + ending()
)


def told(dialect: Dialect, parts: Sequence[bytes]) -> bytes:
    stream = Translation(dialect.NAME, BODIES[dialect.NAME]).stream()
    return b"".join([stream.feed(part) for part in parts]) + stream.end()


def events(raw: bytes) -> list[Any]:
    return [orjson.loads(line[5:]) for line in raw.splitlines() if line.startswith(b"data:")]


def test_anthropic_text_comes_in_the_documented_order() -> None:
    raw = told(anthropic_dialect, [text("Sun") + text("day") + ending()])
    assert [e["type"] for e in events(raw)] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    message = streamed_message(raw)
    assert message.content[0].text == "Sunday"
    assert (message.id, message.model, message.stop_reason) == ("msg_7", "m", "end_turn")
    assert (message.usage.input_tokens, message.usage.cache_read_input_tokens) == (2, 48)
    assert message.usage.output_tokens == 7


def test_responses_text_comes_in_the_documented_order() -> None:
    raw = told(responses_dialect, [text("Sun") + text("day") + ending()])
    assert [e["type"] for e in events(raw)] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [e["sequence_number"] for e in events(raw)] == list(range(10))
    response = streamed_response(raw)
    assert (response.output_text, response.status, response.id) == ("Sunday", "completed", "resp_7")
    assert (response.usage.input_tokens, response.usage.input_tokens_details.cached_tokens) == (50, 48)


@pytest.mark.parametrize("stream", [TWO_CALLS, MIXED, SAME_INDEX], ids=["in order", "mixed", "one index"])
def test_parallel_calls_are_whole_whatever_their_order(stream: bytes) -> None:
    message = streamed_message(told(anthropic_dialect, [stream]))
    calls = [(b.id, b.name, b.input) for b in message.content if b.type == "tool_use"]
    assert calls == [("a", "find", {"q": "héllo 🙂"}), ("b", "open", {"path": "x"})]
    assert message.stop_reason == "tool_use"

    response = streamed_response(told(responses_dialect, [stream]))
    found = [(i.call_id, i.name, orjson.loads(i.arguments)) for i in response.output if i.type != "message"]
    assert found == calls


@both
@pytest.mark.parametrize("stream", [TWO_CALLS, MIXED, REASONED], ids=["calls", "mixed", "reasoned"])
def test_a_block_is_closed_before_the_next_one_opens(dialect: Dialect, stream: bytes) -> None:
    opens = ("content_block_start", "response.output_item.added")
    closes = ("content_block_stop", "response.output_item.done")
    kinds = [e["type"] for e in events(told(dialect, [stream]))]
    marks = [kind for kind in kinds if kind in opens + closes]
    assert marks == [opens[dialect is responses_dialect], closes[dialect is responses_dialect]] * (
        len(marks) // 2
    )


def test_reasoning_becomes_thinking_and_a_summary() -> None:
    message = streamed_message(told(anthropic_dialect, [REASONED]))
    assert [b.type for b in message.content] == ["thinking", "text"]
    assert message.content[0].thinking == "Let me see. "
    response = streamed_response(told(responses_dialect, [REASONED]))
    assert response.output[0].summary[0].text == "Let me see. "
    assert response.output_text == "Sunday!"


@both
def test_each_token_is_told_when_it_comes(dialect: Dialect) -> None:
    stream = Translation(dialect.NAME, BODIES[dialect.NAME]).stream()
    for piece in ("one", " two", " three"):
        assert orjson.dumps(piece) in stream.feed(text(piece))
    stream.feed(call(0, id="a", name="find"))
    for piece in ('{"q"', ':"x"', "}"):
        assert orjson.dumps(piece) in stream.feed(call(0, piece))


@pytest.mark.parametrize(
    ("reason", "more", "stop_reason", "status"),
    [
        ("length", {}, "max_tokens", "incomplete"),
        ("content_filter", {}, "refusal", "incomplete"),
        ("stop", {"stop_reason": "END"}, "stop_sequence", "completed"),
        ("stop", {"matched_stop": 151645}, "end_turn", "completed"),
    ],
)
def test_why_an_answer_ended(reason: str, more: dict[str, Any], stop_reason: str, status: str) -> None:
    stream = text("a") + finish(reason, **more) + usage() + DONE
    assert streamed_message(told(anthropic_dialect, [stream])).stop_reason == stop_reason
    assert events(told(responses_dialect, [stream]))[-1]["type"] == f"response.{status}"


@both
def test_an_error_event_of_the_engine_is_told_as_one(dialect: Dialect) -> None:
    wrong = data({"error": {"message": "the cache is full", "type": "server_error", "code": 503}})
    raw = told(dialect, [text("Sun") + wrong + text("never")])
    assert b"never" not in raw
    ending = Ending(dialect)
    ending.feed(raw)
    assert b"the cache is full" in (ending.error() or b"")


def test_the_sdks_see_an_error_event() -> None:
    wrong = text("Sun") + data({"error": "the cache is full"})
    with pytest.raises(anthropic.APIStatusError, match="the cache is full"):
        streamed_message(told(anthropic_dialect, [wrong]))
    with openai_client(told(responses_dialect, [wrong]), STREAM) as client:
        *_, last = client.responses.create(model="m", input="", stream=True)
    assert (last.type, last.message) == ("error", "the cache is full")


@both
@pytest.mark.parametrize("begun", [b"", text("Sun"), call(0, '{"q":', id="a", name="find")])
def test_a_stream_that_breaks_off_ends_in_an_error(dialect: Dialect, begun: bytes) -> None:
    assert events(told(dialect, [begun]))[-1]["type"] == "error"


@both
def test_an_answer_whose_reason_has_come_is_whole_without_done(dialect: Dialect) -> None:
    kinds = [e["type"] for e in events(told(dialect, [text("Sun") + finish() + usage()]))]
    assert kinds[-1] in ("message_stop", "response.completed")


@both
def test_comments_pass_and_nonsense_is_an_error(dialect: Dialect) -> None:
    assert told(dialect, [b": alive\n\n"]).startswith(b": alive\n\n")
    assert events(told(dialect, [text("a"), b"data: {nonsense\n\n"]))[-1]["type"] == "error"


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.NAME)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@given(cuts=st.sets(st.integers(1, 900), max_size=40), one_by_one=st.booleans())
def test_bytes_may_be_cut_anywhere(
    dialect: Dialect, newline: bytes, cuts: set[int], one_by_one: bool
) -> None:
    stream = (b": hi\n\n" + TWO_CALLS).replace(b"\n", newline)
    places = range(len(stream)) if one_by_one else sorted({0, *(c * len(stream) // 900 for c in cuts)})
    parts = [stream[a:b] for a, b in pairwise([*places, len(stream)])]
    assert told(dialect, parts) == b": hi\n\n" + told(dialect, [TWO_CALLS])


pieces = st.lists(st.text(min_size=1, max_size=5), max_size=6)


@both
@settings(max_examples=40)
@given(
    said=pieces,
    arguments=st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=9)), max_size=3),
    order=st.randoms(use_true_random=False),
)
def test_any_mixture_of_deltas_comes_out_whole(
    dialect: Dialect, said: list[str], arguments: list[dict[str, str]], order: Any
) -> None:
    queues = [[text(p) for p in said]]
    for index, value in enumerate(arguments):
        raw = orjson.dumps(value).decode()
        cuts = [0, *sorted(order.randrange(len(raw)) for _ in range(2)), len(raw)]
        deltas = [call(index, id=f"c{index}", name=f"f{index}")]
        deltas += [call(index, raw[a:b]) for a, b in pairwise(cuts)]
        queues.append(deltas)
    stream = b""
    while any(queues):
        stream += order.choice([q for q in queues if q]).pop(0)
    raw = told(dialect, [stream + ending()])
    if dialect is anthropic_dialect:
        blocks = streamed_message(raw).content
        calls = {b.id: b.input for b in blocks if b.type == "tool_use"}
        heard = "".join(b.text for b in blocks if b.type == "text")
    else:
        response = streamed_response(raw)
        calls = {i.call_id: orjson.loads(i.arguments) for i in response.output if i.type == "function_call"}
        heard = response.output_text
    assert heard == "".join(said)
    assert calls == {f"c{index}": value for index, value in enumerate(arguments)}
