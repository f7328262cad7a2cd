"""One trace a request, across HTTP, bus, store and engine, and with it what its events caused."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.integration.services.asking import ask
from tests.support.eventually import eventually
from tests.support.stack import Stack
from tests.support.talk import LOCK_QUESTION, talk, user

CLIENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """A process has one provider for good; what later tests trace is kept by nobody."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    yield exporter
    exporter.shutdown()


def in_trace(exporter: InMemorySpanExporter, trace_id: int) -> list[ReadableSpan]:
    return [s for s in exporter.get_finished_spans() if s.context and s.context.trace_id == trace_id]


async def test_a_request_and_its_events_are_one_trace(stack: Stack, exporter: InMemorySpanExporter) -> None:
    messages = [*talk("pine"), user(LOCK_QUESTION)]
    created: Any = stack.sdk.chat.completions
    await created.create(
        model="demo-extractive",
        messages=messages,
        extra_headers={"traceparent": CLIENT, "X-Session-Id": "traced"},
    )
    wanted = {
        "POST /v1/chat/completions",
        "rpc assemble",
        "rpc retrieve",
        "store search",
        "engine",
        "publish MESSAGES",
        "chunk",
        "publish CHUNKS",
        "index terms",
        "store insert_terms",
        "index vectors",
        "store put_vectors",
        "publish RECORDS",
    }
    trace_id = int(CLIENT.split("-")[1], 16)
    await eventually(lambda: wanted <= {s.name for s in in_trace(exporter, trace_id)})
    # One of several events, so it is linked to them.
    await eventually(lambda: any(s.name == "embed" and s.links for s in exporter.get_finished_spans()))
    spans = exporter.get_finished_spans()
    told = "".join(str(dict(s.attributes or {})) + str(s.status.description) for s in spans)
    assert "bicycle" not in told
    assert not any(s.events for s in spans)


async def test_the_engine_is_told_the_trace_and_a_client_without_one_gets_its_own(
    stack: Stack, exporter: InMemorySpanExporter
) -> None:
    exporter.clear()
    await ask(stack, [user("Hello.")])
    (root,) = [s for s in exporter.get_finished_spans() if s.name == "POST /v1/chat/completions"]
    assert root.parent is None
    assert root.context is not None
    engine = [s for s in in_trace(exporter, root.context.trace_id) if s.name == "engine"]
    assert [s.attributes["http.response.status_code"] for s in engine if s.attributes] == [200]
