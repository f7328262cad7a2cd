"""The counter of one engine, as the settings want it. The same for the gateway and for `doctor`."""

from collections.abc import Callable

import httpx

from shared.errors import PermanentFault
from shared.settings import Settings
from shared.tokens.adapters.file import FileTokenizer
from shared.tokens.counter import EngineCounter
from shared.tokens.prompt import Prompt


def open_counter(
    settings: Settings,
    client: httpx.AsyncClient,
    engine_url: str,
    api_key: str | None,
    as_sent: Callable[[Prompt], Prompt] | None = None,
) -> EngineCounter:
    """Raises `PermanentFault` for a tokenizer file that is missing or is none."""
    file = settings.tokenizer_file
    if settings.token_counter == "file" and file is None:  # noqa: S105
        raise PermanentFault("BACKSCROLL_TOKENIZER_FILE is not set, and `token_counter` is `file`.")
    local = FileTokenizer(file, settings.msg_overhead_tokens, settings.image_tokens) if file else None
    return EngineCounter(
        client,
        engine_url,
        settings.count_timeout_s,
        api_key=api_key,
        kind=settings.token_counter,
        local=local,
        as_sent=as_sent,
    )
