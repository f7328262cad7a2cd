"""The official client against the engine on a real socket."""

import socket
import threading
import time
from collections.abc import Iterator

import openai
import pytest
import uvicorn
from openai.types.chat import ChatCompletionMessageParam

from backscroll.engine import create_engine

MESSAGES: list[ChatCompletionMessageParam] = [
    {"role": "user", "content": "The locker code is 4417."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "What is the locker code?"},
]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(create_engine(1024), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join()


@pytest.fixture
def sdk(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        yield client


def test_whole(sdk: openai.OpenAI) -> None:
    completion = sdk.chat.completions.create(model="demo", messages=MESSAGES)
    assert completion.choices[0].message.content == "The locker code is 4417."
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens_details is not None


def test_streamed(sdk: openai.OpenAI) -> None:
    chunks = list(
        sdk.chat.completions.create(
            model="demo", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == "The locker code is 4417."
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-2].choices[0].finish_reason == "stop"
    without = list(sdk.chat.completions.create(model="demo", messages=MESSAGES, stream=True))
    assert all(chunk.choices for chunk in without)


def test_overflow_is_a_bad_request(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="maximum context length is 1024 tokens") as caught:
        sdk.chat.completions.create(
            model="demo", messages=[{"role": "user", "content": "word " * 5000}], stream=True
        )
    assert caught.value.param == "input_tokens"


async def test_async_client(base_url: str) -> None:
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        models = await client.models.list()
        assert models.data[0].id == "demo-extractive"
        completion = await client.chat.completions.create(model="demo", messages=MESSAGES)
        assert completion.choices[0].message.content == "The locker code is 4417."
