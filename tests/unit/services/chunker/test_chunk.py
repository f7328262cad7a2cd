from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.chunker.chunk import Limits, chunk_message
from shared.contracts.base import Kind, Role
from shared.contracts.events import Chunk, RecordedMessage, Unit
from shared.conversation.address import text_digest
from shared.errors import PermanentFault
from shared.text.opaque import opaque_runs
from shared.tokens.estimate import Coefficients, upper_bound
from tests.support.texts import DATA_URI, boundaries, texts

COEFFICIENTS = Coefficients()
LIMITS = Limits(768, 2.5, COEFFICIENTS)
SMALL = Limits(32, 2.5, COEFFICIENTS)


def message(*units: str) -> RecordedMessage:
    return RecordedMessage(
        address="ab" * 16,
        role=Role.TOOL,
        units=tuple(
            Unit(unit=number, kind=Kind.TOOL_RESULT, tool="grep", text=text)
            for number, text in enumerate(units)
        ),
    )


def chunks(*units: str, limits: Limits = LIMITS) -> tuple[Chunk, ...]:
    return chunk_message(message(*units), limits)


def test_one_unit_is_one_chunk_and_neighbours_are_not_merged() -> None:
    assert [(c.unit, c.part, c.text) for c in chunks("one", "two", "three")] == [
        (0, 0, "one"),
        (1, 0, "two"),
        (2, 0, "three"),
    ]


def test_a_chunk_says_where_it_comes_from() -> None:
    (chunk,) = chunks("ünï")
    assert (chunk.address, chunk.role, chunk.kind, chunk.tool) == (
        "ab" * 16,
        Role.TOOL,
        Kind.TOOL_RESULT,
        "grep",
    )
    assert (chunk.start, chunk.end, chunk.tokens) == (0, 3, upper_bound("ünï", COEFFICIENTS))
    assert chunk.digest == text_digest("ünï")


def test_only_a_unit_above_the_limit_is_split() -> None:
    line = "a line of twenty-five ch\n"
    below = line * 40
    above = line * 200
    assert upper_bound(below, COEFFICIENTS) <= 768 < upper_bound(above, COEFFICIENTS)
    assert len(chunks(below)) == 1
    parts = chunks(above)
    assert [c.part for c in parts] == list(range(len(parts)))
    assert all(c.text.startswith("a line") and c.text.endswith("\n") for c in parts)
    assert all(len(c.text) <= 1920 for c in parts)


def test_the_reference_case_starts_no_part_mid_line() -> None:
    log = "".join(f"line {i} worker=7 status=ok latency_ms={i} retry=2\n" for i in range(400))
    assert all(c.text.startswith("line ") for c in chunks(log))


@pytest.mark.parametrize("text", ["", " \n\t ", DATA_URI, f" {DATA_URI} \n"])
def test_no_chunk_without_readable_text(text: str) -> None:
    assert chunks(text) == ()


def test_an_image_is_in_no_chunk_and_cuts_its_unit() -> None:
    assert [(c.part, c.text) for c in chunks(f"look {DATA_URI} there")] == [(0, "look "), (1, " there")]


def test_two_units_with_one_number_are_a_fault() -> None:
    twice = message("a", "b").model_copy(update={"units": (message("a").units[0], message("b").units[0])})
    with pytest.raises(PermanentFault):
        chunk_message(twice, LIMITS)


def test_parts_overlap_only_where_asked() -> None:
    text = "".join(f"line {i} of the log\n" for i in range(200))
    apart = chunks(text, limits=SMALL)
    assert "".join(c.text for c in apart) == text
    overlapping = chunks(text, limits=Limits(32, 2.5, COEFFICIENTS, overlap_tokens=20))
    assert [c.end for c in overlapping] == [c.end for c in apart]
    for before, after in pairwise(overlapping):
        assert before.end - 50 <= after.start < before.end
        assert after.text.startswith("line ")


@given(st.lists(texts(), max_size=4), st.sampled_from([0, 16]))
def test_chunks_cover_what_can_be_read(units: list[str], overlap: int) -> None:
    found = chunks(*units, limits=Limits(32, 2.5, COEFFICIENTS, overlap_tokens=overlap))
    assert [(c.unit, c.part) for c in found] == sorted((c.unit, c.part) for c in found)
    for number, text in enumerate(units):
        of_unit = [c for c in found if c.unit == number]
        assert [c.part for c in of_unit] == list(range(len(of_unit)))
        covered: set[int] = set()
        whole = boundaries(text)
        for c in of_unit:
            assert c.text == text[c.start : c.end]
            assert c.text.strip()
            assert {c.start, c.end} <= whole
            covered.update(range(c.start, c.end))
        hidden = {i for a, b in opaque_runs(text) for i in range(a, b)}
        assert not covered & hidden
        assert all(text[i].isspace() for i in range(len(text)) if i not in covered and i not in hidden)


@given(texts(), st.lists(texts(10), max_size=3))
def test_a_unit_is_chunked_alike_whatever_comes_after_it(text: str, later: list[str]) -> None:
    alone = chunks(text, limits=SMALL)
    grown = chunks(text, *later, limits=SMALL)
    assert grown[: len(alone)] == alone
    assert all(c.unit > 0 for c in grown[len(alone) :])
