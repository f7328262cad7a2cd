from dataclasses import replace
from pathlib import Path

from evals.judged import Judged, Repeated
from evals.results import Results, Run
from evals.turns.turn import Embedded, Found, Turn

RUN = Run("suite", "backscroll", {"profile": "auto"}, True, 1, "c0de", {"machine": "m", "commit": "a"})
JUDGED = Judged(
    "c",
    "q",
    "kind",
    512,
    0.5,
    400,
    0.1,
    "d1",
    ("order kept: x",),
    ("embed_unavailable",),
    ((5, 0.5), (10, 1.0)),
)
ROWS = [
    JUDGED,
    Repeated("c", 512, 3, 0),
    Turn("c", 512, 7, 900, "fork", 400, 300, 288, "patch", ("embed_unavailable",), (Found("q", "k", 1.0),)),
    Embedded(512, 10, 9),
]


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    results = Results(tmp_path / "deep" / "suite.jsonl")
    results.begin(RUN)
    for row in ROWS:
        results.add(RUN, row)
    again = Results(tmp_path / "deep" / "suite.jsonl")
    assert again.of(RUN) == ROWS
    assert again.runs == {RUN.key: RUN}
    assert again.asked(RUN) == {("c", "q", 512)}


def test_only_what_results_depend_on_makes_another_run(tmp_path: Path) -> None:
    results = Results(tmp_path / "suite.jsonl")
    results.begin(RUN)
    results.add(RUN, JUDGED)
    assert results.asked(replace(RUN, made={"machine": "other"})) == results.asked(RUN)
    for other in (
        replace(RUN, system="seed"),
        replace(RUN, settings={"profile": "seed"}),
        replace(RUN, vectors=False),
        replace(RUN, seed=2),
        replace(RUN, code="0ther"),
        replace(RUN, suite="other"),
    ):
        assert results.asked(other) == set()


def test_a_line_that_was_half_written_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "suite.jsonl"
    results = Results(file)
    results.begin(RUN)
    results.add(RUN, JUDGED)
    results.add(RUN, replace(JUDGED, question="q2"))
    whole = file.read_text()
    file.write_text(whole[:-20])
    resumed = Results(file)
    assert resumed.asked(RUN) == {("c", "q", 512)}
    resumed.add(RUN, replace(JUDGED, question="q3"))
    assert Results(file).asked(RUN) == {("c", "q", 512), ("c", "q3", 512)}
