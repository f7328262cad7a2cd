"""vLLM's `/tokenize` in its chat form, which SGLang and the demo engine have too."""

from collections.abc import Callable

from shared.tokens.adapters.port import Line, chat_body, number
from shared.tokens.prompt import Prompt

FIELDS = ("tools", "chat_template", "chat_template_kwargs")


class Vllm:
    name = "vllm"

    def __init__(self, line: Line, told: Callable[[str, int], None]) -> None:
        """`told` takes a model and its window, which comes with each count."""
        self._line = line
        self._told = told

    async def count(self, prompt: Prompt) -> int:
        body = chat_body(prompt, FIELDS, (b'"add_generation_prompt":true',))
        answer = await self._line.post("tokenize", body)
        count = number(answer, "count")
        window = answer.get("max_model_len")
        if isinstance(window, int) and window > 0:
            self._told(prompt.model, window)
        return count
