"""Texts that are hard to cut."""

import random

import regex
from hypothesis import strategies as st

PIECES = (
    *(
        "word",
        "Ünïcode",
        "it is done.",
        "Really?! ",
        "e.g. this",
        "3.14",
        "\n",
        "\r\n",
        "\n\n",
        "  ",
        "\t",
        "\r",
    ),
    *(
        "我们去了北京。",
        "他说：「好！」",
        "然后……",
        "一；二",
        "日本語のテスト",
        "한국어",
        "\u1112\u1161\u11ab",
        "ภาษาไทย",
    ),
    *(
        "🇩🇪🇫🇷",
        "👩‍👩‍👧",
        "👍🏽",
        "e\u0301\u0323",
        " \u0301",
        ".\u0301",
        "\n\u0301",
        "1\ufe0f\u20e3",
        "\u0600a",
    ),
    *("क्षि", "\u200d", "\u00ad", "\x85", "\u2028", "x" * 50, "\ud83d"),
)
DATA_URI = "data:image/png;base64,iVBORw0KGgo=="


def base64ish(n: int) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "aB3" + "".join(random.Random(n).choices(letters, k=n - 3))


def texts(max_pieces: int = 60) -> st.SearchStrategy[str]:
    """Hard pieces and arbitrary characters, with an encoded run now and then."""
    piece = st.one_of(
        st.sampled_from(PIECES),
        st.text(max_size=8),
        st.sampled_from((DATA_URI, base64ish(600))),
    )
    return st.lists(piece, max_size=max_pieces).map("".join)


def boundaries(text: str) -> set[int]:
    """All offsets between grapheme clusters, both ends included."""
    return {0, *(found.end() for found in regex.finditer(r"\X", text))}
