"""Chat Completions to OpenAI Responses: the answer, whole or streamed."""

from collections.abc import Iterator

import orjson

from services.gateway.translate.shape import Object
from services.gateway.translate.sse import event
from services.gateway.translate.steps import Answer, Begin, Block, Close, End, Fail, Open, Piece, Step, Usage

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
ECHOED = ("instructions", "metadata", "max_output_tokens", "temperature", "top_p", "reasoning", "user")
PREFIXES = {"thinking": "rs", "text": "msg", "call": "fc"}


def whole(answer: Answer, asked: Object) -> bytes:
    identity = answer.begin.identity
    output = [
        _item(block, _id(block, identity, i), _status(answer.end)) for i, block in enumerate(answer.blocks)
    ]
    return orjson.dumps(_ended(_response(answer.begin, asked), answer.end, output))


class Writer:
    """Steps to events, in the order that OpenAI documents."""

    def __init__(self, asked: Object) -> None:
        self._asked = asked
        self._number = -1
        self._response: Object = {}
        self._identity = ""
        self._output: list[Object] = []
        self._block = Block("text")

    def write(self, step: Step) -> Iterator[bytes]:
        match step:
            case Begin():
                self._identity = step.identity
                self._response = _response(step, self._asked)
                yield self._event("response.created", response=self._response)
                yield self._event("response.in_progress", response=self._response)
            case Open():
                self._block = Block(step.kind, step.call_id, step.name)
                yield from self._open()
            case Piece():
                self._block.text += step.text
                yield self._delta(step.text)
            case Close():
                yield from self._close()
            case End():
                response = _ended(self._response, step, self._output)
                yield self._event(f"response.{response['status']}", response=response)
            case Fail():
                yield self._event("error", code=step.code, message=step.message, param=None)

    def _open(self) -> Iterator[bytes]:
        item = _item(self._block, self._item_id, "in_progress") | _hollow(self._block)
        yield self._event("response.output_item.added", output_index=self._index, item=item)
        if self._block.kind == "text":
            yield self._of_item("response.content_part.added", content_index=0, part=_part(""))
        elif self._block.kind == "thinking":
            yield self._of_item("response.reasoning_summary_part.added", summary_index=0, part=_summary(""))

    def _delta(self, text: str) -> bytes:
        match self._block.kind:
            case "text":
                return self._of_item("response.output_text.delta", content_index=0, delta=text, logprobs=[])
            case "thinking":
                return self._of_item("response.reasoning_summary_text.delta", summary_index=0, delta=text)
            case "call":
                return self._of_item("response.function_call_arguments.delta", delta=text)

    def _close(self) -> Iterator[bytes]:
        if self._block.kind == "call" and not self._block.text:
            # A call without arguments; clients parse them.
            self._block.text = "{}"
        text = self._block.text
        match self._block.kind:
            case "text":
                yield self._of_item("response.output_text.done", content_index=0, text=text, logprobs=[])
                yield self._of_item("response.content_part.done", content_index=0, part=_part(text))
            case "thinking":
                yield self._of_item("response.reasoning_summary_text.done", summary_index=0, text=text)
                yield self._of_item(
                    "response.reasoning_summary_part.done", summary_index=0, part=_summary(text)
                )
            case "call":
                name = self._block.name
                yield self._of_item("response.function_call_arguments.done", name=name, arguments=text)
        item = _item(self._block, self._item_id, "completed")
        yield self._event("response.output_item.done", output_index=self._index, item=item)
        self._output.append(item)

    @property
    def _index(self) -> int:
        return len(self._output)

    @property
    def _item_id(self) -> str:
        return _id(self._block, self._identity, self._index)

    def _of_item(self, kind: str, **fields: object) -> bytes:
        return self._event(kind, item_id=self._item_id, output_index=self._index, **fields)

    def _event(self, kind: str, **fields: object) -> bytes:
        self._number += 1
        return event(kind, orjson.dumps({"type": kind, "sequence_number": self._number, **fields}))


def _id(block: Block, identity: str, index: int) -> str:
    return f"{PREFIXES[block.kind]}_{identity}_{index}"


def _status(end: End) -> str:
    return "incomplete" if end.reason in INCOMPLETE else "completed"


def _response(begin: Begin, asked: Object) -> Object:
    echoed = {name: asked.get(name) for name in ECHOED}
    parallel = asked.get("parallel_tool_calls")
    return {
        "id": f"resp_{begin.identity}",
        "object": "response",
        "created_at": begin.created,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": begin.model,
        "output": [],
        "parallel_tool_calls": True if parallel is None else parallel,
        "previous_response_id": None,
        "store": False,
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": asked.get("tools") or [],
        "truncation": "disabled",
        "usage": None,
        **echoed,
    }


def _ended(response: Object, end: End, output: list[Object]) -> Object:
    reason = INCOMPLETE.get(end.reason)
    details = {"reason": reason} if reason else None
    usage = _usage(end.usage)
    return response | {
        "status": _status(end),
        "incomplete_details": details,
        "output": output,
        "usage": usage,
    }


def _usage(usage: Usage) -> Object:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.completion,
    }


def _item(block: Block, identity: str, status: str) -> Object:
    match block.kind:
        case "text":
            told: Object = {"type": "message", "role": "assistant", "content": [_part(block.text)]}
        case "thinking":
            told = {"type": "reasoning", "summary": [_summary(block.text)]}
        case "call":
            told = {"type": "function_call", "call_id": block.call_id, "name": block.name}
            told["arguments"] = block.text
    return {"id": identity, "status": status, **told}


def _hollow(block: Block) -> Object:
    """An item as it is announced: its parts are announced after it."""
    return {"text": {"content": []}, "thinking": {"summary": []}, "call": {}}[block.kind]


def _part(text: str) -> Object:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> Object:
    return {"type": "summary_text", "text": text}
