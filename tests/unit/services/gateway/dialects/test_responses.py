from typing import Any

import orjson
import pytest
from openai.types.responses import ResponseErrorEvent

from services.gateway.dialects import anthropic, chat, responses
from services.gateway.dialects.base import Usage
from shared.conversation.history import RoleCode
from shared.errors import InvalidRequest
from shared.prompt.plan import Cut
from shared.prompt.render import Edit
from shared.prompt.window import step_starts
from tests.support.requests import request_of

USER = {"role": "user", "content": "find both"}
REASONED = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm " * 50}]}


def call(identity: str, name: str = "search") -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": name, "arguments": '{"q": 1}'}


def output(identity: str, content: Any = "done") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": content}


def edited(item: dict[str, Any], edit: Edit) -> dict[str, Any]:
    raw = orjson.dumps(item)
    changed: dict[str, Any] = orjson.loads(
        responses.edit_message(raw, responses.read_message(raw, 0, 1024), edit)
    )
    return changed


def test_reasoning_stays_with_the_item_after_it() -> None:
    request = request_of([USER, REASONED, call("a"), call("b"), output("a"), output("b")], responses)
    shape = request.shape
    assert shape.firsts == [0, 1, 3, 4, 5, 6]
    assert shape.bodies == [0, 2, 3, 4, 5]
    assert shape.steps.tolist() == [0, 1, 1, 1, 1]
    assert shape.tools == {3: ("search",), 4: ("search",)}
    without = request_of([USER, call("a"), call("b"), output("a"), output("b")], responses).shape
    assert without.addresses == shape.addresses
    assert shape.tokens[1] > without.tokens[1] + 100


def test_reasoning_at_the_beginning_is_no_part_of_the_head() -> None:
    shape = request_of([{"role": "developer", "content": "be kind"}, REASONED, USER], responses).shape
    assert (shape.head, shape.firsts) == (1, [1, 3])
    assert request_of([REASONED, USER], responses).shape.head == 0


def test_a_compacted_history_is_part_of_the_head() -> None:
    compacted = {"type": "compaction", "encrypted_content": "ZW5j" * 100}
    assert request_of([compacted, USER], responses).shape.head == 1


def test_no_window_starts_between_a_call_and_its_output() -> None:
    items = [USER, call("a"), {"role": "user", "content": "hurry"}, call("b"), output("b"), output("a"), USER]
    shape = request_of(items, responses).shape
    assert step_starts(shape.history(1.0)).tolist() == [0, 1, 6]
    assert shape.turns.tolist() == [1, 1, 1, 1, 1, 1, 2]


def test_calls_of_every_kind_go_with_their_outputs() -> None:
    pairs = [
        (
            {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "a", "output": "y"},
        ),
        (
            {"type": "local_shell_call", "id": "a", "call_id": "a", "action": {"command": ["ls"]}},
            {"type": "local_shell_call_output", "id": "a", "output": "y"},
        ),
        (
            {"type": "computer_call", "call_id": "a", "action": {"type": "wait"}},
            {"type": "computer_call_output", "call_id": "a", "output": {"type": "computer_screenshot"}},
        ),
        (
            {"type": "mcp_approval_request", "id": "a", "name": "f", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
        ),
        (
            {"type": "apply_patch_call", "call_id": "a", "operation": {"type": "delete_file"}},
            {"type": "apply_patch_call_output", "call_id": "a", "status": "completed"},
        ),
    ]
    for asked, brought in pairs:
        shape = request_of([USER, asked, brought], responses).shape
        assert shape.roles.tolist() == [RoleCode.USER, RoleCode.ASSISTANT, RoleCode.TOOL]
        assert shape.tools[2] != ("",), asked


def test_what_the_engine_did_itself_stays_with_what_it_said() -> None:
    searched = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search"}}
    said = {"role": "assistant", "content": [{"type": "output_text", "text": "so", "annotations": []}]}
    shape = request_of([USER, REASONED, searched, {"id": "msg_1"}, said], responses).shape
    assert (shape.firsts, shape.bodies) == ([0, 1, 5], [0, 4])


def test_a_string_is_one_user_message() -> None:
    plain = request_of("hello", responses, max_output_tokens=5)
    assert (
        plain.shape.addresses == request_of([{"role": "user", "content": "hello"}], responses).shape.addresses
    )
    changed = orjson.loads(plain.body.with_messages(plain.body.messages, {"max_output_tokens": b"4"}))
    assert changed["input"] == [{"role": "user", "content": "hello"}]
    assert changed["max_output_tokens"] == 4
    with pytest.raises(InvalidRequest):
        request_of("hello", chat)


def test_edits_of_outputs() -> None:
    assert edited(output("a"), Edit(after="x"))["output"] == "donex"
    listed = [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]
    assert edited(output("a", listed), Edit(after="x"))["output"][1] == {"type": "input_text", "text": "x"}
    shell = {"type": "shell_call_output", "call_id": "a", "output": [{"stdout": "one", "stderr": "two"}]}
    changed = edited(shell, Edit(after="x", cuts=[Cut(0, 1, 0, 3, 1)]))
    assert changed["output"] == [{"stdout": "onex", "stderr": "[... 3 characters omitted ...]\n"}]
    shot = {"type": "computer_call_output", "call_id": "a", "output": {"type": "computer_screenshot"}}
    assert edited(shot, Edit(after="x")) == shot


def test_what_points_into_a_text_goes_where_it_is_cut() -> None:
    said = {"type": "output_text", "text": "so be it", "annotations": [{"type": "url_citation"}]}
    message = {"role": "assistant", "content": [said]}
    assert edited(message, Edit(cuts=[Cut(0, 0, 0, 3, 1)]))["content"][0]["annotations"] == []
    assert edited(message, Edit(before="x"))["content"][1] == said


def test_a_history_at_the_engine_passes_through() -> None:
    assert responses.passes_through({"previous_response_id": "resp_1"})
    assert responses.passes_through({"conversation": {"id": "conv_1"}})
    assert not responses.passes_through({"previous_response_id": None, "model": "m"})


def test_usage_stands_in_the_last_event() -> None:
    usage = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}
    told = Usage(prompt_tokens=9, cached_tokens=4, completion_tokens=2)
    assert responses.usage_of({"type": "response.completed", "response": {"usage": usage}}) == told
    assert responses.usage_of({"usage": usage, "output": []}) == told
    assert responses.usage_of({"type": "response.created", "response": {"usage": None}}) is None
    several = {"usage": usage, "output": [{"type": "web_search_call"}]}
    assert responses.usage_of(several) == Usage(completion_tokens=2)


def test_errors_are_what_the_sdk_reads() -> None:
    event = responses.error_event("too long", "context_length_exceeded", 400)
    read = ResponseErrorEvent.model_validate_json(event.removeprefix(b"event: error\ndata: "))
    assert (read.message, read.code) == ("too long", "context_length_exceeded")
    assert orjson.loads(responses.error_body("m", "c", 400, "input"))["error"]["param"] == "input"


def test_what_was_said_has_one_address_in_every_dialect() -> None:
    """But not what dialects cut differently: parallel results, images, a call beside a text."""
    said = [USER, {"role": "assistant", "content": "so"}]
    function = {"name": "search", "arguments": '{"q":1}'}
    as_chat = [
        *said,
        USER,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
    ]
    used = {"type": "tool_use", "id": "a", "name": "search", "input": {"q": 1}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
    as_anthropic = [
        *said,
        USER,
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]
    as_items = [*said, USER, call("a"), output("a")]
    addresses = [
        request_of(messages, dialect).shape.addresses
        for messages, dialect in ((as_chat, chat), (as_anthropic, anthropic), (as_items, responses))
    ]
    assert addresses[0] == addresses[1] == addresses[2]


@pytest.mark.parametrize(
    ("item", "field"),
    [
        (7, "input[0]"),
        ({"type": 7}, "input[0].type"),
        ({"role": "tool", "content": "x"}, "input[0].role"),
        ({"role": "user", "content": 7}, "input[0].content"),
        ({"role": "user", "content": ["x"]}, "input[0].content[0]"),
        ({"type": "function_call", "call_id": "a", "name": "f"}, "input[0].arguments"),
    ],
)
def test_faults_name_their_field(item: Any, field: str) -> None:
    with pytest.raises(InvalidRequest) as fault:
        request_of([item], responses)
    assert fault.value.field == field
