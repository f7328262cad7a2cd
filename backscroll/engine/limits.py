"""When a request is refused, in vLLM's words and shape."""

from dataclasses import dataclass
from typing import Any

CHARACTERS_PER_TOKEN = 128
"""vLLM's bound: it refuses longer texts without tokenizing them."""


@dataclass
class Refusal(Exception):
    """A 400. `param` is the field at fault, as vLLM names it."""

    message: str
    param: str | None = None

    def body(self) -> dict[str, Any]:
        return {
            "error": {"message": self.message, "type": "BadRequestError", "param": self.param, "code": 400}
        }


def requested_tokens(body: dict[str, Any], window: int) -> int | None:
    """`max_tokens` of the request, under either of its names."""
    name = "max_completion_tokens" if body.get("max_completion_tokens") is not None else "max_tokens"
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal(f"{name} must be an integer, got {value!r}.", name)
    if value < 1:
        raise Refusal(f"{name} must be at least 1, got {value}.", name)
    if value > window:
        raise Refusal(f"{name}={value} cannot be greater than max_model_len={window}.", name)
    return value


def check_characters(characters: int, requested: int | None, window: int) -> None:
    room = window - (requested or 0)
    if characters > room * CHARACTERS_PER_TOKEN:
        bound = f"more than {room * CHARACTERS_PER_TOKEN} characters"
        raise Refusal(
            f"{_opening(requested, window)} contains {characters} characters ({bound}, which is the upper "
            f"bound for {room} input tokens). {_advice(requested)}",
            "input_text",
        )


def check_tokens(tokens: int, requested: int | None, window: int) -> None:
    """Like vLLM's, the figure is a lower bound: its tokenizer stops one token past what fits."""
    room = window - (requested or 0)
    if tokens > room:
        total = f", for a total of at least {window + 1} tokens" if requested else ""
        raise Refusal(
            f"{_opening(requested, window)} contains at least {room + 1} input tokens{total}. "
            f"{_advice(requested)}",
            "input_tokens",
        )
    if tokens + (requested or 1) > window:
        raise Refusal(
            f"The decoder prompt (length {tokens}) is longer than the maximum model length of {window}. "
            "Make sure that `max_model_len` is no smaller than the number of text tokens plus one.",
            "input_tokens",
        )


def _opening(requested: int | None, window: int) -> str:
    asked = f"you requested {requested} output tokens and " if requested else ""
    return f"This model's maximum context length is {window} tokens. However, {asked}your prompt"


def _advice(requested: int | None) -> str:
    output = " or the number of requested output tokens" if requested else ""
    return f"Please reduce the length of the input prompt{output}."
