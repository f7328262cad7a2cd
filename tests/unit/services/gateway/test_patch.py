"""A drift costs only the tokens that it adds, and the patch stays where it was asked for."""

from itertools import pairwise
from typing import Any

import orjson
import pytest

from shared.errors import DependencyUnavailable
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


@pytest.mark.parametrize("mode", ["rebuild", "patch"])
async def test_thanks_changes_nothing(mode: str) -> None:
    pipeline = Pipeline(4096, drift_mode=mode)
    history = far_past()
    history.append({"role": "user", "content": "What is the vault combination?"})
    before = [orjson.dumps(m) for m in sent(await pipeline.ask(history))]
    for words in ("Thanks!", "Great, thank you.", "ok, go on", "谢谢"):
        history += [{"role": "assistant", "content": "36-14-52."}, {"role": "user", "content": words}]
        prepared = await pipeline.ask(history)
        after = [orjson.dumps(m) for m in sent(prepared)]
        assert prepared.plan is not None
        assert prepared.plan.action == "reuse"
        assert after[: len(before)] == before
        before = after


@pytest.mark.parametrize("mode", ["rebuild", "patch"])
async def test_the_same_question_is_answered_again_after_an_eviction(mode: str) -> None:
    pipeline = Pipeline(4096, drift_mode=mode)
    history = far_past()
    actions = []
    for i in range(60):
        asks = i % 20 == 0
        text = (
            "What is the vault combination?"
            if asks
            else f"Entry {i}: buoy {i * 13} was painted. " + "Aye. " * 40
        )
        history.append({"role": "user", "content": text})
        prepared = await pipeline.ask(history)
        assert prepared.plan is not None
        actions.append(prepared.plan.action)
        if asks:
            assert FACTS["the vault combination"] in orjson.dumps(sent(prepared)).decode()
        history.append({"role": "assistant", "content": "Very well."})
    assert "evict" in actions


async def test_an_import_that_the_engine_failed_to_answer_is_tried_again() -> None:
    pipeline = Pipeline(4096)
    history = [*far_past(1000), {"role": "user", "content": "What is the vault combination?"}]
    failed = await pipeline.prepare(history)
    published = len(pipeline.bus.published)
    again = await pipeline.ask(history)
    assert again.body == failed.body
    assert len(pipeline.bus.published) == published
    assert FACTS["the vault combination"] in again.body.decode()
    addresses = [m.address for event in pipeline.bus.published for m in event.messages]
    assert len(addresses) == len(set(addresses))


async def test_a_patch_is_as_long_as_the_question_needs() -> None:
    asked = await ask_all("patch")
    patched = [prepared for prepared, _ in asked if prepared.plan.action == "patch"]
    for prepared in patched:
        added = prepared.layout.patches[-1]
        assert sum(e.tokens for e in added.excerpts) < prepared.plan.budget["patch"]
        assert prepared.prefix.reason == "patch"


async def test_what_was_patched_is_not_patched_again() -> None:
    pipeline = Pipeline(4096)
    history = far_past()
    for said in (
        "What do you know of deck 3?",
        "What is the vault combination?",
        "The vault combination, please?",
    ):
        history.append({"role": "user", "content": said})
        prepared = await pipeline.ask(history)
        history.append({"role": "assistant", "content": "36-14-52."})
    assert prepared.plan is not None
    quoted = [e for patch in prepared.layout.patches for e in patch.excerpts]
    assert len(quoted) == len(set(quoted)) > 0


async def test_with_the_reranker_down_the_best_that_are_missing_are_patched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def down(*_: object) -> None:
        raise DependencyUnavailable("rerank_unavailable", "down")

    pipeline = Pipeline(4096)
    history = far_past()
    history.append({"role": "user", "content": "What do you know of deck 3?"})
    await pipeline.ask(history)
    monkeypatch.setattr(pipeline.bus.reranker, "score", down)
    history += [
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "What is the vault combination?"},
    ]
    prepared = await pipeline.ask(history)
    assert prepared.plan is not None
    assert prepared.plan.action == "patch"
    assert FACTS["the vault combination"] in prepared.body.decode()
    assert 0 < len(prepared.layout.patches[-1].excerpts) <= 3
    assert "rerank_unavailable" in prepared.degraded
