"""A local `tokenizer.json`: the texts by the tokenizer, the chat template by an overhead per message."""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from shared.errors import PermanentFault
from shared.tokens.cache import Generations
from shared.tokens.prompt import NOT_IN_PROMPT, Prompt

TOOLS_PREAMBLE_TOKENS = 256
"""What a template says around tool schemas; Qwen's and Llama's are some 150 tokens."""
IMAGE_KEYS = frozenset({"image_url", "source", "file", "input_audio"})
"""Their values are data, never text of the prompt."""


class FileTokenizer:
    name = "file"

    def __init__(self, file: Path, overhead: int, image_tokens: int) -> None:
        """Raises `PermanentFault` for a file that is no tokenizer."""
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(file))
        except Exception as error:  # The library raises bare `Exception`.
            raise PermanentFault(f"BACKSCROLL_TOKENIZER_FILE: {file}: {error}") from error
        self._overhead = overhead
        self._image_tokens = image_tokens
        self._counts: Generations[int] = Generations()

    async def count(self, prompt: Prompt) -> int:
        return await asyncio.to_thread(self._count, prompt)

    def _count(self, prompt: Prompt) -> int:
        fields = [raw for name, raw in prompt.fields.items() if name not in NOT_IN_PROMPT and raw]
        tools = TOOLS_PREAMBLE_TOKENS if "tools" in prompt.fields or "functions" in prompt.fields else 0
        return tools + self._overhead + sum(map(self._item, [*prompt.messages, *fields]))

    def _item(self, raw: bytes) -> int:
        key = hashlib.blake2b(raw, digest_size=16).digest()
        known = self._counts.get(key)
        if known is None:
            known = self._counts[key] = self._tokens(json.loads(raw))
        return known

    def _tokens(self, value: object) -> int:
        """Schemas are printed by templates, some with indentation; messages are their texts."""
        if isinstance(value, list):
            return self._text(json.dumps(value, ensure_ascii=False, indent=4))
        if not isinstance(value, dict):
            return self._text(str(value))
        return self._overhead + sum(map(self._cost, _texts(value)))

    def _cost(self, text: str | None) -> int:
        return self._image_tokens if text is None else self._text(text)

    def _text(self, text: str) -> int:
        # A lone surrogate is legal in JSON and reaches every tokenizer as U+FFFD.
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return len(self._tokenizer.encode(whole, add_special_tokens=False).ids)


def _texts(value: object) -> Iterator[str | None]:
    """Every text of a message; None stands for an image."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in IMAGE_KEYS:
                yield None
            else:
                yield from _texts(item)
