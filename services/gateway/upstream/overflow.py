"""Engines that refuse a prompt as too long, each in its own words.

Matched only on 4xx answers or error events and only on the message field, since engines echo prompts.
Each wording is matched from the beginning of a message, or behind the few openings that engines are
known to put in front (PREFIX): a prompt that is echoed and contains one is no refusal.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

PREFIX = (
    r"(?:(?:\w*(?:Error|Exception)|Error code: \d+|\d{3}|Input validation error|litellm\.\w+|"
    r"Failed to \w+ \w+|Internal error)\s*(?::|-)\s*)*"
)
T, W = r"(?P<tokens>\d+)(?:\.0)?", r"(?P<window>\d+)"
A, R, B = r"(?P<asked>\d+)", r"(?P<total>\d+)", r"(?P<beyond>\d+)"
WORDINGS = tuple(
    re.compile(
        PREFIX + wording.replace("T#", T).replace("W#", W).replace("A#", A).replace("R#", R).replace("B#", B)
    )
    for wording in (
        # vLLM
        r"This model's maximum context length is W# tokens\. However, your prompt contains "
        r"(?P<least>at least )?"
        r"T# input tokens",
        r"This model's maximum context length is W# tokens\. However, you requested A# output "
        r"tokens and your "
        r"prompt contains (?P<least>at least )?T# input tokens",
        r"(?:This model's maximum context length is \d+ tokens\. However, (?:you requested \d+ "
        r"output tokens and )?"
        r"your )?prompt contains \d+ characters \(more than \d+ characters, which is the upper "
        r"bound for W# input",
        r"(?:\w+=)?max_(?:completion_)?tokens=\d+ cannot be greater than max_model_len=W#",
        r"The (?:decoder |encoder )?prompt \(length T#\) is longer than the maximum model length of W#",
        r"max_(?:completion_)?tokens must be at least 1, got -B#",
        r"You passed T# input tokens and requested A# output tokens\. However, the model's context length is "
        r"only W# tokens",
        r"This model's maximum context length is W# tokens\. However, you requested R# tokens "
        r"\(T# in the messages, A# in the completion\)",
        r"'max_tokens' or 'max_completion_tokens' is too large: A#\. This model's maximum "
        r"context length is W# "
        r"tokens and your request has T# input tokens",
        # SGLang
        r"The input \(T# tokens\) is longer than the model's context length \(W# tokens\)",
        r"Requested token count exceeds the model's maximum context length of W# tokens\. You "
        r"requested a total "
        r"of R# tokens(?:: T# tokens from the input messages and A# tokens for the completion)?",
        r"Input length \(T# tokens\) exceeds the maximum allowed length \(W# tokens\)",
        # llama.cpp
        r"(?:the )?request \(T# tokens\) exceeds the available context size \(W# tokens\)",
        # TGI
        r"`inputs` tokens \+ `max_new_tokens` must be <= W#\. Given: T# `inputs` tokens and A# "
        r"`max_new_tokens`",
        r"`inputs` tokens \+ `max_new_tokens` must be <= W#\. Given: T#",
        r"`inputs` must have less than W# tokens\. Given: T#",
        # Ollama, LM Studio
        r"the prompt is longer than the context length currently available to the model",
        r"Trying to keep the first T# tokens when context the overflows\. However, the model is loaded with "
        r"context length of only W# tokens",
        # OpenAI, Anthropic
        r"This model's maximum context length is W# tokens\. However, your messages resulted in T# tokens",
        r"prompt is too long: T# tokens > W# maximum",
        r"input length and `?max_tokens`? exceed context limit: T# \+ A# > W#",
        # TensorRT-LLM, LMDeploy
        r"The sum of prompt length \(T#\), query length \(\d+\) should not exceed max_num_tokens \(W#\)",
        r"Input length \(T#\) must be smaller than the model context length \(W#\)",
    )
)
STOPPED = "model_context_window_exceeded"
"""Anthropic's reason for an answer that ended at the end of the window, under status 200."""


@dataclass(frozen=True)
class Overflow:
    """What a refusal tells; None where it does not."""

    window: int | None
    tokens: int | None
    """Of the prompt."""
    asked: int | None = None
    """For the answer."""
    exact: bool = False
    """`tokens` is the whole count. vLLM's tokenizer stops at window + 1 and tells a lower bound."""
    beyond: int | None = None
    """By how many tokens the prompt alone is longer than the window."""


def parse_overflow(body: bytes) -> Overflow | None:
    """What a refusal, or the data of an error event, says; None where it is about something else."""
    message = message_of(body).lstrip()
    for wording in WORDINGS:
        found = wording.match(message)
        if found:
            return _overflow(found.groupdict())
    return None


def stopped_by_window(answer: Mapping[str, Any]) -> bool:
    """Of a whole answer or one event: it ended because the window was full."""
    delta = answer.get("delta")
    return STOPPED in (
        answer.get("stop_reason"),
        delta.get("stop_reason") if isinstance(delta, dict) else None,
    )


def _overflow(told: dict[str, str | None]) -> Overflow:
    window, tokens, asked, total, beyond = (
        int(value) if (value := told.get(name)) else None
        for name in ("window", "tokens", "asked", "total", "beyond")
    )
    if tokens is None and total is not None and asked is not None:
        tokens = total - asked
    return Overflow(
        window=window,
        tokens=tokens,
        asked=asked,
        exact=tokens is not None and not told.get("least"),
        beyond=beyond,
    )


def message_of(body: bytes) -> str:
    """OpenAI's `error.message`, SGLang's flat `message`, TGI's `error`."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    error = value.get("error", value) if isinstance(value, dict) else ""
    message = error.get("message", "") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""
