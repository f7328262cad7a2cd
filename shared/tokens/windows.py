"""An engine's true window, from whichever endpoint tells it."""

from typing import Any

from shared.errors import DependencyUnavailable
from shared.tokens.adapters.port import Line, NotOfferedError

Listed = dict[str, dict[str, Any]]
"""Cards of `/v1/models` by id."""
LENGTHS = ("max_model_len", "context_length", "max_context_length", "context_window")
"""vLLM and SGLang; OpenRouter and Ollama; LM Studio; Groq."""


async def listed_models(line: Line) -> Listed | None:
    """None where the engine does not answer; empty where it lists nothing."""
    try:
        answer = await line.get("v1/models")
    except DependencyUnavailable:
        return None
    except NotOfferedError:
        return {}
    cards = answer.get("data") if isinstance(answer, dict) else None
    found = cards if isinstance(cards, list) else []
    return {c["id"]: c for c in found if isinstance(c, dict) and isinstance(c.get("id"), str)}


def card_window(card: dict[str, Any]) -> int | None:
    return next((card[name] for name in LENGTHS if _is_length(card.get(name))), None)


async def server_windows(line: Line) -> tuple[str, dict[str, int]] | None:
    """The endpoint and the windows by model, "" for every model; for engines whose list tells none."""
    for path, read in (("props", _props), ("info", _info), ("api/ps", _running), ("api/v0/models", _loaded)):
        try:
            answer = await line.get(path)
        except (DependencyUnavailable, NotOfferedError):
            continue
        found = read(answer) if isinstance(answer, dict) else {}
        if found:
            return f"/{path}", found
    return None


def _is_length(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _props(answer: dict[str, Any]) -> dict[str, int]:
    """llama.cpp, per slot."""
    settings = answer.get("default_generation_settings")
    n_ctx = settings.get("n_ctx") if isinstance(settings, dict) else None
    return {"": n_ctx} if isinstance(n_ctx, int) and n_ctx > 0 else {}


def _info(answer: dict[str, Any]) -> dict[str, int]:
    """TGI."""
    lengths = [answer.get("max_total_tokens"), answer.get("max_input_tokens")]
    told = [value for value in lengths if isinstance(value, int) and value > 0]
    return {"": min(told)} if told else {}


def _running(answer: dict[str, Any]) -> dict[str, int]:
    """Ollama: the models that are loaded, with the window they are loaded with."""
    return _by_name(answer.get("models"), "name", "context_length")


def _loaded(answer: dict[str, Any]) -> dict[str, int]:
    """LM Studio."""
    return _by_name(answer.get("data"), "id", "loaded_context_length")


def _by_name(cards: object, name: str, length: str) -> dict[str, int]:
    listed = [card for card in cards if isinstance(card, dict)] if isinstance(cards, list) else []
    return {
        str(card[name]): card[length]
        for card in listed
        if isinstance(card.get(name), str) and _is_length(card.get(length))
    }
