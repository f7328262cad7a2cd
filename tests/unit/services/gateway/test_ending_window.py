"""An engine that stops because its window is full says so under status 200; that is a window learned."""

import orjson
import pytest

from services.gateway.dialects import anthropic
from services.gateway.dialects.base import Usage
from services.gateway.reading.request import Request
from services.gateway.upstream.ending import Ending
from tests.support.pipeline import Pipeline

STOP = "model_context_window_exceeded"


@pytest.mark.parametrize(("reason", "full"), [(STOP, True), ("end_turn", False)])
def test_a_whole_answer_and_a_stream_tell_it(reason: str, full: bool) -> None:
    usage = {"input_tokens": 4000, "output_tokens": 96}
    whole = Ending(anthropic)
    whole.feed(orjson.dumps({"type": "message", "stop_reason": reason, "usage": usage}))
    assert whole.usage(stream=False).window_full is full
    stream = Ending(anthropic)
    event = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    stream.feed(b"event: message_delta\ndata: " + orjson.dumps(event) + b"\n\n")
    assert stream.usage(stream=True).window_full is full


async def test_the_next_prompt_is_for_the_window_that_was_full() -> None:
    pipeline = Pipeline(8192)
    messages = [
        {"role": "user", "content": f"Note {i}: crate {i * 7919} is by the door."} for i in range(300)
    ]
    raw = orjson.dumps({"model": "demo", "messages": messages})
    first = await pipeline.prepare(messages)
    request = Request(raw, pipeline.reader, pipeline.dialect)
    usage = Usage(prompt_tokens=first.measured.tokens, completion_tokens=96, window_full=True)
    pipeline.preparer.learn(request, first, usage)
    again = await pipeline.prepare([*messages, {"role": "user", "content": "And now?"}])
    assert again.window == first.measured.tokens + 96 < 8192
