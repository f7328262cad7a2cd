"""One request of another dialect, for an engine that serves Chat Completions only."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import orjson

from services.gateway.dialects import anthropic, chat, responses
from services.gateway.dialects.base import Dialect
from services.gateway.prepare.templates import LENIENT, Template, conform
from services.gateway.reading.body import load
from services.gateway.translate import (
    anthropic_answer,
    anthropic_request,
    responses_answer,
    responses_request,
)
from services.gateway.translate.chunks import Chunks
from services.gateway.translate.shape import Object, an_object
from services.gateway.translate.sse import Comment
from services.gateway.translate.steps import Answer, Step
from services.gateway.translate.whole import read_answer, read_error
from shared.tokens.prompt import Prompt

PATH = chat.PATH


class Writer(Protocol):
    def write(self, step: Step) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class Way:
    """There and back."""

    dialect: Dialect
    to_chat: Callable[[Object], Object]
    whole: Callable[[Answer, Object], bytes]
    writer: Callable[[Object], Writer]


WAYS = {
    way.dialect.NAME: way
    for way in (
        Way(anthropic, anthropic_request.to_chat, anthropic_answer.whole, anthropic_answer.Writer),
        Way(responses, responses_request.to_chat, responses_answer.whole, responses_answer.Writer),
    )
}


class Translation:
    """`body` goes to the engine, at `PATH`. Raises `InvalidRequest` naming what has no counterpart."""

    def __init__(self, dialect: str, raw: bytes, template: Template = LENIENT) -> None:
        """`dialect`: its `NAME`. `template`: what the engine's demands of the messages."""
        self._way = WAYS[dialect]
        self._asked = an_object(load(raw, "body"), "body")
        self.body = orjson.dumps(_chat(self._way, self._asked, template))

    def answer(self, status: int, raw: bytes) -> bytes:
        """A whole answer, or a refusal with its status. Raises `EngineUnavailable` where it is neither."""
        if status == 200:
            return self._way.whole(read_answer(raw), self._asked)
        message, code = read_error(raw)
        return self._way.dialect.error_body(message, code, status)

    def stream(self) -> "Stream":
        return Stream(self._way.writer(self._asked))


class Stream:
    """A streamed answer, in parts that may be cut anywhere; `end` says that the engine closed it."""

    def __init__(self, writer: Writer) -> None:
        self._chunks = Chunks()
        self._writer = writer

    def feed(self, part: bytes) -> bytes:
        return self._written(self._chunks.feed(part))

    def end(self) -> bytes:
        return self._written(self._chunks.end())

    def _written(self, steps: Iterable[Step | Comment]) -> bytes:
        written: list[bytes] = []
        for step in steps:
            if isinstance(step, Comment):
                written.append(step.line + b"\n\n")
            else:
                written += self._writer.write(step)
        return b"".join(written)


def chat_prompt(prompt: Prompt, template: Template = LENIENT) -> Prompt:
    """The prompt as it is sent to an engine that serves Chat Completions only, for whoever counts it."""
    if prompt.dialect == chat.NAME:
        return prompt
    way = WAYS[prompt.dialect]
    fields = {name: prompt.fields[name] for name in way.dialect.HEAD if name in prompt.fields}
    asked = {name: load(raw, name) for name, raw in fields.items()}
    asked[way.dialect.ITEMS] = [load(raw, way.dialect.ITEMS) for raw in prompt.messages]
    body = _chat(way, asked, template)
    messages = [orjson.dumps(message) for message in body.pop(chat.ITEMS)]
    return Prompt(chat.NAME, prompt.model, {n: orjson.dumps(v) for n, v in body.items()}, messages)


def _chat(way: Way, asked: Object, template: Template) -> Object:
    body = way.to_chat(asked)
    messages = conform([orjson.dumps(message) for message in body[chat.ITEMS]], template, overhead=0).messages
    return body | {chat.ITEMS: [orjson.Fragment(message) for message in messages]}
