from services.gateway.inspector.differ import moved_of, runs_of, weighed_of
from services.gateway.inspector.prompt import messages_of
from shared.contracts.events import ExchangeRecorded
from shared.conversation.history import History
from tests.unit.services.gateway.inspector.records import read


def test_the_runs_hold_both_prompts_and_begin_with_what_they_share(events: list[ExchangeRecorded]) -> None:
    left, right = messages_of(read(events[0])), messages_of(read(events[2]))
    runs = runs_of(left, right)
    for side, whole in (("left", left), ("right", right)):
        held = [m.key for run in runs if run.side in ("both", side) for m in run.messages]
        assert held == [m.key for m in whole]
    assert runs[0].side == "both"
    assert len(runs[0].messages) > 10
    assert [run.side for run in runs_of(left, left)] == ["both"]


def test_what_a_patch_brought_is_gained(events: list[ExchangeRecorded]) -> None:
    a, b = read(events[0]), read(events[1])
    assert (a.action, b.action) == ("cold", "patch")
    moved = moved_of(a, a.layout, b, b.layout)
    gained = [m for m in moved if m.side == "right"]
    assert {(m.position, m.start) for m in gained} == {
        (e.position, e.start) for e in b.layout.patches[0].excerpts
    }
    assert any("36-14-52" in m.text for m in gained)
    assert {m.side for m in moved} == {"both", "right"}
    backwards = moved_of(b, b.layout, a, a.layout)
    assert [m.side for m in backwards].count("left") == len(gained)


def test_the_same_place_in_another_conversation_is_another_excerpt(events: list[ExchangeRecorded]) -> None:
    a = read(events[0])
    assert a.asked
    history = History.unpack(a.asked.history)
    other = bytes(byte ^ 1 for byte in history.addresses)
    packed = History(
        other, *(getattr(history, n) for n in ("roles", "turns", "steps", "units", "tokens", "least"))
    )
    b = read(events[0]).model_copy(update={"asked": a.asked.model_copy(update={"history": packed.pack()})})
    assert {m.side for m in moved_of(a, a.layout, b, b.layout)} == {"left", "right"}
    assert {w.change for w in weighed_of(a, a.candidates, b, b.candidates)} >= {"lost", "gained"}


def test_candidates_that_changed_sides_come_first(events: list[ExchangeRecorded]) -> None:
    record = read(events[0])
    now = [c.model_copy(update={"why": "budget" if c.taken else "relevance"}) for c in record.candidates]
    weighed = weighed_of(record, record.candidates, record, now[:-1])
    assert len(weighed) == len(record.candidates)
    changes = [w.change for w in weighed]
    order = ["gained", "lost", "taken by both", "dropped by both"]
    assert changes == sorted(changes, key=order.index)
    assert {w.change for w in weighed_of(record, record.candidates, record, record.candidates)} == {
        "taken by both",
        "dropped by both",
    }
