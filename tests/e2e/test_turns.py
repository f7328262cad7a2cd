"""A conversation turn by turn through the real endpoint, and what its requests cost."""

import random
from collections.abc import Callable

from evals.case import Case, Piece, Question
from evals.suites.made import paragraph
from evals.turns.run import Plan, Played, run
from evals.turns.systems import SYSTEMS

WINDOW = 2048
TURNS = 24


def chat() -> Case:
    rng = random.Random(1)
    pieces = []
    for n in range(TURNS):
        pieces.append(Piece(f"u{n}", f"The code of locker {n} is {rng.randint(1000, 9999)}. Is that noted?"))
        pieces.append(Piece(f"a{n}", paragraph("en", rng), "assistant"))
    questions = [
        Question(f"q{n}", f"What is the code of locker {n}?", frozenset({f"u{n}"}))
        for n in range(0, TURNS, 4)
    ]
    return Case("lockers", pieces, questions)


async def played(system: str, replay: bool = False) -> Played:
    told: list[tuple[str, int]] = []
    done: list[int] = []

    def begin(case: str, requests: int) -> Callable[[], None]:
        told.append((case, requests))
        return lambda: done.append(1)

    result = await run(Plan(WINDOW, SYSTEMS[system], replay=replay), [chat()], None, begin)
    assert told == [("lockers", len(done))]
    assert len(result.turns) == len(done)
    return result


async def test_what_a_replay_costs() -> None:
    result = await played("patch", replay=True)
    turns = result.turns
    assert not any(turn.refused or turn.faults for turn in turns)
    assert all(0 < turn.tokens < WINDOW for turn in turns)
    assert all(0 <= turn.shared <= turn.tokens and turn.best <= turn.tokens for turn in turns)
    over = [turn for turn in turns if turn.over]
    assert {turn.action for turn in over} <= {"cold", "reuse", "patch", "evict", "rebuild"}
    assert "evict" in {turn.action for turn in over}
    # A request that comes again is sent the very same prompt.
    retries = [turn for turn in over if turn.kind == "retry"]
    assert retries
    assert all(turn.shared == turn.tokens for turn in retries)
    assert sum(len(turn.found) for turn in turns) == TURNS // 4
    # What was said is embedded once, and nothing else.
    assert result.embedded
    assert result.embedded.texts == result.embedded.units > 2 * TURNS


async def test_without_an_endpoint_the_window_alone_is_judged() -> None:
    result = await played("window")
    over = [turn for turn in result.turns if turn.over]
    assert over
    assert all(turn.tokens < WINDOW and turn.action == "passthrough" for turn in over)
    assert result.embedded is None
    found = [each.share for turn in over for each in turn.found]
    # Questions are asked half a window and more behind their evidence: some of it is gone.
    assert len(found) > 0
    assert sum(found) < len(found)
