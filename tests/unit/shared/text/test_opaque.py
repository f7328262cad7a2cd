import base64
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given

from shared.text.opaque import BARE_RUN, opaque_runs, without_opaque
from tests.support.texts import DATA_URI, base64ish, boundaries, texts


def test_a_data_uri_ends_where_its_letters_end() -> None:
    text = f"![chart]({DATA_URI}) shows"
    assert [text[a:b] for a, b in opaque_runs(text)] == [DATA_URI]
    assert without_opaque(text) == "![chart]( ) shows"


def test_wrapped_base64_is_one_run() -> None:
    body = "\n".join(textwrap.wrap(base64.b64encode(bytes(range(256)) * 8).decode(), 76))
    text = f"-----BEGIN-----\n{body}\n-----END-----\nread me"
    assert without_opaque(text) == "-----BEGIN-----\n \n-----END-----\nread me"


def test_a_word_after_wrapped_base64_is_kept() -> None:
    body = "\n".join([base64ish(76)] * 10)
    assert without_opaque(body + "\nThanks") == " \nThanks"
    assert without_opaque(body + "\nThanks for that") == " \nThanks for that"


@pytest.mark.parametrize(
    "text",
    [
        base64ish(BARE_RUN - 1),
        "ACGT" * 500,
        "0123456789abcdef" * 100,
        "x" * 5000,
        "汉" * 2000,
        "Word " * 500,
        "data:image/png;base64 is how it starts",
    ],
)
def test_what_can_be_read_is_not_opaque(text: str) -> None:
    assert opaque_runs(text) == []


@given(texts())
def test_runs_are_ordered_apart_and_between_graphemes(text: str) -> None:
    runs = opaque_runs(text)
    whole = boundaries(text)
    assert all(a < b and a in whole and b in whole for a, b in runs)
    assert all(b < c for (_, b), (c, _) in pairwise(runs))
