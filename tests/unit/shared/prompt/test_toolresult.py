"""How results of tools give way."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.prepare.toolpolicies import read_policies
from shared.contracts.base import Kind
from shared.contracts.events import Unit
from shared.errors import PermanentFault
from shared.prompt.cut import apply_cuts, cut_to, standing
from shared.prompt.plan import Cut, Selection
from shared.prompt.toolresult import ToolPolicies, ToolPolicy, policy_of, selected
from shared.tokens.estimate import Coefficients, upper_bound

ROWS = [{"id": i, "title": f"row {i}", "body": "long text " * 20, "tags": ["a", "b"]} for i in range(50)]
LOG = "\n".join(f"line {i}: " + "x" * 40 for i in range(200))
C = Coefficients()


def cut(text: str, allowed: int, policy: ToolPolicy, kind: Kind = Kind.TOOL_RESULT) -> str:
    unit = Unit(unit=0, kind=kind, tool="search", text=text)
    bound = upper_bound(text, C)
    cuts = cut_to(3, [unit], bound, allowed, C, {"search": policy})
    stands = apply_cuts(text, cuts)
    assert not cuts or cuts[0].tokens == upper_bound(stands, C)
    return stands


def test_what_fits_stays_whole() -> None:
    text = json.dumps(ROWS)
    assert cut(text, upper_bound(text, C), ToolPolicy(keep=("id",), rows=1)) == text


def test_fields_and_rows_stay_valid_json() -> None:
    shown = cut(json.dumps(ROWS), 2000, ToolPolicy(keep=("id", "title"), rows=20))
    assert json.loads(shown) == [
        *({"id": i, "title": f"row {i}"} for i in range(20)),
        "[... 30 of 50 rows omitted ...]",
    ]


def test_fewer_rows_where_those_do_not_fit() -> None:
    shown = cut(json.dumps(ROWS), 150, ToolPolicy(keep=("id", "title"), rows=20))
    assert json.loads(shown)[-1] == "[... 45 of 50 rows omitted ...]"


def test_rows_in_an_object_and_fields_of_an_object() -> None:
    text = json.dumps({"total": 50, "results": ROWS, "debug": "x" * 4000})
    shown = json.loads(cut(text, 800, ToolPolicy(keep=("total", "results"), rows=2)))
    assert shown == {"total": 50, "results": [*ROWS[:2], "[... 48 of 50 rows omitted ...]"]}
    shown = json.loads(cut(json.dumps(ROWS[0] | {"id": 2**70}), 100, ToolPolicy(keep=("title", "id"))))
    assert shown == {"id": 2**70, "title": "row 0"}


def test_head_and_tail_with_the_amount_between_them() -> None:
    shown = cut(LOG, 2000, ToolPolicy(head=500, tail=1000))
    head, middle, tail = shown.partition("[... ")
    assert LOG.startswith(head)
    omitted, _, tail = tail.partition(" characters omitted ...]\n")
    assert middle
    assert LOG.endswith(tail)
    assert (0 < len(head) <= 500, 0 < len(tail) <= 1000) == (True, True)
    assert len(head) + int(omitted) + len(tail) == len(LOG)


@pytest.mark.parametrize("allowed", [40, 100, 300, 1000])
def test_head_and_tail_shrink_until_they_fit(allowed: int) -> None:
    assert upper_bound(cut(LOG, allowed, ToolPolicy(head=3000, tail=3000)), C) <= allowed


@pytest.mark.parametrize("text", [LOG, '"' + "x" * 9000 + '"', "[NaN," * 2000, '["\\ud800", ' + LOG + "]"])
def test_what_is_no_such_json_keeps_its_tail(text: str) -> None:
    shown = cut(text, 500, ToolPolicy(keep=("id",), rows=3))
    assert shown.startswith("[... ")
    assert text.endswith(shown.partition(" characters omitted ...]\n")[2])


def test_where_not_even_one_row_fits_the_tail_stays() -> None:
    shown = cut(json.dumps([ROWS]), 60, ToolPolicy(rows=3))
    assert shown.startswith("[... ")


def test_a_policy_is_for_results_alone() -> None:
    shown = cut(LOG, 500, ToolPolicy(head=200, tail=200), Kind.USER)
    assert shown.startswith("[... ")


def test_exact_names_go_before_patterns_and_patterns_by_their_order() -> None:
    a, b, c = (ToolPolicy(head=n) for n in (1, 2, 3))
    policies: ToolPolicies = {"read_*": a, "*": b, "read_file": c}
    assert [policy_of(policies, t) for t in ("read_file", "read_url", "other", None)] == [c, a, b, None]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=30,
)


@given(json_values, st.lists(st.sampled_from("abcd"), max_size=3), st.integers(1, 5))
def test_a_selection_is_valid_json_or_none(value: object, keep: list[str], rows: int) -> None:
    shown = selected(json.dumps(value), Selection(tuple(keep), rows))
    assert shown is None or isinstance(json.loads(shown), type(value))


def test_a_selection_that_the_text_no_longer_has_is_told_as_an_omission() -> None:
    assert standing("no json", Cut(0, 0, 0, 7, 9, Selection(("a",), 1))) == "[... 7 characters omitted ...]\n"


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tools.toml"
    path.write_text('[search]\nkeep = ["title"]\nrows = 10\n\n["read_*"]\nhead = 10\ntail = 20\n')
    assert list(read_policies(path).items()) == [
        ("search", ToolPolicy(keep=("title",), rows=10)),
        ("read_*", ToolPolicy(head=10, tail=20)),
    ]
    assert read_policies(None) == {}


@pytest.mark.parametrize(
    "content", ["[x]\n", "[x]\nkept = 3\n", "[x]\nrows = 0\n", "x = 1\n", "[x", "[x]\nhead = -1\n"]
)
def test_a_file_that_means_nothing_stops_the_start(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tools.toml"
    path.write_text(content)
    with pytest.raises(PermanentFault, match=r"tools\.toml"):
        read_policies(path)
    with pytest.raises(PermanentFault, match="cannot be read"):
        read_policies(tmp_path / "none.toml")
