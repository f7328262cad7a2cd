"""Threads of small talk, different every time and the same for the same seed."""

from collections.abc import Mapping
from random import Random

from backscroll.demo.topics import CHINESE, ENGLISH, Topic

CHINESE_SHARE = 0.4
_ATTEMPTS = 40
_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
}
_MONTHS = ("January", "February", "April", "June", "July", "August", "October", "November")
_LEADS = {
    "en": ("For what it is worth: ", "In my view: ", "One more thing: ", "A small point: ", "My guess: "),
    "zh": ("另外，", "不过，", "还有，", "依我看，", "顺便说一句，"),
}


class Weaver:
    """Makes exchanges, each a user's text and an assistant's. No two sentences are the same."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._said: set[str] = set()

    def thread(self) -> list[tuple[str, str]]:
        """Two or three exchanges on one topic, in which no turn of phrase comes twice."""
        topics = CHINESE if self._random.random() < CHINESE_SHARE else ENGLISH
        topic = self._random.choice(topics)
        bound = {slot: self._random.choice(topic.slots[slot].split("|")) for slot in topic.bound}
        asking = self._random.sample(topic.user, len(topic.user))
        answering = self._random.sample(topic.assistant, len(topic.assistant))
        exchanges = []
        for _ in range(self._random.randint(2, 3)):
            asked = self._sentences(topic, asking, self._random.randint(1, 2), bound)
            answered = self._sentences(topic, answering, self._random.randint(2, 3), bound)
            if asked and answered:
                exchanges.append((_join(topic, asked), _join(topic, self._with_lead(topic, answered))))
        return exchanges

    def _sentences(self, topic: Topic, deck: list[str], count: int, bound: Mapping[str, str]) -> list[str]:
        said: list[str] = []
        while deck and len(said) < count:
            sentence = self._fresh(topic, deck.pop(), bound)
            if sentence is not None:
                said.append(sentence[0].upper() + sentence[1:])
        return said

    def _fresh(self, topic: Topic, template: str, bound: Mapping[str, str]) -> str | None:
        for _ in range(_ATTEMPTS):
            sentence = template.format_map(self._values(topic, bound))
            if sentence not in self._said:
                self._said.add(sentence)
                return sentence
        return None

    def _with_lead(self, topic: Topic, said: list[str]) -> list[str]:
        if self._random.random() < 0.3:
            said[-1] = self._random.choice(_LEADS[topic.language]) + said[-1]
        return said

    def _values(self, topic: Topic, bound: Mapping[str, str]) -> dict[str, str]:
        choice, randint = self._random.choice, self._random.randint
        day, month = randint(1, 28), randint(0, len(_MONTHS) - 1)
        return {
            **{slot: choice(values.split("|")) for slot, values in topic.slots.items()},
            "n": str(randint(3, 60)),
            "time": f"{randint(6, 20)}:{choice((0, 10, 15, 20, 30, 40, 45)):02}",
            "day": choice(_DAYS[topic.language]),
            "date": f"{day} {_MONTHS[month]}" if topic.language == "en" else f"{month + 1}月{day}日",
            **bound,
        }


def _join(topic: Topic, said: list[str]) -> str:
    return (" " if topic.language == "en" else "").join(said)
