"""Chat Completions to Anthropic Messages: the answer, whole or streamed."""

from collections.abc import Iterator

import orjson

from services.gateway.dialects import anthropic
from services.gateway.translate.shape import Object
from services.gateway.translate.sse import event
from services.gateway.translate.steps import Answer, Begin, Block, Close, End, Fail, Open, Piece, Step, Usage

REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


def whole(answer: Answer, asked: Object) -> bytes:
    called = any(block.kind == "call" for block in answer.blocks)
    return orjson.dumps(
        _message(answer.begin)
        | {"content": [_content(block) for block in answer.blocks]}
        | _ended(answer.end, asked, called=called)
        | {"usage": _usage(answer.end.usage)}
    )


class Writer:
    """Steps to events, in the order that Anthropic documents."""

    def __init__(self, asked: Object) -> None:
        self._asked = asked
        self._index = -1
        self._kind = ""
        self._called = False

    def write(self, step: Step) -> Iterator[bytes]:
        match step:
            case Begin():
                message = _message(step) | {"content": [], "stop_reason": None, "stop_sequence": None}
                message["usage"] = {"input_tokens": 0, "output_tokens": 0}
                yield _event("message_start", message=message)
                yield _event("ping")
            case Open():
                self._index += 1
                self._kind = step.kind
                self._called = self._called or step.kind == "call"
                block = _empty(step)
                yield _event("content_block_start", index=self._index, content_block=block)
            case Piece():
                yield _event("content_block_delta", index=self._index, delta=_delta(self._kind, step.text))
            case Close():
                yield _event("content_block_stop", index=self._index)
            case End():
                delta = _ended(step, self._asked, called=self._called)
                yield _event("message_delta", delta=delta, usage=_usage(step.usage))
                yield _event("message_stop")
            case Fail():
                yield anthropic.error_event(step.message, step.code, step.status)


def _event(kind: str, **fields: object) -> bytes:
    return event(kind, orjson.dumps({"type": kind, **fields}))


def _message(begin: Begin) -> Object:
    return {"id": f"msg_{begin.identity}", "type": "message", "role": "assistant", "model": begin.model}


def _ended(end: End, asked: Object, *, called: bool) -> Object:
    """A few servers end an answer that calls a tool with `stop`."""
    reason = REASONS.get(end.reason, "end_turn")
    if end.stop is not None and end.stop in (asked.get("stop_sequences") or []):
        return {"stop_reason": "stop_sequence", "stop_sequence": end.stop}
    return {"stop_reason": "tool_use" if called and reason == "end_turn" else reason, "stop_sequence": None}


def _usage(usage: Usage) -> Object:
    """Anthropic's input tokens are those that no cache served."""
    return {
        "input_tokens": usage.prompt - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.completion,
    }


def _content(block: Block) -> Object:
    match block.kind:
        case "text":
            return {"type": "text", "text": block.text}
        case "thinking":
            return {"type": "thinking", "thinking": block.text, "signature": ""}
        case "call":
            return {"type": "tool_use", "id": block.call_id, "name": block.name, "input": _input(block.text)}


def _input(arguments: str) -> Object:
    """What a model wrote that is no object stays as it is, for the tool to refuse and the model to see."""
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {"arguments": arguments}


def _empty(step: Open) -> Object:
    return _content(Block(step.kind, step.call_id, step.name, "{}" if step.kind == "call" else ""))


def _delta(kind: str, text: str) -> Object:
    match kind:
        case "text":
            return {"type": "text_delta", "text": text}
        case "thinking":
            return {"type": "thinking_delta", "thinking": text}
        case _:
            return {"type": "input_json_delta", "partial_json": text}
