"""An engine whose window, counts and words are whatever a test wants, and that remembers what it was sent."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from backscroll.engine import Engine

REFUSALS: dict[str, tuple[int, str]] = {
    "vllm": (400, "This model's maximum context length is {W} tokens. However, your prompt contains at least "
             "{L} input tokens, ..."),
    "vllm, both": (400, "You passed {T} input tokens and requested {A} output tokens. However, the model's "
                   "context length is only {W} tokens"),
    "vllm, older": (400, "This model's maximum context length is {W} tokens. However, you requested "
            "{R} tokens "
                    "({T} in the messages, {A} in the completion)."),
    "sglang": (400, "The input ({T} tokens) is longer than the model's context length ({W} tokens)."),
    "sglang, total": (400, "Requested token count exceeds the model's maximum context length of {W} "
            "tokens. You "
                      "requested a total of {R} tokens: {T} tokens from the input messages and {A} "
                              "tokens for "
                      "the completion."),
    "llama.cpp": (400, "request ({T} tokens) exceeds the available context size ({W} tokens), try "
            "increasing it"),
    "tgi": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {W}. Given: "
            "{T} `inputs` "
            "tokens and {A} `max_new_tokens`"),
    "ollama": (400, "the prompt is longer than the context length currently available to the model"),
    "lm studio": (400, "Trying to keep the first {T} tokens when context the overflows. However, the "
            "model is "
                  "loaded with context length of only {W} tokens"),
    "anthropic": (400, "prompt is too long: {T} tokens > {W} maximum"),
    "lmdeploy": (400, "Input length ({T}) must be smaller than the model context length ({W})."),
}  # fmt: skip
AT_THE_WINDOW = {"sglang", "llama.cpp", "lmdeploy"}
"""They refuse a prompt that fills the window exactly."""
WITH_ANSWER = {"vllm, both", "vllm, older", "sglang, total", "tgi"}
"""They refuse a prompt whose answer does not fit beside it."""


@dataclass
class LyingEngine:
    """`truth` engine tokens for each token of a real tokenizer, `extra` for each prompt."""

    window: int
    words: str = "vllm"
    truth: float = 1.0
    extra: int = 0
    announced: int | None = None
    """What the list of models says."""
    tokenizer: Literal["honest", "lying", "absent", "failing"] = "absent"
    default_answer: int = 0
    """Tokens that it wants for an answer whose length nobody asked for."""
    refuses_in_stream: bool = False
    """As TGI does: 200, and the refusal as an event."""
    truncates: bool = False
    """As Ollama does: drops the oldest messages until the rest fits, and says nothing."""
    tells_usage: bool = True
    bodies: list[bytes] = field(default_factory=list)
    refusals: int = 0

    def __post_init__(self) -> None:
        self._real = Engine(1_000_000)

    def cost(self, body: dict[str, Any]) -> int:
        return int(len(self._real.count(body)) * self.truth) + self.extra

    def fits(self, body: dict[str, Any]) -> bool:
        tokens = self.cost(body)
        if self.words in WITH_ANSWER:
            return tokens + self._answer(body) <= self.window
        return tokens < self.window if self.words in AT_THE_WINDOW else tokens <= self.window

    def _answer(self, body: dict[str, Any]) -> int:
        return int(body.get("max_completion_tokens") or body.get("max_tokens") or self.default_answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = b""
        more = True
        while more:
            event = await receive()
            raw += event.get("body", b"")
            more = event.get("more_body", False)
        await self._respond(scope["path"], raw)(scope, receive, send)

    def _respond(self, path: str, raw: bytes) -> Response:
        if path == "/v1/models":
            told = {} if self.announced is None else {"max_model_len": self.announced}
            return JSONResponse({"data": [{"id": "demo", **told}]})
        if path == "/tokenize" and self.tokenizer != "absent":
            return self._tokenize(json.loads(raw))
        if path != "/v1/chat/completions":
            return JSONResponse({"error": "not found"}, 404)
        self.bodies.append(raw)
        body = json.loads(raw)
        if self.truncates:
            body = self._truncated(body)
        return self._complete(body) if self.fits(body) else self._refuse(body)

    def _tokenize(self, body: dict[str, Any]) -> Response:
        if self.tokenizer == "failing":
            return JSONResponse({"error": "out of order"}, 500)
        honest = self.cost(body)
        return JSONResponse({"count": honest if self.tokenizer == "honest" else max(honest // 3, 1)})

    def _truncated(self, body: dict[str, Any]) -> dict[str, Any]:
        messages = list(body["messages"])
        while len(messages) > 1 and not self.fits({**body, "messages": messages}):
            del messages[1 if messages[0]["role"] == "system" and len(messages) > 2 else 0]
        return {**body, "messages": messages}

    def _complete(self, body: dict[str, Any]) -> Response:
        tokens = self.cost(body)
        usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
        told = {"usage": usage} if self.tells_usage else {}
        if body.get("stream"):
            chunk = orjson.dumps({"choices": [{"index": 0, "delta": {"content": "yes"}}]})
            last = orjson.dumps({"choices": [], **told})
            return _events(chunk, last, b"[DONE]")
        message = {"role": "assistant", "content": "yes"}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **told})

    def _refuse(self, body: dict[str, Any]) -> Response:
        self.refusals += 1
        tokens, answer = self.cost(body), self._answer(body)
        status, words = REFUSALS[self.words]
        figures = {"W": self.window, "T": tokens, "L": self.window + 1, "A": answer, "R": tokens + answer}
        error = {"error": {"message": words.format(**figures), "type": "BadRequestError", "code": status}}
        if self.refuses_in_stream and body.get("stream"):
            return _events(orjson.dumps(error))
        return JSONResponse(error, status)


def _events(*datas: bytes) -> Response:
    return Response(b"".join(b"data: " + data + b"\n\n" for data in datas), media_type="text/event-stream")
