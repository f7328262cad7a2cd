"""How much of what answers a question is in a prompt."""

from evals.case import Case, Judging, Question
from evals.metrics import found_share


class Evidence:
    """Of the questions of one case."""

    def __init__(self, case: Case, judged: Judging) -> None:
        self._whole = judged == "strings"
        self._texts = {piece.id: piece.text for piece in case.pieces}

    def share(self, question: Question, prompt: str) -> float:
        """Of the question's evidence, that is in the prompt."""
        names = sorted(question.evidence)
        texts = names if self._whole else [self._texts[name] for name in names]
        return found_share(texts, prompt, whole=self._whole)
