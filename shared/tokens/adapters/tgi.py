"""TGI's `/chat_tokenize`."""

from shared.tokens.adapters.port import Line, NotOfferedError, chat_body
from shared.tokens.prompt import Prompt

FIELDS = ("tools", "tool_choice", "tool_prompt", "response_format")


class Tgi:
    name = "tgi"

    def __init__(self, line: Line) -> None:
        self._line = line

    async def count(self, prompt: Prompt) -> int:
        answer = await self._line.post("chat_tokenize", chat_body(prompt, FIELDS))
        tokens = answer.get("tokenize_response")
        if not isinstance(tokens, list) or not tokens:
            raise NotOfferedError("no 'tokenize_response' in the answer")
        return len(tokens)
