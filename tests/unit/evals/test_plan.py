import pytest

from evals.capture import window_for
from evals.case import Question
from evals.job import spread
from evals.plan import Wanted, planned
from evals.systems import MECHANISMS
from services.retriever.profiles import choose
from shared.prompt.budget import limits_of, plan_budget
from shared.settings import Settings
from tests.unit.services.retriever.support import Talk

NOTHING = Talk([]).history


def test_every_suite_is_planned_with_the_systems_of_its_mode() -> None:
    jobs = planned(Wanted(["all"]))
    names = {job.suite.mode: {j.system.name for j in jobs if j.suite.mode == job.suite.mode} for job in jobs}
    assert {"backscroll", "seed", "window", "bm25", "dense", "rrf"} <= names["questions"]
    assert {"backscroll", "seed", "window"} <= names["turns"]
    assert names["replay"] == {"backscroll"}


def test_quick_takes_less() -> None:
    quick = planned(Wanted(["all"], quick=True))
    assert quick
    assert all(job.suite.quick and job.cases == job.suite.quick.cases for job in quick)
    assert planned(Wanted(["locomo"], quick=True, cases=1))[0].cases == 1


def test_settings_are_json_where_they_can_be() -> None:
    (job,) = planned(
        Wanted(["locomo"], ["backscroll"], settings=["profile=agent", 'profile_overrides={"stop": 0}'])
    )
    assert job.settings["profile"] == "agent"
    assert job.settings["profile_overrides"] == {"stop": 0}


@pytest.mark.parametrize(
    "wanted", [Wanted(["nothing"]), Wanted(["locomo"], ["nothing"]), Wanted(["locomo"], settings=["profile"])]
)
def test_what_is_not_known_is_said(wanted: Wanted) -> None:
    with pytest.raises(ValueError, match=r"nothing|profile"):
        planned(wanted)


def test_every_mechanism_can_be_switched_off_in_some_profile() -> None:
    for off in MECHANISMS.values():
        changed = [
            choose(Settings(profile=name), NOTHING)
            != choose(Settings(profile=name, profile_overrides=off), NOTHING)
            for name in ("conversation", "agent")
        ]
        assert any(changed), off


@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("budget", [1024, 4096, 65_536])
def test_a_window_gives_recent_turns_and_memory_the_budget(budget: int, tools: bool) -> None:
    limits = limits_of(Settings(recent_window_tokens=1 << 24, memory_max_tokens=1 << 24))
    least = window_for(budget, limits, works_with_tools=tools)
    for window in (least, least - 1):
        lines = plan_budget(window, None, 0, limits, works_with_tools=tools)
        assert (lines.recent + lines.memory >= budget) == (window == least)


def test_questions_are_spread_over_a_case() -> None:
    questions = [Question(str(n), "?", frozenset()) for n in range(10)]
    assert [q.id for q in spread(questions, 4)] == ["0", "2", "5", "7"]
    assert spread(questions, None) == questions
