import pytest

from shared.bus import Bus
from shared.errors import DependencyUnavailable, PermanentFault
from tests.integration.bus.events import incompressible


async def test_what_is_put_is_got(bus: Bus) -> None:
    await bus.tips.put("aa", b"one")
    await bus.tips.put("bb", b"")
    await bus.tips.put("aa", b"two")
    assert await bus.tips.get_many(["aa", "bb", "cc", "aa"]) == {"aa": b"two", "bb": b""}
    assert await bus.tips.get_many([]) == {}


async def test_a_value_may_be_large_before_compression_only(bus: Bus) -> None:
    await bus.tips.put("aa", bytes(2 * 1024 * 1024))
    assert await bus.tips.get_many(["aa"]) == {"aa": bytes(2 * 1024 * 1024)}
    with pytest.raises(PermanentFault, match="allowed"):
        await bus.tips.put("aa", incompressible(1024 * 1024).encode())
    assert bus.is_connected


@pytest.mark.parametrize("key", ["", ".", "a..b", "a b", "*", ">", "ключ", "a.", "a\n"])
async def test_a_key_that_would_be_another_subject_is_refused(bus: Bus, key: str) -> None:
    with pytest.raises(ValueError, match="not a key"):
        await bus.tips.put(key, b"")
    with pytest.raises(ValueError, match="not a key"):
        await bus.tips.get_many(["aa", key])


async def test_a_bucket_that_is_gone_is_unavailable(bus: Bus) -> None:
    await bus.tips.put("aa", b"one")
    await bus.js.delete_stream("KV_tips")
    with pytest.raises(DependencyUnavailable):
        await bus.tips.get_many(["aa"])
    with pytest.raises(DependencyUnavailable):
        await bus.tips.put("aa", b"")


async def test_all_is_every_key_that_was_not_deleted(bus: Bus) -> None:
    assert await bus.tips.all() == {}
    for number in range(100):
        await bus.tips.put(f"a.{number}", b"%d" % number)
    await bus.tips.put("a.7", b"")
    assert await bus.tips.discard(lambda value: len(value) == 2) == 90
    await bus.tips.put("a.50", b"again")
    assert await bus.tips.all() == {
        **{f"a.{number}": b"%d" % number for number in range(10)},
        "a.7": b"",
        "a.50": b"again",
    }
    assert await bus.tips.discard(lambda value: True) == 11
    assert await bus.tips.all() == {}
