"""Background text without any data: sentences made from a seed, in English and in Chinese.

Hardly a sentence comes twice, and none says anything about what a suite hides among them.
"""

import random
from collections.abc import Mapping, Sequence

EN = {
    "who": "The harbour master|A retired surveyor|Our neighbour|The younger cook|An old printer|"
    "The night clerk|A travelling violinist|The gardener|Her cousin|The ferry crew|"
    "A visiting botanist|The choir|The baker|A patient teacher|The blacksmith|The village council|"
    "Two students|The lighthouse keeper|A tailor|The miller",
    "did": "repaired|described|carried|painted|counted|borrowed|praised|forgot|measured|hid|polished|sold|"
    "drew|compared|washed|collected|weighed|labelled|admired|examined|wrapped|sorted|mended|lent out",
    "how": "wooden|rusty|enormous|pale|borrowed|heavy|folded|striped|narrow|antique|damp|silver|crooked|"
    "warm|half-finished|fragile|unusual|quiet|bright|dusty",
    "what": "ladders|maps|kettles|umbrellas|letters|bicycles|curtains|barrels|clocks|notebooks|lanterns|"
    "boots|baskets|violins|ropes|windows|coats|spoons|pictures|tables|chimneys|stamps|seeds|bells",
    "where": "behind the mill|near the old bridge|at the edge of the forest|beside the railway|"
    "under the arcade|in the upper valley|along the canal|on the second floor|by the southern gate|"
    "across the square|next to the chapel|in a shed|at the market|on the island|below the castle",
    "when": "before the rain came|in early spring|late one evening|during the fair|after the harvest|"
    "while the others slept|on a foggy morning|at the end of the month|when the road was closed|"
    "in that dry year|as the tide went out|shortly after lunch",
    "why": "because nobody else had time|to please an aunt|although it was forbidden|for a small fee|"
    "out of habit|so that the children could see it|without telling anybody|as a favour|"
    "since the weather allowed it|for fun",
}
ZH = {
    "who": "码头的管理员|退休的测量员|隔壁的邻居|年轻的厨师|老印刷工|夜班的店员|流浪的琴师|园丁|她的表姐|"
    "渡船上的船员|来访的植物学家|合唱团|面包师|耐心的老师|铁匠|村委会|两个学生|守灯塔的人|裁缝|磨坊主",
    "did": "修好了|描述了|搬走了|粉刷了|清点了|借来了|称赞了|忘记了|测量了|藏起了|擦亮了|卖掉了|画下了|"
    "比较了|洗干净了|收集了|称了称|贴好了|欣赏了|检查了",
    "how": "木头的|生锈的|巨大的|浅色的|借来的|沉重的|折叠的|条纹的|狭窄的|古老的|潮湿的|银色的|弯曲的|"
    "暖和的|半成品的|易碎的|少见的|安静的|明亮的|落灰的",
    "what": "梯子|地图|水壶|雨伞|信件|自行车|窗帘|木桶|钟表|笔记本|灯盏|靴子|篮子|提琴|绳索|窗户|大衣|勺子|"
    "图画|桌子|烟囱|邮票|种子|铃铛",
    "where": "在磨坊后面|在老桥旁边|在森林边上|在铁路旁|在拱廊下|在上游的山谷里|沿着运河|在二楼|在南门口|"
    "在广场对面|在教堂隔壁|在棚子里|在集市上|在岛上|在城堡下面",
    "when": "下雨之前|初春的时候|一天深夜|庙会期间|秋收以后|别人都睡着的时候|一个有雾的早晨|月底|封路的那天|"
    "干旱的那一年|退潮的时候|午饭后不久",
    "why": "因为别人都没空|为了让姑妈高兴|虽然那是不允许的|只收了一点钱|出于习惯|好让孩子们看一看|"
    "没有告诉任何人|算是帮忙|因为天气允许|只是为了好玩",
}
WORDS = {
    language: {slot: words.split("|") for slot, words in slots.items()}
    for language, slots in (("en", EN), ("zh", ZH))
}
SHAPES = {
    "en": (
        "{who} {did} {count} {how} {what} {where}, {why}.",
        "{When}, {count} {how} {what} were seen {where}.",
        "{who} {did} the {how} {what} {when}, {why}.",
        "{Where}, {low} {did} {count} {what} {when}.",
        "Nobody knows why {low} {did} {count} {how} {what} {where}.",
    ),
    "zh": (
        "{who}{where}{did}{count}件{how}{what}，{why}。",
        "{when}，有人{where}看见{count}件{how}{what}。",
        "{when}，{who}{did}那些{how}{what}，{why}。",
        "{where}，{who}{when}{did}{count}件{what}。",
        "谁也不知道{who}为什么{where}{did}{count}件{how}{what}。",
    ),
}
CHARS = {"en": 700, "zh": 350}
"""Of a paragraph."""


def paragraph(language: str, rng: random.Random) -> str:
    words, between = WORDS[language], " " if language == "en" else ""
    sentences: list[str] = []
    while sum(map(len, sentences)) < CHARS[language]:
        sentences.append(_sentence(language, words, rng))
    return between.join(sentences)


def _sentence(language: str, words: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    drawn = {slot: rng.choice(choices) for slot, choices in words.items()}
    return rng.choice(SHAPES[language]).format(
        **drawn,
        count=rng.randint(2, 999),
        low=drawn["who"][0].lower() + drawn["who"][1:],
        When=drawn["when"].capitalize(),
        Where=drawn["where"].capitalize(),
    )
