"""The third promise, under attack: any sequence of requests, forks, edits, restarts and outages.

The next prompt inherits from the longest prefix of its history that left a tip, and begins with all that
the prompt of that tip held, unless the state machine (`shared/prompt/fate.py`) has a reason to move it.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import orjson
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from services.gateway.prepare.prepared import Prepared
from tests.support.pipeline import Pipeline, sent

Message = dict[str, Any]
Op = tuple[Literal["say", "work", "fork", "edit", "retry", "restart", "wait", "break", "mend"], int]
SYSTEM: Message = {"role": "system", "content": "You keep the log of a ship."}

FACTS = 30
SUBJECTS = ["the vault", "the harbour master", "deck seven", "the ferry", "weather code W31"]
ops = st.lists(
    st.tuples(
        st.sampled_from(
            ["say"] * 8 + ["mend"] * 3 + ["work", "fork", "edit", "retry", "restart", "wait", "break", "mend"]
        ),
        st.integers(0, 40),
    ),
    min_size=10,
    max_size=40,
)


def fact(n: int) -> Message:
    return {"role": "user", "content": f"Code C{n} opens locker {n * 13} on {SUBJECTS[n % 5]}."}


def user(n: int) -> Message:
    """A question about the far past, or something new to tell."""
    if n % 3 == 0:
        return {"role": "user", "content": f"What opens code C{n % FACTS}?"}
    return {"role": "user", "content": f"Entry {n} on {SUBJECTS[n % 5]}. {'It rained again. ' * (n % 7 * 8)}"}


def work(n: int) -> list[Message]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": f'{{"at": {n}}}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"Sight {n}: {SUBJECTS[n % 5]}. " * (n % 9 + 1)},
    ]


@dataclass
class Client:
    pipeline: Pipeline
    history: list[Message] = field(default_factory=lambda: [SYSTEM])
    prompts: dict[bytes, list[bytes]] = field(default_factory=dict)
    """What was sent, by the whole history that it was sent for."""
    memory: set[bytes] = field(default_factory=set)
    """Of these, what the gateway remembers."""
    bucket: set[bytes] = field(default_factory=set)
    """Of these, what every gateway can read while the bus is there."""
    said: int = 0

    def act(self, op: Op) -> bool:
        """Whether a request follows."""
        kind, n = op
        self.said += 1
        if kind == "say":
            self.history += [{"role": "assistant", "content": f"Logged {n}."}, user(self.said * 41 + n)]
        elif kind == "work":
            self.history += work(self.said * 41 + n)
        elif kind in ("fork", "edit"):
            asked = [i for i, m in enumerate(self.history) if m["role"] == "user"]
            place = asked[-1 - n % min(len(asked), 6)]
            self.history = [*self.history[:place], user(self.said * 41 + n)]
        elif kind == "restart":
            self.pipeline.restart()
            self.memory = set()
        elif kind == "wait":
            self.pipeline.now += self.pipeline.settings.assembly_ttl_s * (n % 3)
        elif kind == "break":
            self.pipeline.bus.assembler_down = n % 3 == 0
            self.pipeline.bus.store.down = n % 3 == 1
            self.pipeline.state.down = n % 3 == 2
        elif kind == "mend":
            self.pipeline.bus.assembler_down = False
            self.pipeline.bus.store.down = self.pipeline.state.down = False
        return kind in ("say", "work", "fork", "edit", "retry")

    def key(self, length: int) -> bytes:
        return orjson.dumps(self.history[:length])

    def longest(self) -> bytes | None:
        known = self.memory if self.pipeline.state.down else self.memory | self.bucket
        return next((key for n in range(len(self.history), 1, -1) if (key := self.key(n)) in known), None)

    async def send(self) -> None:
        expected = self.longest()
        prepared = await self.pipeline.ask(self.history)
        prompt = [orjson.dumps(m) for m in sent(prepared)]
        if prepared.tip is None:
            assert prepared.mode == "passthrough"
            return
        self.judge(prepared, prompt, expected)
        key = self.key(len(self.history))
        self.prompts[key] = prompt
        self.memory |= {key} if expected is None else {key, expected}
        if self.pipeline.request(self.history).tip_key.hex() in self.pipeline.state.values:
            self.bucket.add(key)

    def judge(self, prepared: Prepared, prompt: list[bytes], expected: bytes | None) -> None:
        if expected is None:
            return
        parent, plan, last = prepared.parent, prepared.plan, self.prompts[expected]
        assert parent is not None
        assert parent.length == len(orjson.loads(expected)) - 1
        action = plan.action if plan else None
        if prepared.shrunk:
            return
        if action in (None, "reuse", "patch"):
            assert action is None or prompt[: len(last)] == last
            assert prepared.prefix is not None
            assert {"evict", "expire", "rebuild", "cut", "cold", "head"}.isdisjoint(prepared.prefix.parts)
            return
        # What moves is the history; the head stays, and what did not move.
        assert prompt[0] == last[0]
        if action == "rebuild" and parent.degraded:
            assert prepared.layout.window_start == parent.layout.window_start
        if action in ("evict", "cut"):
            assert prepared.layout.window_start > parent.layout.window_start or parent.layout.patches


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
@given(ops, st.sampled_from(["patch", "rebuild"]))
async def test_the_next_prompt_begins_with_the_longest_that_the_rules_allow(
    script: list[Op], mode: str
) -> None:
    client = Client(Pipeline(2048, drift_mode=mode))
    told = [*map(fact, range(FACTS)), *(user(3 * n + 1) for n in range(12))]
    client.history += [m for one in told for m in (one, {"role": "assistant", "content": "Aye."})]
    client.history.append(user(1))
    await client.send()
    for op in script:
        if client.act(op):
            await client.send()
