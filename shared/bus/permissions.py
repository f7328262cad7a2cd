"""What each user of NATS may do: one user per service, which can do that service's work and nothing else.

A service publishes its own events, asks and answers its own methods, works on its own durables, and reads
replies under an inbox prefix of its own. `operator` is who provisions, and runs the commands: it may do
everything. `backscroll nats-users` writes this down as NATS configures it.
"""

import json
from dataclasses import dataclass
from typing import Any

from shared.bus.provisioning import CLAIMS, ERASED, KEYS, RPC_CLAIMS, TIPS
from shared.bus.subjects import (
    ASSEMBLE,
    CHUNKER,
    CHUNKS,
    DEADLETTERS,
    ERASE,
    MESSAGES,
    RECORDS,
    RERANK,
    RETRIEVE,
    STREAM_SUBJECTS,
    TERMS,
    VECTORS,
    Durable,
    token,
)

OPERATOR = "operator"
ANSWER_WITHIN = "10m"
"""As long as the most patient caller waits, who erases a session."""


@dataclass(frozen=True)
class Rights:
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    answers: bool = False
    """May reply, once, to what was asked of it; to inboxes otherwise nobody but their owner comes."""


def inbox(user: str) -> str:
    """Prefix of what is sent to this user alone."""
    return f"_INBOX.{user}"


def _works_on(*durables: Durable[Any]) -> tuple[str, ...]:
    return tuple(
        subject
        for d in durables
        for subject in (f"$JS.API.CONSUMER.MSG.NEXT.{d.stream}.{d.name}", f"$JS.ACK.{d.stream}.{d.name}.>")
    )


def _gets(bucket: str) -> tuple[str, ...]:
    return (f"$JS.API.DIRECT.GET.KV_{bucket}.>",)


def _consumers(stream: str) -> tuple[str, ...]:
    """To make some without a name, and to end them."""
    made = (f"$JS.API.CONSUMER.CREATE.{stream}", f"$JS.API.CONSUMER.CREATE.{stream}.>")
    return (*made, f"$JS.API.CONSUMER.DELETE.{stream}.*")


def _lists(stream: str) -> tuple[str, ...]:
    """By a consumer that is asked for the next messages (shared/bus/stored.py)."""
    return (*_consumers(stream), f"$JS.API.CONSUMER.MSG.NEXT.{stream}.*")


def _takes_claims(bucket: str) -> tuple[str, ...]:
    """By a consumer that the server feeds, in order; `$JS.FC` keeps its pace."""
    stream = f"OBJ_{bucket}"
    return (f"$JS.API.STREAM.MSG.GET.{stream}", *_consumers(stream), f"$JS.FC.{stream}.>")


def _claims(bucket: str) -> tuple[str, ...]:
    """Not to purge: the client does that when two put an object of one name at once, which here is one of the
    same content. Refused, it is published anew after some seconds, and found."""
    return (f"$O.{bucket}.C.>", f"$O.{bucket}.M.>", *_takes_claims(bucket))


ERAS = (f"$JS.API.STREAM.MSG.GET.KV_{ERASED}",)
"""Read where it is written: a replica that lags behind would let what was erased pass."""


def _deletes(*streams: str) -> tuple[str, ...]:
    """One message at a time, which overwrites it (shared/bus/sweep.py)."""
    return tuple(f"$JS.API.STREAM.MSG.{verb}.{s}" for s in streams for verb in ("GET", "DELETE"))


def _gives_up(service: str) -> str:
    return f"dl.v1.*.*.{token(service)}"


LOOKS = ("$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.*", "$JS.API.CONSUMER.INFO.*.*")
"""Every service looks at its start whether everything is as it expects."""

SERVICES = {
    "gateway": Rights(
        publish=(
            STREAM_SUBJECTS[MESSAGES],
            STREAM_SUBJECTS[RECORDS],
            ASSEMBLE.subject,
            ERASE.subject,
            *ERAS,
            # A record whose session was erased while it was published.
            *_deletes(RECORDS, f"OBJ_{CLAIMS}"),
            *_claims(CLAIMS),
            *_claims(RPC_CLAIMS),
            f"$KV.{TIPS}.>",
            *_gets(TIPS),
            *_lists(f"KV_{KEYS}"),
            # Records are found by their subjects and listed by their headers.
            *_lists(RECORDS),
        ),
        subscribe=(f"{inbox('gateway')}.>",),
    ),
    "chunker": Rights(
        publish=(
            STREAM_SUBJECTS[CHUNKS],
            _gives_up("chunker"),
            *_works_on(CHUNKER),
            *ERAS,
            *_deletes(MESSAGES, DEADLETTERS, f"OBJ_{CLAIMS}"),
            *_claims(CLAIMS),
        ),
        subscribe=(f"{inbox('chunker')}.>",),
    ),
    "embedder": Rights(
        publish=(
            _gives_up("embedder"),
            *_works_on(TERMS, VECTORS),
            *_claims(CLAIMS),
            # It erases sessions.
            *ERAS,
            f"$KV.{ERASED}.>",
            *_deletes(MESSAGES, CHUNKS, RECORDS, DEADLETTERS, f"OBJ_{CLAIMS}"),
            f"$KV.{TIPS}.>",
            *_lists(f"KV_{TIPS}"),
        ),
        subscribe=(f"{inbox('embedder')}.>", f"{ERASE.subject} {ERASE.name}"),
        answers=True,
    ),
    "retriever": Rights(
        publish=_claims(RPC_CLAIMS),
        subscribe=(
            f"{inbox('retriever')}.>",
            f"{RETRIEVE.subject} {RETRIEVE.name}",
            f"{RERANK.subject} {RERANK.name}",
        ),
        answers=True,
    ),
    "assembler": Rights(
        publish=(RETRIEVE.subject, RERANK.subject, *_claims(RPC_CLAIMS)),
        subscribe=(f"{inbox('assembler')}.>", f"{ASSEMBLE.subject} {ASSEMBLE.name}"),
        answers=True,
    ),
}


def permissions(user: str) -> dict[str, Any]:
    """As NATS writes them; a subscription is a subject, or a subject and its queue group."""
    if user == OPERATOR:
        return {"publish": {"allow": [">"]}, "subscribe": {"allow": [">"]}}
    rights = SERVICES[user]
    told: dict[str, Any] = {
        "publish": {"allow": [*LOOKS, *rights.publish]},
        "subscribe": {"allow": list(rights.subscribe)},
    }
    if rights.answers:
        told["allow_responses"] = {"max": 1, "expires": ANSWER_WITHIN}
    return told


def nats_users() -> str:
    """For the `authorization` of a NATS configuration. Passwords are variables of the server's environment;
    a value there is read as configuration too, so that it wants quotes of its own."""
    return "users = [\n" + "".join(map(_user, (*SERVICES, OPERATOR))) + "]\n"


def _user(name: str) -> str:
    told = json.dumps(permissions(name), indent=2).replace("\n", "\n    ")
    password = f"$NATS_{name.upper()}_PASSWORD"
    return f"  {{\n    user: {name}\n    password: {password}\n    permissions: {told}\n  }}\n"
