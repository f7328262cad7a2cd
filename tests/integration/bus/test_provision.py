import pytest
from nats.js.api import ConsumerConfig, StreamConfig

from shared.bus import CHUNKER, Bus, connect, provision
from shared.errors import DependencyUnavailable, PermanentFault
from shared.settings import Settings


async def test_it_can_be_repeated(nats_url: str) -> None:
    assert await provision(nats_url, Settings()) == []
    bus = await connect(nats_url, service="test")
    names = {str(s.config.name): s.created for s in await bus.js.streams_info()}
    assert set(names) == {
        "MESSAGES",
        "CHUNKS",
        "DOCUMENTS",
        "RECORDS",
        "DEADLETTERS",
        "KV_tips",
        "KV_erased",
        "KV_keys",
        "OBJ_claims",
        "OBJ_claims-rpc",
    }
    assert await provision(nats_url, Settings()) == []
    assert {str(s.config.name): s.created for s in await bus.js.streams_info()} == names
    await bus.check(Settings())
    await bus.close()


async def test_what_differs_is_said_and_left_alone(bus: Bus, nats_url: str) -> None:
    other = Settings(session_ttl_s=3600, stream_max_age_s=1000)
    lines = await provision(nats_url, other)
    assert "stream KV_tips: max_age is 86400.0, expected 3600.0" in lines
    assert "stream MESSAGES: max_age is 604800.0, expected 1000.0" in lines
    with pytest.raises(PermanentFault, match="KV_tips"):
        await bus.check(other)
    await bus.check(Settings())
    assert await provision(nats_url, other, update=True) == []
    await bus.check(other)


async def test_a_durable_that_differs_is_said(bus: Bus) -> None:
    await bus.js.delete_consumer("CHUNKS", "terms")
    await bus.js.delete_consumer("CHUNKS", "vectors")
    await bus.js.add_consumer("CHUNKS", ConsumerConfig(durable_name="terms", ack_wait=5, max_deliver=6))
    with pytest.raises(PermanentFault) as error:
        await bus.check(Settings())
    said = str(error.value)
    assert "durable terms on CHUNKS: ack_wait is 5.0, expected 30.0" in said
    assert "durable terms on CHUNKS: max_deliver is 6, expected -1" in said
    assert "durable vectors on CHUNKS does not exist" in said


async def test_a_stream_of_the_same_name_for_other_subjects_is_said(nats_url: str) -> None:
    bus = await connect(nats_url, service="test")
    await bus.js.add_stream(StreamConfig(name="CHUNKS", subjects=["somebody.elses"]))
    assert any(
        line.startswith("stream CHUNKS: subjects is ['somebody.elses'], expected")
        for line in await provision(nats_url, Settings())
    )
    await bus.close()


async def test_without_provisioning_a_consumer_does_not_start(nats_url: str) -> None:
    bus = await connect(nats_url, service="test")
    with pytest.raises(DependencyUnavailable, match="chunker"):
        await bus.consume(CHUNKER, lambda _: pytest.fail("not called"))
    with pytest.raises(PermanentFault, match="stream MESSAGES does not exist"):
        await bus.check(Settings())
    await bus.close()
