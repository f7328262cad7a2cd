"""From a prompt that the engine received to a row of results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import orjson

from backscroll.engine.template import HEAD_ROLES
from evals.capture import Prompt, rendered
from evals.case import Case, Judging, Question
from evals.evidence import Evidence
from evals.gates import Said, faults
from evals.judged import Judged
from evals.shown import Shown, shown


class Judge:
    """Judges the prompts of one case."""

    def __init__(self, case: Case, judged: Judging) -> None:
        self._case = case
        self._said = Said(case.messages())
        self._evidence = Evidence(case, judged)
        self.head = head_tokens(case)

    def __call__(
        self, question: Question, budget: int, prompt: Prompt, seconds: float, allowed: int
    ) -> Judged:
        """`allowed`: tokens of the whole prompt, tools and system messages included."""
        told = _without(shown(prompt.messages), question.text)
        return Judged(
            case=self._case.name,
            question=question.id,
            kind=question.kind,
            budget=budget,
            found=self._evidence.share(question, told.joined),
            tokens=prompt.tokens,
            seconds=round(seconds, 4),
            digest=digest_of(prompt),
            faults=faults(prompt, told, self._said, self._said.end(question.after), allowed),
        )


def head_tokens(case: Case) -> int:
    """Of tools and leading system messages, which stand outside every budget."""
    head: list[Mapping[str, Any]] = []
    for message in case.messages():
        if message["role"] not in HEAD_ROLES:
            break
        head.append(message)
    return len(rendered(head, case.tools)) - len(rendered([])) if head or case.tools else 0


def last_step(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """What every prompt must hold: the message that asks, or calls with their results."""
    start = len(messages) - 1
    while start > 0 and messages[start]["role"] == "tool":
        start -= 1
    return messages[start:]


def digest_of(prompt: Prompt) -> str:
    canonical = orjson.dumps([prompt.messages, prompt.tools])
    return blake2b(canonical, digest_size=12).hexdigest()


def _without(told: Shown, question: str | None) -> Shown:
    """The question is nothing that was said before."""
    if question is None or not told.window or told.window[-1] != question.strip():
        return told
    return replace(told, window=told.window[:-1])
