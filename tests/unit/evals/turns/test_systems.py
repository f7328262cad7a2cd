"""The window alone."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backscroll.engine.validate import validate_messages
from evals.capture import rendered
from evals.turns.prefix import common
from evals.turns.systems import SYSTEMS, WindowOnly

SYSTEM = {"role": "system", "content": "You help."}


def said(role: str, words: int) -> dict[str, Any]:
    return {"role": role, "content": "word " * words}


@given(st.lists(st.integers(1, 60), min_size=2, max_size=40))
def test_it_holds_the_newest_messages_and_fits(words: list[int]) -> None:
    window = WindowOnly(300)
    messages = [SYSTEM]
    for n, count in enumerate(words):
        messages.append(said("user" if n % 2 == 0 else "assistant", count))
        prompt = window.prompt(messages, ())
        assert prompt[0] == SYSTEM
        assert messages[-len(prompt) + 1 :] == prompt[1:]
        assert len(rendered(prompt)) < 300
        assert len(prompt) > 1


def test_between_two_cuts_it_only_grows() -> None:
    window = WindowOnly(300)
    messages = [SYSTEM]
    before = rendered([])
    cuts = 0
    for n in range(60):
        messages += [said("user", 15), said("assistant", 15 + n % 3)]
        ids = rendered(window.prompt(messages, ()))
        stays = common(before, ids) >= len(before) - len(rendered([]))
        cuts += not stays
        before = ids
    assert 5 < cuts < 20


def test_no_result_stands_without_its_call() -> None:
    window = WindowOnly(200)
    call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [said("user", 20)]
    for _ in range(20):
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": "1", "content": "word " * 30})
        prompt = window.prompt(messages, ())
        assert not validate_messages(prompt)
        # The task stays, and with it the window is still the window.
        assert prompt[0] == messages[0]
        assert len(rendered(prompt)) < 200


def test_fresh_requests_inherit_from_none() -> None:
    names = [SYSTEMS["reinject"].model(8192, n) for n in range(3)]
    assert len(set(names)) == 3
    assert len({SYSTEMS["patch"].model(8192, n) for n in range(3)}) == 1
