"""The readers on the evaluation data, where it is named."""

import os
from itertools import islice
from pathlib import Path

import pytest

from evals.data import ENVIRONMENT
from evals.suite import Suite
from evals.suites import SUITES

FOLDER = os.environ.get(ENVIRONMENT)
READ = {name: suite for name, suite in SUITES.items() if suite.load is not None}
CASES = 2


@pytest.mark.skipif(FOLDER is None, reason=f"{ENVIRONMENT} names no evaluation data")
@pytest.mark.parametrize("suite", READ.values(), ids=READ)
def test_evidence_is_in_the_history(suite: Suite) -> None:
    cases = list(islice(suite.cases(Path(FOLDER or ""), 1), CASES))
    assert cases
    for case in cases:
        ids = {piece.id for piece in case.pieces}
        assert len(ids) == len(case.pieces)
        assert len({question.id for question in case.questions}) == len(case.questions)
        for question in case.questions:
            if suite.judged == "pieces":
                assert question.evidence <= ids
            else:
                before = [piece.text for piece in case.pieces[: question.after]]
                assert all(any(string in text for text in before) for string in question.evidence)
