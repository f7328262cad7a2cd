"""The engine: its models, its window, how it counts, and in which words it refuses."""

from collections.abc import AsyncIterator

import httpx
import orjson

from backscroll.doctor.finding import Finding
from services.gateway.upstream.overflow import message_of, parse_overflow
from shared.errors import DependencyUnavailable
from shared.settings import Settings
from shared.tokens.counter import EngineCounter
from shared.tokens.estimate import Coefficients, upper_bound
from shared.tokens.prompt import Prompt

SAMPLE = "The river rose in the night. 河水在夜里涨了。 f(x) = 3.14 * x ** 2; id=7f3a9c 🙂\n" * 20
OVERFULL_WORDS = 4
"""Words for each token of the window: more than any engine takes."""
OVERFULL_MESSAGES = 16
"""So many that an engine which drops the oldest finds some to drop."""
KNOWN_MODELS = 5


async def check_engine(
    settings: Settings,
    name: str,
    url: str,
    api_key: str | None,
    counter: EngineCounter,
    client: httpx.AsyncClient,
    *,
    probe_overflow: bool,
) -> AsyncIterator[Finding]:
    part = f"engine {name}"
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    models = await _models(client, url, headers)
    if isinstance(models, str):
        yield Finding(part, f"{url}: {models}", "Start the engine, or set BACKSCROLL_ENGINE_URL (with /v1).")
        return
    if not models:
        yield Finding(part, f"{url} lists no models", "Load a model, or check that the URL ends in /v1.")
        return
    more = f" and {len(models) - KNOWN_MODELS} more" if len(models) > KNOWN_MODELS else ""
    yield Finding(part, f"{url} serves {', '.join(models[:KNOWN_MODELS])}{more}")
    model = models[0]
    yield await _counting(settings, part, model, counter)
    yield await _window(settings, part, model, counter)
    if probe_overflow:
        yield await _overflow(settings, part, model, url, client, headers, counter)


async def _models(client: httpx.AsyncClient, url: str, headers: dict[str, str]) -> list[str] | str:
    """The names, or what is wrong."""
    try:
        reply = await client.get(f"{url.rstrip('/')}/models", headers=headers)
        listed = orjson.loads(reply.content)["data"] if reply.status_code == 200 else None
    except httpx.HTTPError as error:
        return f"cannot be reached ({type(error).__name__})"
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "the list of models is none"
    if listed is None:
        return f"answers {reply.status_code} to /models"
    return [str(card["id"]) for card in listed if isinstance(card, dict) and "id" in card]


async def _window(settings: Settings, part: str, model: str, counter: EngineCounter) -> Finding:
    told = await counter.windows(model)
    if not told:
        text = f"window: not told; {settings.max_context} tokens are believed (BACKSCROLL_MAX_CONTEXT)"
        if "max_context" in settings.model_fields_set:
            return Finding(part, text)
        return Finding(part, text, "Set BACKSCROLL_MAX_CONTEXT to what the engine was started with.")
    where, window = min(told.items(), key=lambda item: item[1])
    text = f"window: {window} tokens, told by {where}"
    if settings.max_context < window:
        text += f"; {settings.max_context} are used (BACKSCROLL_MAX_CONTEXT)"
    return Finding(part, text)


async def _counting(settings: Settings, part: str, model: str, counter: EngineCounter) -> Finding:
    coefficients = Coefficients(
        settings.tok_per_char_cjk, settings.tok_per_char_digit, settings.tok_per_char_other
    )
    bound = upper_bound(SAMPLE, coefficients) + 2 * settings.msg_overhead_tokens
    prompt = Prompt("chat", model, {}, [orjson.dumps({"role": "user", "content": SAMPLE})])
    try:
        way = await counter.picked(model)
        count = await counter.count(prompt)
    except DependencyUnavailable as down:
        return Finding(part, f"counting: {down}", "Look at the engine's log; until then prompts are shorter.")
    if way is None or count is None:
        if settings.token_counter == "bound":  # noqa: S105
            return Finding(part, "counting: by the upper bound, as set")
        return Finding(
            part,
            "counting: the engine offers no way, so the upper bound is used and prompts are shorter",
            "Set BACKSCROLL_TOKENIZER_FILE to the model's tokenizer.json.",
        )
    text = f"counting: {way.name}; a sample is {count} tokens, its upper bound {bound}"
    if count > bound:
        return Finding(part, text, "The bound is too low: raise BACKSCROLL_TOK_PER_CHAR_* in proportion.")
    return Finding(part, text)


async def _overflow(
    settings: Settings,
    part: str,
    model: str,
    url: str,
    client: httpx.AsyncClient,
    headers: dict[str, str],
    counter: EngineCounter,
) -> Finding:
    """Sends one prompt that is far too long."""
    window = await counter.window(model) or settings.max_context
    piece = "word " * (window * OVERFULL_WORDS // OVERFULL_MESSAGES)
    roles = ["user", "assistant"] * (OVERFULL_MESSAGES // 2) + ["user"]
    body = {"model": model, "messages": [{"role": r, "content": piece} for r in roles], "max_tokens": 1}
    try:
        reply = await client.post(f"{url.rstrip('/')}/chat/completions", json=body, headers=headers)
    except httpx.HTTPError as error:
        return Finding(
            part, f"overflow: no answer ({type(error).__name__})", "Raise the engine's body limit."
        )
    if reply.status_code == 200:
        return Finding(
            part,
            "overflow: a prompt that is too long is answered, so it was cut silently",
            "Set BACKSCROLL_MAX_CONTEXT to the engine's window (Ollama: num_ctx).",
        )
    told = parse_overflow(reply.content)
    if told is None:
        said = message_of(reply.content)[:200]
        return Finding(
            part,
            f"overflow: refused with {reply.status_code} in unknown words: {said!r}",
            "Report these words; until then a refused prompt is not sent again smaller.",
        )
    return Finding(part, f"overflow: refused with {reply.status_code} in known words")
