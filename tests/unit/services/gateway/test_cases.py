"""Inputs that broke systems of this kind, one test each."""

import asyncio
import json
from typing import Any

import orjson
import pytest
import regex

from backscroll.engine import validate_messages
from services.gateway.prepare.prepared import Prepared
from tests.support.pipeline import Pipeline, sent
from tests.support.talk import BOILER, LOCK, LOCK_QUESTION, Message, assistant, talk, user

FILLER = "\n".join(f"Line {n}: shelf {n * 7919 % 9973} holds crate {n * 31}." for n in range(4000))


def call(*ids: str, content: str | None = None) -> Message:
    calls = [
        {"id": i, "type": "function", "function": {"name": "read", "arguments": json.dumps({"file": i})}}
        for i in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(identity: str, content: Any) -> Message:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def text_of(message: Message) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def prompt_text(prepared: Prepared) -> str:
    return "\n".join(map(text_of, sent(prepared)))


def quoted(prepared: Prepared) -> str:
    """What stands in excerpts."""
    frames = regex.findall(r"<excerpts>\n.*?</excerpts>", prompt_text(prepared), regex.S)
    return "\n".join(frames)


def engine_tokens(pipeline: Pipeline, prepared: Prepared) -> int:
    return len(pipeline.engine.count(orjson.loads(prepared.body)))


async def test_orphan_tool_one_of_two_results_is_over_budget() -> None:
    pipeline = Pipeline(2048)
    prepared = await pipeline.ask(
        [user("Compare both."), call("c1", "c2"), result("c1", "short"), result("c2", FILLER)]
    )
    messages = sent(prepared)
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == ["c1", "c2"]
    kept = text_of(messages[-1])
    assert kept.endswith(FILLER[-500:])
    # Cut between lines.
    assert kept.split("omitted ...]\n", 1)[1].startswith("Line ")


async def test_orphan_tool_no_cut_falls_between_call_and_result() -> None:
    pipeline = Pipeline(2048)
    messages = [user("Read all files.")]
    cut_somewhere = False
    for n in range(60):
        messages += [call(f"c{n}"), result(f"c{n}", FILLER[: 200 + 61 * n % 400])]
        prepared = await pipeline.ask(messages)
        assert validate_messages(sent(prepared)) == []
        cut_somewhere = cut_somewhere or prepared.layout.window_start > 0
    assert cut_somewhere


async def test_count_of_chinese_is_never_below_the_engine() -> None:
    pipeline = Pipeline(65_536)
    prepared = await pipeline.prepare([user("汉" * 20_000)])
    assert prepared.mode == "passthrough"
    assert prepared.measured.tokens >= engine_tokens(pipeline, prepared) >= 10_000


async def test_count_of_an_image_in_a_tool_result() -> None:
    pipeline = Pipeline(4096)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0K" * 400_000}}
    messages = [user("Look."), call("c1"), result("c1", [{"type": "text", "text": "Here."}, picture])]
    prepared = await pipeline.ask(messages)
    assert prepared.mode == "passthrough"
    assert 1024 < prepared.measured.tokens < 1300
    assert sent(prepared) == messages
    # Over budget the text around it is cut, the picture is not.
    messages[-1]["content"][0]["text"] = FILLER
    prepared = await pipeline.ask(messages)
    assert prepared.mode == "assembled"
    assert picture in sent(prepared)[-1]["content"]


async def test_count_of_tool_schemas() -> None:
    tools = [
        {
            "type": "function",
            "function": {
                "name": f"tool_{n}",
                "description": f"Does thing number {n} to a file.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
            },
        }
        for n in range(60)
    ]
    pipeline = Pipeline(16_384)
    prepared = await pipeline.ask([user("hi")], tools=tools)
    assert prepared.measured.tokens >= engine_tokens(pipeline, prepared) > 60 * 20
    # They leave less room for the history.
    prepared = await pipeline.ask([*talk("hall", 300), user(LOCK_QUESTION)], tools=tools)
    assert prepared.mode == "assembled"


async def test_count_of_head_and_output_reserve() -> None:
    pipeline = Pipeline(32_768)
    messages: list[Message] = [{"role": "system", "content": FILLER[:4000]}]
    while len(pipeline.engine.count({"messages": messages})) < 24_576:
        messages += talk(f"room {len(messages)}", 50)
    prepared = await pipeline.ask([*messages, user(LOCK_QUESTION)], max_tokens=8192)
    asked = orjson.loads(prepared.body)["max_tokens"]
    assert engine_tokens(pipeline, prepared) + asked <= 32_768
    assert pipeline.engine.refusals == 0


@pytest.mark.parametrize("content", [None, ""])
async def test_content_of_a_call_is_forwarded_as_it_came(content: str | None) -> None:
    pipeline = Pipeline(2048)
    step = [user("Read it."), call("c1", content=content), result("c1", "42")]
    prepared = await pipeline.ask(step)
    assert orjson.loads(prepared.body) == {"model": "demo", "messages": step}
    prepared = await pipeline.ask([*talk("hall"), *step])
    assert prepared.mode == "assembled"
    assert sent(prepared)[-2:] == step[1:]


async def test_unicode_no_half_character_at_any_budget() -> None:
    cluster = "x" * 99 + "🙂" + "🇩🇪🇫🇷" + "e\u0301\u0323" + "👩‍👩‍👧"
    text = cluster * 300
    whole = set(regex.findall(r"\X", cluster))
    for window in range(2048, 2248, 8):
        pipeline = Pipeline(window)
        kept = text_of(sent(await pipeline.ask([user(text)]))[-1])
        tail = kept.split("omitted ...]\n", 1)[1]
        assert text.endswith(tail)
        assert set(regex.findall(r"\X", tail)) <= whole


@pytest.mark.parametrize("by_tool", [False, True])
async def test_huge_last_message_is_cut_from_its_head_and_found_again(by_tool: bool) -> None:
    pipeline = Pipeline(2048)
    huge = f"{LOCK}\n{FILLER[:9000]}"
    assert len(pipeline.engine.count({"messages": [user(huge)]})) > 1.5 * 2048
    messages = [user("Read it."), call("c1"), result("c1", huge)] if by_tool else [user(huge)]
    first = await pipeline.ask(messages)
    assert LOCK not in prompt_text(first)
    assert prompt_text(first).endswith(huge[-500:])
    second = await pipeline.ask([*messages, assistant("Noted."), user(LOCK_QUESTION)])
    assert LOCK in quoted(second)
    assert pipeline.engine.refusals == 0


async def test_huge_first_message_with_small_ones_after_it() -> None:
    pipeline = Pipeline(2048)
    messages = [user(FILLER)]
    for n in range(40):
        messages += [assistant(f"Answer {n}."), user(f"Question {n}?")]
        prepared = await pipeline.ask(messages)
    assert text_of(sent(prepared)[-1]).endswith("Question 39?")
    assert len(prepared.shrunk) == 0


async def test_branch_nothing_of_a_dead_one_is_retrieved() -> None:
    pipeline = Pipeline(2048)

    def turn(n: int, mark: str) -> list[Message]:
        said = f"{mark}: shelf {n} of the archive. " + FILLER[n * 400 : n * 400 + 700]
        return [user(said), assistant(f"{mark}-answer: the archive has shelf {n}.")]

    history = [message for n in range(1, 9) for message in turn(n, f"alive-{n}")]
    ninth = turn(9, "alive-9")
    question = user("What is on the shelf of the archive?")
    await pipeline.ask([*history, *ninth, question])
    regenerated = [*history, ninth[0], assistant("regenerated-answer: the archive is empty.")]
    prepared = await pipeline.ask([*regenerated, question])
    assert "alive-9-answer" not in prompt_text(prepared)
    edited = [*history[:8], user("edited-5: the archive has moved."), assistant("I see.")]
    edited += [message for n in range(5, 9) for message in turn(n, f"edited-{n}")]
    prepared = await pipeline.ask([*edited, question])
    assert "alive-" in quoted(prepared) or "edited-" in quoted(prepared)
    for dead in ("alive-5", "alive-8", "alive-9", "regenerated"):
        assert dead not in prompt_text(prepared)


async def test_session_two_chats_with_one_preamble_and_one_id() -> None:
    pipeline = Pipeline(2048)
    preamble = user(FILLER[:2000])
    one = [preamble, assistant("Yes."), user(LOCK), assistant("Noted."), *talk("hall")[10:]]
    two = [preamble, assistant("Yes."), user(BOILER), assistant("Noted."), *talk("cellar")[10:]]
    for chat, foreign in ((one, BOILER), (two, LOCK), (one, BOILER)):
        prepared = await pipeline.ask(
            [*chat, user("What about the bicycle lock and the boiler repair?")], "same"
        )
        assert prepared.mode == "assembled"
        assert quoted(prepared)
        assert foreign not in prompt_text(prepared)


async def test_session_a_string_and_a_list_of_one_part_are_one_message() -> None:
    pipeline = Pipeline(2048)
    strings = [*talk("hall"), user(LOCK_QUESTION)]
    parts = [m | {"content": [{"type": "text", "text": m["content"]}]} for m in strings]
    await pipeline.ask(strings)
    published, stored = len(pipeline.bus.published), len(pipeline.bus.store.points)
    prepared = await pipeline.ask(parts)
    assert prepared.parent is not None
    assert prepared.parent.length == len(strings)
    assert len(pipeline.bus.published) == published
    assert len(pipeline.bus.store.points) == stored


async def test_prefix_the_system_prompt_carries_the_clock() -> None:
    pipeline = Pipeline(2048)
    history = [*talk("hall"), user(LOCK_QUESTION)]
    last: list[Message] = []
    for second in range(6):
        clock: Message = {"role": "system", "content": f"Be brief. It is 12:00:{second:02}."}
        prepared = await pipeline.ask([clock, *history])
        prompt = sent(prepared)
        assert prompt[0] == clock
        assert prompt[1 : len(last)] == last[1:]
        if last:
            assert prepared.plan is not None
            assert prepared.plan.action == "reuse"
        last = prompt
        history += [assistant(f"It is {second}."), user(f"And after {second}?")]


async def test_concurrency_a_title_request_beside_the_main_turn() -> None:
    alone, both = Pipeline(2048), Pipeline(2048)
    history = [*talk("hall"), user(LOCK_QUESTION)]
    title = [*talk("hall"), user("Give this conversation a title of three words.")]
    expected = await alone.ask(history)
    main, aside = await asyncio.gather(both.ask(history, "same"), both.ask(title, "same"))
    assert sent(main) == sent(expected)
    assert text_of(sent(aside)[-1]).endswith("three words.")
    follow_up = [*history, assistant("9174."), user("Thank you.")]
    assert (await both.ask(follow_up, "same")).body == (await alone.ask(follow_up)).body
