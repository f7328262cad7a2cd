from services.assembler.drift import judge
from shared.contracts.rpc import ChunkRef, Reranked

INSIDE = (ChunkRef(9, 0, 0), ChunkRef(8, 0, 0))
OUTSIDE = (ChunkRef(1, 0, 0), ChunkRef(2, 0, 0))


def reply(*scores: float, same: tuple[int, ...] = ()) -> Reranked:
    flags = tuple(i in same for i in range(len(scores)))
    return Reranked(scores=scores, threshold=0.3, same_text=flags)


def test_drifted_when_only_a_candidate_answers() -> None:
    verdict = judge(INSIDE, OUTSIDE, reply(0.0004, 0.01, 0.2, 0.8))
    assert verdict is not None
    assert verdict.drifted
    assert verdict.take == (ChunkRef(2, 0, 0),)


def test_not_drifted_when_the_prompt_answers() -> None:
    verdict = judge(INSIDE, OUTSIDE, reply(0.31, 0.0, 0.9, 0.8))
    assert verdict is not None
    assert not verdict.drifted


def test_thanks_triggers_nothing() -> None:
    verdict = judge(INSIDE, OUTSIDE, reply(0.01, 0.0, 0.2, 0.1))
    assert verdict is not None
    assert not verdict.drifted


def test_the_question_itself_counts_on_neither_side() -> None:
    verdict = judge(INSIDE, OUTSIDE, reply(1.0, 0.0, 0.8, 0.1, same=(0,)))
    assert verdict is not None
    assert verdict.drifted
    assert judge(INSIDE, OUTSIDE, reply(0.0, 0.0, 1.0, 1.0, same=(2, 3))) is None


def test_no_reranker_no_verdict() -> None:
    assert judge(INSIDE, OUTSIDE, Reranked()) is None
    assert judge(INSIDE, (), reply(0.1, 0.2)) is None
