import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shared.bus.codec import MAX_BYTES, decode, encode, pack, unpack
from shared.contracts.base import Kind, Role
from shared.contracts.events import MessagesRecorded, RecordedMessage, Unit
from shared.contracts.rpc import Rerank
from shared.conversation.address import text_digest
from shared.errors import PermanentFault


def recorded(text: str) -> MessagesRecorded:
    unit = Unit(unit=0, kind=Kind.USER, text=text)
    message = RecordedMessage(address="0" * 32, role=Role.USER, units=(unit,))
    return MessagesRecorded(tenant="t", session="s", at=1.5, messages=(message,))


@given(st.text())
def test_an_event_comes_back_as_it_was(text: str) -> None:
    assert decode(MessagesRecorded, encode(recorded(text))) == recorded(text)


@given(st.binary())
def test_bytes_come_back_as_they_were(history: bytes) -> None:
    request = Rerank(tenant="t", history=history, query="q", chunks=(), chars=600)
    assert decode(Rerank, encode(request)) == request


def test_a_lone_surrogate_keeps_offsets_and_digest() -> None:
    text = "a\ud800b"
    back = decode(MessagesRecorded, encode(recorded(text))).messages[0].units[0].text
    assert len(back) == len(text)
    assert text_digest(back) == text_digest(text)


@given(st.binary())
def test_what_is_no_event_is_a_permanent_fault(body: bytes) -> None:
    with pytest.raises(PermanentFault):
        decode(MessagesRecorded, body)


def test_a_wrong_field_is_named_and_its_value_is_not() -> None:
    with pytest.raises(PermanentFault, match=r"session: missing") as fault:
        decode(MessagesRecorded, pack(b'{"tenant":"my secret","at":"also secret","messages":[]}'))
    assert "secret" not in str(fault.value)


def test_a_frame_that_announces_too_much_is_not_unpacked() -> None:
    bomb = pack(bytes(MAX_BYTES + 1))
    assert len(bomb) < 10_000
    with pytest.raises(PermanentFault, match="announces"):
        unpack(bomb)
    with pytest.raises(PermanentFault, match="announces"):
        unpack(pack(b"12345"), max_bytes=4)


def test_a_frame_without_a_size_is_not_unpacked() -> None:
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 100)
    with pytest.raises(PermanentFault):
        unpack(frame)


def test_a_cut_frame_is_a_permanent_fault() -> None:
    with pytest.raises(PermanentFault):
        unpack(pack(b"x" * 10_000 + b"y")[:-3])
