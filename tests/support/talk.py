"""A long talk with facts far back."""

from typing import Any

Message = dict[str, Any]

LOCK = "The combination of the bicycle lock is 9174."
LOCK_QUESTION = "What is the combination of the bicycle lock?"
BOILER = "The boiler repair has the invoice number RB-2209."
BOILER_QUESTION = "Which invoice number has the boiler repair?"


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def talk(name: str, pairs: int = 100) -> list[Message]:
    """Some 50 tokens a pair, ending in an answer; two names share no text but the facts.

    The facts stand in the third and the fifth pair.
    """
    messages: list[Message] = []
    for n in range(pairs):
        said = {2: LOCK, 4: BOILER}.get(n, f"In {name} shelf {n * 7919 % 9973} holds crate {n * 31} today.")
        messages += [user(said), assistant(f"Noted for {name}, entry {n * 37 % 4099} of the list is done.")]
    return messages
