"""The clients that people use, unchanged, against `backscroll up` with the demo engine: chat only."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any

import anthropic
import openai
import orjson
import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from backscroll.engine.engine import DEMO_MODEL
from tests.support.processes import standalone, url_of

WINDOW = 2048
STATED = "The harbour gate code is 4417."
ASKED = "What is the harbour gate code?"
CALLED = 'Use look_up with "harbour gate" and list_ships with "Ostend".'
SCHEMAS = {
    name: {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    for name, field in (("look_up", "topic"), ("list_ships", "port"))
}
CALLS = [("look_up", {"topic": "harbour gate"}), ("list_ships", {"port": "Ostend"})]
SMALL = [
    {"role": "user", "content": STATED},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": ASKED},
]
FAR = "The combination of the bicycle lock is 9174."


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = {"data_dir": tmp_path_factory.mktemp("backscroll"), "port": 0, "max_context": WINDOW}
    with closing(standalone(settings)) as child:
        yield url_of(child)


@pytest.fixture(scope="module")
def history() -> list[dict[str, Any]]:
    """Over twelve windows, a fact near the beginning, and the question."""
    texts = [
        f"Note {n}: "
        + " ".join(f"Shelf {n * 31 + k} holds crate {(n + k) * 7919 % 9973}." for k in range(20))
        for n in range(150)
    ]
    texts[10] = FAR
    messages = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]
    asked = {"role": "user", "content": "What is the combination of the bicycle lock?"}
    return [{"role": "system", "content": "Answer from the notes."}, *messages, asked]


@pytest.fixture
def chat(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
async def async_chat(url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(url: str) -> Iterator[anthropic.Anthropic]:
    base = url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=base, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
async def async_claude(url: str) -> AsyncIterator[anthropic.AsyncAnthropic]:
    base = url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(base_url=base, api_key="none", max_retries=0) as client:
        yield client


def messages_of(history: list[dict[str, Any]]) -> dict[str, Any]:
    """As Anthropic's clients send it: the system prompt apart."""
    return {"system": history[0]["content"], "messages": history[1:]}


class TestChatCompletions:
    tools = [  # noqa: RUF012
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in SCHEMAS.items()
    ]

    def test_answers(self, chat: openai.OpenAI) -> None:
        answer = chat.chat.completions.create(model=DEMO_MODEL, messages=SMALL)
        assert answer.choices[0].message.content == STATED

    async def test_streams(self, async_chat: openai.AsyncOpenAI) -> None:
        async with async_chat.chat.completions.stream(model=DEMO_MODEL, messages=SMALL) as stream:
            final = await stream.get_final_completion()
        assert final.choices[0].message.content == STATED

    def test_calls_tools(self, chat: openai.OpenAI) -> None:
        asked = [{"role": "user", "content": CALLED}]
        with chat.chat.completions.stream(model=DEMO_MODEL, messages=asked, tools=self.tools) as stream:
            message = stream.get_final_completion().choices[0].message
        calls = message.tool_calls
        assert [(c.function.name, orjson.loads(c.function.arguments)) for c in calls] == CALLS
        results = [{"role": "tool", "tool_call_id": c.id, "content": STATED} for c in calls]
        asked += [message.model_dump(exclude_none=True), *results, {"role": "user", "content": ASKED}]
        answer = chat.chat.completions.create(model=DEMO_MODEL, messages=asked, tools=self.tools)
        assert answer.choices[0].message.content == STATED

    def test_tells_an_error(self, chat: openai.OpenAI) -> None:
        with pytest.raises(openai.BadRequestError) as raised:
            chat.chat.completions.create(model=DEMO_MODEL, messages=[{"role": "nobody", "content": "x"}])
        assert raised.value.param == "messages[0].role"


class TestResponses:
    tools = [  # noqa: RUF012
        {"type": "function", "name": name, "parameters": schema, "strict": True}
        for name, schema in SCHEMAS.items()
    ]

    def test_answers(self, chat: openai.OpenAI) -> None:
        answer = chat.responses.create(model=DEMO_MODEL, instructions="Be brief.", input=SMALL)
        assert (answer.output_text, answer.status) == (STATED, "completed")
        assert answer.usage.input_tokens > 10
        assert answer.instructions == "Be brief."
        alone = chat.responses.create(model=DEMO_MODEL, input=f"{STATED}\n\n{ASKED}")
        assert alone.output_text == STATED

    async def test_streams(self, async_chat: openai.AsyncOpenAI) -> None:
        async with async_chat.responses.stream(model=DEMO_MODEL, input=SMALL) as stream:
            deltas = [e.delta async for e in stream if e.type == "response.output_text.delta"]
            final = await stream.get_final_response()
        assert "".join(deltas) == final.output_text == STATED
        assert len(deltas) > 3

    def test_calls_tools(self, chat: openai.OpenAI) -> None:
        asked: list[Any] = [{"role": "user", "content": CALLED}]
        with chat.responses.stream(model=DEMO_MODEL, input=asked, tools=self.tools) as stream:
            output = stream.get_final_response().output
        assert [(c.name, orjson.loads(c.arguments)) for c in output] == CALLS
        asked += [c.model_dump(exclude={"parsed_arguments"}, exclude_none=True) for c in output]
        asked += [{"type": "function_call_output", "call_id": c.call_id, "output": STATED} for c in output]
        asked.append({"role": "user", "content": ASKED})
        assert chat.responses.create(model=DEMO_MODEL, input=asked, tools=self.tools).output_text == STATED

    def test_remembers_far_back(self, chat: openai.OpenAI, history: list[dict[str, Any]]) -> None:
        raw = chat.responses.with_raw_response.create(model=DEMO_MODEL, input=history)
        assert raw.headers["x-backscroll-mode"] == "assembled"
        answer = raw.parse()
        assert answer.output_text == FAR
        assert answer.usage.input_tokens < WINDOW

    @pytest.mark.parametrize(
        ("field", "body"),
        [
            ("previous_response_id", {"previous_response_id": "resp_1"}),
            ("tools[0].type", {"tools": [{"type": "web_search"}]}),
            (
                "input[0].content[0]",
                {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]},
            ),
        ],
    )
    def test_names_what_it_cannot_do(self, chat: openai.OpenAI, field: str, body: dict[str, Any]) -> None:
        with pytest.raises(openai.BadRequestError) as raised:
            chat.responses.create(**{"model": DEMO_MODEL, "input": ASKED, **body})
        assert raised.value.param == field


class TestMessages:
    tools = [{"name": name, "input_schema": schema} for name, schema in SCHEMAS.items()]  # noqa: RUF012

    def test_answers(self, claude: anthropic.Anthropic) -> None:
        answer = claude.messages.create(model=DEMO_MODEL, max_tokens=64, system="Be brief.", messages=SMALL)
        assert (answer.content[0].text, answer.stop_reason) == (STATED, "end_turn")
        again = claude.messages.create(model=DEMO_MODEL, max_tokens=64, system="Be brief.", messages=SMALL)
        assert again.usage.cache_read_input_tokens > 0
        counted = answer.usage.input_tokens + (answer.usage.cache_read_input_tokens or 0)
        assert counted == again.usage.input_tokens + again.usage.cache_read_input_tokens

    async def test_streams(self, async_claude: anthropic.AsyncAnthropic) -> None:
        async with async_claude.messages.stream(model=DEMO_MODEL, max_tokens=64, messages=SMALL) as stream:
            pieces = [piece async for piece in stream.text_stream]
            final = await stream.get_final_message()
        assert "".join(pieces) == final.content[0].text == STATED
        assert len(pieces) > 3
        assert final.usage.input_tokens + final.usage.cache_read_input_tokens > 10

    def test_calls_tools(self, claude: anthropic.Anthropic) -> None:
        asked: list[Any] = [{"role": "user", "content": CALLED}]
        asking = {"model": DEMO_MODEL, "max_tokens": 64, "tools": self.tools}
        with claude.messages.stream(messages=asked, **asking) as stream:
            message = stream.get_final_message()
        assert message.stop_reason == "tool_use"
        assert [(b.name, b.input) for b in message.content] == CALLS
        results: list[Any] = [
            {"type": "tool_result", "tool_use_id": b.id, "content": [{"type": "text", "text": STATED}]}
            for b in message.content
        ]
        said = [{"type": "tool_use", "id": b.id, "name": b.name, "input": b.input} for b in message.content]
        asked.append({"role": "assistant", "content": said})
        asked.append({"role": "user", "content": [*results, {"type": "text", "text": ASKED}]})
        assert claude.messages.create(messages=asked, **asking).content[0].text == STATED

    def test_remembers_far_back(self, claude: anthropic.Anthropic, history: list[dict[str, Any]]) -> None:
        sent = {"model": DEMO_MODEL, "max_tokens": 128, **messages_of(history)}
        raw = claude.messages.with_raw_response.create(**sent)
        assert raw.headers["x-backscroll-mode"] == "assembled"
        assert raw.parse().content[0].text == FAR
        with claude.messages.stream(**sent) as stream:
            assert stream.get_final_text() == FAR

    def test_counts(self, claude: anthropic.Anthropic, history: list[dict[str, Any]]) -> None:
        small = claude.messages.count_tokens(model=DEMO_MODEL, messages=SMALL).input_tokens
        tools = claude.messages.count_tokens(model=DEMO_MODEL, messages=SMALL, tools=self.tools).input_tokens
        whole = claude.messages.count_tokens(model=DEMO_MODEL, **messages_of(history)).input_tokens
        answer = claude.messages.create(model=DEMO_MODEL, max_tokens=9, messages=SMALL)
        assert small >= answer.usage.input_tokens + answer.usage.cache_read_input_tokens
        assert small < tools < WINDOW
        assert whole > 12 * WINDOW

    def test_tells_an_error(self, claude: anthropic.Anthropic) -> None:
        with pytest.raises(anthropic.BadRequestError, match=r"tools\[0\]\.type"):
            claude.messages.create(
                model=DEMO_MODEL,
                max_tokens=9,
                messages=SMALL,
                tools=[{"type": "web_search_20250305", "name": "web_search"}],
            )


class TestLangChain:
    @pytest.fixture(params=["chat", "responses"])
    async def model(self, url: str, request: pytest.FixtureRequest) -> AsyncIterator[ChatOpenAI]:
        # Its own async client outlives the event loop that it was made in.
        async with openai.DefaultAsyncHttpxClient() as http:
            yield ChatOpenAI(
                model=DEMO_MODEL,
                base_url=url,
                api_key=SecretStr("none"),
                max_retries=0,
                http_async_client=http,
                use_responses_api=request.param == "responses",
            )

    async def test_answers_and_streams(self, model: ChatOpenAI) -> None:
        asked = f"{STATED}\n\n{ASKED}"
        assert (await model.ainvoke(asked)).text == STATED
        assert "".join([chunk.text async for chunk in model.astream(asked)]) == STATED

    def test_calls_a_tool(self, model: ChatOpenAI) -> None:
        @tool
        def look_up(topic: str) -> str:
            """Find a note."""
            return f"{topic}: {STATED}"

        asked: list[Any] = [HumanMessage('Use look_up with "harbour gate".')]
        answer = model.bind_tools([look_up]).invoke(asked)
        assert [(c["name"], c["args"]) for c in answer.tool_calls] == [("look_up", {"topic": "harbour gate"})]
        result: ToolMessage = look_up.invoke(answer.tool_calls[0])
        final = model.bind_tools([look_up]).invoke([*asked, answer, result, HumanMessage(ASKED)])
        assert "4417" in final.text

    def test_refuses_a_wrong_body(self, model: ChatOpenAI) -> None:
        with pytest.raises(openai.BadRequestError):
            model.invoke([])


class Code(BaseModel):
    digits: int


def test_a_parsed_answer_that_is_no_json_is_the_clients_error(chat: openai.OpenAI) -> None:
    with pytest.raises(ValueError, match="JSON"):
        chat.responses.parse(model=DEMO_MODEL, input=SMALL, text_format=Code)
