"""A conversation to play: what was said, where the engine was asked, and what is asked at the end."""

from dataclasses import dataclass
from random import Random
from typing import Any

from backscroll.demo.facts import FACTS, NEVER_SAID, Question
from backscroll.demo.weave import Weaver
from backscroll.engine.engine import IMAGE_TOKENS
from backscroll.engine.template import prompt_ids
from backscroll.engine.tokens import shared_encoder

WINDOWS = 13
"""Length of the demo conversation, in windows."""
FAR_BACK = 0.8
"""Facts stand in this first share of it, so that none is left in the recent turns."""
IMPORTED_AT = (0.5, 0.9, 1.5, 3.0, 6.0, 9.0, 12.0)
"""Windows of history at which the scripted part is sent: below the window, around it, far above."""

_SYSTEM = "You are a helpful assistant. Answer from what was said in this conversation."

Message = dict[str, Any]


@dataclass(frozen=True)
class Conversation:
    """Messages in OpenAI's form, oldest first.

    `asked_at` are the lengths of history at which the engine is asked, ascending; each ends in a
    user's or a tool's message. The replies of the script stand in `messages`, so what the engine
    answers there is not kept. `questions` follow the last message; their answers are kept.
    """

    name: str
    messages: list[Message]
    asked_at: tuple[int, ...]
    questions: tuple[Question, ...] = ()


def count_tokens(messages: list[Message]) -> int:
    """By the demo engine's tokenizer and template."""
    ids = prompt_ids(shared_encoder(), messages, add_generation_prompt=False, image_tokens=IMAGE_TOKENS)
    return len(ids)


def demo_conversation(window: int, seed: int = 7) -> Conversation:
    """At least twelve windows of small talk with facts scattered far back; the same for the same seed."""
    random = Random(seed)
    weaver = Weaver(random)
    target = WINDOWS * window
    due = [int(target * FAR_BACK * (i + random.random()) / len(FACTS)) for i in range(len(FACTS))]
    import_due = [int(share * window) for share in IMPORTED_AT]
    messages: list[Message] = [{"role": "system", "content": _SYSTEM}]
    asked_at: list[int] = []
    tokens = 0
    said = 0
    while tokens < target:
        exchanges = weaver.thread()
        if said < len(FACTS) and tokens >= due[said]:
            fact = FACTS[said]
            exchanges.insert(random.randint(0, len(exchanges)), (fact.said, fact.acknowledged))
            said += 1
        for user, assistant in exchanges:
            messages.append({"role": "user", "content": user})
            if len(asked_at) < len(import_due) and tokens >= import_due[len(asked_at)]:
                asked_at.append(len(messages))
            messages.append({"role": "assistant", "content": assistant})
            tokens += count_tokens(messages[-2:])
    return Conversation("demo", messages, tuple(asked_at), _shuffled_questions(random))


def _shuffled_questions(random: Random) -> tuple[Question, ...]:
    questions = [*(fact.question for fact in FACTS), *NEVER_SAID]
    random.shuffle(questions)
    return tuple(questions)
