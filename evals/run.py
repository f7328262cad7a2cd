"""Runs a suite: the history as a client sends it, then each question on it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from evals.capture import Capture, model_for, rendered
from evals.case import Case, Question
from evals.embeddings import EmbeddingCache
from evals.endpoint import Asked, Endpoint, endpoint
from evals.job import SHARES, Job, spread
from evals.judge import Judge, digest_of, head_tokens, last_step
from evals.judged import Judged, Repeated
from evals.ranked import recall_at, recalled
from evals.results import Row

SAMPLE = 3
"""Questions that are asked again of fresh services, at each budget."""
THANKS = {"role": "user", "content": "Thanks."}
Keep = Callable[[Row], None]


async def ask_all(
    job: Job,
    cases: Sequence[Case],
    asked: set[tuple[str, str, int]],
    cache: EmbeddingCache | None,
    keep: Keep,
) -> None:
    """Every question at every budget that is not among `asked`, through the endpoint."""
    async with endpoint(job.windows(cases), job.settings, cache) as at:
        for case in cases:
            open_questions = [
                (question, budget)
                for budget in job.budgets
                for question in _latest_first(case.questions)
                if (case.name, question.id, budget) not in asked
            ]
            if not open_questions:
                continue
            judge = Judge(case, job.suite.judged)
            await _import(at, case)
            for question, budget in open_questions:
                allowed = allowed_tokens(case, question, budget, judge.head, at.capture)
                answer = await ask_within(at, case, question, budget, allowed)
                judged = judge(question, budget, answer.prompt, answer.seconds, allowed)
                judged = replace(judged, degraded=answer.degraded)
                if job.suite.ranks:
                    ranked = recalled(await at.record(answer), case)
                    judged = recall_at(judged, ranked, question, job.suite.ranks)
                keep(judged)


def _latest_first(questions: Sequence[Question]) -> list[Question]:
    """A request inherits from its prefixes: asked in this order, no question finds an earlier one's state."""
    return sorted(questions, key=lambda q: (q.after is not None, -(q.after or 0)))


async def _import(at: Endpoint, case: Case) -> None:
    """The whole history; what follows it is no question's beginning."""
    smallest = min(at.capture.windows, key=lambda name: at.capture.windows[name])
    await at.ask(smallest, "import", [*case.messages(), THANKS], case.tools)
    await at.settle()


async def ask_within(at: Endpoint, case: Case, question: Question, budget: int, allowed: int) -> Asked:
    """The answer of the largest window whose prompt keeps to what is allowed; else of the smallest."""
    for share in SHARES:
        model = model_for(budget, share)
        answer = await at.ask(model, question.id, case.asked(question), case.tools)
        if answer.prompt.tokens <= allowed:
            break
    return answer


def allowed_tokens(case: Case, question: Question, budget: int, head: int, engine: Capture) -> int:
    """The budget. A last step that alone takes much of it must stay, as long as the window holds it."""
    step = len(rendered(last_step(case.asked(question))))
    return engine.windows[model_for(budget)] - 1 if step > budget // 4 else budget + head


async def ask_again(
    job: Job, cases: Sequence[Case], rows: Sequence[Row], cache: EmbeddingCache | None, keep: Keep
) -> None:
    """The gate `determinism`: a sample of one case, made again from nothing."""
    case = min(cases, key=lambda c: sum(len(piece.text) for piece in c.pieces))
    before = {(r.question, r.budget): r.digest for r in rows if isinstance(r, Judged) and r.case == case.name}
    async with endpoint(job.windows(cases), job.settings, cache) as at:
        await _import(at, case)
        for budget in job.budgets:
            sample = [q for q in _latest_first(case.questions) if (q.id, budget) in before]
            differed = 0
            for question in spread(sample, SAMPLE):
                allowed = allowed_tokens(case, question, budget, head_tokens(case), at.capture)
                answer = await ask_within(at, case, question, budget, allowed)
                differed += digest_of(answer.prompt) != before[question.id, budget]
            keep(Repeated(case.name, budget, min(len(sample), SAMPLE), differed))
