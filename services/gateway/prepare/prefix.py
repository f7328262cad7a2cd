"""The prefix account: how much of a prompt the engine has read before, and why not the rest.

Compared is what is rendered (head, block, messages, cuts, patches) with what was rendered for the tip that
the prompt inherits from. Both are layouts over the same messages, so nothing is rendered again; within the
first message that differs, the excerpts that both begin with count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import numpy as np

from services.gateway.prepare.measure import Measured
from services.gateway.prepare.source import body_source, head_source
from services.gateway.reading.request import Request
from shared.conversation.history import RoleCode
from shared.prompt.place import anchor_of, excerpt_tokens, tokens_after_cuts
from shared.prompt.plan import Cut, Layout
from shared.prompt.state import Tip
from shared.telemetry import PREFIX_SHARE, PREFIX_TOKENS


@dataclass(frozen=True)
class PrefixAccount:
    """Tokens; `shared` and `parts` sum to `tokens`, which is the best count of the prompt that there is."""

    tokens: int
    shared: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    """What was not shared, by reason: `new` (the client's new messages), `patch`; the action that changed
    the prompt (`cold`, `evict`, `expire`, `rebuild`, `cut`); `head` and `history` (the client changed
    them); `shrunk` and `refused` (it had to give way); `whole` (all of the history fits again)."""

    exact: bool = False
    """`shared` is the engine's own count of the prompt before, of which nothing changed."""

    @property
    def share(self) -> float:
        return self.shared / max(self.tokens, 1)

    @property
    def reason(self) -> str:
        """Why the prompt is not the one before and the client's new messages; `new` where it is."""
        return next((name for name in self.parts if name != "new"), "new")

    @property
    def header(self) -> str:
        """Structured field (RFC 8941): `shared=7710, tokens=8102, reason=new`."""
        return f"shared={self.shared}, tokens={self.tokens}, reason={self.reason}"

    def as_told(self, tokens: int) -> "PrefixAccount":
        """The same once the engine told how long the prompt is; what was estimated keeps its proportion."""
        known = self.shared if self.exact and self.shared < tokens else 0
        scale = (tokens - known) / max(self.tokens - known, 1)
        shared = known or int(self.shared * scale)
        left = tokens - shared
        parts = {name: min(int(part * scale), left) for name, part in self.parts.items()}
        last = next(reversed(parts), None)
        if last is not None:
            parts[last] += left - sum(parts.values())
        return PrefixAccount(tokens, shared, parts, self.exact)

    def observe(self) -> None:
        PREFIX_SHARE.observe(self.share)
        PREFIX_TOKENS.labels(reason="shared").inc(self.shared)
        for reason, tokens in self.parts.items():
            PREFIX_TOKENS.labels(reason=reason).inc(tokens)


def account(
    request: Request, tip: Tip | None, layout: Layout, measured: Measured, changed_by: str
) -> PrefixAccount:
    """`changed_by` names what changed the prompt, should it have changed; two digests of the messages tell
    whether the client did. Where it changed bytes within the history nobody knows where: then only the
    head counts as shared."""
    tokens = measured.tokens
    if tip is None:
        return PrefixAccount(tokens, 0, {"refused" if changed_by == "refused" else "cold": tokens})
    scale, exact, why = tokens / max(measured.bound, 1), False, changed_by
    added = tuple(patch for patch in layout.patches if patch not in tip.layout.patches)
    patched = excerpt_tokens(Layout(patches=added), scale)
    new = int(int(request.shape.tokens[tip.length :].sum()) * scale)
    if head_source(request) != tip.head:
        shared, why = 0, "head"
    elif body_source(request, tip.length) != tip.source:
        shared, why = int(request.head_tokens * scale), "history"
    else:
        begun, whole = _begun(request, tip, layout)
        if whole:
            exact, why = tip.exact, "patch" if added else ""
            shared = tip.tokens if exact else max(tokens - new - patched, 0)
        else:
            shared = int((request.head_tokens + begun) * scale)
    shared = min(shared, tokens)
    left = tokens - shared
    # The client's messages are new whatever else happened; beside a patch what is left over is theirs.
    new = max(left - patched, 0) if why in ("", "patch") else min(new, left)
    parts = {why: left - new} if why else {}
    name = "history" if _was_rewritten(request, tip.length) else "new"
    return PrefixAccount(tokens, shared, parts | {name: parts.get(name, 0) + new}, exact)


def _was_rewritten(request: Request, length: int) -> bool:
    """The assistant took the word twice since: a request in between was of another history."""
    assistant = request.shape.roles[length - 1 :] == RoleCode.ASSISTANT
    return int(np.count_nonzero(assistant[1:] & ~assistant[:-1])) > 1


def _begun(request: Request, tip: Tip, layout: Layout) -> tuple[int, bool]:
    """Upper-bound tokens after the head that both prompts begin with; whether that is all of the tip's."""
    roles = request.shape.roles
    before = _Standing(tip.layout, anchor_of(roles, tip.layout))
    after = _Standing(layout, anchor_of(roles, layout))
    quoted, same = _common(before.lead, after.lead)
    common, whole = _common_positions(tip, layout) if same else ([], False)
    positions = np.array(common, dtype=np.int64)
    for position in sorted((before.edited | after.edited).intersection(common)):
        begun, same = _common(before.quoted(position), after.quoted(position))
        quoted += begun
        if not same or before.cuts(position) != after.cuts(position):
            positions, whole = positions[positions < position], False
            break
    tokens = tokens_after_cuts(request.shape.history(1.0), layout.cuts, 1.0)
    return quoted + int(tokens[positions].sum()), whole


def _common_positions(tip: Tip, layout: Layout) -> tuple[Sequence[int], bool]:
    """Of the messages that stand in the prompts: those that both begin with; whether these are all of the
    tip's."""
    old = tip.layout
    if (old.pinned, old.window_start) == (layout.pinned, layout.window_start):
        return [*old.pinned, *range(old.window_start, tip.length)], True
    first, now = (*old.pinned, old.window_start)[0], (*layout.pinned, layout.window_start)[0]
    return [first] if first == now else [], False


def _common(old: Layout, new: Layout) -> tuple[int, bool]:
    """Tokens that what two layouts quote begins with; whether it is the same."""
    if old == new:
        return excerpt_tokens(old, 1.0), True
    pairs = zip(old.quoted, new.quoted, strict=False)
    return sum(a.tokens for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)), False


@dataclass(frozen=True)
class _Standing:
    """What a layout does to which message."""

    layout: Layout
    anchor: int | None

    @property
    def lead(self) -> Layout:
        return Layout(block=self.layout.block if self.anchor is None else ())

    @property
    def edited(self) -> set[int]:
        anchors = set() if self.anchor is None else {self.anchor}
        return anchors.union(
            (p.position for p in self.layout.patches), (c.position for c in self.layout.cuts)
        )

    def quoted(self, position: int) -> Layout:
        block = self.layout.block if position == self.anchor else ()
        return Layout(block=block, patches=tuple(p for p in self.layout.patches if p.position == position))

    def cuts(self, position: int) -> tuple[Cut, ...]:
        return tuple(c for c in self.layout.cuts if c.position == position)
