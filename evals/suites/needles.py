"""Needles: five sentences, one at each depth of a long history, and a question on each."""

from collections.abc import Iterator, Sequence

from evals.case import Case, Question
from evals.suites.background import background, hidden

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
NEEDLES = {
    "en": (
        (
            "The best thing to do in San Francisco is to eat a sandwich in Dolores Park on a sunny day.",
            "What is the best thing to do in San Francisco?",
        ),
        (
            "The spare key of the observatory hangs behind the barometer.",
            "Where is the observatory's spare key?",
        ),
        ("Ticket QX-4417 was closed because a fuse had blown.", "Why was ticket QX-4417 closed?"),
        (
            "My grandmother learned to fly a glider at sixty-three.",
            "At what age did my grandmother learn to glide?",
        ),
        (
            "Dr. Okonkwo prescribed the blue inhaler, twice a day, until June.",
            "How often am I to take what Dr. Okonkwo prescribed?",
        ),
    ),
    "zh": (
        (
            "张小明最喜欢的实习公司是城南一家名叫“蓝鲸数据”的初创企业，工号是A-7391。",
            "张小明最喜欢的实习公司叫什么，他的工号是多少？",
        ),
        ("天文台的备用钥匙挂在气压计后面。", "天文台的备用钥匙放在哪里？"),
        ("工单QX-4417已经关闭，原因是保险丝烧断了。", "工单QX-4417为什么关闭？"),
        ("我奶奶六十三岁才学会开滑翔机。", "我奶奶是多大年纪学会开滑翔机的？"),
        ("欧医生开的蓝色吸入剂每天用两次，一直用到六月。", "欧医生开的吸入剂一天用几次？"),
    ),
}


def make(seed: int, language: str, sizes: Sequence[int]) -> Iterator[Case]:
    """A history of each size. Which needle lies how deep depends on the seed."""
    for size in sizes:
        texts = background(language, size, seed)
        needles = [NEEDLES[language][(seed + n) % len(DEPTHS)] for n in range(len(DEPTHS))]
        facts = [(f"N{n}", needle) for n, (needle, _) in enumerate(needles)]
        places = [round(depth * len(texts)) for depth in DEPTHS]
        questions = [
            Question(f"{language}-{size}-{n}", asked, frozenset({f"N{n}"}), f"{size // 1024}K at {depth:.0%}")
            for n, (depth, (_, asked)) in enumerate(zip(DEPTHS, needles, strict=True))
        ]
        yield Case(f"needles-{language}-{size}", hidden(texts, facts, places), questions)
