import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from shared import telemetry
from shared.errors import PermanentFault


@pytest.fixture(autouse=True)
def root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def test_one_json_line_for_each_event_however_often_it_is_configured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    telemetry.configure_logging("info")
    telemetry.configure_logging("info")
    structlog.get_logger("a").info("said", count=3)
    logging.getLogger("b").warning("plain %s", "text")
    structlog.get_logger("a").debug("not at this level")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(x["event"], x["level"], x["logger"]) for x in lines] == [
        ("said", "info", "a"),
        ("plain text", "warning", "b"),
    ]
    assert lines[0]["count"] == 3


def fails(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("logger", [structlog.get_logger("a"), logging.getLogger("a")])
def test_a_trace_says_where_and_holds_no_content(logger: Any, capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure_logging("info")
    content = "the user's " + "words"
    try:
        fails(ValueError(content))
    except ValueError:
        logger.exception("failed")
    said = capsys.readouterr().err
    line = json.loads(said)
    assert line["exception"] == "ValueError"
    assert line["frames"][-1].endswith(" fails")
    assert "user's" not in said


def test_an_error_of_ours_says_what_it_has_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure_logging("info")
    structlog.get_logger("a").error("failed", exc_info=PermanentFault("no such stream"))
    assert json.loads(capsys.readouterr().err)["exception"] == "PermanentFault: no such stream"


def test_metrics_are_served() -> None:
    telemetry.DEGRADATIONS.labels("embed_unavailable").inc()
    client = TestClient(Starlette(routes=[Route("/metrics", telemetry.metrics)]))
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert 'backscroll_degradations_total{part="embed_unavailable"}' in answer.text
    for name in ("backscroll_dead_letters_total", "backscroll_embeds_queued", "backscroll_embeds_done_total"):
        assert f"# TYPE {name.removesuffix('_total')}" in answer.text.replace("_total ", " ")
