"""What a gateway remembers of one tenant answers no other."""

from dataclasses import replace

import orjson

from services.gateway.dialects import chat
from services.gateway.prepare.prepared import Prepared
from services.gateway.reading.request import Request
from shared.conversation.facts import Facts
from shared.tokens.prompt import Prompt
from tests.support.pipeline import Pipeline
from tests.support.talk import LOCK_QUESTION, talk, user

MESSAGES = [*talk("house", 200), user(LOCK_QUESTION)]
RAW = orjson.dumps({"model": "demo", "messages": MESSAGES})


async def ask(pipeline: Pipeline, tenant: str) -> tuple[Request, Prepared]:
    request = Request(RAW, pipeline.reader.of(tenant), chat)
    prepared = await pipeline.preparer.prepare(request, "same")
    await pipeline.preparer.settle()
    return request, prepared


async def test_tips_publishing_and_addresses_are_each_tenants_own() -> None:
    pipeline = Pipeline(4096)
    (acme, _), (beta, second) = await ask(pipeline, "acme"), await ask(pipeline, "beta")
    assert second.parent is None
    assert len(pipeline.state.values) == 2
    assert not set(acme.shape.addresses) & set(beta.shape.addresses)
    assert acme.label != beta.label
    by_tenant = {
        tenant: [m.address for e in pipeline.bus.published if e.tenant == tenant for m in e.messages]
        for tenant in ("acme", "beta")
    }
    assert len(by_tenant["acme"]) == len(by_tenant["beta"]) == len(MESSAGES)
    assert {tenant for tenant, _ in pipeline.bus.store.markers} == {"acme", "beta"}
    _, again = await ask(pipeline, "beta")
    assert again.parent is not None
    assert again.parent.length == len(MESSAGES)


async def test_facts_of_a_message_are_made_for_each_tenant() -> None:
    pipeline = Pipeline(4096)
    made: list[int] = []

    class Watched(type(pipeline.reader.cache)):  # type: ignore[misc]
        def all(self, digests, make):  # type: ignore[no-untyped-def]
            def watched(index: int) -> Facts:
                made.append(index)
                found: Facts = make(index)
                return found

            return super().all(digests, watched)

    reader = replace(pipeline.reader, cache=Watched())
    for tenant, makes in (("acme", True), ("beta", True), ("acme", False), ("beta", False)):
        made.clear()
        Request(RAW, reader.of(tenant), chat)
        assert bool(made) == makes


def test_counts_are_kept_by_tenant() -> None:
    prompts = [Prompt("chat", "m", {}, [b"{}"], tenant) for tenant in ("acme", "beta")]
    assert prompts[0].digest() != prompts[1].digest()
