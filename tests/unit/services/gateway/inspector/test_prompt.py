"""The prompt is shown whole, and what was quoted is found in it."""

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from services.gateway.dialects import chat
from services.gateway.inspector.prompt import messages_of
from services.gateway.inspector.quotes import pieces_of
from services.gateway.inspector.recorded import Record
from shared.contracts.events import ExchangeRecorded
from shared.conversation.address import text_digest
from shared.prompt.plan import Excerpt, Layout, Patch
from shared.prompt.render import BLOCK_OPENING, CLOSING, render
from tests.support.requests import request_of
from tests.unit.services.gateway.inspector.records import QUESTIONS, TRICK, read

BLANK = {
    "id": "r",
    "session": "s",
    "model": "m",
    "at": 1.0,
    "mode": "assembled",
    "window": 4096,
    "limit": 4000,
    "prompt_tokens": 5,
    "prompt_tokens_exact": True,
    "prompt": {"messages": []},
}
said = st.lists(
    st.sampled_from(
        [TRICK, CLOSING, BLOCK_OPENING, "--- turn 1 ---\n", "[user] ", "汉字", "🙂", "word ", "\n"]
    ),
    min_size=1,
    max_size=6,
).map("".join)


@settings(max_examples=150)
@given(st.lists(said, min_size=2, max_size=6), st.data())
def test_every_quotation_is_found_whatever_the_texts_look_like(texts: list[str], data: st.DataObject) -> None:
    roles = ["assistant" if n % 2 else "user" for n in range(len(texts))]
    items = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]
    request = request_of([*items, {"role": "user", "content": "And now?"}], chat)
    excerpts = []
    for position in range(len(texts)):
        for unit in request.units(position):
            start = data.draw(st.integers(0, len(unit.text) - 1))
            end = data.draw(st.integers(start + 1, len(unit.text)))
            digest = text_digest(unit.text[start:end])
            excerpts.append(Excerpt(position, unit.unit, start, end, digest, 1))
    last = len(texts)
    half = len(excerpts) // 2
    patches = (Patch(last, tuple(excerpts[half:])),) if excerpts[half:] else ()
    layout = Layout(window_start=last, block=tuple(excerpts[:half]), patches=patches)
    view = render(layout, last + 1, last, request)
    text = orjson.loads(request.render(view)[-1])["content"]

    record = Record.model_validate(BLANK | {"layout": layout.model_dump()})
    pieces = list(pieces_of(text, record))
    assert "".join(piece.text for piece in pieces) == text
    found = [piece.quote for piece in pieces if piece.quote]
    assert [(q.position, q.unit, q.start, q.end) for q in found] == [tuple(e[:4]) for e in excerpts]
    for piece in pieces:
        if piece.quote:
            unit = request.units(piece.quote.position)[piece.quote.unit]
            plain = piece.text.replace("<\\/excerpts>", CLOSING).replace("<\\excerpts>", "<excerpts>")
            assert plain.rstrip("\n") == unit.text[piece.quote.start : piece.quote.end].rstrip("\n")


@given(said)
def test_a_text_that_only_looks_like_excerpts_is_shown_as_it_is(text: str) -> None:
    pieces = list(pieces_of(text, Record.model_validate(BLANK | {"layout": {}})))
    assert "".join(piece.text for piece in pieces) == text
    assert not any(piece.quote for piece in pieces)


def test_each_message_is_told_where_it_stands(events: list[ExchangeRecorded]) -> None:
    for event, question in zip(events, QUESTIONS, strict=False):
        record = read(event)
        shown = messages_of(record)
        assert "".join(p.text for p in shown[-1].pieces).endswith(question)
        assert [m.position for m in shown[1:]] == [*range(record.layout.window_start, record.length)]
        assert [m.part for m in shown] == ["head", *["recent"] * (len(shown) - 2), "last"]
        assert shown[-1].turn == record.turn(record.length - 1)
        quotes = [p.quote for m in shown for p in m.pieces if p.quote]
        joined = {(e.position, e.unit) for e in record.layout.block}
        joined |= {(e.position, e.unit) for patch in record.layout.patches for e in patch.excerpts}
        assert {(q.position, q.unit) for q in quotes} == joined


def test_other_dialects_are_shown_too() -> None:
    tools = [{"name": "look_up", "input_schema": {"type": "object"}}]
    call = {"type": "tool_use", "id": "t", "name": "look_up", "input": {"q": "港口"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "Found."}]}
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 9000}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result, image]}]
    prompt = {"system": [{"type": "text", "text": "Be brief."}], "tools": tools, "messages": messages}
    shown = messages_of(Record.model_validate(BLANK | {"layout": {}, "prompt": prompt}))
    texts = ["".join(p.text for p in m.pieces) for m in shown]
    assert [m.role for m in shown] == ["system", "tools", "assistant", "user"]
    assert texts[0] == "Be brief."
    assert "港口" in texts[2]
    assert texts[3].startswith("Found.")
    assert len(texts[3]) < 1000

    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "42"},
    ]
    prompt = {"instructions": "Be brief.", "input": items}
    shown = messages_of(Record.model_validate(BLANK | {"layout": {}, "prompt": prompt}))
    assert [m.role for m in shown] == ["instructions", "user", "function_call", "function_call_output"]
    assert '"output": "42"' in shown[-1].pieces[0].text
    only = messages_of(Record.model_validate(BLANK | {"layout": {}, "prompt": {"input": "Hello"}}))
    assert [m.pieces[0].text for m in only] == ["Hello"]
