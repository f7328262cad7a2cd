from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from backscroll.engine import engine_of

WINDOW = 1024
FACT = {"role": "user", "content": "The locker code is 4417."}
NOTED = {"role": "assistant", "content": "Noted."}
QUESTION = {"role": "user", "content": "What is the locker code?"}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "demo", "messages": list(messages), **more}


def long_user(words: int) -> dict[str, Any]:
    return {"role": "user", "content": " word" * words}


async def chat(client: httpx.AsyncClient, *messages: dict[str, Any], **more: Any) -> httpx.Response:
    return await client.post("/v1/chat/completions", json=body(*messages, **more))


async def count(client: httpx.AsyncClient, *messages: dict[str, Any], **more: Any) -> int:
    response = await client.post("/tokenize", json=body(*messages, **more))
    assert response.json()["max_model_len"] == WINDOW
    assert len(response.json()["tokens"]) == response.json()["count"]
    return int(response.json()["count"])


async def test_names_its_window(client: httpx.AsyncClient) -> None:
    (card,) = (await client.get("/v1/models")).json()["data"]
    assert card["max_model_len"] == WINDOW
    assert (await client.get("/health")).status_code == 200


async def test_counts_what_it_then_bills(client: httpx.AsyncClient) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    counted = await count(client, FACT, NOTED, QUESTION, tools=tools)
    usage = (await chat(client, FACT, NOTED, QUESTION, tools=tools)).json()["usage"]
    assert usage["prompt_tokens"] == counted
    assert counted > await count(client, FACT, NOTED, QUESTION)
    assert await count(client, FACT) - await count(client, FACT, add_generation_prompt=False) == 3


async def test_counts_a_prompt(client: httpx.AsyncClient) -> None:
    response = await client.post("/tokenize", json={"model": "m", "prompt": "hello world"})
    assert response.json()["count"] == 2
    assert (await client.post("/tokenize", json={"model": "m"})).status_code == 400


async def test_the_window_is_hard_to_the_token(client: httpx.AsyncClient, app: Starlette) -> None:
    overhead = await count(client, long_user(0))
    fits = long_user(WINDOW - 1 - overhead)
    assert await count(client, fits) == WINDOW - 1
    answer = await chat(client, fits)
    assert answer.status_code == 200
    assert answer.json()["usage"]["completion_tokens"] == 1
    assert (await chat(client, fits, max_tokens=2)).status_code == 400
    assert (await chat(client, long_user(WINDOW - overhead))).status_code == 400
    assert engine_of(app).refusals == 2


@pytest.mark.parametrize(
    ("words", "max_tokens", "text"),
    [
        (
            3000,
            None,
            "maximum context length is 1024 tokens. However, your prompt contains at least 1025 input",
        ),
        (
            3000,
            24,
            "you requested 24 output tokens and your prompt contains at least 1001 input tokens, for a",
        ),
        (
            40_000,
            None,
            "contains 200005 characters (more than 131072 characters, which is the upper bound for",
        ),
        (1, 9000, "max_tokens=9000 cannot be greater than max_model_len=1024."),
        (1, -186, "max_tokens must be at least 1, got -186."),
    ],
)
async def test_refuses_in_vllms_words(
    client: httpx.AsyncClient, words: int, max_tokens: int | None, text: str
) -> None:
    response = await chat(client, long_user(words), max_tokens=max_tokens)
    error = response.json()["error"]
    assert response.status_code == error["code"] == 400
    assert error["type"] == "BadRequestError"
    assert text in error["message"]


async def test_refuses_a_broken_conversation_and_a_broken_body(client: httpx.AsyncClient) -> None:
    orphan = {"role": "tool", "tool_call_id": "1", "content": "x"}
    assert "preceding message" in (await chat(client, QUESTION, orphan)).json()["error"]["message"]
    assert "empty" in (await chat(client)).json()["error"]["message"]
    assert (await chat(client, {**QUESTION, "role": "assistant", "tool_calls": 5})).status_code == 400
    for content in (b"{", b"[]", b'{"messages": 3}', b'{"messages": [{"role": "user"}], "tools": 5}'):
        for path in ("/v1/chat/completions", "/tokenize"):
            assert (await client.post(path, content=content)).status_code == 400


async def test_reports_the_prefix_it_has_seen(client: httpx.AsyncClient) -> None:
    head = [long_user(100), NOTED]
    first = (await chat(client, *head, QUESTION)).json()["usage"]
    again = (await chat(client, *head, {"role": "user", "content": "Thanks."})).json()["usage"]
    other = (await chat(client, {"role": "system", "content": "It is 9:41."}, *head, QUESTION)).json()[
        "usage"
    ]
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    assert 96 <= again["prompt_tokens_details"]["cached_tokens"] < again["prompt_tokens"]
    assert other["prompt_tokens_details"]["cached_tokens"] == 0


async def test_max_tokens_cuts_the_answer(client: httpx.AsyncClient) -> None:
    choice = (await chat(client, FACT, QUESTION, max_completion_tokens=3)).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"] == "The locker code"


async def test_keeps_what_it_received(client: httpx.AsyncClient, app: Starlette) -> None:
    for n in range(10):
        await chat(client, {"role": "user", "content": f"message {n}"})
    seen = engine_of(app).seen
    assert [b["messages"][0]["content"] for b in seen] == [f"message {n}" for n in range(2, 10)]
