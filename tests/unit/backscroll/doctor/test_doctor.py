from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from typer.testing import CliRunner

from backscroll.cli import app
from backscroll.doctor import Finding, examine
from backscroll.engine import create_engine
from shared.settings import Settings
from tests.support import lying_engine
from tests.support.lying_engine import LyingEngine
from tests.support.served import free_port, served


class Place:
    engine: Any = None
    url = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.engine(scope, receive, send)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    here = Place()
    with served(here) as url:  # type: ignore[arg-type]
        here.url = f"{url}/v1"
        yield here


async def engine_findings(
    place: Place, engine: Any, *, probe_overflow: bool = False, **given: Any
) -> list[Finding]:
    place.engine = engine
    settings = Settings(engine_url=place.url, **given)
    found = [f async for f in examine(settings, None, probe_overflow=probe_overflow)]
    return [f for f in found if f.part.startswith("engine")]


async def test_a_healthy_engine(place: Place, tmp_path: Path) -> None:
    found = await engine_findings(place, create_engine(4096), probe_overflow=True, data_dir=tmp_path)
    assert [f.mend for f in found] == [""] * 4
    told = "\n".join(f.text for f in found)
    assert "counting: vllm; a sample is" in told
    assert "window: 4096 tokens, told by /" in told
    assert "in known words" in told


@pytest.mark.parametrize(
    ("engine", "given", "mend"),
    [
        (LyingEngine(4096, announced=4096), {}, "BACKSCROLL_TOKENIZER_FILE"),
        (LyingEngine(4096, tokenizer="failing", announced=4096), {}, "engine's log"),
        (LyingEngine(4096, tokenizer="honest"), {}, "BACKSCROLL_MAX_CONTEXT"),
        (LyingEngine(4096, tokenizer="honest", truth=9.0, announced=4096), {}, "BACKSCROLL_TOK_PER_CHAR"),
        (LyingEngine(4096, truncates=True, announced=4096), {"token_counter": "bound"}, "num_ctx"),
    ],
)
async def test_what_is_wrong_and_how_to_mend_it(
    place: Place, engine: LyingEngine, given: dict[str, Any], mend: str, tmp_path: Path
) -> None:
    found = await engine_findings(place, engine, probe_overflow=engine.truncates, data_dir=tmp_path, **given)
    assert [mend in f.mend for f in found if not f.ok] == [True]


async def test_words_that_nobody_knows(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = LyingEngine(4096, tokenizer="honest", announced=4096)
    monkeypatch.setitem(lying_engine.REFUSALS, "vllm", (400, "No."))
    found = await engine_findings(place, engine, probe_overflow=True, data_dir=tmp_path)
    assert "unknown words: 'No.'" in found[-1].text
    assert not found[-1].ok


async def test_servers_that_are_down_are_said_one_by_one(tmp_path: Path) -> None:
    down = f"http://127.0.0.1:{free_port()}"
    settings = Settings(
        engine_url=f"{down}/v1",
        nats_url=down.replace("http", "nats"),
        embed_url=down,
        rerank_url=down,
        qdrant_url=down,
        data_dir=tmp_path,
    )
    found = [f async for f in examine(settings, f"{down}/v1", probe_overflow=False)]
    assert {f.part for f in found} == {"backscroll", "engine default", "bus", "embedding", "rerank"}
    assert not any(f.ok for f in found)


def test_the_command_tells_a_line_each_and_exits_by_what_it_found(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKSCROLL_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("BACKSCROLL_ENGINE_URL", place.url)
    place.engine = create_engine(4096)
    well = CliRunner().invoke(app, ["doctor"])
    assert well.exit_code == 0
    assert "wrong" not in well.stdout
    place.engine = LyingEngine(4096)
    ill = CliRunner().invoke(app, ["doctor"])
    assert ill.exit_code == 1
    assert "BACKSCROLL_MAX_CONTEXT" in ill.stdout
