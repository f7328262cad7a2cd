from services.gateway.inspector.candidates import WHY, candidates_of
from shared.contracts.events import ExchangeRecorded
from tests.unit.services.gateway.inspector.records import FACTS, read


def test_every_candidate_is_shown_once_with_its_reason(events: list[ExchangeRecorded]) -> None:
    record = read(events[1])
    shown = candidates_of(record)
    assert len(shown.taken) + len(shown.near) + len(shown.dropped) == len(record.candidates) > 3
    assert {c.why for c in record.candidates} <= WHY.keys()
    assert any(FACTS[0] in c.text for c in shown.taken)
    assert all(c.why == "budget" for c in shown.near)
    assert [c.score for c in shown.near] == sorted((c.score for c in shown.near), reverse=True)
    assert "terms" in shown.scores
