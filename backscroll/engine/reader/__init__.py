"""Answers a question with a sentence of the prompt, or says that the prompt does not hold one."""

from backscroll.engine.reader.phrases import NOT_FOUND, NOTED
from backscroll.engine.reader.reader import Reader

__all__ = ["NOTED", "NOT_FOUND", "Reader"]
