from pathlib import Path

import pytest

from tests.support.chart import Manifest, Sets, rendered, with_stand_ins
from tests.support.chart_values import VALUE_SETS


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its directory, with stand-ins for its dependencies."""
    return with_stand_ins(tmp_path_factory.mktemp("chart"))


@pytest.fixture(scope="session")
def rendered_sets(chart: Path) -> Sets:
    return {name: rendered(chart, values) for name, values in VALUE_SETS.items()}


@pytest.fixture(params=VALUE_SETS)
def value_set(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def manifests(rendered_sets: Sets, value_set: str) -> list[Manifest]:
    return rendered_sets[value_set]
