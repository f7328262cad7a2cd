import re
from pathlib import Path

import pytest

from evals.judged import Judged, Repeated
from evals.report.write import write_report
from evals.results import Results, Run
from evals.turns.turn import Found, Turn

MADE = {"machine": "a machine", "commit": "c0ffee", "command": "backscroll eval locomo", "at": "2026-01-01"}


def filed(file: Path, system: str, share: float, suite: str = "locomo", code: str = "1") -> None:
    run = Run(suite, system, {}, True, 7, code, MADE)
    results = Results(file)
    results.begin(run)
    for case in ("first", "second"):
        for budget in (1024, 4096):
            for kind in ("temporal", "multi-hop"):
                faults = ("nothing foreign: x",) if system == "bad" else ()
                results.add(run, Judged(case, kind, kind, budget, share, budget - 9, 0.05, faults=faults))
    results.add(run, Repeated("first", 1024, 3, 1 if system == "bad" else 0))


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "locomo.jsonl"
    filed(file, "backscroll", 0.5, code="older")
    filed(file, "backscroll", 1.0)
    filed(file, "bm25", 0.25)
    filed(file, "bad", 0.0)
    filed(file, "without smoothing", 0.75)
    turns = Results(tmp_path / "locomo-turns.jsonl")
    run = Run("locomo-turns", "backscroll", {}, False, 7, "1", MADE)
    turns.begin(run)
    turns.add(run, Turn("c", 1024, 9, 2000, "turn", 1000, 900, 896, "patch", found=(Found("q", "k", 1.0),)))
    write_report([Results(file), turns], tmp_path / "report")
    return tmp_path / "report"


def test_markdown_tells_figures_and_where_they_come_from(report: Path) -> None:
    text = (report / "report.md").read_text()
    for told in ("a machine", "`c0ffee`", "Seed: 7", "`backscroll eval locomo`"):
        assert told in text
    assert re.search(r"\| backscroll \| 1,024 \| 4 \| 1.000 \| 1.000 to 1.000 \| \*\*1.000\*\*", text)
    assert re.search(r"\| bm25 \| 1,024 \| 4 \| 0.250 .*\| \+1.000 \| \+1.000 to \+1.000 \|", text)
    assert re.search(r"\| smoothing \| 4,096 \| \+0.250 ", text)
    assert "| locomo | bad | 8 | 0 | 0 | 0 | 1 of 3 | 8 |" in text
    assert "| locomo | bm25 | 8 " not in text  # it failed no gate
    assert "| bm25 | 8 | 0 | 0 | 0 | 0 of 3 | 0 |" in text
    assert "| locomo | 1,024 | 4 | 1.000 | 0.000 | 0.000 | 0.000 |" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_html_stands_alone(report: Path) -> None:
    html = (report / "report.html").read_text()
    assert html.count("<svg") == 2
    assert html.count("<table>") >= 4
    assert not re.search(r"(?:src|href)=\"(?!#)", html)
    assert "2026-01-01" in html


def test_charts_are_the_same_each_time(report: Path, tmp_path: Path) -> None:
    before = (report / "locomo.svg").read_bytes()
    write_report([Results(tmp_path / "locomo.jsonl")], report)
    assert (report / "locomo.svg").read_bytes() == before
