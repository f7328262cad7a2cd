"""Runs a suite under a baseline: its prompts go to the same capturing engine."""

import time
from collections.abc import Sequence

from evals.baselines.prompt import NEWEST_SHARE, baseline_prompt
from evals.baselines.ranker import Ranker
from evals.capture import model_for
from evals.case import Case
from evals.embeddings import EmbeddingCache
from evals.endpoint import engine_alone
from evals.job import Job
from evals.judge import Judge
from evals.ranked import recall_at
from evals.run import Keep, allowed_tokens


async def ask_plain(
    job: Job,
    cases: Sequence[Case],
    asked: set[tuple[str, str, int]],
    cache: EmbeddingCache | None,
    keep: Keep,
) -> None:
    """Every question at every budget that is not among `asked`."""
    method = job.system.baseline
    if method is None:
        raise ValueError(f"{job.system.name} is no baseline")
    newest = method == "window"
    share = 1.0 if newest else NEWEST_SHARE
    async with engine_alone(job.windows(cases)) as at:
        for case in cases:
            left = [q for q in case.questions if any((case.name, q.id, b) not in asked for b in job.budgets)]
            if not left:
                continue
            judge = Judge(case, job.suite.judged)
            ranker = Ranker(case)
            await ranker.prepare(method, cache)
            for question in left:
                began = time.perf_counter()
                order = (await ranker.order(method, question, cache)).tolist()
                ranking = time.perf_counter() - began
                for budget in job.budgets:
                    if (case.name, question.id, budget) in asked:
                        continue
                    began = time.perf_counter()
                    # Older messages that happen to be short are no part of a sliding window.
                    chosen = () if newest else order
                    messages = baseline_prompt(case.asked(question), ranker.units, chosen, budget, share)
                    answer = await at.ask(model_for(budget), question.id, messages, case.tools)
                    seconds = ranking + time.perf_counter() - began
                    allowed = allowed_tokens(case, question, budget, judge.head, at.capture)
                    judged = judge(question, budget, answer.prompt, seconds, allowed)
                    if job.suite.ranks:
                        positions = dict.fromkeys(ranker.units[number].position for number in order)
                        names = [case.pieces[position].id for position in positions]
                        judged = recall_at(judged, names, question, job.suite.ranks)
                    keep(judged)
