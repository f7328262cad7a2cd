"""A small suite through the whole thing: services, capturing engine, gates, resume, report, exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from backscroll.cli import app
from evals import endpoint, plan
from evals.baselines.prompt import NEWEST_SHARE, baseline_prompt
from evals.case import Case, Piece, Question
from evals.suite import Suite

ENTRIES = [f"Entry {n}: the lamp on pier {n} burns oil of kind {n * 37 % 101}." for n in range(120)]


def made(seed: int) -> list[Case]:
    pieces = [Piece(f"p{n}", text, ("user", "assistant")[n % 2]) for n, text in enumerate(ENTRIES)]
    asked = [Question(f"q{n}", f"What burns in the lamp on pier {n}?", frozenset({f"p{n}"})) for n in (4, 50)]
    return [Case("piers", pieces, asked), Case("piers again", pieces[:100], asked)]


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(plan.SUITES, "piers", Suite("piers", (1024,), make=made, vectors=False, ranks=(1, 5)))
    return "piers"


def run(tmp_path: Path, *words: str) -> Any:
    where = ["--out", str(tmp_path), "--cache", str(tmp_path / "vectors.db")]
    return CliRunner().invoke(app, ["eval", *words, *where])


def rows(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "piers.jsonl").read_text().splitlines()]


def test_a_suite_is_run_judged_resumed_and_reported(tmp_path: Path, suite: str) -> None:
    systems = [word for name in ("backscroll", "window", "bm25") for word in ("--system", name)]
    done = run(tmp_path, suite, *systems)
    assert done.exit_code == 0, done.output
    found = rows(tmp_path)
    judged = [row for row in found if row["row"] == "judged"]
    assert len(judged) == 3 * 4
    assert all(row["tokens"] <= 1024 and not row["faults"] for row in judged)
    names = {row["key"]: row["system"] for row in found if row["row"] == "run"}
    share = {name: sum(r["found"] for r in judged if names[r["key"]] == name) / 4 for name in names.values()}
    assert share == {"backscroll": 1.0, "bm25": 1.0, "window": 0.0}
    assert all(dict(r["at"])[5] == 1.0 for r in judged if names[r["key"]] != "window")
    (again,) = [row for row in found if row["row"] == "repeated"]
    assert (again["asked"], again["differed"]) == (2, 0)
    report = (tmp_path / "report" / "report.md").read_text()
    assert "| backscroll | 4 | 0 | 0 | 0 | 0 of 2 | 0 |" in report


def test_what_is_on_disk_is_not_asked_again(
    tmp_path: Path, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, suite, "--system", "bm25").exit_code == 0
    file = tmp_path / "piers.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    asked: list[str] = []
    ask = endpoint.Endpoint.ask

    async def counted(self: Any, model: str, session: str, *rest: Any) -> Any:
        asked.append(session)
        return await ask(self, model, session, *rest)

    monkeypatch.setattr(endpoint.Endpoint, "ask", counted)
    assert run(tmp_path, suite, "--system", "bm25").exit_code == 0
    assert asked == ["q50"]
    assert sorted(row["row"] for row in rows(tmp_path)) == ["judged"] * 4 + ["run"]


def test_a_prompt_that_fails_a_gate_fails_the_run(
    tmp_path: Path, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shuffled(messages: list[dict[str, Any]], *_: Any) -> list[dict[str, Any]]:
        return [*reversed(messages[:3]), messages[-1]]

    monkeypatch.setattr("evals.plain.baseline_prompt", shuffled)
    done = run(tmp_path, suite, "--system", "window")
    assert done.exit_code == 1
    assert "order kept" in done.output


def test_a_sliding_window_quotes_nothing_older(
    tmp_path: Path, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: dict[float, set[int]] = {}

    def noted(messages: list[dict[str, Any]], units: Any, order: Any, budget: int, share: float) -> Any:
        chosen.setdefault(share, set()).add(len(order))
        return baseline_prompt(messages, units, order, budget, share)

    monkeypatch.setattr("evals.plain.baseline_prompt", noted)
    assert run(tmp_path, suite, "--system", "window", "--system", "bm25").exit_code == 0
    assert chosen == {1.0: {0}, NEWEST_SHARE: {120, 100}}


def test_a_suite_without_its_data_is_left_out(tmp_path: Path) -> None:
    done = run(tmp_path, "locomo", "--data", str(tmp_path / "nowhere"), "--system", "window")
    assert done.exit_code == 0
    assert "there is no evaluation data" in done.output


def test_an_unknown_name_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "nothing")
    assert done.exit_code == 2
    assert "there is no suite nothing" in done.output
