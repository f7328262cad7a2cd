"""What the reader says of itself, by language. None of it is ever taken for evidence."""

from typing import Literal

from backscroll.engine.reader.words import CJK

Language = Literal["en", "zh"]

NOT_FOUND: dict[Language, str] = {
    "en": "I cannot find that in what I was given.",
    "zh": "在我拿到的内容里找不到这个信息。",
}
NOTED: dict[Language, str] = {"en": "Noted.", "zh": "好的，记下了。"}
TRANSLATED: dict[Language, str] = {"en": "It was said in Chinese: ", "zh": "原话是英文："}
"""Leads in a sentence that is not in the question's language."""

OWN_SENTENCES = frozenset((*NOT_FOUND.values(), *NOTED.values()))


def language_of(text: str) -> Language:
    """Chinese as soon as a tenth of the letters are: names and terms often stay Latin."""
    letters = sum(c.isalpha() for c in text)
    return "zh" if letters and len(CJK.findall(text)) * 10 >= letters else "en"
