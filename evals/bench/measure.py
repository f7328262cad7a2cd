"""What is measured: pass-through, the first long request, the ones that continue it."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from typing import Any

import orjson

from evals.bench.client import Client, Timed
from evals.bench.history import History

SETTLE_S = 60.0
SMALL = b'{"model":"bench","messages":[{"role":"user","content":"What is the capital of France?"}]}'


@dataclass
class Sample:
    """One long request."""

    seconds: float
    alone: float
    """Parsing and hashing the same body, measured right before."""
    action: str
    stages: dict[str, float]
    prompt_tokens: int


@dataclass
class Cold:
    seconds: float
    alone: float
    messages: int
    bytes: int
    found: bool
    """The prompt held the answer, from near the beginning."""
    degraded: str
    vectors_s: float
    """From the first request until its last text had a vector."""


@dataclass
class Results:
    small: dict[str, list[float]] = field(default_factory=dict)
    cold: Cold | None = None
    known: list[Sample] = field(default_factory=list)


def parse_and_hash(body: bytes) -> float:
    """The least that any proxy does that looks at messages."""
    started = time.perf_counter()
    for message in orjson.loads(body)["messages"]:
        hashlib.blake2b(message["content"].encode(), digest_size=16).digest()
    return time.perf_counter() - started


def small_requests(clients: dict[str, Client], count: int, warm_up: int = 20) -> dict[str, list[float]]:
    """Seconds by client, one request of each in turn."""
    taken: dict[str, list[float]] = {name: [] for name in clients}
    for number in range(count + warm_up):
        for name, client in clients.items():
            seconds = client.post(SMALL).seconds
            if number >= warm_up:
                taken[name].append(seconds)
    return taken


def first_request(client: Client, history: History) -> Cold:
    """A whole history at once, with a question about its beginning."""
    question, answer = next(iter(history.facts.items()))
    history.say("user", question)
    body = history.body()
    alone = median(parse_and_hash(body) for _ in range(3))
    started = time.perf_counter()
    timed = client.post(body)
    found = answer in orjson.dumps(client.record(timed)["prompt"]).decode()
    vectors_s = _settled(client) - started
    return Cold(timed.seconds, alone, len(history.raw), len(body), found, timed.degraded, vectors_s)


def _settled(client: Client) -> float:
    """When the last text got its vector."""
    last, at = client.embedded(), time.perf_counter()
    while time.perf_counter() - at < 2 and time.perf_counter() < at + SETTLE_S:
        time.sleep(0.2)
        now = client.embedded()
        if now != last:
            last, at = now, time.perf_counter()
    return at


def known_session(
    client: Client, history: History, count: int, drifts: int, say: Callable[[str], None], warm_up: int = 3
) -> list[Sample]:
    """Each request appends an exchange; some ask about something that is not in the prompt."""
    samples = []
    questions = iter(list(islice(history.facts, 20, 20 + 2 * drifts, 2)))
    every = max(count // max(drifts, 1), 1)
    for number in range(count + drifts + warm_up):
        asked = next(questions, None) if number >= warm_up and number % every == every - 1 else None
        if asked:
            history.ask(asked)
        else:
            history.follow_up()
        sample = _long_request(client, history.body())
        say(f"{sample.action} {sample.seconds * 1000:.0f} ms")
        if number >= warm_up:
            samples.append(sample)
    return samples


def _long_request(client: Client, body: bytes) -> Sample:
    alone = parse_and_hash(body)
    before = client.rpc_seconds()
    timed = client.post(body)
    after = client.rpc_seconds()
    record = client.record(timed)
    _check(timed, record)
    stages: dict[str, float] = dict(record["timings_s"])
    stages |= {f"rpc {name}": after[name] - before.get(name, 0.0) for name in after}
    return Sample(timed.seconds, alone, record["action"], stages, record["prompt_tokens"])


def _check(timed: Timed, record: dict[str, Any]) -> None:
    """A figure of a request that took a shorter way would say nothing."""
    if timed.degraded or record["mode"] != "assembled":
        raise RuntimeError(f"mode {record['mode']}, degraded {timed.degraded!r}")
