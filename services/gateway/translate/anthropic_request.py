"""Anthropic Messages to Chat Completions: the request."""

import orjson

from services.gateway.translate.messages import Messages, Parts, call, image_part, text_part
from services.gateway.translate.shape import Object, a_string, an_object, given, objects, untranslatable
from shared.errors import InvalidRequest

REFUSED = {
    "mcp_servers": "Servers of tools cannot be called from here.",
    "container": "There are no containers here.",
}
UNDONE = frozenset(
    # Of no meaning to another engine, or a wish that it may leave unfulfilled.
    {"metadata", "thinking", "service_tier", "cache_control", "context_management", "speed", "inference_geo"}
    | {"diagnostics", "user_profile_id", "workspace_id", "betas"}
)
TRANSLATED = frozenset(
    {"system", "messages", "tools", "tool_choice", "stop_sequences", "output_config", "stream"}
)
CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def to_chat(body: Object) -> Object:
    """Fields that Anthropic does not know pass as they are. Raises `InvalidRequest` naming the field."""
    for name, why in REFUSED.items():
        if body.get(name):
            raise untranslatable(name, why)
    chat = {name: v for name, v in body.items() if name not in UNDONE | TRANSLATED | REFUSED.keys()}
    chat["messages"] = chat_messages(body)
    if body.get("stream"):
        chat |= {"stream": True, "stream_options": {"include_usage": True}}
    if body.get("stop_sequences"):
        chat["stop"] = body["stop_sequences"]
    chat |= _tools(body) | _format(body)
    return chat


def chat_messages(body: Object) -> list[Object]:
    messages = Messages()
    messages.system(_text(body.get("system"), "system"))
    for item, where in objects(body.get("messages"), "messages"):
        match item.get("role"):
            case "user":
                _user(messages, item.get("content"), f"{where}.content")
            case "assistant":
                _assistant(messages, item.get("content"), f"{where}.content")
            case "system":
                messages.system(_text(item.get("content"), f"{where}.content"))
            case role:
                raise InvalidRequest(
                    f"'{where}.role' must be user or assistant; it is {role!r}.", f"{where}.role"
                )
    return messages.done()


def _text(content: object, where: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(a_string(item.get("text"), f"{name}.text") for item, name in objects(content, where))


def _user(messages: Messages, content: object, where: str) -> None:
    """Results first, as a call must be followed by them; what stands beside them comes after."""
    parts: Parts = []
    if isinstance(content, str):
        parts = [text_part(content)]
    else:
        for item, name in objects(content, where):
            if item.get("type") == "tool_result":
                identity = a_string(item.get("tool_use_id"), f"{name}.tool_use_id")
                messages.tool(identity, _parts(item.get("content"), f"{name}.content"))
            else:
                parts += _part(item, name)
    messages.user(parts)


def _assistant(messages: Messages, content: object, where: str) -> None:
    if isinstance(content, str):
        messages.assistant([text_part(content)], [])
        return
    parts: Parts = []
    calls: list[Object] = []
    for item, name in objects(content, where):
        match item.get("type"):
            case "tool_use":
                arguments = orjson.dumps(an_object(item.get("input"), f"{name}.input")).decode()
                identity = a_string(item.get("id"), f"{name}.id")
                calls.append(call(identity, a_string(item.get("name"), f"{name}.name"), arguments))
            case "thinking" | "redacted_thinking":
                pass
            case _:
                parts += _part(item, name)
    messages.assistant(parts, calls)


def _parts(content: object, where: str) -> Parts:
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)]
    return [part for item, name in objects(content, where) for part in _part(item, name)]


def _part(item: Object, where: str) -> Parts:
    match item.get("type"):
        case "text":
            text = a_string(item.get("text"), f"{where}.text")
            return [text_part(text)] if text else []
        case "image":
            return [image_part(_image_url(an_object(item.get("source"), f"{where}.source"), where))]
        case "document":
            return _document(item, where)
        case "search_result":
            told = [text_part(str(item[name])) for name in ("title", "source") if item.get(name)]
            return told + _parts(item.get("content"), f"{where}.content")
        case kind:
            raise untranslatable(f"{where}.type", f"Content of the type {kind!r} cannot be translated.")


def _image_url(source: Object, where: str) -> str:
    match source.get("type"):
        case "base64":
            media = a_string(source.get("media_type"), f"{where}.source.media_type")
            return f"data:{media};base64,{a_string(source.get('data'), f'{where}.source.data')}"
        case "url":
            return a_string(source.get("url"), f"{where}.source.url")
        case kind:
            raise untranslatable(f"{where}.source", f"An image of the source {kind!r} cannot be read here.")


def _document(item: Object, where: str) -> Parts:
    source = an_object(item.get("source"), f"{where}.source")
    told = [text_part(str(item[name])) for name in ("title", "context") if item.get(name)]
    match source.get("type"):
        case "text":
            return [*told, text_part(a_string(source.get("data"), f"{where}.source.data"))]
        case "content":
            return told + _parts(source.get("content"), f"{where}.source.content")
        case kind:
            raise untranslatable(
                f"{where}.source", f"A document of the source {kind!r} cannot be read here; send its text."
            )


def _tools(body: Object) -> Object:
    tools = [_tool(tool, where) for tool, where in objects(body.get("tools") or [], "tools")]
    if not tools:
        return {}
    choice = body.get("tool_choice")
    if choice is None:
        return {"tools": tools}
    kind = an_object(choice, "tool_choice").get("type")
    chat: Object = {"tools": tools}
    if kind == "tool":
        name = a_string(choice.get("name"), "tool_choice.name")
        chat["tool_choice"] = {"type": "function", "function": {"name": name}}
    elif kind in CHOICES:
        chat["tool_choice"] = CHOICES[kind]
    else:
        raise InvalidRequest(f"'tool_choice.type' is {kind!r}.", "tool_choice.type")
    if choice.get("disable_parallel_tool_use"):
        chat["parallel_tool_calls"] = False
    return chat


def _tool(tool: Object, where: str) -> Object:
    if tool.get("type") not in (None, "custom"):
        raise untranslatable(f"{where}.type", f"The built-in tool {tool['type']!r} is not there.")
    function = given(
        name=a_string(tool.get("name"), f"{where}.name"),
        description=tool.get("description"),
        parameters=tool.get("input_schema"),
        strict=tool.get("strict"),
    )
    return {"type": "function", "function": function}


def _format(body: Object) -> Object:
    config = an_object(body.get("output_config") or {}, "output_config")
    wanted = an_object(config.get("format") or {}, "output_config.format")
    if wanted.get("type") != "json_schema":
        return {}
    schema = {"name": "answer", "schema": wanted.get("schema"), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
