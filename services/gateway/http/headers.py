"""Which headers pass between client and engine."""

from collections.abc import Iterable

Pairs = list[tuple[str, str]]
"""In their order, names in lower case; a name can be there more than once."""

HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"} | {
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
}
NOT_FORWARDED = HOP_BY_HOP | {"host", "content-length", "accept-encoding", "expect"}
NOT_RETURNED = HOP_BY_HOP | {"date", "server"}
OURS = "x-backscroll-"


def forwarded(client: Iterable[tuple[str, str]], api_key: str | None) -> Pairs:
    """What the engine is sent; its own key where the client brings none."""
    kept = _passing(list(client), NOT_FORWARDED)
    # What passes is read on the way, so it must not come compressed.
    kept.append(("accept-encoding", "identity"))
    if api_key and not any(name in ("authorization", "x-api-key") for name, _ in kept):
        kept.append(("authorization", f"Bearer {api_key}"))
    return kept


def returned(engine: Iterable[tuple[str, str]]) -> Pairs:
    """What the client is told. The length of a stream is not: an event of ours may be added."""
    kept = _passing(list(engine), NOT_RETURNED)
    return [pair for pair in kept if pair[0] != "content-length"] if is_stream(kept) else kept


def is_stream(headers: Pairs) -> bool:
    return any(name == "content-type" and value.startswith("text/event-stream") for name, value in headers)


def _passing(headers: Pairs, dropped: set[str]) -> Pairs:
    named = {
        token.strip().lower()
        for name, value in headers
        if name.lower() == "connection"
        for token in value.split(",")
    }
    stopped = dropped | named
    return [
        (lower, value)
        for name, value in headers
        if (lower := name.lower()) not in stopped and not lower.startswith(OURS)
    ]
