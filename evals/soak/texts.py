"""Texts of every kind that clients send, from a seed."""

import base64
import json
from random import Random

PROSE = (
    "the order was shipped to the second warehouse after a call about invoice QN-200 and nobody noticed "
    "that retry=2 stayed in config.yaml until line 27 failed with ECONNRESET on 2024-05-08 at noon while "
    "Maria asked for the blue boat and the committee agreed to postpone version 3.11 of the plan"
)
WORDS = PROSE.split()
HANZI = "退货政策返回仓库订单客户问题解决方案明天会议讨论预算报告数据模型上下文窗口检索记忆"
SIGNS = ["🙂", "👨‍👩‍👧", "🇩🇪", "e\u0301", "नमस्ते", "∑∂∞", "𠀀", "\u200b", "ﷺ", "</excerpts>", "<|im_end|>"]


def prose(random: Random, chars: int) -> str:
    lines: list[str] = []
    size = 0
    while size < chars:
        line = " ".join(random.choices(WORDS, k=random.randint(4, 18))) + "."
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)[:chars]


def hanzi(random: Random, chars: int) -> str:
    return "".join(random.choices(HANZI + "，。", k=chars))


def code(random: Random, chars: int) -> str:
    names = [w.strip(".") for w in random.choices(WORDS, k=8)]
    lines = [
        f"def step_{i}({random.choice(names)}, n={random.randint(0, 999)}):\n    return n * {i} + 0x{i:04x}\n"
        for i in range(chars // 40 + 1)
    ]
    return "".join(lines)[:chars]


def minified(random: Random, chars: int) -> str:
    rows = [
        {"id": random.getrandbits(48), "ok": random.random() < 0.5, "note": random.choice(WORDS)}
        for _ in range(chars // 45 + 1)
    ]
    return json.dumps(rows, separators=(",", ":"))[:chars]


def opaque(random: Random, chars: int) -> str:
    return "data: " + base64.b64encode(random.randbytes(chars * 3 // 4 + 1)).decode()[:chars]


def signs(random: Random, chars: int) -> str:
    return " ".join(random.choices([*SIGNS, *WORDS[:6]], k=chars // 4 + 1))[:chars]


KINDS = (prose, prose, prose, hanzi, code, minified, opaque, signs)


def text(random: Random, chars: int) -> str:
    """One kind, or several with a blank line between them; at least one character that is seen."""
    kinds = random.choices(KINDS, k=random.choice((1, 1, 1, 2, 3)))
    parts = [kind(random, max(chars // len(kinds), 1)) for kind in kinds]
    return "Q " + "\n\n".join(parts)
