"""Plays a conversation against a running Backscroll, the way a chat client would."""

import time
import uuid

import httpx
from rich.console import Console

from backscroll.demo.client import ChatClient
from backscroll.demo.conversation import Conversation, count_tokens
from backscroll.demo.result import Answered, DemoResult
from backscroll.demo.view import View, print_summary
from backscroll.engine.engine import DEMO_MODEL

SCRIPTED_MAX_TOKENS = 64
"""The script has its own replies, so the engine's may be short."""
ANSWER_MAX_TOKENS = 256
TIMEOUT = httpx.Timeout(180, connect=10)
"""An import waits for its terms, up to `embed_wait_s` (120 s)."""


async def play(
    base_url: str,
    conversation: Conversation,
    console: Console,
    *,
    questions: int | None = None,
    model: str | None = None,
    http: httpx.AsyncClient | None = None,
    api_key: str | None = None,
) -> DemoResult:
    """Sends the history as it grows, then asks the questions, each with the whole history.

    `questions`: how many of them, all by default. `model`: the first one listed by default. `http`:
    a client to use instead of an own one; it stays open. The live view and the summary go to
    `console`. Raises `httpx.HTTPError` where nothing answers at `base_url`.
    """
    if http is None:
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        async with httpx.AsyncClient(timeout=TIMEOUT, headers=headers) as own:
            return await play(base_url, conversation, console, questions=questions, model=model, http=own)
    client = ChatClient(base_url, f"demo-{uuid.uuid4().hex[:12]}", http)
    start = time.monotonic()
    listed, window = await client.first_model()
    model = model or listed or DEMO_MODEL
    result = DemoResult(
        name=conversation.name,
        window=window,
        conversation_tokens=count_tokens(conversation.messages),
    )
    asked = conversation.questions[:questions]
    with View(console, result, len(conversation.asked_at) + len(asked)) as view:
        for length in conversation.asked_at:
            view.sending(length)
            reply = await client.ask(model, conversation.messages[:length], SCRIPTED_MAX_TOKENS)
            result.note(length, reply)
            view.replied(reply)
        history = list(conversation.messages)
        for question in asked:
            history.append({"role": "user", "content": question.text})
            view.asking(question)
            reply = await client.ask(model, history, ANSWER_MAX_TOKENS, view.show)
            result.note(len(history), reply)
            result.answered.append(Answered(question, reply))
            view.answered(result.answered[-1])
            history.append({"role": "assistant", "content": reply.text})
    result.seconds = time.monotonic() - start
    print_summary(console, result)
    return result
