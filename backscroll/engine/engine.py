"""One request to one answer: checks, counts, the prefix account, and the reader."""

from collections import deque
from dataclasses import dataclass
from threading import Lock
from typing import Any

from backscroll.engine.calls import ToolCall, tool_calls
from backscroll.engine.limits import Refusal, check_characters, check_tokens, requested_tokens
from backscroll.engine.prefix import PrefixCache
from backscroll.engine.reader import Reader
from backscroll.engine.strict import mistral_faults
from backscroll.engine.template import Text, blocks, prompt_ids
from backscroll.engine.tokens import Ids, shared_encoder
from backscroll.engine.validate import validate_messages

DEMO_MODEL = "demo-extractive"
IMAGE_TOKENS = 1024


@dataclass(frozen=True)
class Completion:
    """An answer with its account, tokens."""

    text: str
    calls: tuple[ToolCall, ...]
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    def message(self) -> dict[str, Any]:
        if not self.calls:
            return {"role": "assistant", "content": self.text}
        return {"role": "assistant", "content": None, "tool_calls": [call.body() for call in self.calls]}

    def usage(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


class Engine:
    """A window, a tokenizer, a prefix cache and a reader. Thread-safe.

    `seen` holds the newest bodies of `/v1/chat/completions`, refused ones too, where `keep_seen` is
    above 0. `refusals` counts the 400s. `strict`: refuse what the strictest chat templates refuse.
    """

    def __init__(
        self,
        window: int,
        model: str = DEMO_MODEL,
        *,
        image_tokens: int = IMAGE_TOKENS,
        keep_seen: int = 0,
        strict: bool = False,
    ) -> None:
        self.window = window
        self.model = model
        self.seen: deque[dict[str, Any]] = deque(maxlen=keep_seen)
        self.refusals = 0
        self._image_tokens = image_tokens
        self._faults = mistral_faults if strict else validate_messages
        self._encoder = shared_encoder()
        self._prefixes = PrefixCache(blocks=max(65_536, 4 * window // 16))
        self._reader = Reader()
        self._lock = Lock()

    def complete(self, body: dict[str, Any]) -> Completion:
        """Raises `Refusal`."""
        self.seen.append(body)
        try:
            requested = requested_tokens(body, self.window)
            prompt = self._checked_prompt(body, requested)
        except Refusal:
            with self._lock:
                self.refusals += 1
            raise
        calls = tool_calls(body)
        said = "".join(c.name + c.arguments for c in calls) or self._reader.answer(body["messages"])
        answer = self._encoder.encode(said)
        kept = answer[: min(requested or self.window, self.window - len(prompt))]
        with self._lock:
            cached = self._prefixes.account(prompt + kept, len(prompt))
        whole = len(kept) == len(answer)
        return Completion(
            text="" if calls else self._encoder.decode(kept),
            calls=tuple(calls) if whole else (),
            finish_reason="length" if not whole else "tool_calls" if calls else "stop",
            prompt_tokens=len(prompt),
            completion_tokens=len(kept),
            cached_tokens=cached,
        )

    def count(self, body: dict[str, Any]) -> Ids:
        """The tokens of `messages` with `tools`, or of a `prompt` as plain text. Raises `Refusal`."""
        if isinstance(body.get("prompt"), str):
            return self._encoder.encode(body["prompt"])
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
            raise Refusal("messages must be a list of objects, or prompt a string.", "messages")
        _check_tools(body)
        return self._prompt(body, add_generation_prompt=body.get("add_generation_prompt", True))

    def _checked_prompt(self, body: dict[str, Any], requested: int | None) -> Ids:
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise Refusal("messages must be a list.", "messages")
        _check_tools(body)
        if faults := self._faults(messages):
            raise Refusal(" ".join(faults), "messages")
        pieces = (p for block in blocks(messages, body.get("tools") or ()) for p in block)
        characters = sum(len(p.text) for p in pieces if isinstance(p, Text))
        check_characters(characters, requested, self.window)
        prompt = self._prompt(body, add_generation_prompt=True)
        check_tokens(len(prompt), requested, self.window)
        return prompt

    def _prompt(self, body: dict[str, Any], *, add_generation_prompt: bool) -> Ids:
        return prompt_ids(
            self._encoder,
            body["messages"],
            body.get("tools") or (),
            add_generation_prompt=add_generation_prompt,
            image_tokens=self._image_tokens,
        )


def _check_tools(body: dict[str, Any]) -> None:
    if not isinstance(body.get("tools") or [], list):
        raise Refusal("tools must be a list.", "tools")
