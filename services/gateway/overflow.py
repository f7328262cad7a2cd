"""Engines that refuse a prompt as too long, each in its own words.

Matched only on 4xx answers and only on the message field, since engines echo prompts. The number of
tokens that an engine tells is a lower bound: vLLM's tokenizer stops at window + 1.
"""

import re
from dataclasses import dataclass

import orjson

T, W = r"(?P<tokens>\d+)(?:\.0)?", r"(?P<window>\d+)"
WORDINGS = tuple(
    re.compile(wording.replace("T#", T).replace("W#", W), re.S)
    for wording in (
        # vLLM
        r"maximum context length is W# tokens\. However, your prompt contains (?:at least )?T# input tokens",
        r"prompt contains \d+ characters \(more than \d+ characters, which is the upper bound for W# input",
        r"max_tokens=\d+ cannot be greater than max_model_len=W#",
        r"\(length T#\) is longer than the maximum model length of W#",
        r"max_tokens must be at least 1, got -\d+",
        r"You passed T# input tokens and requested \d+ output tokens\. .*context length is only W# tokens",
        r"maximum context length is W# tokens\. However, you requested \d+ tokens \(T# in the messages",
        # SGLang
        r"The input \(T# tokens\) is longer than the model's context length \(W# tokens\)",
        r"exceeds the model's maximum context length of W# tokens\. You requested a total of T# tokens",
        r"Input length \(T# tokens\) exceeds the maximum allowed length \(W# tokens\)",
        # llama.cpp
        r"request \(T# tokens\) exceeds the available context size \(W# tokens\)",
        # TGI
        r"tokens \+ `max_new_tokens` must be <= W#\. Given: T#",
        r"`inputs` must have less than W# tokens\. Given: T#",
        # Ollama, LM Studio
        r"the prompt is longer than the context length currently available to the model",
        r"keep the first T# tokens when context the overflows\. .*context length of only W# tokens",
        # OpenAI, Anthropic
        r"maximum context length is W# tokens\. However, your messages resulted in T# tokens",
        r"prompt is too long: T# tokens > W# maximum",
        r"input length and `?max_tokens`? exceed context limit: T# \+ \d+ > W#",
        # TensorRT-LLM, LMDeploy
        r"sum of prompt length \(T#\), query length \(\d+\) should not exceed max_num_tokens \(W#\)",
        r"Input length \(T#\) must be smaller than the model context length \(W#\)",
    )
)


@dataclass(frozen=True)
class Overflow:
    """`window` and `tokens` where the wording tells them."""

    window: int | None
    tokens: int | None


def parse_overflow(body: bytes) -> Overflow | None:
    """What a refusal says, or None where it is about something else."""
    message = message_of(body)
    for wording in WORDINGS:
        found = wording.search(message)
        if found:
            told = found.groupdict()
            return Overflow(
                window=int(told["window"]) if told.get("window") else None,
                tokens=int(told["tokens"]) if told.get("tokens") else None,
            )
    return None


def message_of(body: bytes) -> str:
    """OpenAI's `error.message`, SGLang's flat `message`, TGI's `error`."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    error = value.get("error", value) if isinstance(value, dict) else ""
    message = error.get("message", "") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""
