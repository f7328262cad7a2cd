"""A whole answer of Chat Completions."""

import orjson

from services.gateway.translate.chunks import THINKING, begin_of, failure_of, first_choice
from services.gateway.translate.shape import Object
from services.gateway.translate.steps import Answer, Block, End, Usage, stop_of, usage_of
from shared.errors import EngineUnavailable


def read_answer(raw: bytes) -> Answer:
    """Raises `EngineUnavailable` where it is no answer of Chat Completions."""
    answer = _object(raw)
    choice = first_choice(answer) if answer else None
    message = choice.get("message") if choice else None
    if answer is None or choice is None or not isinstance(message, dict):
        raise EngineUnavailable("The engine's answer is no chat completion.")
    usage = answer.get("usage")
    end = End(
        choice.get("finish_reason") or "stop",
        usage_of(usage) if isinstance(usage, dict) else Usage(),
        stop_of(choice),
    )
    return Answer(begin_of(answer), _blocks(message), end)


def read_error(raw: bytes) -> tuple[str, str]:
    """Message and code of a refusal."""
    value = _object(raw)
    if value is not None:
        told = failure_of(value) or failure_of({"error": value})
        if told is not None:
            return told[0], told[1]
    return raw.decode(errors="replace").strip() or "The engine refused the request.", "engine_error"


def _blocks(message: Object) -> list[Block]:
    thought = next((message[name] for name in THINKING if message.get(name)), "")
    said = message.get("content") or message.get("refusal") or ""
    blocks = [Block("thinking", text=thought)] if thought else []
    blocks += [Block("text", text=said)] if said else []
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        block = Block("call", call.get("id") or f"call_{len(blocks)}", str(function.get("name")))
        block.text = function.get("arguments") or "{}"
        blocks.append(block)
    return blocks


def _object(raw: bytes) -> Object | None:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
