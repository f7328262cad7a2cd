"""A drift costs only the tokens that it adds, and the patch stays where it was asked for."""

from itertools import pairwise
from typing import Any

import orjson

from tests.support.pipeline import Pipeline, sent

FACTS = {
    "the vault combination": "The vault combination is 36-14-52.",
    "the harbour master": "The harbour master is called Ilse Brandt.",
    "the ferry to Orkney": "The ferry to Orkney leaves at 06:40 from Scrabster.",
}


def far_past(filler: int = 150) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for fact in FACTS.values():
        messages += [{"role": "user", "content": fact}, {"role": "assistant", "content": "Noted."}]
    for i in range(filler):
        text = f"Day {i}: swept deck {i % 9}, painted rail number {i}, weather code W{i * 31}."
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": f"Logged day {i}."}]
    return messages


async def ask_all(mode: str) -> list[Any]:
    pipeline = Pipeline(4096, drift_mode=mode)
    history = far_past()
    asked = []
    for subject in ["deck 3", *FACTS]:
        history.append({"role": "user", "content": f"What do you know of {subject}?"})
        prepared = await pipeline.ask(history)
        asked.append((prepared, [orjson.dumps(m) for m in sent(prepared)]))
        history.append({"role": "assistant", "content": "I see."})
    return asked


async def test_a_patch_brings_the_fact_and_keeps_the_prefix() -> None:
    asked = await ask_all("patch")
    actions = [prepared.plan.action for prepared, _ in asked]
    assert actions[0] == "cold"
    assert "patch" in actions[1:]
    assert set(actions[1:]) <= {"patch", "reuse"}
    for (_, before), (_, after) in pairwise(asked):
        assert after[: len(before)] == before
    for (prepared, prompt), fact in zip(asked[1:], FACTS.values(), strict=True):
        assert fact in b"".join(prompt).decode()
        assert prepared.measured.tokens <= prepared.limit
    anchors = [patch.position for patch in asked[-1][0].layout.patches]
    assert anchors == sorted(set(anchors))


async def test_a_rebuild_brings_the_fact_too() -> None:
    asked = await ask_all("rebuild")
    assert "rebuild" in [prepared.plan.action for prepared, _ in asked]
    for (_, prompt), fact in zip(asked[1:], FACTS.values(), strict=True):
        assert fact in b"".join(prompt).decode()


async def test_patches_end_with_the_window_that_they_stand_in() -> None:
    pipeline = Pipeline(4096, drift_mode="patch")
    history = far_past()
    patched = False
    for i in range(80):
        subject = list(FACTS)[i % 3]
        history.append(
            {"role": "user", "content": f"Once more ({i}): what of {subject}? " + "and so on " * 20}
        )
        prepared = await pipeline.ask(history)
        patched = patched or bool(prepared.layout.patches)
        assert all(p.position >= prepared.layout.window_start for p in prepared.layout.patches)
        history.append({"role": "assistant", "content": "I see."})
    assert patched
