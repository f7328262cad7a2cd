"""A stream of Chat Completions, byte by byte, as steps of one block after the other.

Tool calls come by index, mostly one after the other, but an engine may mix them. The dialects want a
block closed before the next one opens: what belongs to a later block waits while a call before it is
not whole JSON yet. Nothing else is ever held back.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from services.gateway.translate.shape import Object
from services.gateway.translate.sse import Comment, Decoder
from services.gateway.translate.steps import (
    Begin,
    Block,
    Close,
    End,
    Fail,
    Kind,
    Open,
    Piece,
    Step,
    Usages,
    bare_id,
    stop_of,
)

BROKEN_OFF = "The engine's answer broke off before its end."
THINKING = ("reasoning_content", "reasoning")
"""Names that engines give to reasoning; where both are there they say the same."""


@dataclass
class Chunks:
    """`feed` parts as they come, then `end`; after a `Fail` or an `End` nothing follows."""

    _decoder: Decoder = field(default_factory=Decoder)
    _usages: Usages = field(default_factory=Usages)
    _begun: bool = False
    _over: bool = False
    _reason: str | None = None
    _stop: str | None = None
    _current: Block | None = None
    _waiting: list[Block] = field(default_factory=list)
    _calls: dict[int, Block] = field(default_factory=dict)

    def feed(self, part: bytes) -> Iterator[Step | Comment]:
        for found in self._decoder.feed(part):
            yield from self._found(found)

    def end(self) -> Iterator[Step | Comment]:
        """An answer whose finish reason has come is whole, also without `[DONE]`."""
        for found in self._decoder.end():
            yield from self._found(found)
        if self._reason is not None:
            yield from self._finish()
        yield from self._fail(BROKEN_OFF, "engine_unavailable", 502)

    def _found(self, found: bytes | Comment) -> Iterator[Step | Comment]:
        if self._over:
            return
        if isinstance(found, Comment):
            yield found
        elif found.strip() == b"[DONE]":
            if self._begun:
                yield from self._finish()
            else:
                yield from self._fail(BROKEN_OFF, "engine_unavailable", 502)
        else:
            yield from self._chunk(found)

    def _chunk(self, data: bytes) -> Iterator[Step]:
        try:
            chunk = orjson.loads(data)
        except orjson.JSONDecodeError:
            chunk = None
        if not isinstance(chunk, dict):
            yield from self._fail("The engine sent an event that is not JSON.", "engine_unavailable", 502)
            return
        error = failure_of(chunk)
        if error is not None:
            yield from self._fail(*error)
            return
        if not self._begun:
            self._begun = True
            yield begin_of(chunk)
        self._usages.read(chunk)
        choice = first_choice(chunk)
        if choice is None:
            return
        yield from self._delta(choice.get("delta") or {})
        if choice.get("finish_reason") is not None:
            self._reason = choice["finish_reason"]
            self._stop = stop_of(choice)
            yield from self._close_all()

    def _delta(self, delta: Object) -> Iterator[Step]:
        thought = next((delta[name] for name in THINKING if delta.get(name)), "")
        yield from self._text("thinking", thought)
        yield from self._text("text", delta.get("content") or "")
        yield from self._text("text", delta.get("refusal") or "")
        for call in delta.get("tool_calls") or []:
            yield from self._call(call)

    def _text(self, kind: Kind, text: str) -> Iterator[Step]:
        if not text:
            return
        last = self._waiting[-1] if self._waiting else self._current
        if last is not None and last.kind == kind:
            yield from self._add(last, text)
        else:
            yield from self._queue(Block(kind, text=text))

    def _call(self, call: Object) -> Iterator[Step]:
        function = call.get("function") or {}
        index = call.get("index") or 0
        identity, name = call.get("id") or "", function.get("name") or ""
        block = self._calls.get(index)
        # Some servers give every call the index 0: then a new id and a name tell where one begins.
        if block is None or (identity and name and identity != block.call_id):
            block = self._calls[index] = Block("call", identity or f"call_{uuid.uuid4().hex}", name)
            block.text = function.get("arguments") or ""
            yield from self._queue(block)
        else:
            block.name = block.name or name
            yield from self._add(block, function.get("arguments") or "")

    def _queue(self, block: Block) -> Iterator[Step]:
        self._waiting.append(block)
        yield from self._advance()

    def _add(self, block: Block, text: str) -> Iterator[Step]:
        block.text += text
        if block is self._current:
            if text:
                yield Piece(text)
        elif block not in self._waiting and text.strip():
            yield from self._fail(
                "The engine went on with a tool call that was whole.", "engine_unavailable", 502
            )
            return
        yield from self._advance()

    def _advance(self, *, last: bool = False) -> Iterator[Step]:
        """Open what waits, as far as what is open may be closed."""
        while self._waiting and (last or (_whole(self._current) and _named(self._waiting[0]))):
            if self._current is not None:
                yield Close()
            self._current = block = self._waiting.pop(0)
            yield Open(block.kind, block.call_id, block.name)
            if block.text:
                yield Piece(block.text)

    def _close_all(self) -> Iterator[Step]:
        yield from self._advance(last=True)
        if self._current is not None:
            self._current = None
            yield Close()

    def _finish(self) -> Iterator[Step]:
        if not self._over:
            yield from self._close_all()
            self._over = True
            yield End(self._reason or "stop", self._usages.last, self._stop)

    def _fail(self, message: str, code: str, status: int) -> Iterator[Step]:
        if not self._over:
            self._over = True
            yield Fail(message, code, status)


def _whole(block: Block | None) -> bool:
    if block is None or block.kind != "call":
        return True
    try:
        orjson.loads(block.text)
    except orjson.JSONDecodeError:
        return False
    return True


def _named(block: Block) -> bool:
    return block.kind != "call" or bool(block.name)


def first_choice(answer: Object) -> Object | None:
    """The other dialects know one."""
    choices = answer.get("choices") or []
    return next((c for c in choices if isinstance(c, dict) and not c.get("index")), None)


def begin_of(answer: Object) -> Begin:
    return Begin(bare_id(answer.get("id")), str(answer.get("model") or ""), int(answer.get("created") or 0))


def failure_of(value: Object) -> tuple[str, str, int] | None:
    """Message, code and status of an error as engines shape it; None where it is none.

    OpenAI, vLLM, llama.cpp: `error`, an object; SGLang: flat; FastAPI servers: `detail`.
    """
    error = value.get("error")
    if not error and value.get("object") == "error":
        error = value
    if not error and "choices" not in value:
        error = value.get("detail") and {"message": str(value["detail"])}
    if not error:
        return None
    told: Object = error if isinstance(error, dict) else {"message": str(error)}
    code = told.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    named = code if isinstance(code, str) else told.get("type")
    return str(told.get("message") or "The engine failed."), str(named or "engine_error"), status
