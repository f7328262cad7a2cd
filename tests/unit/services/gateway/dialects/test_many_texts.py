import time

import orjson
import pytest

from services.gateway.dialects import anthropic, chat, responses
from services.gateway.dialects.base import Dialect
from shared.prompt.plan import Cut
from shared.prompt.render import Edit


@pytest.mark.parametrize("dialect", [chat, anthropic, responses])
def test_a_message_of_many_texts_is_cut_in_one_go(dialect: Dialect) -> None:
    """Other requests wait meanwhile: one cut after the other took minutes."""
    content = [{"type": "text", "text": f"line {n}\nof text"} for n in range(20_000)]
    raw = orjson.dumps({"role": "user", "content": content})
    message = dialect.read_message(raw, 0, 1024)
    cuts = [Cut(0, n, 0, 7, 1) for n in range(20_000)]
    started = time.process_time()
    changed = orjson.loads(dialect.edit_message(raw, message, Edit(cuts=cuts)))
    assert time.process_time() - started < 5
    texts = [part["text"] for part in changed["content"]]
    assert texts == [f"[... 7 characters omitted ...]\n{text['text'][7:]}" for text in content]
