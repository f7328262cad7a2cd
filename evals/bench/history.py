"""A long conversation, English and Chinese, the same for the same seed."""

from random import Random

import orjson

from backscroll.demo.topics import CHINESE, ENGLISH

MODEL = "bench"
TOKENS_PER_BYTE = 1 / 4.5
"""What the stub engine counts, near what tokenizers make of such text."""
CHINESE_SHARE = 0.3
WORDS = 60
"""A message, on average: 450 bytes."""
RARE_WORDS = 15_000
"""Made up: a long conversation has far more words than the demo's topics."""
FACT_EVERY = 50
"""Messages from one planted fact to the next."""
SYSTEM = b'{"role":"system","content":"You are a patient assistant with a good memory."}'


def _vocabulary(random: Random) -> tuple[list[str], list[str]]:
    """English words and Chinese phrases, the frequent ones first: those of the demo's topics."""
    english = " ".join(text for t in ENGLISH for text in (*t.user, *t.assistant, *t.slots.values()))
    words = sorted({word for word in english.replace("|", " ").split() if "{" not in word})
    phrases = sorted({value for t in CHINESE for values in t.slots.values() for value in values.split("|")})
    random.shuffle(words)
    random.shuffle(phrases)
    characters = sorted({c for t in CHINESE for s in (*t.user, *t.assistant) for c in s if c >= "\u4e00"})
    words += [_name(random) for _ in range(RARE_WORDS)]
    phrases += ["".join(random.choices(characters, k=2)) for _ in range(RARE_WORDS)]
    return words, phrases


def _name(random: Random) -> str:
    return "".join(random.choice("bdfgklmnprstvz") + random.choice("aeiou") for _ in range(3))


def _pick(random: Random, words: list[str]) -> str:
    """By rank, as in any language: a few words are everywhere, most are rare."""
    return words[int(len(words) ** random.random()) - 1]


class History:
    """Raw messages, system first; grows by one exchange at a time."""

    def __init__(self, messages: int, seed: int = 7) -> None:
        self._random = Random(seed)
        self._english, self._chinese = _vocabulary(self._random)
        self.facts: dict[str, str] = {}
        """What is asked for, and what answers it, oldest first."""
        self.raw: list[bytes] = [SYSTEM]
        while len(self.raw) < messages:
            fact = self._fact() if len(self.raw) % FACT_EVERY < 2 else ""
            self.say("user", self._text() + fact)
            self.say("assistant", self._text())

    def say(self, role: str, text: str) -> None:
        self.raw.append(orjson.dumps({"role": role, "content": text}))

    def ask(self, question: str) -> None:
        """An answer to what was asked last, and the next question."""
        self.say("assistant", self._text())
        self.say("user", question)

    def follow_up(self) -> None:
        """The next question quotes the answer before it, so that nothing older is needed."""
        answer = self._text()
        self.say("assistant", answer)
        self.say("user", f"{answer[:60]} ({self._random.randrange(10**6)})")

    def body(self) -> bytes:
        return b'{"model":"%s","max_tokens":512,"messages":[%s]}' % (MODEL.encode(), b",".join(self.raw))

    def _fact(self) -> str:
        subject = f"{_name(self._random)} {_name(self._random)}".title()
        answer = f"{self._random.randrange(10**5):05d}-{_name(self._random).upper()}"
        self.facts[f"Which locker code belongs to {subject}?"] = answer
        return f" The locker code of {subject} is {answer}."

    def _text(self) -> str:
        words = self._random.randint(WORDS // 2, WORDS * 3 // 2)
        number = self._random.randrange(10**5)
        if self._random.random() < CHINESE_SHARE:
            phrases = [_pick(self._random, self._chinese) for _ in range(words)]
            return f"{'，'.join(phrases)}，编号{number}。"
        return " ".join(_pick(self._random, self._english) for _ in range(words)) + f" no. {number}."
