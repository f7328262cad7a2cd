"""Seven facts of one form, scattered over a history: the subject decides, since all words else are alike."""

import random
from collections.abc import Iterator

from evals.case import Case, Question
from evals.suites.background import anywhere, background, hidden

FACTS = 7
NAMES = {
    "en": (
        *("Falcon", "Orchid", "Granite", "Harbor", "Juniper", "Kestrel"),
        *("Lantern", "Meadow", "Nimbus", "Onyx", "Pebble", "Quartz"),
    ),
    "zh": ("猎鹰", "兰花", "花岗", "港湾", "杜松", "红隼", "灯笼", "草甸", "雨云", "玛瑙", "鹅卵", "石英"),
}
FORMS = {
    "en": (
        "Note for later: the staging server of project {name} listens on port {port}.",
        "Which port does the staging server of project {name} use?",
    ),
    "zh": ("记一下：{name}项目的预发布服务器监听端口是{port}。", "{name}项目的预发布服务器用的是哪个端口？"),
}


def make(seed: int, language: str, size: int, cases: int) -> Iterator[Case]:
    """`size`: tokens of each history."""
    told, asked = FORMS[language]
    for number in range(cases):
        rng = random.Random(f"{seed} {number}")
        texts = background(language, size, seed + number)
        names = rng.sample(NAMES[language], FACTS)
        facts = [
            (f"F{n}", told.format(name=name, port=rng.randint(2000, 9999))) for n, name in enumerate(names)
        ]
        questions = [
            Question(f"{language}-{number}-{n}", asked.format(name=name), frozenset({f"F{n}"}))
            for n, name in enumerate(names)
        ]
        pieces = hidden(texts, facts, anywhere(FACTS, len(texts), rng))
        yield Case(f"scattered-{language}-{number}", pieces, questions)
