"""Anthropic's `/v1/messages/count_tokens`; vLLM, SGLang, llama.cpp and LMDeploy have it too."""

from shared.tokens.adapters.port import Line, NotOfferedError, body, number
from shared.tokens.prompt import Prompt

FIELDS = ("system", "tools", "tool_choice", "thinking")


class Anthropic:
    name = "anthropic"

    def __init__(self, line: Line) -> None:
        self._line = line

    async def count(self, prompt: Prompt) -> int:
        if prompt.dialect != "anthropic":
            raise NotOfferedError(f"Anthropic prompts only, not {prompt.dialect}")
        answer = await self._line.post("v1/messages/count_tokens", body(prompt, FIELDS))
        return number(answer, "input_tokens")
