"""Clients that rewrite their history: the store and the bus get the new text only."""

from tests.support.pipeline import Pipeline

LINES = [
    f"Note {i}: the boat number {i * 7919} lies at pier {i % 13}, and the keeper is called N{i}."
    for i in range(400)
]


def chat(first: int, last: int) -> list[dict[str, str]]:
    messages = []
    for i in range(first, last):
        messages += [{"role": "user", "content": LINES[i]}, {"role": "assistant", "content": f"Noted {i}."}]
    return [*messages, {"role": "user", "content": f"Where does boat {(first + 1) * 7919} lie?"}]


async def test_a_client_that_drops_its_oldest_messages_on_every_request() -> None:
    pipeline = Pipeline(4096)
    for request in range(100):
        await pipeline.ask(chat(request, request + 150))
    published = [m.address for event in pipeline.bus.published for m in event.messages]
    assert len(published) == len(set(published))
    # 249 notes, 249 replies, 100 questions were said in all.
    assert len(published) == 249 + 249 + 100


async def test_a_client_that_strips_old_tool_results() -> None:
    pipeline = Pipeline(4096)
    messages: list[dict[str, object]] = [{"role": "user", "content": "Read all the files."}]
    kept = []
    for i in range(60):
        call = {"id": f"c{i}", "type": "function", "function": {"name": "read", "arguments": f'{{"n":{i}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{i}", "content": "\n".join(LINES[i * 5 : i * 5 + 5])}
        )
        if i % 20 == 19:
            for m in messages[1:-20]:
                if m["role"] == "tool":
                    m["content"] = "[omitted]"
        prepared = await pipeline.ask(messages)
        if prepared.mode == "assembled":
            kept.append(prepared.parent is not None)
    published = [m.address for event in pipeline.bus.published for m in event.messages]
    assert len(published) == len(set(published))
    assert sum(kept) >= len(kept) - 3


async def test_what_the_store_lost_is_published_again() -> None:
    pipeline = Pipeline(4096)
    first = chat(0, 150)
    await pipeline.ask(first)
    pipeline.bus.store.markers.clear()
    pipeline.bus.store.points.clear()
    pipeline.bus.store.made = "anew"
    prepared = await pipeline.ask([*first, {"role": "assistant", "content": "?"}, *chat(150, 170)])
    assert prepared.parent is not None
    assert "index_incomplete" not in prepared.degraded
    stored = {address for _, address in pipeline.bus.store.markers}
    assert len(stored) >= prepared.layout.window_start
