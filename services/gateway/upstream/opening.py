"""How an answer begins: is it a refusal?"""

from collections.abc import Callable

from services.gateway.upstream.ending import events, is_error
from services.gateway.upstream.engine import Reply

REFUSAL_STATUS = frozenset({400, 413, 422})
REFUSAL_BYTES = 64 * 1024
ERROR_BEGINS = (
    b'data: {"error',
    b'data:{"error',
    b'data: {"object":"error',
    b'data: {"object": "error',
    b'data: {"type":"error',
    b'data: {"type": "error',
    b"event: error",
    b"event:error",
)


async def opening(reply: Reply) -> tuple[Reply, bytes | None]:
    """The refusal that a reply is, if it is one; and the reply with nothing of it lost.

    Of a stream only a first event that begins as an error does is waited for to its end.
    """
    if reply.status in REFUSAL_STATUS:
        parts = await _read(reply, lambda _: False)
        return reply.put_back(parts), b"".join(parts)
    if reply.status != 200 or not reply.is_stream:
        return reply, None
    parts = await _read(reply, _decided)
    first = b"".join(parts)
    refusal = next(filter(is_error, events(first, b"error")), None) if _may_be_error(first) else None
    return reply.put_back(parts), refusal


async def _read(reply: Reply, enough: Callable[[bytes], bool]) -> list[bytes]:
    parts: list[bytes] = []
    size = 0
    async for part in reply.body:
        parts.append(part)
        size += len(part)
        if size > REFUSAL_BYTES or enough(b"".join(parts)):
            break
    return parts


def _may_be_error(begun: bytes) -> bool:
    return any(begun.startswith(e) or e.startswith(begun) for e in ERROR_BEGINS)


def _decided(begun: bytes) -> bool:
    return not _may_be_error(begun) or b"\n\n" in begun or b"\r\n\r\n" in begun
