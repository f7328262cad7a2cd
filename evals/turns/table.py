"""The figures of one system, in a line."""

from collections import Counter

from evals.turns.run import Played
from evals.turns.turn import cached_share, prefilled

ACTIONS = ("reuse", "patch", "evict", "rebuild", "expire", "cold")
COLUMNS = (
    "system",
    "requests",
    "cached",
    "of turns",
    "best",
    "prefilled",
    "prompt",
    "questions",
    "ER",
    "AEH",
    "refused",
    "faults",
    *ACTIONS,
    "degraded",
    "embedded",
    "ms",
)


def line(system: str, played: Played) -> list[str]:
    """Of the requests that are longer than the window; below it all systems are alike."""
    over = [turn for turn in played.turns if turn.over]
    sent = [turn for turn in over if not turn.refused]
    actions = Counter(turn.action for turn in over)
    found = [each.share for turn in over for each in turn.found]
    degraded = sum(bool(turn.degraded) for turn in over)
    return [
        system,
        str(len(over)),
        f"{cached_share(over):.3f}",
        f"{cached_share([turn for turn in over if turn.kind == 'turn']):.3f}",
        f"{cached_share(over, best=True):.3f}",
        f"{prefilled(over):,.0f}",
        f"{_mean([turn.tokens for turn in sent]):,.0f}",
        str(len(found)),
        f"{_mean(found):.3f}",
        f"{_mean([share >= 1.0 for share in found]):.3f}",
        str(sum(turn.refused for turn in played.turns)),
        str(sum(bool(turn.faults) for turn in played.turns)),
        *(str(actions[action]) for action in ACTIONS),
        str(degraded),
        "-" if played.embedded is None else f"{played.embedded.share:.3f}",
        f"{1000 * _mean([turn.seconds for turn in sent]):,.0f}",
    ]


def _mean(values: list[float] | list[int] | list[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")
