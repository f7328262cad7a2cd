"""The shape of a small-talk topic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ENGLISH_NAMES = "Ines|Tomas|Yuki|Farid|Greta|Olu|Bea|Stefan|Noor|Caleb|Wren|Mirela"
CHINESE_NAMES = "小周|老陈|阿敏|思远|佳佳|大刘|文静|子涵|阿宝|若彤"


@dataclass(frozen=True)
class Topic:
    """Sentences with `{slots}`; the values of a slot are separated by `|`.

    A slot in `bound` keeps its value for a whole thread, the others vary. `{n}`, `{time}`, `{day}`
    and `{date}` are filled in by the weaver.
    """

    language: Literal["en", "zh"]
    user: tuple[str, ...]
    assistant: tuple[str, ...]
    slots: Mapping[str, str]
    bound: tuple[str, ...]
