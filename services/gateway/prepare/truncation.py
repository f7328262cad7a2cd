"""An engine that drops old messages without a word: its prompt is shorter than the texts can be.

The least that a prompt can cost is taken from its words: tokenizers split a text at its spaces before
they merge anything, so a word is at least one token. Chinese and Japanese have no spaces; there the
longest merges that tokenizers make of common text are some four characters. Both are far below what is
real (English 1.3 tokens a word, Chinese .6 a character), so what is below them is no matter of tokenizers.
Reasoning, which templates may leave out, and images are not counted at all.
"""

import regex

from services.gateway.prepare.measure import Measured
from services.gateway.reading.request import Request
from shared.conversation.message import PartKind
from shared.prompt.plan import Layout

WORD = regex.compile(r"(?<!\S)[^\s\p{L}\p{N}]*+[\p{L}\p{N}]\S*")
"""Each begins where a word does and never steps back: a long run of signs would else take minutes."""
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
UNSPACED_CHARS_PER_TOKEN = 4
SUSPICIOUS = 0.5
"""Share of the upper bound below which a prompt is looked at: Chinese is at .57 of it, English at .32."""
ROUND = 1024
"""Windows are multiples of this."""


def least_tokens(text: str) -> int:
    """Fewer tokens than any tokenizer makes of the text."""
    unspaced = len(UNSPACED.findall(text))
    spaced = UNSPACED.sub(" ", text) if unspaced else text
    return len(WORD.findall(spaced)) + unspaced // UNSPACED_CHARS_PER_TOKEN


def least_prompt(request: Request, layout: Layout) -> int:
    """Fewer tokens than the messages of a prompt have, those that were cut left out."""
    cut = {c.position for c in layout.cuts}
    positions = (*layout.pinned, *range(layout.window_start, len(request.shape)))
    return sum(
        least_tokens(part.text)
        for position in positions
        if position not in cut
        for part in request.message(position).parts
        if part.kind is not PartKind.OPAQUE
    )


def was_truncated(request: Request, layout: Layout, measured: Measured, prompt_tokens: int) -> bool:
    """`measured` is what we thought of the prompt, `prompt_tokens` is what the engine says."""
    if prompt_tokens >= measured.bound * SUSPICIOUS:
        return False
    return prompt_tokens < least_prompt(request, layout)


def window_shown(prompt_tokens: int) -> int:
    """At most the window of an engine that keeps whole messages while they fit."""
    return -(-prompt_tokens // ROUND) * ROUND
