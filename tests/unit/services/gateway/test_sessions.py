"""Many requests under one session id: the messages decide, the id groups."""

import asyncio
from collections.abc import Iterable
from typing import Any

import orjson

from services.gateway.dialects import chat
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from shared.prompt.plan import Layout
from tests.support.pipeline import Pipeline, sent

Message = dict[str, Any]
PREAMBLE = "You are the assistant of an editor. Keep to the rules of the workspace. " * 28


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def notes(name: str, first: int, last: int) -> list[Message]:
    """Turns whose every text is told apart from those of other names."""
    turns = []
    for i in range(first, last):
        turns += [
            user(f"{name} note {i}: boat {name}{i * 7919} lies at pier {name}{i % 13}, keeper {name}K{i}."),
            assistant(f"{name} noted {i}."),
        ]
    return turns


def question(name: str, i: int) -> Message:
    return user(f"Where does boat {name}{i * 7919} lie?")


def text_of(prepared: Prepared) -> str:
    return orjson.dumps(sent(prepared)).decode()


def published(pipeline: Pipeline) -> list[str]:
    return [m.address for event in pipeline.bus.published for m in event.messages]


def said(*chats: Iterable[Message]) -> int:
    return len({orjson.dumps(m) for chat in chats for m in chat if m["role"] != "system"})


def only_new_text(pipeline: Pipeline, *chats: Iterable[Message]) -> bool:
    """Every message was published once, and the store holds those and no more."""
    addresses = published(pipeline)
    return len(addresses) == len(set(addresses)) == len(pipeline.bus.store.markers) == said(*chats)


async def concurrently(pipeline: Pipeline, *chats: list[Message]) -> list[Prepared]:
    requests = [Request(orjson.dumps({"model": "demo", "messages": m}), pipeline.reader, chat) for m in chats]
    prepared = await asyncio.gather(*(pipeline.preparer.prepare(r, "s") for r in requests))
    await pipeline.preparer.settle()
    return prepared


async def test_titles_and_sub_agents_run_beside_the_chat_under_its_id() -> None:
    main = [*notes("A", 0, 160), question("A", 3)]
    title = [user("Give this chat a title of five words."), *main[:2], user("Title?")]
    agent = [user("Find the tests that cover the parser."), *notes("B", 0, 160), question("B", 5)]
    alone = await Pipeline(4096).ask(main)
    pipeline = Pipeline(4096)
    together = await concurrently(pipeline, main, title, agent)
    assert together[0].body == alone.body
    assert [p.mode for p in together] == ["assembled", "passthrough", "assembled"]
    assert "boat B" not in text_of(together[0])
    assert "boat A" not in text_of(together[2])
    assert only_new_text(pipeline, main, agent)
    # Each goes on from its own state.
    answer, after = assistant("At pier A3."), question("A", 70)
    again = await concurrently(pipeline, [*main, answer, after], [*agent, answer, question("B", 9)])
    assert [p.parent.layout if p.parent else None for p in again] == [together[0].layout, together[2].layout]
    assert "boat B" not in text_of(again[0])


async def test_two_windows_of_one_chat_do_not_disturb_each_other() -> None:
    history = notes("A", 0, 160)
    pipeline = Pipeline(4096)
    left = [*history, question("A", 3)]
    right = [*history, question("A", 90)]
    await pipeline.ask(left)
    first, second = await concurrently(
        pipeline,
        [*left, assistant("Left."), user("And its keeper?")],
        [*right, assistant("R"), user("Go on")],
    )
    assert "Left." not in text_of(second)
    assert first.parent is not None
    assert only_new_text(
        pipeline,
        [*left, assistant("Left."), user("And its keeper?")],
        [*right, assistant("R"), user("Go on")],
    )


async def test_a_regenerated_answer_and_an_edit() -> None:
    pipeline = Pipeline(4096)
    history = notes("A", 0, 160)
    asked = [*history, question("A", 3)]
    first = await pipeline.ask(asked)
    regenerated = await pipeline.ask(asked)
    assert regenerated.body == first.body
    await pipeline.ask([*asked, assistant("DEADANSWER at the DEADPIER."), question("A", 4)])
    other = [*asked, assistant("At pier A3."), question("A", 4)]
    assert "DEAD" not in text_of(await pipeline.ask(other))
    edited = [*history[:240], user("LIVE note: forget boats. The train leaves at nine."), question("A", 30)]
    prepared = await pipeline.ask(edited)
    assert prepared.mode == "assembled"
    assert "A note 120:" not in text_of(prepared)
    assert "DEAD" not in text_of(prepared)
    dead = [assistant("DEADANSWER at the DEADPIER.")]
    assert only_new_text(pipeline, asked, dead, other, edited)


async def test_colliding_ids_with_the_same_beginning() -> None:
    """Same id, same preamble of 2,000 characters, different chats."""
    pipeline = Pipeline(4096)
    preamble: list[Message] = [{"role": "system", "content": PREAMBLE}, user(PREAMBLE), assistant("Ready.")]
    one = [*preamble, *notes("A", 0, 160), question("A", 3)]
    two = [*preamble, *notes("B", 0, 160), question("B", 3)]
    crossed = [*preamble, *notes("B", 0, 160), question("A", 3)]
    for _ in range(2):
        assert "boat B" not in text_of(await pipeline.ask(one))
        assert "boat A" not in text_of(await pipeline.ask(two))
        # Even where it asks for a text of the other chat, word for word.
        assert "keeper A" not in text_of(await pipeline.ask(crossed))
    assert only_new_text(pipeline, one, two, crossed)


async def test_a_client_that_compacts_its_history() -> None:
    pipeline = Pipeline(4096)
    history = notes("A", 0, 160)
    await pipeline.ask([*history, question("A", 3)])
    summary = user("Summary of the conversation so far: boats lie at piers.")
    compacted = [summary, *history[-8:], question("A", 158)]
    short = await pipeline.ask(compacted)
    assert short.mode == "passthrough"
    assert short.body == orjson.dumps({"model": "demo", "messages": compacted})
    grown = [*compacted[:-1], *notes("A", 160, 320), question("A", 170)]
    long = await pipeline.ask(grown)
    # What the client dropped is not brought back.
    assert "A note 20:" not in text_of(long)
    assert only_new_text(pipeline, history, [question("A", 3)], grown)


async def test_a_client_that_rewrites_its_history() -> None:
    """Every request puts another date into an old message: nothing else is new."""
    pipeline = Pipeline(4096)
    history = notes("A", 0, 160)
    chats = []
    for day in range(20):
        messages = [user(f"Today is day {day}."), assistant("Good."), *history, question("A", day)]
        chats.append(messages)
        prepared = await pipeline.ask(messages)
        assert f"Today is day {day - 1}." not in text_of(prepared)
    assert only_new_text(pipeline, *chats)


async def test_a_client_that_drops_old_messages() -> None:
    pipeline = Pipeline(4096)
    history = notes("A", 0, 260)
    chats = [[*history[2 * i : 2 * i + 300], question("A", i + 7)] for i in range(20)]
    for i, messages in enumerate(chats):
        prepared = await pipeline.ask(messages)
        assert i == 0 or f"A note {i - 1}:" not in text_of(prepared)
    assert only_new_text(pipeline, *chats)


async def test_a_client_that_strips_old_tool_output() -> None:
    pipeline = Pipeline(4096)
    messages: list[Message] = [user("Read all the files.")]
    outputs = []
    stripped = 0
    last = Layout()
    for i in range(60):
        call = {"id": f"c{i}", "type": "function", "function": {"name": "read", "arguments": f'{{"n":{i}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        outputs.append(f"file {i}: " + " ".join(f"line{i}x{n}" for n in range(40)))
        messages.append({"role": "tool", "tool_call_id": f"c{i}", "content": outputs[-1]})
        if i % 20 == 19:
            for m in [m for m in messages[:-20] if m["role"] == "tool" and m["content"] != "[omitted]"]:
                m["content"] = "[omitted]"
                stripped += 1
        prepared = await pipeline.ask(messages)
        last = prepared.layout
        kept = orjson.dumps(messages).decode()
        assert all(o in kept for o in outputs if o in text_of(prepared))
    assert last.window_start > 0
    addresses = published(pipeline)
    assert len(addresses) == len(set(addresses)) == len(pipeline.bus.store.markers)
    # The task, 60 calls, 60 outputs; and a stripped output is one new message for each call it answers.
    assert len(addresses) <= 1 + 60 + 60 + stripped
    texts = [p.text for p in pipeline.bus.store.points.values()]
    assert sum(t.startswith("file ") for t in texts) <= 60
