"""A client with habits: it lets its conversation grow, and does to it what clients do."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from evals.soak.said import LIMITS, Call, DialectName, Said, body
from evals.soak.texts import prose, text

CHARS_PER_TOKEN = 3
KEPT_BY_COMPACTION = 4
HABITS = (
    "edit",
    "regenerate",
    "fork",
    "strip",
    "compact",
    "drop_oldest",
    "side_call",
    "rewrite",
    "retry",
    "clock",
)


@dataclass(frozen=True)
class Asked:
    """One request: its body, and what the client was about."""

    dialect: DialectName
    body: dict[str, Any]
    session: str
    about: str


class Client:
    """`window` in tokens; all that is random comes from the seed and the client's number."""

    def __init__(
        self, seed: int, number: int, window: int, model: str, dialects: tuple[DialectName, ...]
    ) -> None:
        self._random = random = Random(f"{seed}/{number}")
        self.dialect: DialectName = random.choice(dialects)
        self._number = number
        self._window = window
        self._model = model
        self._chars = window * CHARS_PER_TOKEN
        self._agent = random.random() < 0.4
        self._habits = random.sample(HABITS, k=random.randint(1, 4))
        self._tools = random.choice((0, 0, 2, 8) if window >= 12_288 else (0, 0, 1))
        self._calls = 0
        self._said: list[Said] = []
        self._begin()

    def requests(self) -> Iterator[Asked]:
        for _ in range(self._random.randint(4, 40)):
            if self._random.random() < 0.25:
                yield from self._by_habit(self._random.choice(self._habits))
            else:
                yield from self._turn()

    def _begin(self) -> None:
        random = self._random
        if random.random() < 0.7:
            # A fifth of the window in characters is most of it in tokens where the text is base64.
            share, kind = random.choice(((0.01, text), (0.05, text), (0.2, prose)))
            self._said.append(Said("system", kind(random, int(self._chars * share))))
        if random.random() < 0.1:
            self._said.append(Said("assistant", "Hello! How can I help?"))
        if random.random() < 0.3:
            # Imports a conversation that it had elsewhere.
            wanted = self._chars * random.choice((0.5, 1, 2, 5))
            while sum(len(s.text) for s in self._said) < wanted:
                self._user(self._length())
                if self._agent:
                    self._step()
                self._said.append(Said("assistant", text(random, self._length())))

    def _length(self) -> int:
        """Most messages are short; some are most of a window, a few are more than one."""
        share = self._random.choices((0.005, 0.03, 0.1, 0.4, 1.2, 2.5), weights=(30, 40, 20, 6, 3, 1))[0]
        return max(int(self._chars * share * self._random.random()), 2)

    def _user(self, chars: int) -> None:
        image = self._random.random() < 0.05 and self._window >= 8192
        self._said.append(Said("user", text(self._random, chars), image=image))

    def _step(self) -> None:
        random = self._random
        said = text(random, 60) if random.random() < 0.5 else ""
        calls = []
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            self._calls += 1
            calls.append(Call(f"call_{self._number}_{self._calls}", "tool_0", text(random, 30)))
        self._said.append(Said("assistant", said, calls=tuple(calls)))
        random.shuffle(calls)
        self._said += [Said("tool", text(random, self._length()), answers=c.id) for c in calls]

    def _turn(self) -> Iterator[Asked]:
        self._user(self._length())
        yield self._ask("asks")
        if self._agent:
            for _ in range(self._random.randint(0, 4)):
                self._step()
                if self._random.random() < 0.1:
                    self._said.append(Said("system", "Be brief."))
                yield self._ask("brings results")
        self._said.append(Said("assistant", text(self._random, self._length())))

    def _ask(self, about: str, said: list[Said] | None = None) -> Asked:
        random = self._random
        window = self._window
        limit = random.choice((None, 1, 16, 256, window // 8, window // 2, window - 1, window, 100_000))
        fields: dict[str, Any] = {"model": self._model, "stream": random.random() < 0.5}
        if limit is not None or self.dialect == "anthropic":
            fields[LIMITS[self.dialect]] = limit or 64
        told = body(self.dialect, said or self._said, self._tools)
        return Asked(self.dialect, fields | told, f"soak-{self._number}", about)

    def _by_habit(self, habit: str) -> Iterator[Asked]:
        users = [i for i, s in enumerate(self._said) if s.role == "user"]
        if not users:
            yield from self._turn()
            return
        match habit:
            case "side_call":
                title = f"A title for: {self._said[users[0]].text[: self._chars // 20]}"
                yield self._ask("wants a title", [Said("user", title)])
            case "retry":
                yield self._ask("tries again", self._said[: users[-1] + 1])
                yield self._ask("tries again", self._said[: users[-1] + 1])
            case "regenerate":
                del self._said[users[-1] + 1 :]
                yield self._ask("regenerates")
                self._said.append(Said("assistant", text(self._random, self._length())))
            case "edit" | "fork":
                whole = self._said
                self._said = whole[: self._random.choice(users)]
                yield from self._turn()
                if habit == "fork":
                    self._said = whole
            case _:
                self._said = [*self._changed(habit)]
                yield from self._turn()

    def _changed(self, habit: str) -> list[Said]:
        random, said = self._random, self._said
        head = [s for s in said[:1] if s.role == "system"]
        users = [i for i, s in enumerate(said) if s.role == "user"]
        match habit:
            case "strip":
                return [replace(s, text="[omitted]") if s.role == "tool" else s for s in said]
            case "rewrite":
                return [replace(s, as_parts=random.random() < 0.5) for s in said]
            case "clock":
                return [Said("system", f"It is {random.random()}."), *said[len(head) :]]
            case "compact":
                summary = Said("user", "Summary of what was said: " + text(random, self._chars // 20))
                kept = users[-KEPT_BY_COMPACTION:][0]
                return [*head, summary, Said("assistant", "I see."), *said[kept:]]
            case _:
                return [*head, *said[users[min(1, len(users) - 1)] :]]
