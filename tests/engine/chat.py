"""A long chat that is generated, and what each of its turns told."""

import random
from dataclasses import dataclass
from typing import Any

import httpx

Message = dict[str, Any]

ENGLISH = (
    ("the harbour", "a lighthouse", "our archive", "the old mill", "this railway", "the bakery"),
    ("was opened in", "reported for", "was repaired in", "kept its books until", "lost money after"),
    ("because of a storm", "by order of the town", "with help from abroad", "against all advice"),
)
CHINESE = (
    ("港口", "灯塔", "档案馆", "老磨坊", "这条铁路", "面包店"),
    ("开业于", "报告了", "修复于", "记账到", "亏损自"),
    ("因为一场暴风雨", "按照镇上的命令", "在国外的帮助下", "不顾所有劝告"),
)
CODE = "def entry_{n}(x: int) -> int:\n    return x * {n} + 0x{n:x}  # see RFC-{n}"


def paragraph(n: int, sentences: int = 9) -> str:
    """English, Chinese and code in turns; no two are the same."""
    chance = random.Random(n)
    words, mark, space = ((ENGLISH, ". ", " "), (CHINESE, "。", ""))[n % 2]
    said = [
        space.join((chance.choice(words[0]), chance.choice(words[1]), str(chance.randrange(9999)), last))
        for last in chance.choices(words[2], k=sentences)
    ]
    text = f"Note {n}: " + mark.join(said) + mark
    return f"{text}\n```python\n{CODE.format(n=n * 37)}\n```" if n % 5 == 0 else text


def history(pairs: int, first: int = 0) -> list[Message]:
    """Ends in an answer."""
    messages: list[Message] = [{"role": "system", "content": "Answer briefly. 请简短回答。"}]
    for n in range(first, first + pairs):
        messages += [
            {"role": "user", "content": paragraph(2 * n)},
            {"role": "assistant", "content": paragraph(2 * n + 1)},
        ]
    return messages


def as_items(messages: list[Message]) -> list[Message]:
    """For `/v1/responses`. This server takes an answer only in this, the longest of the legal forms."""
    kinds = {"assistant": "output_text"}
    return [
        {
            "type": "message",
            "role": message["role"],
            "content": [{"type": kinds.get(message["role"], "input_text"), "text": message["content"]}],
        }
        for message in messages
    ]


@dataclass(frozen=True)
class Turn:
    status: int
    mode: str
    degraded: str
    prompt_tokens: int
    """As the engine counted them."""
    cached_tokens: int
    record: dict[str, Any] | None


def record_of(client: httpx.Client, reply: httpx.Response) -> dict[str, Any] | None:
    name = reply.headers.get("x-backscroll-record")
    if name is None:
        return None
    found = client.get(f"records/{name}")
    assert found.status_code == 200, found.text
    record: dict[str, Any] = found.json()
    return record


def say(client: httpx.Client, messages: list[Message], text: str, max_tokens: int = 16) -> Turn:
    """Asks, and appends question and answer to `messages`."""
    messages.append({"role": "user", "content": text})
    asked = {"model": "gemma-3-270m", "messages": messages, "max_tokens": max_tokens, "temperature": 0}
    reply = client.post("chat/completions", json=asked)
    assert reply.status_code == 200, reply.text
    told = reply.json()
    messages.append({"role": "assistant", "content": told["choices"][0]["message"]["content"] or "-"})
    return Turn(
        reply.status_code,
        reply.headers["x-backscroll-mode"],
        reply.headers.get("x-backscroll-degraded", ""),
        told["usage"]["prompt_tokens"],
        told["usage"]["prompt_tokens_details"]["cached_tokens"],
        record_of(client, reply),
    )
