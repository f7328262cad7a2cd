"""Sends a conversation turn by turn and keeps what each request cost."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from backscroll.engine.validate import validate_messages
from evals.capture import Prompt, rendered
from evals.case import Case, Judging
from evals.endpoint import Asked, Endpoint
from evals.evidence import Evidence
from evals.gates import Said, faults
from evals.shown import shown
from evals.turns.prefix import Account
from evals.turns.script import Step, sizes
from evals.turns.systems import System, WindowOnly
from evals.turns.turn import Found, Turn

RECORDS_AT_ONCE = 8
Advance = Callable[[], None]


@dataclass(frozen=True)
class Sent:
    """What came of one request."""

    prompt: Prompt | None
    """None: refused."""
    seconds: float = 0.0
    answer: Asked | None = None


class Player:
    """One system at one window."""

    def __init__(self, window: int, system: System, judged: Judging, at: Endpoint | None) -> None:
        self._window = window
        self._system = system
        self._judged = judged
        self._at = at

    async def play(self, case: Case, steps: Sequence[Step], advance: Advance = lambda: None) -> list[Turn]:
        """Every request of the conversation, in order."""
        account, whole, history = Account(), sizes(case), Said(case.messages())
        evidence = Evidence(case, self._judged)
        alone = WindowOnly(self._window)
        turns: list[Turn] = []
        answers: list[Asked | None] = []
        for number, step in enumerate(steps):
            messages = step.messages(case)
            if self._at is None:
                sent = _alone(alone.prompt(messages, case.tools), case)
            else:
                sent = await self._ask(self._at, case, messages, number)
            turn = Turn(case.name, self._window, step.length, whole[step.length], step.kind)
            turns.append(self._judged_turn(evidence, step, turn, sent, account, history))
            answers.append(sent.answer)
            advance()
        return await self._explained(turns, answers)

    async def _ask(self, at: Endpoint, case: Case, messages: list[dict[str, Any]], number: int) -> Sent:
        try:
            answer = await at.ask(self._system.model(self._window, number), case.name, messages, case.tools)
        except httpx.HTTPStatusError as error:
            if error.response.is_client_error:
                return Sent(None)
            raise
        return Sent(answer.prompt, answer.seconds, answer)

    def _judged_turn(
        self, evidence: Evidence, step: Step, turn: Turn, sent: Sent, account: Account, history: Said
    ) -> Turn:
        prompt = sent.prompt
        if prompt is None:
            return replace(turn, action="refused")
        shared = account.enter(prompt.ids, fork=step.kind != "turn")
        told = shown(prompt.messages)
        if step.kind in ("question", "edit"):
            # What was added here is nothing that was said before.
            told = replace(told, window=told.window[:-1])
        return replace(
            turn,
            tokens=prompt.tokens,
            shared=shared.before,
            best=shared.best,
            found=tuple(Found(q.id, q.kind, evidence.share(q, told.joined)) for q in step.questions),
            faults=faults(prompt, told, history, history.end(step.length), self._window - 1),
            seconds=round(sent.seconds, 4),
        )

    async def _explained(self, turns: Sequence[Turn], answers: Sequence[Asked | None]) -> list[Turn]:
        """With what the records say was done."""
        gate = asyncio.Semaphore(RECORDS_AT_ONCE)

        async def explained(turn: Turn, answer: Asked | None) -> Turn:
            if self._at is None or answer is None:
                return turn
            async with gate:
                record = await self._at.record(answer)
            if record is None:
                return turn
            return replace(turn, action=record["action"], degraded=tuple(record["degraded"]))

        return await asyncio.gather(*map(explained, turns, answers))


def _alone(prompt: list[dict[str, Any]], case: Case) -> Sent:
    ids = rendered(prompt, case.tools)
    return Sent(Prompt(prompt, [dict(t) for t in case.tools], len(ids), ids, validate_messages(prompt)))
