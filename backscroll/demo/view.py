"""The play as a person sees it: progress and the answer of the moment, then the account."""

from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from backscroll.demo.client import Reply
from backscroll.demo.facts import Question
from backscroll.demo.result import Answered, DemoResult

FILL_CELLS = 30
WHAT_HAPPENS = (
    "Every request carries the whole history so far, as a chat client sends it: first while it grows, "
    "then with a question each. The engine refuses what is longer than its window and answers only from "
    "what it was sent: an answer about the far past is there because Backscroll put it before the engine."
)
HOW_TO_READ = (
    "Right is also to find nothing where nothing was said. Cached: the share of the prompt that the engine "
    "knew from the one before; a question about another part of the past has its excerpts recalled anew."
)


class View:
    """A live region with the progress, the window's fill and the answer as it streams."""

    def __init__(self, console: Console, result: DemoResult, requests: int) -> None:
        self._console = console
        self._result = result
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        )
        self._task = self._progress.add_task("sending history", total=requests)
        self._state = Text()
        self._current = Text()
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        self._console.print(
            f"[bold]{escape(self._result.name)}[/bold]: {self._result.conversation_tokens:,} tokens of "
            f"conversation, a window of {self._result.window:,}"
        )
        self._console.print(f"[dim]{WHAT_HAPPENS}[/dim]")
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def sending(self, messages: int) -> None:
        self._progress.update(self._task, description=f"history of {messages:,} messages")

    def replied(self, reply: Reply) -> None:
        self._progress.advance(self._task)
        self._state = _state(reply, self._result.window)

    def asking(self, question: Question) -> None:
        self._progress.update(self._task, description="asking")
        self._current = Text(f"? {question.text}\n> ")

    def show(self, piece: str) -> None:
        self._current.append(piece, style="bold")

    def answered(self, answered: Answered) -> None:
        self.replied(answered.reply)
        self._console.print(f"[dim]?[/dim] {escape(answered.question.text)}")
        self._console.print(
            f"  {_mark(answered)} {escape(answered.reply.text or answered.reply.error or '')}"
        )
        self._current = Text()

    def _render(self) -> Group:
        return Group(self._current, self._state, self._progress)


def print_summary(console: Console, result: DemoResult) -> None:
    """The table of questions, where there were any, and the account of the whole play."""
    if result.answered:
        console.print(_table(result))
        console.print(f"[dim]{HOW_TO_READ}[/dim]")
    windows = f" = {result.conversation_tokens / result.window:.1f} windows" if result.window else ""
    modes = ", ".join(f"{escape(mode)} {count}" for mode, count in sorted(result.modes.items()))
    console.print(f"Conversation  {result.conversation_tokens:,} tokens{windows} of {result.window:,}")
    console.print(f"Requests      {result.requests} in {result.seconds:.0f} s ({modes})")
    console.print(f"Refused       {len(result.refused)}")
    if result.judged:
        console.print(f"Answered      {result.right} of {len(result.judged)}")
    for refused in result.refused[:5]:
        console.print(f"[red]at {refused.messages} messages, {refused.status}: {escape(refused.error)}[/red]")


def _table(result: DemoResult) -> Table:
    table = Table(title="What was asked at the end", show_lines=False)
    table.add_column("Question", ratio=3)
    table.add_column("Answer", ratio=4)
    table.add_column("Mode")
    table.add_column("Prompt / window", justify="right")
    table.add_column("Cached", justify="right")
    table.add_column("Right")
    for answered in result.answered:
        reply = answered.reply
        text = escape(reply.text or reply.error or "")
        if answered.question.reference:
            text += f"\n[dim]({escape(answered.question.reference)})[/dim]"
        table.add_row(
            escape(answered.question.text),
            text,
            escape(" ".join(filter(None, (reply.mode or "-", reply.degraded)))),
            f"{reply.prompt_tokens:,} / {result.window:,}",
            f"{reply.cached_share:.0%}",
            _mark(answered),
        )
    return table


def _state(reply: Reply, window: int) -> Text:
    filled = min(FILL_CELLS, round(FILL_CELLS * reply.prompt_tokens / window)) if window else 0
    parts = [
        f"window {'█' * filled}{'░' * (FILL_CELLS - filled)} {reply.prompt_tokens:,}/{window:,}",
        f"cached {reply.cached_share:.0%}",
        *(f"{name} {value}" for name, value in _named_headers(reply) if value),
    ]
    return Text("  ".join(parts), style="cyan")


def _named_headers(reply: Reply) -> tuple[tuple[str, str], ...]:
    return (
        ("mode", reply.mode),
        ("degraded", reply.degraded),
        ("session", reply.session),
        ("record", reply.record),
    )


def _mark(answered: Answered) -> str:
    if answered.right is None:
        return "[dim]·[/dim]" if answered.reply.ok else "[red]✗[/red]"
    return "[green]✓[/green]" if answered.right else "[red]✗[/red]"
