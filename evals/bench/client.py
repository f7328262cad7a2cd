"""Requests from outside, timed; and what the gateway tells about them."""

import http.client
import re
import time
from dataclasses import dataclass
from typing import Any

import orjson

PATH = "/v1/chat/completions"
_RPC = re.compile(rb'^backscroll_rpc_seconds_sum\{method="(\w+)",outcome="answered"\} (\S+)', re.M)
_EMBEDDED = re.compile(rb"^backscroll_embeds_done_total (\S+)", re.M)


@dataclass(frozen=True)
class Timed:
    seconds: float
    """From the first byte sent to the last byte read."""
    answer: dict[str, Any]
    record: str | None
    degraded: str


class Client:
    """One connection that stays; nothing between it and the socket but `http.client`."""

    def __init__(self, port: int, session: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self._headers = {"content-type": "application/json"} | ({"x-session-id": session} if session else {})

    def post(self, body: bytes) -> Timed:
        started = time.perf_counter()
        self._connection.request("POST", PATH, body, self._headers)
        reply = self._connection.getresponse()
        raw = reply.read()
        seconds = time.perf_counter() - started
        if reply.status != 200:
            raise RuntimeError(f"status {reply.status}: {raw[:300]!r}")
        return Timed(
            seconds,
            orjson.loads(raw),
            reply.headers.get("x-backscroll-record"),
            reply.headers.get("x-backscroll-degraded", ""),
        )

    def record(self, timed: Timed) -> dict[str, Any]:
        """Waits for it: a record is published beside the end of its answer."""
        for _ in range(100):
            self._connection.request("GET", f"/v1/records/{timed.record}")
            reply = self._connection.getresponse()
            raw = reply.read()
            if reply.status == 200:
                found: dict[str, Any] = orjson.loads(raw)
                return found
            time.sleep(0.02)
        raise RuntimeError(f"no record {timed.record}")

    def rpc_seconds(self) -> dict[str, float]:
        """Seconds so far by method, at the callers."""
        return {name.decode(): float(value) for name, value in _RPC.findall(self._metrics())}

    def embedded(self) -> int:
        """Texts so far."""
        found = _EMBEDDED.search(self._metrics())
        return int(float(found[1])) if found else 0

    def _metrics(self) -> bytes:
        self._connection.request("GET", "/metrics")
        return self._connection.getresponse().read()
