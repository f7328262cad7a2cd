"""Parts of requests in the other dialects, and what becomes of them in Chat Completions."""

from typing import Any

import orjson

from services.gateway.translate.translation import Translation

PNG = "iVBORw0KGgo="
DATA_URL = f"data:image/png;base64,{PNG}"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


def chat(dialect: str, **body: Any) -> dict[str, Any]:
    translated: dict[str, Any] = orjson.loads(Translation(dialect, orjson.dumps({"model": "m", **body})).body)
    return translated


def from_anthropic(*messages: dict[str, Any], **body: Any) -> dict[str, Any]:
    return chat("anthropic", messages=list(messages), **body)


def from_responses(*items: dict[str, Any], **body: Any) -> dict[str, Any]:
    return chat("responses", input=list(items), **body)


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(identity: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "find", "input": arguments}


def result(identity: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def function(identity: str, arguments: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": "find", "arguments": arguments}}


def image(url: str, **detail: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def tool(identity: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def call_item(identity: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": "find", "arguments": arguments}


def output_item(identity: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": output}


ASSISTANT_CALLS = {"role": "assistant", "content": [text("I look."), use("a", q="x"), use("b")]}
CALLS_IN_CHAT = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [function("a", '{"q":"x"}'), function("b", "{}")],
}
