"""One request, as every step of the assembler needs it."""

from dataclasses import dataclass

from services.assembler.drift import Verdict
from services.assembler.inside import inside_bits, inside_ranges
from shared.contracts.rpc import Assemble, Candidate, Retrieve
from shared.conversation.history import History
from shared.prompt.budget import Budget, Limits
from shared.prompt.place import Placement
from shared.prompt.plan import LABEL_TOKENS, Action, Excerpt, Layout, Plan
from shared.prompt.state import Tip


@dataclass(frozen=True)
class Policy:
    """The settings of the same names."""

    limits: Limits
    assembly_ttl_s: float
    drift_mode: str
    block_drift_rebuild: bool
    block_check_docs: int
    block_check_chars: int


@dataclass(frozen=True)
class Case:
    """One request, as every step below needs it."""

    request: Assemble
    history: History
    budget: Budget
    policy: Policy

    @property
    def tip(self) -> Tip | None:
        return self.request.tip

    def plan(self, action: Action, layout: Layout, placement: Placement, built_at: float) -> Plan:
        tip = self.tip
        return Plan(
            action=action,
            layout=layout,
            allowances=placement.allowances,
            built_at=built_at,
            budget=self.budget.lines() | {"window_tokens": placement.tokens},
            index=tip.index if tip else "",
            indexed_to=tip.indexed_to if tip else 0,
            covered_to=tip.covered_to if tip else 0,
        )


def recall_query(
    case: Case,
    layout: Layout,
    *,
    budget: int,
    with_block: bool,
    among_best: int = 0,
    verdict: Verdict | None = None,
) -> Retrieve:
    tip = case.tip
    return Retrieve(
        tenant=case.request.tenant,
        history=case.request.history,
        inside=inside_bits(case.history, layout),
        inside_excerpts=inside_ranges(case.history, layout, with_block=with_block),
        search=case.request.search,
        query_tokens=max(int(case.budget.query / case.request.ratio), 1),
        budget=budget,
        among_best=among_best,
        must_take=verdict.take if verdict else (),
        index=tip.index if tip else "",
        check_from=min(tip.indexed_to if tip else 0, layout.window_start),
        check_to=layout.window_start,
        covered_to=tip.covered_to if tip else 0,
        wait_for_index=case.request.wait_for_index,
        overrides=case.request.overrides,
    )


def excerpt_of(c: Candidate) -> Excerpt:
    return Excerpt(c.position, c.unit, c.start, c.end, c.digest, c.tokens + LABEL_TOKENS)
