from pathlib import Path

import pytest
from pydantic import ValidationError

from shared.errors import PermanentFault
from shared.overrides import PLANNED, overridden
from shared.settings import Settings


def test_environment_over_file_over_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "backscroll.toml"
    file.write_text("max_context = 16384\nchunk_tokens = 512\n")
    monkeypatch.setenv("BACKSCROLL_CONFIG", str(file))
    monkeypatch.setenv("BACKSCROLL_CHUNK_TOKENS", "256")
    settings = Settings()
    assert (settings.max_context, settings.chunk_tokens, settings.embed_batch) == (16_384, 256, 16)


def test_a_file_that_is_not_there_is_no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSCROLL_CONFIG", "/nowhere/backscroll.toml")
    with pytest.raises(PermanentFault, match="there is no file"):
        Settings()


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "abc"), ("MAX_CONTEXT", "-5"), ("ENGINE_URL", "localhost:8000")]
)
def test_a_wrong_value_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"BACKSCROLL_{name}", value)
    with pytest.raises(ValidationError, match=name.lower()):
        Settings()


def test_one_request_may_have_settings_of_its_own() -> None:
    settings = Settings(memory_max_tokens=1000, collection="mine")
    asked = overridden(settings, {"profile": "seed", "mmr_lambda": 0.5})
    assert (asked.profile, asked.mmr_lambda, asked.memory_max_tokens) == ("seed", 0.5, 1000)
    assert asked.collection == "mine"
    assert settings.profile == "auto"
    assert Settings.model_fields.keys() >= PLANNED


@pytest.mark.parametrize(
    ("values", "told"),
    [({"qdrant_url": "http://elsewhere"}, "qdrant_url"), ({"profile": "best"}, "profile"), ({"x": 1}, "x")],
)
def test_what_reaches_beyond_one_request_is_refused(values: dict[str, object], told: str) -> None:
    with pytest.raises(PermanentFault, match=told):
        overridden(Settings(), values)


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EMBED_URL", "OTLP_ENDPOINT", "MAX_CONTEXT"):
        monkeypatch.setenv(f"BACKSCROLL_{name}", "")
    settings = Settings()
    assert (settings.embed_url, settings.otlp_endpoint) == (None, None)
    assert settings.max_context == 262_144


def test_secrets_are_not_shown() -> None:
    settings = Settings(
        nats_url="nats://gateway:hush@nats:4222", qdrant_api_key="hush", engine_api_key="hush"
    )
    assert "hush" not in repr(settings)
