"""OpenAI Responses to Chat Completions: the request."""

import base64
import binascii
from typing import Any

from services.gateway.translate.messages import Messages, Parts, call, image_part, text_part
from services.gateway.translate.shape import Object, a_string, an_object, given, objects, untranslatable
from shared.errors import InvalidRequest

REFUSED = {
    "previous_response_id": "It keeps no earlier responses; send the whole history.",
    "conversation": "It keeps no conversations; send the whole history.",
    "prompt": "It keeps no prompts; send the text.",
    "background": "It answers at once or not at all.",
}
UNDONE = frozenset(
    # Of no meaning to another engine, or a wish that it may leave unfulfilled.
    {"store", "metadata", "include", "reasoning", "truncation", "service_tier", "safety_identifier"}
    | {"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "max_tool_calls", "moderation"}
    | {"context_management", "access_programs", "background_options", "image", "top_logprobs"}
)
TRANSLATED = frozenset(
    {"input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "text"}
    | {"stream", "stream_options"}
)


def to_chat(body: Object) -> Object:
    """Fields that Responses does not know pass as they are. Raises `InvalidRequest` naming the field."""
    for name, why in REFUSED.items():
        if body.get(name):
            raise untranslatable(name, why)
    chat = {name: v for name, v in body.items() if name not in UNDONE | TRANSLATED | REFUSED.keys()}
    chat["messages"] = chat_messages(body)
    if body.get("max_output_tokens") is not None:
        chat["max_tokens"] = body["max_output_tokens"]
    if body.get("stream"):
        chat |= {"stream": True, "stream_options": {"include_usage": True}}
    chat |= _tools(body) | _format(body)
    return chat


def chat_messages(body: Object) -> list[Object]:
    messages = Messages()
    if body.get("instructions") is not None:
        messages.system(a_string(body["instructions"], "instructions"))
    items = body.get("input")
    if isinstance(items, str):
        messages.user([text_part(items)])
        return messages.done()
    for item, where in objects(items, "input"):
        _item(messages, item, where)
    return messages.done()


def _item(messages: Messages, item: Object, where: str) -> None:
    match item.get("type", "message"):
        case "message":
            _message(messages, item, where)
        case "function_call":
            name = a_string(item.get("name"), f"{where}.name")
            arguments = a_string(item.get("arguments"), f"{where}.arguments") or "{}"
            identity = a_string(item.get("call_id"), f"{where}.call_id")
            messages.assistant([], [call(identity, name, arguments)])
        case "function_call_output":
            identity = a_string(item.get("call_id"), f"{where}.call_id")
            messages.tool(identity, _parts(item.get("output"), f"{where}.output"))
        case "reasoning" | "web_search_call":
            pass  # Neither holds anything that a chat engine could read.
        case kind:
            raise untranslatable(f"{where}.type", f"An item of the type {kind!r} cannot be translated.")


def _message(messages: Messages, item: Object, where: str) -> None:
    parts = _parts(item.get("content"), f"{where}.content")
    match item.get("role"):
        case "user":
            messages.user(parts)
        case "assistant":
            messages.assistant(parts, [])
        case "system" | "developer":
            messages.system("\n".join(part["text"] for part in parts if part["type"] == "text"))
        case role:
            raise InvalidRequest(f"'{where}.role' is {role!r}.", f"{where}.role")


def _parts(content: object, where: str) -> Parts:
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)] if content else []
    return [part for item, name in objects(content, where) for part in _part(item, name)]


def _part(item: Object, where: str) -> Parts:
    match item.get("type"):
        case "input_text" | "output_text" | "text":
            text = a_string(item.get("text"), f"{where}.text")
            return [text_part(text)] if text else []
        case "refusal":
            return [text_part(a_string(item.get("refusal"), f"{where}.refusal"))]
        case "input_image" if item.get("image_url"):
            return [image_part(a_string(item["image_url"], f"{where}.image_url"), item.get("detail"))]
        case "input_file" if isinstance(item.get("file_data"), str):
            return _file(item, where)
        case "input_image" | "input_file":
            raise untranslatable(where, "A file that is not in the request itself cannot be read here.")
        case kind:
            raise untranslatable(f"{where}.type", f"Content of the type {kind!r} cannot be translated.")


def _file(item: Object, where: str) -> Parts:
    head, _, data = item["file_data"].partition(",")
    if not (head.startswith("data:text/") and head.endswith(";base64")):
        raise untranslatable(f"{where}.file_data", "Only files of text can be read here; send its text.")
    try:
        text = base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidRequest(f"'{where}.file_data' is not text in base64.", f"{where}.file_data") from error
    named = [text_part(item["filename"])] if isinstance(item.get("filename"), str) else []
    return [*named, text_part(text)]


def _tools(body: Object) -> Object:
    tools = [_tool(tool, where) for tool, where in objects(body.get("tools") or [], "tools")]
    choice: Any = body.get("tool_choice")
    chosen: Object = {}
    match choice:
        case None:
            pass
        case "auto" | "none" | "required":
            chosen = {"tool_choice": choice}
        case {"type": "function", "name": str(name)}:
            chosen = {"tool_choice": {"type": "function", "function": {"name": name}}}
        case {"type": "allowed_tools", "tools": list(allowed)}:
            names = [tool.get("name") for tool in allowed if isinstance(tool, dict)]
            tools = [tool for tool in tools if tool["function"]["name"] in names]
            chosen = {"tool_choice": choice.get("mode", "auto")}
        case _:
            raise untranslatable("tool_choice", "This choice cannot be translated.")
    if not tools:
        return {}
    return {"tools": tools} | chosen | given(parallel_tool_calls=body.get("parallel_tool_calls"))


def _tool(tool: Object, where: str) -> Object:
    if tool.get("type") != "function":
        raise untranslatable(f"{where}.type", f"The built-in tool {tool.get('type')!r} is not there.")
    function = given(
        name=a_string(tool.get("name"), f"{where}.name"),
        description=tool.get("description"),
        parameters=tool.get("parameters"),
        strict=tool.get("strict"),
    )
    return {"type": "function", "function": function}


def _format(body: Object) -> Object:
    text = body.get("text")
    wanted = (an_object(text, "text").get("format") if text is not None else None) or {}
    kind = an_object(wanted, "text.format").get("type")
    if kind == "json_object":
        return {"response_format": {"type": "json_object"}}
    if kind != "json_schema":
        return {}
    schema = {name: value for name, value in wanted.items() if name != "type" and value is not None}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
