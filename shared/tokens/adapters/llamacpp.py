"""llama.cpp: the count of a chat body, or the template applied and its text tokenized."""

import orjson

from shared.tokens.adapters.port import Line, NotOfferedError, chat_body, number
from shared.tokens.prompt import Prompt

FIELDS = ("tools", "tool_choice", "parallel_tool_calls", "response_format", "chat_template_kwargs")


class LlamaCpp:
    name = "llamacpp"

    def __init__(self, line: Line) -> None:
        self._line = line

    async def count(self, prompt: Prompt) -> int:
        body = chat_body(prompt, FIELDS)
        answer = await self._line.post("v1/chat/completions/input_tokens", body)
        return number(answer, "input_tokens")


class LlamaCppTemplate:
    """Servers from before `input_tokens`. Images are markers in the template's text, not tokens."""

    name = "llamacpp"

    def __init__(self, line: Line) -> None:
        self._line = line

    async def count(self, prompt: Prompt) -> int:
        applied = await self._line.post("apply-template", chat_body(prompt, FIELDS))
        text = applied.get("prompt")
        if not isinstance(text, str):
            raise NotOfferedError("no 'prompt' in the answer")
        asked = {"content": text, "add_special": True, "parse_special": True}
        tokens = (await self._line.post("tokenize", orjson.dumps(asked))).get("tokens")
        if not isinstance(tokens, list) or not tokens:
            raise NotOfferedError("no 'tokens' in the answer")
        return len(tokens)
