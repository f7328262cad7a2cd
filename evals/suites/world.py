"""Stories about who is where with what: the answer to a question follows from one, two or three facts."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

PEOPLE = ("Agnes", "Bruno", "Clara", "Dmitri", "Elena")
ROOMS = ("attic", "cellar", "pantry", "library", "greenhouse", "workshop", "veranda")
THINGS = ("telescope", "teapot", "ledger", "violin")
MOVES = ("{who} went to the {room}.", "{who} walked over to the {room}.", "{who} moved to the {room}.")
TAKES = ("{who} picked up the {thing} there.", "{who} took the {thing}.", "{who} got hold of the {thing}.")
LEAST, MOST = 30, 60
"""Facts of a story."""


@dataclass
class Story:
    facts: list[str] = field(default_factory=list)
    questions: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    """With the numbers of the facts that answer: one, two, three of them."""


def tell(rng: random.Random) -> Story:
    """Every fact of a kind has the form of all others of it: what answers is the newest of its chain."""
    while True:
        story = _told(rng)
        if story is not None:
            return story


def _told(rng: random.Random) -> Story | None:
    """None where the story gives no question of three facts."""
    story = Story()
    moves: dict[str, list[tuple[int, str]]] = {who: [] for who in PEOPLE}
    holder: dict[str, tuple[int, str]] = {}
    for number in range(rng.randint(LEAST, MOST)):
        who = rng.choice(PEOPLE)
        free = [thing for thing in THINGS if thing not in holder]
        if free and moves[who] and rng.random() < 0.15:
            thing = rng.choice(free)
            holder[thing] = (number, who)
            story.facts.append(rng.choice(TAKES).format(who=who, thing=thing))
        else:
            here = moves[who][-1][1] if moves[who] else ""
            room = rng.choice([room for room in ROOMS if room != here])
            moves[who].append((number, room))
            story.facts.append(rng.choice(MOVES).format(who=who, room=room))
    carried = [thing for thing, (took, who) in holder.items() if _tells_before(_after(moves[who], took))]
    still = [who for who in PEOPLE if moves[who]]
    if not carried:
        return None
    someone, thing = rng.choice(still), rng.choice(carried)
    took, who = holder[thing]
    (before, _), (last, room) = _after(moves[who], took)[-2:]
    story.questions = [
        (f"Where is {someone}?", (moves[someone][-1][0],)),
        (f"Where is the {thing}?", (took, last)),
        (f"Where was the {thing} before the {room}?", (took, before, last)),
    ]
    return story


def _tells_before(moves: Sequence[tuple[int, str]]) -> bool:
    """ "Before the attic" means one place only where the attic was entered once."""
    rooms = [room for _, room in moves]
    return len(rooms) >= 2 and rooms.count(rooms[-1]) == 1


def _after(moves: Sequence[tuple[int, str]], number: int) -> list[tuple[int, str]]:
    return [move for move in moves if move[0] > number]
