"""What the registry says of each suite."""

import pytest

from evals.suite import Suite
from evals.suites import SUITES


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_a_suite_says_how_it_is_run(suite: Suite) -> None:
    assert (suite.load is None) != (suite.make is None)
    assert suite.budgets
    assert suite.language in ("en", "zh")
    if suite.quick:
        assert set(suite.quick.budgets) <= set(suite.budgets)
        assert suite.vectors or not suite.quick.vectors
