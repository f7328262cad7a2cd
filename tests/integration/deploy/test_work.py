"""What a user may do is enough for its service's work, with small bodies and with large ones."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

import pytest

from shared.bus import ASSEMBLE, CHUNKER, RERANK, RETRIEVE, TERMS, VECTORS, Bus, Delivery, Faulty, connect
from shared.bus.permissions import SERVICES
from shared.bus.subjects import token
from shared.contracts.events import ChunksCreated, ExchangeRecorded, MessagesRecorded
from shared.contracts.rpc import Assemble, Assembled, Rerank, Reranked, Retrieve, Retrieved, SearchText
from shared.errors import PermanentFault
from tests.integration.bus.events import dead_letters, incompressible, recorded
from tests.support.chunks import numbered
from tests.support.compose_nats import ComposeNats
from tests.support.eventually import eventually

LARGE = incompressible(600_000)
SIZES = pytest.mark.parametrize("text", ["small", LARGE], ids=["inline", "claimed"])


@pytest.fixture
async def buses(server: ComposeNats) -> AsyncIterator[dict[str, Bus]]:
    async with AsyncExitStack() as stack:
        opened = {}
        for user in (*SERVICES, "operator"):
            opened[user] = await connect(server.url(user), service=user)
            stack.push_async_callback(opened[user].close)
        yield opened


def cut(session: str, text: str) -> ChunksCreated:
    return ChunksCreated(tenant="t", session=session, at=1.0, messages=(numbered(0, text),))


@SIZES
async def test_events_go_from_the_gateway_to_the_embedder(buses: dict[str, Bus], text: str) -> None:
    session = f"way-{len(text)}"
    got: dict[str, list[str]] = {"terms": [], "vectors": []}

    async def chunk(batch: list[Delivery[MessagesRecorded]]) -> None:
        await buses["chunker"].publish_many(
            cut(d.event.session, d.event.messages[0].units[0].text) for d in batch
        )

    async def terms(batch: list[Delivery[ChunksCreated]]) -> None:
        got["terms"] += [d.event.messages[0].chunks[0].text for d in batch if d.event.session == session]

    async def vectors(batch: list[Delivery[ChunksCreated]]) -> None:
        got["vectors"] += [d.event.messages[0].chunks[0].text for d in batch if d.event.session == session]

    await buses["chunker"].consume(CHUNKER, chunk)
    await buses["embedder"].consume(TERMS, terms)
    await buses["embedder"].consume(VECTORS, vectors)
    await buses["gateway"].publish(recorded(session, text))
    await eventually(lambda: got == {"terms": [text], "vectors": [text]})
    for user in ("chunker", "embedder"):
        await buses[user].ready()


@SIZES
async def test_what_is_given_up_is_buried(buses: dict[str, Bus], text: str) -> None:
    async def fails(batch: list[Delivery[MessagesRecorded]]) -> None:
        raise PermanentFault("unreadable")

    async def fails_in_part(batch: list[Delivery[ChunksCreated]]) -> Sequence[Faulty]:
        return [Faulty(d, text, "cannot be embedded") for d in batch]

    await buses["chunker"].consume(CHUNKER, fails)
    await buses["embedder"].consume(TERMS, fails_in_part)
    before = (await buses["operator"].js.stream_info("DEADLETTERS")).state.messages
    await buses["gateway"].publish(recorded(f"fault-{len(text)}", "faulty"))
    await buses["chunker"].publish(cut(f"fault-{len(text)}", "faulty"))

    async def buried() -> bool:
        return (await buses["operator"].js.stream_info("DEADLETTERS")).state.messages == before + 2

    await eventually(buried)
    if text != LARGE:
        assert {letter.service for letter in await dead_letters(buses["operator"])} == {"chunker", "embedder"}


@SIZES
async def test_methods_are_asked_and_answered(buses: dict[str, Bus], text: str) -> None:
    async def assemble(request: Assemble) -> Assembled:
        asked = Retrieve(
            tenant="t",
            history=b"",
            inside=b"",
            inside_excerpts=(),
            search=request.search,
            query_tokens=1,
            budget=0,
            index="",
            check_from=0,
            check_to=0,
            covered_to=0,
            wait_for_index=False,
        )
        found = await buses["assembler"].call(RETRIEVE, asked, timeout_s=10)
        reranked = await buses["assembler"].call(
            RERANK, Rerank(tenant="t", history=b"", query=text, chunks=(), chars=1), timeout_s=10
        )
        assert found.index == text
        return Assembled(missing=(len(request.search[0].text), len(reranked.degraded[0])))

    async def retrieve(request: Retrieve) -> Retrieved:
        return Retrieved(index=text)

    async def rerank(request: Rerank) -> Reranked:
        return Reranked(degraded=(request.query,))

    await buses["retriever"].serve(RETRIEVE, retrieve)
    await buses["retriever"].serve(RERANK, rerank)
    await buses["assembler"].serve(ASSEMBLE, assemble)
    asked = Assemble(
        tenant="t",
        history=b"",
        ratio=1.0,
        head_tokens=0,
        window=2048,
        max_tokens=None,
        search=(SearchText("user", text),),
        tip=None,
        at=1.0,
        wait_for_index=False,
    )
    reply = await buses["gateway"].call(ASSEMBLE, asked, timeout_s=20)
    assert reply.missing == (len(text), len(text))


@SIZES
async def test_the_gateway_keeps_state_and_reads_records(buses: dict[str, Bus], text: str) -> None:
    gateway, session = buses["gateway"], f"records-{len(text)}"
    await gateway.tips.put("abc", text.encode()[:100_000])
    assert (await gateway.tips.get_many(["abc", "def"])).keys() == {"abc"}
    await buses["operator"].keys.put("k", b"key")
    assert await gateway.keys.all() == {"k": b"key"}
    for number in range(3):
        event = ExchangeRecorded(tenant="t", session=session, record=f"{session}-{number}", at=1.0, body=text)
        await gateway.publish(event)
    found = await gateway.find_record("t", f"{session}-1")
    assert found is not None
    assert found.body == text
    page = await gateway.records.of_session(token("t"), token(session), None, 2)
    assert [listed.record for listed in page.listed] == [token(f"{session}-{n}") for n in (2, 1)]
    assert (await gateway.records.newest(None, 1)).listed[0].session == token(session)
    assert (await gateway.records.sessions())[token("t"), token(session)] == 3
