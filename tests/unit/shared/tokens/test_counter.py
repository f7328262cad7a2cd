"""Each way of counting against a server that answers as the engine of its name does."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from shared.errors import DependencyUnavailable, PermanentFault
from shared.settings import Settings
from shared.tokens import counter as module
from shared.tokens.counter import EngineCounter
from shared.tokens.open import open_counter
from shared.tokens.prompt import Prompt

Answer = Callable[[dict[str, Any]], httpx.Response]
MESSAGES = [b'{"role":"user","content":"one two three"}', b'{"role":"user","content":"four"}']
CHAT = Prompt("chat", "m", {"tools": b'[{"type":"function"}]', "stream": b"true"}, MESSAGES)
ANTHROPIC = Prompt("anthropic", "m", {"system": b'"five six"'}, MESSAGES)


def words(body: dict[str, Any]) -> int:
    return sum(len(m["content"].split()) for m in body["messages"]) + len(body.get("system", "").split())


def says(value: object, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json=value)


class Server:
    """`paths` has what is there; everything else is a 404. `asked` are path and body of each request."""

    def __init__(self, paths: dict[str, Answer]) -> None:
        self.paths = paths
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[httpx.Headers] = []
        self.down = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.down:
            raise httpx.ConnectError("refused")
        body = json.loads(request.content) if request.content else {}
        self.asked.append((request.url.path, body))
        self.headers.append(request.headers)
        answer = self.paths.get(request.url.path)
        return answer(body) if answer else says({"error": "not found"}, 404)

    def posted(self, path: str) -> list[dict[str, Any]]:
        return [body for asked, body in self.asked if asked == path]


def vllm(body: dict[str, Any]) -> httpx.Response:
    return says({"count": words(body), "max_model_len": 4096, "tokens": []})


def llamacpp_text(body: dict[str, Any]) -> httpx.Response:
    """llama.cpp's own `/tokenize` knows no messages: it counts `content`, which is not there."""
    return says({"tokens": list(range(len(body.get("content", "").split())))})


ENGINES: dict[str, dict[str, Answer]] = {
    "vllm": {"/tokenize": vllm},
    "llamacpp": {
        "/tokenize": llamacpp_text,
        "/v1/chat/completions/input_tokens": lambda b: says({"input_tokens": words(b)}),
    },
    "llamacpp, older": {
        "/tokenize": llamacpp_text,
        "/apply-template": lambda b: says({"prompt": " ".join(m["content"] for m in b["messages"])}),
    },
    "tgi": {
        "/chat_tokenize": lambda b: says({"tokenize_response": [{"id": 1}] * words(b), "templated_text": ""})
    },
    "sglang, older": {
        "/tokenize": lambda b: says({"detail": "field required: prompt"}, 422),
        "/v1/messages/count_tokens": lambda b: says({"input_tokens": words(b)}),
    },
    "broken form": {
        "/tokenize": lambda b: says({"error": "KeyError: prompt"}, 500),
        "/chat_tokenize": lambda b: says({"tokenize_response": [{"id": 1}] * words(b)}),
    },
}


@pytest.fixture
async def client() -> AsyncIterator[Callable[..., tuple[Server, EngineCounter]]]:
    clients: list[httpx.AsyncClient] = []

    def make(paths: dict[str, Answer], **given: Any) -> tuple[Server, EngineCounter]:
        server = Server(paths)
        clients.append(httpx.AsyncClient(transport=httpx.MockTransport(server)))
        return server, EngineCounter(clients[-1], "http://engine/v1/", 5.0, **given)

    yield make
    for each in clients:
        await each.aclose()


Make = Callable[..., tuple[Server, EngineCounter]]


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "sglang, older"])
async def test_chat_prompts_are_counted_by_what_is_there(client: Make, engine: str) -> None:
    _, counter = client(ENGINES[engine])
    assert await counter.count(CHAT) == 4


async def test_anthropic_prompts_are_counted_by_their_own_endpoint(client: Make) -> None:
    server, counter = client(ENGINES["sglang, older"])
    assert await counter.count(ANTHROPIC) == 6
    assert await counter.count(CHAT) is None
    assert server.posted("/v1/messages/count_tokens")[-1]["system"] == "five six"


async def test_the_engine_is_asked_with_what_changes_the_prompt_and_nothing_else(client: Make) -> None:
    server, counter = client(ENGINES["vllm"], api_key="k")
    await counter.count(CHAT)
    asked = server.posted("/tokenize")[-1]
    assert asked.keys() == {"model", "tools", "messages", "add_generation_prompt"}
    assert asked["add_generation_prompt"] is True
    assert {h["authorization"] for h in server.headers} == {"Bearer k"}


async def test_the_older_llamacpp_is_asked_to_count_special_tokens(client: Make) -> None:
    server, counter = client(ENGINES["llamacpp, older"])
    await counter.count(CHAT)
    asked = server.posted("/tokenize")[-1]
    assert asked == {"content": "one two three four", "add_special": True, "parse_special": True}


async def test_nothing_there_means_the_bound(client: Make) -> None:
    """LM Studio answers 200 to every path; Ollama 404."""
    for paths in (
        {},
        dict.fromkeys(("/tokenize", "/chat_tokenize"), lambda _: says({"error": "Unexpected"})),
    ):
        _, counter = client(paths)
        assert await counter.count(CHAT) is None


async def test_a_setting_goes_before_what_is_there(client: Make) -> None:
    both = ENGINES["vllm"] | ENGINES["tgi"]
    for kind, asked in (("tgi", "/chat_tokenize"), ("vllm", "/tokenize")):
        server, counter = client(both, kind=kind)
        assert await counter.count(CHAT) == 4
        assert {path for path, _ in server.asked} == {asked}
    server, counter = client(both, kind="bound")
    assert await counter.count(CHAT) is None
    assert server.asked == []


async def test_a_prompt_is_asked_about_once(client: Make) -> None:
    server, counter = client(ENGINES["vllm"])
    again = Prompt("chat", "m", CHAT.fields | {"stream": b"false", "max_tokens": b"7"}, list(MESSAGES))
    assert await counter.count(CHAT) == await counter.count(again) == 4
    assert len(server.asked) == 2  # the probe and the prompt
    for other in (
        Prompt("chat", "other", CHAT.fields, MESSAGES),
        Prompt("chat", "m", {}, MESSAGES),
        Prompt("chat", "m", CHAT.fields, MESSAGES[:1]),
        Prompt("chat", "m", CHAT.fields, [b"".join(MESSAGES[:0]), *MESSAGES][1:2] * 2),
    ):
        asked = len(server.asked)
        await counter.count(other)
        assert len(server.asked) > asked


async def test_a_prompt_that_is_refused_stops_no_other(client: Make) -> None:
    for status in (400, 500):
        paths: dict[str, Answer] = {
            "/tokenize": lambda b, s=status: vllm(b) if words(b) < 4 else says({"error": "template"}, s)
        }
        server, counter = client(paths)
        with pytest.raises(DependencyUnavailable) as raised:
            await counter.count(CHAT)
        assert raised.value.part == "count_estimated"
        assert await counter.count(Prompt("chat", "m", {}, MESSAGES[:1])) == 3
        assert len(server.asked) == 3


async def test_an_engine_that_is_down_keeps_nobody_waiting(
    client: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    server, counter = client(ENGINES["vllm"])
    server.down = True
    with pytest.raises(DependencyUnavailable):
        await counter.count(CHAT)
    server.down = False
    with pytest.raises(DependencyUnavailable):
        await counter.count(CHAT)
    assert server.asked == []
    now += module.HOLD_OFF_S
    assert await counter.count(CHAT) == 4


async def test_another_engine_in_its_place_is_seen(client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)

    def listing(window: int) -> Answer:
        return lambda _: says({"data": [{"id": "m", "max_model_len": window}]})

    server, counter = client({"/v1/models": listing(4096), **ENGINES["vllm"]})
    assert (await counter.window("m"), await counter.count(CHAT)) == (4096, 4)
    before = counter.generation
    now += module.FRESH_S
    assert await counter.window("m") == 4096
    assert counter.generation == before
    server.paths = {"/v1/models": listing(8192), "/chat_tokenize": ENGINES["tgi"]["/chat_tokenize"]}
    now += module.FRESH_S
    assert await counter.window("m") == 8192
    assert counter.generation == before + 1
    assert await counter.count(CHAT) == 4
    assert (await counter.picked("m")).name == "tgi"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "answer", "window"),
    [
        ("/v1/models", {"data": [{"id": "m", "max_model_len": 4096}, {"id": "n", "max_model_len": 9}]}, 4096),
        ("/v1/models", {"data": [{"id": "m", "context_length": 4096}, "x", {"id": 3}]}, 4096),
        ("/props", {"default_generation_settings": {"n_ctx": 4096}}, 4096),
        ("/info", {"max_total_tokens": 4096, "max_input_tokens": 4000}, 4000),
        ("/api/ps", {"models": [{"name": "m", "context_length": 4096}]}, 4096),
        ("/api/v0/models", {"data": [{"id": "m", "loaded_context_length": 4096}]}, 4096),
        ("/api/ps", {"models": []}, None),
        ("/v1/models", {"data": [{"id": "m", "max_model_len": True}]}, None),
        ("/v1/models", ["nothing"], None),
        ("/props", {"default_generation_settings": None}, None),
    ],
)
async def test_the_window_is_found_where_an_engine_tells_it(
    client: Make, path: str, answer: object, window: int | None
) -> None:
    _, counter = client({path: lambda _: says(answer)})
    assert await counter.window("m") == window


async def test_a_count_tells_the_window_too(client: Make) -> None:
    _, counter = client(ENGINES["vllm"])
    await counter.count(CHAT)
    assert await counter.windows("m") == {"/tokenize": 4096}


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """One token a word and a punctuation mark."""
    made: Any = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece()
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


async def test_a_file_counts_texts_overheads_images_and_tools(client: Make, tokenizer: Path) -> None:
    settings = Settings(tokenizer_file=tokenizer, msg_overhead_tokens=10, image_tokens=100)
    transport = httpx.MockTransport(lambda _: says({}, 404))
    async with httpx.AsyncClient(transport=transport) as http:
        counter = open_counter(settings, http, "http://engine/v1", None)

        async def count(message: object, **fields: object) -> int:
            raws = {name: json.dumps(value).encode() for name, value in fields.items()}
            found = await counter.count(Prompt("chat", "m", raws, [json.dumps(message).encode()]))
            assert found is not None
            return found

        text = await count({"role": "user", "content": "one two three"})
        assert text == 10 + 10 + 1 + 3
        part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 5000}}
        image = await count({"role": "user", "content": [{"type": "text", "text": "one two three"}, part]})
        assert text + 100 <= image <= text + 110
        tools = await count({"role": "user", "content": "one two three"}, tools=[{"name": "search"}])
        assert tools > text + 100
        assert await count({"role": "user", "content": "\ud800"}) > 0


async def test_the_engine_goes_before_the_file(client: Make, tokenizer: Path) -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(Server(ENGINES["vllm"]))) as http:
        counter = open_counter(Settings(tokenizer_file=tokenizer), http, "http://engine/v1", None)
        assert await counter.count(CHAT) == 4
        only = Settings(tokenizer_file=tokenizer, token_counter="file")
        assert await open_counter(only, http, "http://engine/v1", None).count(CHAT) != 4


def test_a_wrong_file_is_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{}")
    for settings in (
        Settings(token_counter="file"),
        Settings(tokenizer_file=tmp_path / "missing.json"),
        Settings(tokenizer_file=tmp_path / "broken.json"),
    ):
        with pytest.raises(PermanentFault, match="BACKSCROLL_TOKENIZER_FILE"):
            open_counter(settings, httpx.AsyncClient(), "http://engine/v1", None)
