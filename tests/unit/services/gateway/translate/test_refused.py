"""What Chat Completions has no word for is refused by its name."""

from typing import Any

import pytest

from shared.errors import InvalidRequest
from tests.unit.services.gateway.translate.requests import chat, output_item, text, user


@pytest.mark.parametrize(
    ("dialect", "body", "field"),
    [
        (
            "anthropic",
            {"messages": [user({"type": "server_tool_use", "id": "a"})]},
            "messages[0].content[0].type",
        ),
        (
            "anthropic",
            {"messages": [user({"type": "image", "source": {"type": "file", "file_id": "f"}})]},
            "messages[0].content[0].source",
        ),
        (
            "anthropic",
            {"messages": [user({"type": "document", "source": {"type": "base64", "data": ""}})]},
            "messages[0].content[0].source",
        ),
        (
            "anthropic",
            {"messages": [], "tools": [{"type": "bash_20250124", "name": "bash"}]},
            "tools[0].type",
        ),
        ("anthropic", {"messages": [], "mcp_servers": [{"url": "x"}]}, "mcp_servers"),
        ("anthropic", {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ("anthropic", {"messages": 5}, "messages"),
        ("responses", {"input": "x", "previous_response_id": "r"}, "previous_response_id"),
        ("responses", {"input": "x", "conversation": {"id": "c"}}, "conversation"),
        ("responses", {"input": "x", "background": True}, "background"),
        ("responses", {"input": "x", "tools": [{"type": "custom", "name": "p"}]}, "tools[0].type"),
        ("responses", {"input": "x", "tools": [], "tool_choice": {"type": "mcp"}}, "tool_choice"),
        ("responses", {"input": [{"type": "item_reference", "id": "i"}]}, "input[0].type"),
        ("responses", {"input": [user({"type": "input_image", "file_id": "f"})]}, "input[0].content[0]"),
        (
            "responses",
            {"input": [user({"type": "input_file", "file_data": "data:application/pdf;base64,x"})]},
            "input[0].content[0].file_data",
        ),
        ("responses", {"input": [output_item("a", 5)]}, "input[0].output"),
        ("responses", {"input": "x", "text": "json"}, "text"),
        ("anthropic", {"messages": [user(text("a"))], "output_config": "json"}, "output_config"),
        (
            "anthropic",
            {"messages": [user(text("a"))], "output_config": {"format": 5}},
            "output_config.format",
        ),
    ],
)
def test_what_has_no_counterpart_is_named(dialect: str, body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        chat(dialect, **body)
    assert raised.value.field == field
    assert f"'{field}'" in str(raised.value)
