from typing import Any

import orjson
import pytest
from anthropic.types import ErrorResponse

from services.gateway.dialects import anthropic
from services.gateway.dialects.base import Usage
from shared.contracts.base import Kind
from shared.conversation.history import RoleCode
from shared.errors import ContextLengthExceeded, InvalidRequest
from shared.prompt.plan import Cut
from shared.prompt.render import Edit
from tests.support.requests import request_of


def text(t: str) -> dict[str, Any]:
    return {"type": "text", "text": t}


def use(call: str, name: str = "search", **asked: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": asked}


def result(call: str, content: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


ASKED = [
    {"role": "user", "content": "find both"},
    {"role": "assistant", "content": [text("Let me see."), use("a", q=1), use("b", "read", q=2)]},
    {
        "role": "user",
        "content": [result("a", [text("one"), text("two")]), result("b", "three"), text("hurry")],
    },
]


def edited(message: dict[str, Any], edit: Edit) -> dict[str, Any]:
    raw = orjson.dumps(message)
    changed: dict[str, Any] = orjson.loads(
        anthropic.edit_message(raw, anthropic.read_message(raw, 0, 1024), edit)
    )
    return changed


def test_results_go_on_with_the_step_and_know_their_tools() -> None:
    request = request_of(ASKED, anthropic)
    assert request.shape.roles.tolist() == [RoleCode.USER, RoleCode.ASSISTANT, RoleCode.TOOL]
    assert request.shape.steps.tolist() == [0, 1, 1]
    told = [(u.kind, u.tool, u.text) for u in request.units(2)]
    assert told == [
        (Kind.TOOL_RESULT, "search", "one"),
        (Kind.TOOL_RESULT, "search", "two"),
        (Kind.TOOL_RESULT, "read", "three"),
        (Kind.USER, None, "hurry"),
    ]
    assert [u.text for u in request.units(1)] == ["Let me see.", 'search({"q":1})', 'read({"q":2})']


def test_which_call_a_text_answers_is_part_of_the_address() -> None:
    one = [*ASKED[:2], {"role": "user", "content": [result("a", "x"), result("b", "")]}]
    other = [*ASKED[:2], {"role": "user", "content": [result("a", ""), result("b", "x")]}]
    assert request_of(one, anthropic).shape.addresses[2] != request_of(other, anthropic).shape.addresses[2]


def test_excerpts_after_results_stand_inside_the_last_one() -> None:
    changed = edited(ASKED[2], Edit(after="<excerpts>"))
    assert changed["content"][1] == result("b", "three<excerpts>")
    shown = {"role": "user", "content": [result("a", [text("one")])]}
    assert edited(shown, Edit(after="x"))["content"] == [result("a", [text("one"), text("x")])]
    found = {"role": "user", "content": [result("a", [{"type": "tool_reference", "tool_name": "t"}])]}
    assert edited(found, Edit(after="x"))["content"] == [*found["content"], text("x")]


def test_excerpts_before_a_message_stand_behind_its_results() -> None:
    kinds = [b["type"] for b in edited(ASKED[2], Edit(before="x"))["content"]]
    assert kinds == ["tool_result", "tool_result", "text", "text"]
    assert edited(ASKED[0], Edit(before="x\n"))["content"] == "x\nfind both"


def test_a_text_that_is_cut_away_leaves_no_empty_block() -> None:
    changed = edited(ASKED[2], Edit(cuts=[Cut(0, 3, 0, 5, 1), Cut(0, 2, 0, 5, 1)]))
    assert changed["content"][1]["content"] == "[... 5 characters omitted ...]\n"
    assert changed["content"][2] == text("[... 5 characters omitted ...]\n")
    assert changed["content"][0] == ASKED[2]["content"][0]


def test_reasoning_costs_but_has_no_address() -> None:
    thought = {"type": "thinking", "thinking": "hm " * 200, "signature": "c2ln"}
    answer = {"role": "assistant", "content": [text("yes")]}
    with_it = {"role": "assistant", "content": [thought, text("yes")]}
    plain, costly = (request_of([ASKED[0], m], anthropic).shape for m in (answer, with_it))
    assert plain.addresses == costly.addresses
    assert costly.tokens[1] > plain.tokens[1] + 300
    assert edited(with_it, Edit(cuts=[Cut(0, 0, 0, 3, 1)]))["content"][0] == thought


def test_base64_is_not_counted_as_text() -> None:
    pages = "JVBERi0xLjQKMSAwIG9iaiA8PCAvVHlwZSAvUGFnZSA+PiBlbmRvYmoKMiAwIG9iaiA8PCAvVHlwZSAvUGFnZSA+Pg=="
    source = {"type": "base64", "media_type": "application/pdf", "data": pages + "AAAA" * 100_000}
    message = {"role": "user", "content": [{"type": "document", "source": source}, text("read it")]}
    assert 2 * 3000 < request_of([message], anthropic).shape.tokens[0] < 10_000


def test_text_documents_are_read_and_cut_as_texts() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "line one\nline two\n"}
    message = {"role": "user", "content": [{"type": "document", "title": "n", "source": source}]}
    assert [u.text for u in request_of([message], anthropic).units(0)] == [source["data"]]
    changed = edited(message, Edit(cuts=[Cut(0, 0, 0, 9, 1)]))
    assert changed["content"][0]["source"]["data"] == "[... 9 characters omitted ...]\nline two\n"


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ([], "messages[0]"),
        ({"role": "tool", "content": "x"}, "messages[0].role"),
        ({"role": "user"}, "messages[0].content"),
        ({"role": "user", "content": ["x"]}, "messages[0].content[0]"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[0].content[0].text"),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "messages[0].content[0].tool_use_id"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}, "messages[0].content[0].name"),
    ],
)
def test_faults_name_their_field(message: Any, field: str) -> None:
    with pytest.raises(InvalidRequest) as fault:
        request_of([message], anthropic)
    assert fault.value.field == field


def test_what_the_cache_serves_is_part_of_the_prompt() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 5}
    told = Usage(prompt_tokens=95, cached_tokens=80, completion_tokens=1)
    started = {"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}}
    assert anthropic.usage_of(started) == anthropic.usage_of({"usage": {**usage, "output_tokens": 1}}) == told
    assert anthropic.usage_of({"type": "message_delta", "usage": {"output_tokens": 7}}) == Usage(
        completion_tokens=7
    )
    several = {**usage, "server_tool_use": {"web_search_requests": 1}}
    assert anthropic.usage_of({"usage": several}) == Usage()
    assert anthropic.usage_of({"type": "ping"}) is None


def test_errors_are_what_the_sdk_reads() -> None:
    body = anthropic.error_body("It needs 5000 tokens.", ContextLengthExceeded.code, 400)
    read = ErrorResponse.model_validate_json(body)
    assert read.error.type == "invalid_request_error"
    assert read.error.message == "prompt is too long: It needs 5000 tokens."
    event = anthropic.error_event("busy", "engine_open", 503)
    assert event.startswith(b"event: error\ndata: ")
    assert event.endswith(b"}\n\n")
    assert ErrorResponse.model_validate_json(event.split(b"data: ")[1]).error.type == "overloaded_error"
