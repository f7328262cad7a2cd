"""The facts said far back, and the questions asked much later."""

from dataclasses import dataclass

NOWHERE = ("cannot find", "找不到")
"""What an honest answer holds when the conversation never said it."""


@dataclass(frozen=True)
class Question:
    """Right when the answer holds every one of `expected`. Without any it is shown, not judged."""

    text: str
    expected: tuple[str, ...] = ()
    reference: str = ""
    """The answer that the file gives, for a reader to compare."""


@dataclass(frozen=True)
class Fact:
    """Said by the user in passing, acknowledged without being repeated."""

    said: str
    acknowledged: str
    question: Question


def _fact(said: str, acknowledged: str, question: str, *expected: str) -> Fact:
    return Fact(said, acknowledged, Question(question, expected))


FACTS = (
    _fact(
        "Before I forget: the combination of my locker at the climbing hall is 36-14-52.",
        "I will keep that in mind for your next visit.",
        "I am standing in front of my locker at the climbing hall. What was the combination?",
        "36-14-52",
    ),
    _fact(
        "张伟换座位了，新的工位号是C3-128，就在打印机旁边。",
        "知道了，以后找他就去那边。",
        "我要去找张伟，他的工位号是多少？",
        "C3-128",
    ),
    _fact(
        "Priya moved upstairs, so her new phone extension is 4471.",
        "Good to know, in case you need to reach her quickly.",
        "Which phone extension do I dial for Priya?",
        "4471",
    ),
    _fact(
        "We finally picked a restaurant for the farewell dinner: Osteria Lucano, a table for nine.",
        "Nice choice, they will enjoy it.",
        "Which restaurant did we pick for the farewell dinner?",
        "Osteria Lucano",
    ),
    _fact(
        "周年聚餐订好了，在城南的半坡小馆，晚上六点半开席。",
        "好，到时候提前出门。",
        "周年聚餐最后订在了哪家馆子？",
        "半坡小馆",
    ),
    _fact(
        "The thermostat in the hallway is a Heatwell T620, and it runs firmware 4.1.7-rc2 since yesterday.",
        "Then the odd schedule may be gone as well.",
        "Support wants to know which firmware the hallway thermostat runs. Which one is it?",
        "4.1.7-rc2",
    ),
    _fact(
        "女儿的钢琴考级改到五月十七日上午了。",
        "那还有时间再练几遍。",
        "女儿钢琴考级是哪一天来着？",
        "五月十七日",
    ),
    _fact(
        "My sister's flight from Lisbon lands on 14 March at 21:35.",
        "You will want to leave in good time for the airport.",
        "When does the flight of my sister from Lisbon land?",
        "21:35",
    ),
    _fact(
        "The spare key of the allotment shed hangs behind the green watering can.",
        "A good place, nobody looks there.",
        "Where did we hang the spare key of the allotment shed?",
        "green watering can",
    ),
    _fact(
        "会议室的投影仪型号是LX-840，固件要升到3.0.12才能无线投屏。",
        "明白，升级之前先备份设置。",
        "会议室投影仪的固件要升到哪个版本？",
        "3.0.12",
    ),
    _fact(
        "Dr. Okafor wants me to repeat the ferritin test in week 32.",
        "I hope the values are better by then.",
        "In which week am I supposed to repeat the ferritin test?",
        "week 32",
    ),
    _fact(
        "寄回老家的快递，地址写柳荫巷26号，收件人是二叔。",
        "好的，寄之前再核对一遍电话。",
        "快递要寄回老家，地址是哪里？",
        "柳荫巷26号",
    ),
    _fact(
        "The invoice number for the boiler repair is RB-2209-417, they asked me to quote it.",
        "Keep the letter as well, just in case.",
        "The plumber is on the phone: what is the invoice number of the boiler repair?",
        "RB-2209-417",
    ),
    _fact(
        "Grandma's plum cake takes 340 grams of flour and a pinch of cardamom.",
        "That sounds delicious.",
        "How many grams of flour go into grandma's plum cake?",
        "340",
    ),
    _fact(
        "妈妈的复查约在九号楼四层，大夫姓欧阳。",
        "希望一切顺利。",
        "妈妈的复查约在几号楼？",
        "九号楼",
    ),
    _fact(
        "The staging database moved to host pg-stage-07, port 6543.",
        "I would update the connection strings today.",
        "On which host is the staging database now?",
        "pg-stage-07",
    ),
    _fact(
        "林晓换了部门，分机号改成8806了。",
        "收到，通讯录也该更新了。",
        "林晓的分机号是多少？",
        "8806",
    ),
)

NEVER_SAID = (
    Question("What is the frame number of my bicycle?", NOWHERE[:1]),
    Question("我的护照什么时候到期？", NOWHERE[1:]),
)
"""Asked although nobody ever told: a wrong excerpt must not become an answer."""
