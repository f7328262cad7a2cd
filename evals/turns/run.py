"""All conversations of a suite, one after the other, under one system."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from evals.case import Case, Judging
from evals.embeddings import EmbeddingCache
from evals.endpoint import Endpoint, endpoint
from evals.turns.counting import CountingModel, Said
from evals.turns.play import Player
from evals.turns.script import Step, replay, script
from evals.turns.systems import System
from evals.turns.turn import Embedded, Turn

DISTURBED = 0.1
"""Share of the turns of a replay that are sent again, and that are edited."""


@dataclass(frozen=True)
class Plan:
    window: int
    system: System
    judged: Judging = "pieces"
    seed: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    """On top of the system's."""
    replay: bool = False
    """With requests sent again and edited, and every embedding counted."""

    def steps(self, case: Case) -> list[Step]:
        if self.replay:
            return replay(case, self.window, self.seed, DISTURBED)
        return script(case, self.window, self.seed)


@dataclass
class Played:
    turns: list[Turn] = field(default_factory=list)
    embedded: Embedded | None = None
    """Of a replay."""


async def run(
    plan: Plan,
    cases: Sequence[Case],
    cache: EmbeddingCache | None,
    begin: Callable[[str, int], Callable[[], None]],
) -> Played:
    """`begin` is told each conversation and its requests, and gives what is called after each of them."""
    played = Played()
    scripts = [(case, plan.steps(case)) for case in cases]
    async with AsyncExitStack() as stack:
        at: Endpoint | None = None
        counting = CountingModel(EmbeddingCache.DIM)
        if not plan.system.local:
            longest = max((len(steps) for _, steps in scripts), default=0)
            names = {plan.system.model(plan.window, number) for number in range(longest)}
            settings = {**plan.system.settings, **plan.settings}
            windows = dict.fromkeys(sorted(names), plan.window)
            model = counting if plan.replay else cache
            at = await stack.enter_async_context(endpoint(windows, settings, model))
        for case, steps in scripts:
            player = Player(plan.window, plan.system, plan.judged, at)
            played.turns += await player.play(case, steps, begin(case.name, len(steps)))
        if plan.replay and at is not None:
            await at.settle()
            said = Said()
            for case, steps in scripts:
                for step in steps:
                    said.add(step.messages(case))
            units = said.units(counting.texts)
            played.embedded = Embedded(plan.window, len(counting.texts), len(units))
    return played
