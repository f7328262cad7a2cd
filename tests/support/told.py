"""What the official SDKs make of an answer's bytes."""

from typing import Any

import anthropic
import httpx2
import openai

STREAM = "text/event-stream"
JSON = "application/json"


def _transport(status: int, content: bytes, kind: str) -> httpx2.MockTransport:
    return httpx2.MockTransport(
        lambda _: httpx2.Response(status, content=content, headers={"content-type": kind})
    )


def anthropic_client(content: bytes, kind: str = JSON, status: int = 200) -> anthropic.Anthropic:
    http = httpx2.Client(transport=_transport(status, content, kind))
    return anthropic.Anthropic(api_key="none", max_retries=0, http_client=http)


def openai_client(content: bytes, kind: str = JSON, status: int = 200) -> openai.OpenAI:
    http = httpx2.Client(transport=_transport(status, content, kind))
    return openai.OpenAI(api_key="none", max_retries=0, http_client=http)


def streamed_message(content: bytes) -> Any:
    with (
        anthropic_client(content, STREAM) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        return stream.get_final_message()


def streamed_response(content: bytes) -> Any:
    with (
        openai_client(content, STREAM) as client,
        client.responses.stream(model="m", input="") as stream,
    ):
        return stream.get_final_response()
