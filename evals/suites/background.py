"""What facts are hidden in: essays and articles of the evaluation data, and made text where they end.

One history of one length has always the same paragraphs, so that they are embedded once for all cases.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from backscroll.engine.tokens import shared_encoder
from evals.case import Piece
from evals.data import NoData, data_root
from evals.suites.made import CHARS, paragraph

MESSAGE_TOKENS = 5
"""Of the chat template."""
SENTENCE = re.compile(r"(?<=[.!?])\s+")


def background(language: str, tokens: int, seed: int) -> tuple[str, ...]:
    """Paragraphs of about so many tokens as messages; their order depends on the seed, the set does not."""
    texts = list(_set(language, tokens))
    random.Random(seed).shuffle(texts)
    return tuple(texts)


@lru_cache(maxsize=4)
def _set(language: str, tokens: int) -> tuple[str, ...]:
    encoder, rng = shared_encoder(), random.Random(f"background {language}")
    taken: list[str] = []
    total = 0
    for text in chain(_read(language), iter(lambda: paragraph(language, rng), None)):
        taken.append(text)
        total += len(encoder.encode(text)) + MESSAGE_TOKENS
        if total >= tokens:
            break
    return tuple(taken)


def _read(language: str) -> Iterator[str]:
    """Paragraphs of the data; none where there is no data."""
    try:
        root = data_root()
    except NoData:
        return
    if language == "en":
        for essay in sorted((root / "niah" / "PaulGrahamEssays").glob("*.txt")):
            yield from _paragraphs(essay.read_text(encoding="utf-8"))
    else:
        yield from _articles(root / "cmrc2018" / "cmrc2018_dev.json")


def _paragraphs(essay: str) -> Iterator[str]:
    paragraph = ""
    for sentence in SENTENCE.split(essay):
        paragraph += f"{sentence} "
        if len(paragraph) > CHARS["en"]:
            yield paragraph.strip()
            paragraph = ""
    if paragraph.strip():
        yield paragraph.strip()


def _articles(file: Path) -> Iterator[str]:
    if file.exists():
        for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
            yield from (found["context"] for found in article["paragraphs"])


def hidden(texts: Sequence[str], facts: Sequence[tuple[str, str]], places: Sequence[int]) -> list[Piece]:
    """Facts, each (id, text) said by the user in front of the paragraph of its place; places ascend."""
    pieces: list[Piece] = []
    start = 0
    for (name, fact), place in zip(facts, places, strict=True):
        pieces += [Piece(f"B{n}", texts[n], "assistant") for n in range(start, place)]
        pieces.append(Piece(name, fact))
        start = place
    return pieces + [Piece(f"B{n}", texts[n], "assistant") for n in range(start, len(texts))]


def anywhere(count: int, among: int, rng: random.Random) -> list[int]:
    """Places of so many facts, ascending."""
    return sorted(rng.choices(range(among + 1), k=count))
