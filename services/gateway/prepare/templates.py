"""What an engine's chat template demands of the messages, where it is set to demand more than usual.

Applied to what is sent, never to what is stored or addressed. A rule looks only at a message and its
neighbours, so what a longer conversation sends begins with what the shorter one sent.
"""

import hashlib
import string
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from services.gateway.prepare.merging import BETWEEN, SYSTEM_MARK, Value, joined, marked, merged, named
from services.gateway.reading.body import load
from services.gateway.reading.request import Request
from shared.tokens.estimate import upper_bound

OPENING = "[The conversation begins.]"
"""Said by the user where the assistant spoke first: these templates want the user to begin."""
CONTINUATION = "..."
"""Said by the assistant where a user took the word after a tool's result, before an answer."""
HEAD_ROLES = ("system", "developer")
TURN_ROLES = ("user", "assistant")
RESULT_ROLES = ("tool", "function")
ID_ALPHABET = string.digits + string.ascii_letters
MISTRAL_ID_CHARS = 9


@dataclass(frozen=True)
class Template:
    """The settings of an engine's template."""

    strict_alternation: bool = False
    """One system message, first; then user and assistant in turns, the user to begin."""
    developer_role: bool = True
    """It knows the role; else such messages are sent as `system`."""
    tool_ids: Literal["any", "mistral"] = "any"
    """Mistral's are nine letters or digits."""


LENIENT = Template()


@dataclass(frozen=True)
class Conformed:
    messages: list[bytes]
    """The very list that was given, where no rule touched a message."""
    added: int = 0
    """Upper bound of what the rules put in, tokens."""


def conform(messages: list[bytes], template: Template, overhead: int) -> Conformed:
    """Chat messages as the template takes them; a message that no rule touches keeps its bytes.

    `overhead` is the bound of what one message costs beside its text.
    """
    if template == LENIENT:
        return Conformed(messages)
    line = _Line(overhead)
    for raw in messages:
        value: Any = load(raw, "messages")
        changed = _renamed(value, template)
        line.kept.append((changed, raw if changed == value else None))
    if template.strict_alternation:
        line = line.alternating()
    sent = [orjson.dumps(value) if raw is None else raw for value, raw in line.kept]
    return Conformed(messages if sent == messages else sent, line.added)


def conformed(request: Request, messages: list[bytes], template: Template) -> Conformed:
    """As `conform`, of a request in the dialect that these templates are about."""
    if request.dialect.NAME != "chat":
        return Conformed(messages)
    return conform(messages, template, request.reader.weights.overhead)


def mistral_id(client_id: str) -> str:
    """Always the same for one id; an id of nine letters or digits stays."""
    if len(client_id) == MISTRAL_ID_CHARS and all(c in ID_ALPHABET for c in client_id):
        return client_id
    number = int.from_bytes(hashlib.blake2b(client_id.encode("utf-8", "replace"), digest_size=16).digest())
    digits = []
    for _ in range(MISTRAL_ID_CHARS):
        number, digit = divmod(number, len(ID_ALPHABET))
        digits.append(ID_ALPHABET[digit])
    return "".join(digits)


def _renamed(value: Value, template: Template) -> Value:
    """Roles, ids and empty contents; nothing here looks at other messages."""
    changed = dict(value)
    if value["role"] == "developer" and not template.developer_role:
        changed["role"] = "system"
    if template.tool_ids == "mistral":
        if isinstance(value.get("tool_call_id"), str):
            changed["tool_call_id"] = mistral_id(value["tool_call_id"])
        if value.get("tool_calls"):
            changed["tool_calls"] = [{**c, "id": mistral_id(c.get("id", ""))} for c in value["tool_calls"]]
    if template.strict_alternation and not _may_be_null(value):
        changed["content"] = ""
    return changed


def _may_be_null(value: Value) -> bool:
    return value.get("content") is not None or bool(value.get("tool_calls") or value.get("function_call"))


class _Line:
    """The messages under way, each with its raw bytes while nothing changed it."""

    def __init__(self, overhead: int) -> None:
        self.kept: list[tuple[Value, bytes | None]] = []
        self.added = 0
        self._overhead = overhead

    def alternating(self) -> "_Line":
        done = _Line(self._overhead)
        late: list[Value] = []
        for value, raw in self.kept:
            role = value["role"]
            if role in HEAD_ROLES:
                if not done.kept or done.kept[-1][0]["role"] in HEAD_ROLES:
                    done.take(value, raw)
                else:
                    late.append(value)
                continue
            if role == "user":
                for system in late:
                    done.take(done.folded(system), None)
                late = []
            elif role == "assistant":
                done.settle(late)
                late = []
            # Nothing stands between a call and its results: what is late waits for the last of them.
            done.take(value, raw)
        done.settle(late)
        return done

    def folded(self, system: Value) -> Value:
        self._charge(SYSTEM_MARK + BETWEEN)
        return {"role": "user", "content": marked(system.get("content"))}

    def settle(self, late: list[Value]) -> None:
        """System messages that no user's message follows: they go to the end of what stands before them."""
        for system in late:
            last = self.kept[-1][0]
            if last["role"] in RESULT_ROLES:
                content = joined(last.get("content"), self.folded(system)["content"])
                self.kept[-1] = ({**last, "content": content}, None)
            else:
                self.take(self.folded(system), None)

    def take(self, value: Value, raw: bytes | None) -> None:
        role = value["role"]
        last = self.kept[-1][0] if self.kept else None
        before = last["role"] if last else None
        head = role in HEAD_ROLES
        if last and ((before == role and role in TURN_ROLES) or (head and before in HEAD_ROLES)):
            self._join(last, value)
            return
        if not head and before in (None, *HEAD_ROLES) and role != "user":
            self._insert("user", OPENING)
        elif before in RESULT_ROLES and role == "user":
            self._insert("assistant", CONTINUATION)
        self.kept.append((value, raw))

    def _join(self, last: Value, value: Value) -> None:
        if last.get("name") != value.get("name"):
            self._charge(f"{last.get('name')}: {value.get('name')}: ")
            last, value = named(last), named(value)
        self._charge(BETWEEN)
        self.kept[-1] = (merged(last, value), None)

    def _insert(self, role: str, text: str) -> None:
        self._charge(text)
        self.added += self._overhead
        self.kept.append(({"role": role, "content": text}, None))

    def _charge(self, text: str) -> None:
        self.added += upper_bound(text)
