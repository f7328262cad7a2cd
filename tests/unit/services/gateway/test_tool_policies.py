"""The promises with policies for results of tools."""

import json
import os
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backscroll.engine import validate_messages
from services.assembler.inside import WHOLE, inside_ranges
from services.gateway.dialects import chat
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from shared.errors import ContextLengthExceeded
from shared.prompt.plan import Cut, Layout
from shared.prompt.toolresult import ToolPolicy
from tests.support.histories import Message, histories
from tests.support.pipeline import Pipeline, sent

POLICIES = {
    "search": ToolPolicy(keep=("title", "url"), rows=20),
    "read_*": ToolPolicy(head=400, tail=800),
    "*": ToolPolicy(rows=3, head=100, tail=100),
}
attack = settings(
    max_examples=int(os.environ.get("ATTACKS", "40")) // 2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@st.composite
def with_json(draw: st.DrawFn) -> list[Message]:
    """Histories in which some results are JSON, some far longer than a window."""
    messages: list[Message] = draw(histories(most_turns=6, size=20))
    for message in messages:
        if message["role"] == "tool" and draw(st.booleans()):
            body = "body " * draw(st.integers(0, 60))
            rows = [
                {"title": f"t{i}", "url": f"u{i}", "body": body} for i in range(draw(st.integers(0, 120)))
            ]
            message["content"] = json.dumps(draw(st.sampled_from([rows, {"results": rows}])))
    return messages


@attack
@given(with_json(), st.sampled_from([2048, 4096, 8192]))
async def test_it_fits_and_what_was_sent_stays_the_prefix(messages: list[Message], window: int) -> None:
    pipeline = Pipeline(window, tools=POLICIES)
    last: list[bytes] = []
    for length in range(1, len(messages) + 1):
        if messages[length - 1]["role"] not in ("user", "tool") or validate_messages(messages[:length]):
            continue
        try:
            prepared = await pipeline.ask(messages[:length])
        except ContextLengthExceeded:
            continue
        assert validate_messages(sent(prepared)) == []
        prompt = [orjson.dumps(m) for m in sent(prepared)]
        reused = prepared.plan is None or prepared.plan.action == "reuse"
        if prepared.parent is not None and reused and not prepared.shrunk:
            assert prompt[: len(last)] == last
        if prepared.mode == "passthrough":
            assert sent(prepared) == messages[:length]
        last = prompt
    assert pipeline.engine.refusals == 0


@attack
@given(with_json(), st.sampled_from([2048, 4096]))
async def test_the_same_request_gives_the_same_bytes(messages: list[Message], window: int) -> None:
    pipeline = Pipeline(window, tools=POLICIES)
    try:
        one = await pipeline.prepare(messages)
    except ContextLengthExceeded:
        return
    two = await Pipeline(window, tools=POLICIES).prepare(messages)
    # A tip holds what was kept, so that a changed file changes nothing that was sent.
    pipeline.tools = {}
    pipeline.restart()
    again = await pipeline.prepare(messages)
    assert one.body == two.body == again.body


def result(name: str, content: str) -> list[Message]:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "user", "content": "Which crates are there?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
    ]


ROWS = [
    {"title": f"crate {i}", "url": f"u{i}", "note": f"The lid of crate {i} is {i * 7919}."}
    for i in range(600)
]


def shown(prepared: Prepared, role: str = "tool") -> Any:
    return next(m["content"] for m in sent(prepared) if m["role"] == role)


async def test_a_search_keeps_its_fields_and_the_rest_is_recalled() -> None:
    pipeline = Pipeline(4096, tools=POLICIES)
    first = await pipeline.ask(result("search", json.dumps(ROWS)))
    assert json.loads(shown(first)) == [
        *({"title": r["title"], "url": r["url"]} for r in ROWS[:20]),
        "[... 580 of 600 rows omitted ...]",
    ]
    asked = [
        *result("search", json.dumps(ROWS)),
        {"role": "assistant", "content": "Six hundred."},
        {"role": "user", "content": f"Which crate has a lid {411 * 7919}?"},
    ]
    second = await pipeline.ask(asked)
    assert shown(second) == shown(first)
    third = await pipeline.ask([*asked, {"role": "assistant", "content": "411"}, asked[-1]])
    assert f"The lid of crate 411 is {411 * 7919}." in orjson.dumps(sent(third)).decode()


async def test_a_file_keeps_its_head_and_its_tail() -> None:
    text = "\n".join(f"line {i} of the file" for i in range(4000))
    told = shown(await Pipeline(4096, tools=POLICIES).ask(result("read_file", text)))
    assert told.startswith("line 0 of the file\n")
    assert told.endswith("line 3999 of the file")
    assert "characters omitted ...]" in told
    tail = shown(await Pipeline(4096).ask(result("read_file", text)))
    assert tail.startswith("[... ")


def test_head_and_tail_stand_inside_and_the_middle_is_a_candidate() -> None:
    pipeline = Pipeline(4096)
    history = _shape(pipeline, result("read_file", "x" * 100))
    layout = Layout(cuts=(Cut(2, 0, 10, 60, 50),))
    ranges = inside_ranges(history, layout, with_block=False)
    assert [(e.position, e.unit, e.start, e.end) for e in ranges] == [(2, 0, 0, 10), (2, 0, 60, WHOLE)]


def _shape(pipeline: Pipeline, messages: list[Message]) -> Any:
    raw = orjson.dumps({"model": "m", "messages": messages})
    return Request(raw, pipeline.reader, chat).shape.history(1.0)
