"""What was said, in no dialect; and how each dialect writes it."""

import json
from dataclasses import dataclass
from typing import Any, Literal

Item = dict[str, Any]
DialectName = Literal["chat", "anthropic", "responses"]
PATHS: dict[DialectName, str] = {
    "chat": "chat/completions",
    "anthropic": "messages",
    "responses": "responses",
}
LIMITS: dict[DialectName, str] = {
    "chat": "max_tokens",
    "anthropic": "max_tokens",
    "responses": "max_output_tokens",
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass(frozen=True)
class Call:
    id: str
    tool: str
    query: str

    @property
    def arguments(self) -> Item:
        return {"query": self.query}


@dataclass(frozen=True)
class Said:
    """`answers` is the call whose result a tool brings; `as_parts`: written as a list of parts."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    answers: str = ""
    image: bool = False
    as_parts: bool = False


def body(dialect: DialectName, said: list[Said], tools: int) -> Item:
    """The fields that carry the conversation; `tools` is how many are declared."""
    schemas = [_schema(number) for number in range(tools)]
    match dialect:
        case "chat":
            told: Item = {"messages": [_chat(s) for s in said]}
            declared = [{"type": "function", "function": schema} for schema in schemas]
        case "anthropic":
            told = _anthropic(said)
            declared = [{"name": s["name"], "input_schema": s["parameters"]} for s in schemas]
        case "responses":
            told = {"input": [item for s in said for item in _responses(s)]}
            declared = [{"type": "function", **schema} for schema in schemas]
    return told | ({"tools": declared} if declared else {})


def _schema(number: int) -> Item:
    fields = {f"field_{i}": {"type": "string", "description": f"What field {i} holds."} for i in range(6)}
    return {"name": f"tool_{number}", "parameters": {"type": "object", "properties": fields}}


def _content(said: Said, kind: str, image: Item) -> str | list[Item]:
    if not (said.as_parts or said.image):
        return said.text
    return [{"type": kind, "text": said.text}, *([image] if said.image else [])]


def _chat(said: Said) -> Item:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    message: Item = {"role": said.role, "content": _content(said, "text", image)}
    if said.calls:
        message["content"] = said.text or None
        message["tool_calls"] = [
            {
                "id": c.id,
                "type": "function",
                "function": {"name": c.tool, "arguments": json.dumps(c.arguments)},
            }
            for c in said.calls
        ]
    if said.role == "tool":
        message["tool_call_id"] = said.answers
    return message


def _anthropic(said: list[Said]) -> Item:
    """System texts at the top; a step's results in one message of the user, what he says beside them."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    messages: list[Item] = []
    after_result = False
    for s in said:
        if s.role == "system":
            continue
        if s.role == "assistant":
            calls = [{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments} for c in s.calls]
            text = [{"type": "text", "text": s.text}] if s.text else []
            content: str | list[Item] = [*text, *calls] if calls or s.as_parts else s.text
            messages.append({"role": "assistant", "content": content})
        elif s.role == "tool":
            result = {"type": "tool_result", "tool_use_id": s.answers, "content": s.text}
            if after_result:
                messages[-1]["content"].append(result)
            else:
                messages.append({"role": "user", "content": [result]})
        else:
            messages.append({"role": "user", "content": _content(s, "text", image)})
        after_result = s.role == "tool"
    system = "\n".join(s.text for s in said if s.role == "system")
    return {"messages": messages} | ({"system": system} if system else {})


def _responses(said: Said) -> list[Item]:
    if said.role == "tool":
        return [{"type": "function_call_output", "call_id": said.answers, "output": said.text}]
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"}
    kind = "output_text" if said.role == "assistant" else "input_text"
    calls = [
        {"type": "function_call", "call_id": c.id, "name": c.tool, "arguments": json.dumps(c.arguments)}
        for c in said.calls
    ]
    text = [{"role": said.role, "content": _content(said, kind, image)}] if said.text else []
    return [*text, *calls]
