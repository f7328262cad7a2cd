"""Tool calls without a model: a tool that the question names, or that the client forces, is called."""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backscroll.engine.template import message_text

QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”')


@dataclass(frozen=True)
class ToolCall:
    name: str
    arguments: str
    id: str = field(default_factory=lambda: f"call_{uuid.uuid4().hex[:24]}")

    def body(self) -> dict[str, Any]:
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


def tool_calls(body: Mapping[str, Any]) -> list[ToolCall]:
    """None once the results are there: they answer."""
    message = body["messages"][-1]
    functions = [f for f in map(_function, body.get("tools") or ()) if f]
    if message.get("role") != "user" or not functions:
        return []
    question = message_text(message)
    chosen = _chosen(body.get("tool_choice"), functions, question)
    if body.get("parallel_tool_calls") is False:
        chosen = chosen[:1]
    quoted = [a or b for a, b in QUOTED.findall(question)]
    return [ToolCall(f["name"], _arguments(f, quoted, question)) for f in chosen]


def _function(tool: object) -> dict[str, Any] | None:
    function = tool.get("function") if isinstance(tool, dict) else None
    return function if isinstance(function, dict) and isinstance(function.get("name"), str) else None


def _chosen(choice: object, functions: Sequence[dict[str, Any]], question: str) -> list[dict[str, Any]]:
    if choice == "none":
        return []
    if isinstance(choice, dict):
        forced = (choice.get("function") or {}).get("name")
        return [f for f in functions if f["name"] == forced]
    named = [f for f in functions if re.search(rf"(?<!\w){re.escape(f['name'])}(?!\w)", question)]
    return named or (list(functions[:1]) if choice == "required" else [])


def _arguments(function: Mapping[str, Any], quoted: list[str], question: str) -> str:
    """The next quotes of the question for the text parameters; without any left the whole question."""
    properties = (function.get("parameters") or {}).get("properties") or {}
    texts = [name for name, schema in properties.items() if (schema or {}).get("type") == "string"]
    values = {name: quoted.pop(0) if quoted else question for name in texts}
    return json.dumps(values, ensure_ascii=False)
