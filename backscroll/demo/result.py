"""What a play came to."""

from dataclasses import dataclass, field

from backscroll.demo.client import Reply
from backscroll.demo.facts import Question


@dataclass(frozen=True)
class Answered:
    question: Question
    reply: Reply

    @property
    def right(self) -> bool | None:
        """None where the question is not judged."""
        if not self.question.expected:
            return None
        return self.reply.ok and all(part in self.reply.text for part in self.question.expected)


@dataclass(frozen=True)
class Refused:
    """A request that got no answer. `messages` is the length of its history."""

    messages: int
    status: int
    error: str


@dataclass
class DemoResult:
    """`window` and `conversation_tokens` in the demo engine's tokens; `window` 0 where unknown."""

    name: str
    window: int
    conversation_tokens: int
    requests: int = 0
    seconds: float = 0.0
    modes: dict[str, int] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)

    @property
    def judged(self) -> list[Answered]:
        return [a for a in self.answered if a.right is not None]

    @property
    def right(self) -> int:
        return sum(a.right is True for a in self.answered)

    @property
    def ok(self) -> bool:
        """Nothing was refused and no judged question failed."""
        return not self.refused and self.right == len(self.judged)

    @property
    def exit_code(self) -> int:
        return 0 if self.ok else 1

    def note(self, messages: int, reply: Reply) -> None:
        self.requests += 1
        self.modes[reply.mode or "-"] = self.modes.get(reply.mode or "-", 0) + 1
        if not reply.ok:
            self.refused.append(Refused(messages, reply.status, reply.error or ""))
