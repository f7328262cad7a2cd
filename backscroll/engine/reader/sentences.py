"""Texts to sentences, and which of them ask rather than say."""

import re
from typing import NamedTuple

_BOUNDARY = re.compile(
    r"(?<=[。！？；])|(?<=[.!?])(?<!Dr\.)(?<!Mr\.)(?<!Ms\.)(?<!Mrs\.)(?<!St\.)(?<!No\.)[\"'”)]?\s+|\n+"
)
_LEAD = re.compile(
    r"^(?:\s|[-*>#|•]|\[[^\]]*\]|(?:User|Assistant|Tool|用户|助手|工具)\s*[:：])+", re.IGNORECASE
)
_LABEL_LINE = re.compile(r"^(?:\[[^\]\n]*\]|-{2,}.*-{2,}|</?\w+>)$", re.MULTILINE)
"""A line in brackets, between dashes, or a tag: it says what follows, and is no answer itself."""
_QUESTION_END = re.compile(r"[?？][\"'”’)）\s]*$")
_ENGLISH_ASK = re.compile(
    r"^(?:(?:and|so|ok|okay|hey|sorry|please|also|one more|quick question)[,:]?\s+)*"
    r"(?:what|which|who|whom|whose|when|where|why|how|remind me|tell me|do you (?:know|remember|recall)|"
    r"can you (?:tell|remind|find|look)|could you (?:tell|remind|find|look))\b",
    re.IGNORECASE,
)
_CHINESE_ASK = re.compile(
    r"什么|多少|哪|谁|怎么|如何|几(?:号|点|楼|个|位|月|时|路)|吗$|呢$|告诉我|提醒我|还记得"
)
_TERMINAL = "。.！! "


def sentences(text: str) -> list[str]:
    """Non-empty sentences in order, without labels, list marks and speaker names."""
    return [
        clean for raw in _BOUNDARY.split(_LABEL_LINE.sub("", text)) if (clean := _LEAD.sub("", raw).strip())
    ]


def asks(sentence: str) -> bool:
    """A question, or a request that is one: `Remind me what ...`, `告诉我……`."""
    if _QUESTION_END.search(sentence) or _ENGLISH_ASK.match(sentence):
        return True
    return len(sentence) < 60 and bool(_CHINESE_ASK.search(sentence.rstrip(_TERMINAL)))


class Asked(NamedTuple):
    """What a message asks, what it says in the same line, and the text above that line."""

    question: str
    beside: str
    above: str


def split_question(text: str) -> Asked | None:
    """None: the message asks nothing.

    Only the last line asks: what stands above it may be excerpts, with questions of their own.
    """
    above, _, last_line = text.rstrip().rpartition("\n")
    said = sentences(last_line)
    asked = [s for s in said if asks(s)]
    if not asked:
        return None
    return Asked(" ".join(asked), "\n".join(s for s in said if s not in asked), above)
