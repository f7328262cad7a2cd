"""Requests through the official client, with what the headers say."""

from dataclasses import dataclass

from tests.support.stack import Stack
from tests.support.talk import Message


@dataclass
class Answered:
    text: str
    mode: str
    degraded: list[str]
    record_id: str | None
    prompt_tokens: int
    cached_tokens: int


async def ask(stack: Stack, messages: list[Message], session: str = "s") -> Answered:
    raw = await stack.sdk.chat.completions.with_raw_response.create(
        model="demo-extractive",
        messages=messages,
        extra_headers={"X-Session-Id": session},
    )
    told, completion = raw.headers, raw.parse()
    usage = completion.usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    return Answered(
        text=completion.choices[0].message.content or "",
        mode=told["x-backscroll-mode"],
        degraded=[part for part in told.get("x-backscroll-degraded", "").split(",") if part],
        record_id=told.get("x-backscroll-record"),
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.prompt_tokens_details.cached_tokens or 0,
    )


async def whole(stack: Stack, messages: list[Message]) -> Answered:
    answered = await ask(stack, messages)
    assert (answered.mode, answered.degraded) == ("assembled", [])
    return answered
