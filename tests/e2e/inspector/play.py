"""What the pages are tested with: a long chat in two languages, edited once, and a short one beside it."""

from dataclasses import dataclass
from typing import Any

import httpx

from backscroll.demo.conversation import demo_conversation
from backscroll.engine.engine import DEMO_MODEL
from tests.support.eventually import eventually

WINDOW = 4096
LONG = "balcony-notes"
SHORT = "notes-in-chinese"
STEP = 14
STEPS = 8
"""The script is sent so often as it grows by so many messages: the window fills, and jumps."""


@dataclass(frozen=True)
class Played:
    """Ids of records, in the order in which they were made."""

    long: list[str]
    edited: str
    """The question that was sent again in other words: it forks from what came before."""
    short: str


async def play(base_url: str, headers: dict[str, str] | None = None) -> Played:
    conversation = demo_conversation(WINDOW)
    messages = conversation.messages
    async with httpx.AsyncClient(base_url=base_url, timeout=120, headers=headers) as http:

        async def ask(session: str, history: list[dict[str, Any]]) -> tuple[str, str]:
            """The answer, and the record's id."""
            body = {"model": DEMO_MODEL, "messages": history, "max_tokens": 96}
            reply = await http.post("/chat/completions", json=body, headers={"x-session-id": session})
            assert reply.status_code == 200, reply.text
            answer: str = reply.json()["choices"][0]["message"]["content"]
            return answer, reply.headers["x-backscroll-record"]

        grown = [messages[: len(messages) + 1 - before * STEP] for before in range(STEPS, 0, -1)]
        records = [(await ask(LONG, history))[1] for history in grown]
        history = list(messages)
        said = [question.text for question in conversation.questions[:6]]
        for text in (*said[:2], "Thanks, that is all.", *said[2:4], "好的，谢谢。", *said[4:]):
            history.append({"role": "user", "content": text})
            answer, record = await ask(LONG, history)
            records.append(record)
            history.append({"role": "assistant", "content": answer})
        edited = [*history[:-4], {"role": "user", "content": "张伟的工位号是多少？ Please quote it."}]
        _, fork = await ask(LONG, edited)
        chinese = [messages[0], *(m for m in messages[1:] if "\u4e00" <= m["content"][0] <= "\u9fff")]
        while chinese[-1]["role"] != "user":
            chinese.pop()
        _, short = await ask(SHORT, chinese)

        async def published() -> bool:
            """An answer waits a quarter of a second for its record, and not longer."""
            replies = [await http.get(f"/records/{record}") for record in (*records, fork, short)]
            return all(reply.status_code == 200 for reply in replies)

        await eventually(published)
    return Played(records, fork, short)
