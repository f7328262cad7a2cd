"""Which requests a client sends along a history, and where questions are asked."""

import random
from dataclasses import dataclass
from typing import Any, Literal

from evals.capture import rendered
from evals.case import Case, Question

EDITED = " (I changed this.)"
FAR = 0.5
"""Of the window: what was said since then is no test of recall."""
BEGIN = 0.5
"""Share of the window below which nothing is sent: such requests are forwarded as they come."""


Kind = Literal["turn", "question", "retry", "edit"]
"""What becomes of a request: the history goes on behind a `turn` only."""


@dataclass(frozen=True)
class Step:
    """A request: the first `length` pieces, and what its kind adds."""

    length: int
    kind: Kind = "turn"
    questions: tuple[Question, ...] = ()
    """What the prompt is judged for; of kind `question`: one, and its text is asked."""

    def messages(self, case: Case) -> list[dict[str, Any]]:
        history = case.messages(self.length)
        if self.kind == "question":
            return [*history, {"role": "user", "content": self.questions[0].text}]
        if self.kind == "edit":
            return [*history[:-1], history[-1] | {"content": f"{history[-1]['content']}{EDITED}"}]
        return history


def sizes(case: Case) -> list[int]:
    """Tokens of the first n pieces as one prompt, for every n from 0 on."""
    empty = rendered([], case.tools)
    total = len(empty)
    every = [total]
    bare = len(rendered([]))
    for piece in case.pieces:
        total += len(rendered([piece.sent()])) - bare
        every.append(total)
    return every


def answered(case: Case) -> list[int]:
    """Lengths at which the assistant has the word: an assistant's message follows, or nothing does."""
    roles = [piece.role for piece in case.pieces]
    return [
        n
        for n in range(1, len(roles) + 1)
        if roles[n - 1] in ("user", "tool") and (n == len(roles) or roles[n] == "assistant")
    ]


def pauses(case: Case) -> list[int]:
    """Lengths at which the user has the word: the assistant has answered, and the user goes on or nobody."""
    roles = [piece.role for piece in case.pieces]
    return [
        n
        for n in range(1, len(roles) + 1)
        if roles[n - 1] == "assistant"
        and not (case.pieces[n - 1].message or {}).get("tool_calls")
        and (n == len(roles) or roles[n] == "user")
    ]


def script(case: Case, window: int, seed: int) -> list[Step]:
    """The requests of a conversation in the order in which they are sent.

    A question without a place of its own is asked at one pause, drawn evenly from those `FAR` behind its
    evidence at which the history is longer than the window; at the last pause where it ends before that.
    """
    whole = sizes(case)
    rng = random.Random(f"{seed} {case.name}")
    places = pauses(case)
    number = {piece.id: n for n, piece in enumerate(case.pieces, start=1)}
    steps: dict[int, list[Question]] = {n: [] for n in answered(case)}
    forks: list[Step] = []
    for question in case.questions:
        place = question.after
        if question.text is None:
            steps.setdefault(len(case.pieces) if place is None else place, []).append(question)
            continue
        if place is None:
            said = whole[max(number[name] for name in question.evidence)]
            fitting = [n for n in places if whole[n] > window and whole[n] - said >= FAR * window]
            place = rng.choice(fitting) if fitting else (places or [len(case.pieces)])[-1]
        forks.append(Step(place, "question", (question,)))
    trunk = [Step(n, "turn", tuple(judged)) for n, judged in steps.items()]
    return [
        step
        for step in sorted((*trunk, *forks), key=lambda step: step.length)
        if step.length >= case.begins and whole[step.length] >= BEGIN * window
    ]


def replay(case: Case, window: int, seed: int, share: float) -> list[Step]:
    """The same, where after so many of the turns the request comes again, and after as many the turn before
    comes, edited. A history that fits the window is left out, and what fits is not disturbed: such requests
    pass through, and their messages need not be published.
    """
    whole = sizes(case)
    rng = random.Random(seed)
    if whole[-1] <= window:
        return []
    steps: list[Step] = []
    before: Step | None = None
    for step in script(case, window, seed):
        steps.append(step)
        if step.kind != "turn":
            continue
        if rng.random() < share and whole[step.length] > window:
            steps.append(Step(step.length, "retry"))
        if before is not None and rng.random() < share and whole[before.length] > window:
            steps.append(Step(before.length, "edit"))
        before = step
    return steps
