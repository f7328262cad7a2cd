import json
from dataclasses import replace

import numpy as np
import pytest

from shared.store import mapping
from shared.store.mapping import Point, batches, chunk_id, chunk_points, light_chunk, marker_id, marker_points
from shared.store.port import Origin
from shared.text.terms import Terms
from tests.support.indexed import indexed, key_of, unit_vector

ORIGIN = Origin("t", "first", 1000.0)


def test_ids_differ_by_everything_that_names_a_chunk() -> None:
    ids = {
        chunk_id(tenant, address, unit, part)
        for tenant in ("t", "u")
        for address in (1, 11)
        for unit in (0, 1)
        for part in (0, 1)
    }
    markers = {marker_id(tenant, address) for tenant in ("t", "u") for address in (1, 11)}
    assert len(ids | markers) == 20


def test_ids_are_stored_and_never_change() -> None:
    assert str(chunk_id("t", 1, 0, 0)) == "20a52582-5868-579c-9795-26b6d1159663"
    assert str(marker_id("t", 1)) == "3bc22ccd-38ff-5730-bea9-7017e0711720"


def test_a_chunk_carries_what_reading_needs() -> None:
    message = indexed("a", ["amber basin"])
    (point,) = chunk_points(ORIGIN.tenant, [message], vectors=False)
    chunk = light_chunk(point.payload)
    assert chunk[:6] == (key_of(message), 0, 0, 0, 11, 2)
    assert chunk.digest == message.chunks[0].digest
    assert point.payload["content_address"] == message.address
    assert not {"session", "at"} & point.payload.keys()
    assert json.loads(json.dumps(point.payload)) == point.payload


def test_vectors_are_written_only_when_asked_for() -> None:
    message = indexed("a", ["amber", "basin"], [unit_vector(1), None])
    assert [p.vector is None for p in chunk_points(ORIGIN.tenant, [message], vectors=False)] == [True, True]
    assert [p.vector is None for p in chunk_points(ORIGIN.tenant, [message], vectors=True)] == [False, True]


def test_terms_must_match_the_chunks() -> None:
    message = replace(indexed("a", ["amber", "basin"]), terms=(Terms((), ()),))
    with pytest.raises(ValueError, match="shorter"):
        list(chunk_points(ORIGIN.tenant, [message], vectors=False))


def test_a_marker_says_how_many_chunks() -> None:
    markers = list(marker_points(ORIGIN.tenant, [indexed("a", ["amber", "basin"]), indexed("b")]))
    assert [m.payload["chunks"] for m in markers] == [2, 0]
    assert all(m.terms is None and m.vector is None for m in markers)


def point(text: str) -> Point:
    vector = np.full(1024, -0.12345678901234567, dtype=np.float32)
    terms = Terms(tuple(range(4_000_000_000, 4_000_000_200)), (1.2345678901234567,) * 200)
    return Point(chunk_id("t", 1, 0, 0), {"text": text, "tenant": "t"}, terms, vector)


def test_batches_keep_order_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "MAX_BATCH_BYTES", 200_000)
    points = [point(str(n) * size) for n, size in enumerate([10, 300_000, 10, 10, 90_000, 90_000])]
    runs = list(batches(points))
    assert [p for run in runs for p in run] == points
    assert [len(run) for run in runs] == [1, 1, 3, 1]


def test_batches_are_small_enough_to_let_searches_through() -> None:
    assert {len(run) for run in batches([point("x")] * 1024)} == {mapping.MAX_BATCH_POINTS}


@pytest.mark.parametrize("text", ["x" * 300_000, "\n" * 300_000, "漢" * 100_000])
def test_a_full_batch_fits_a_server(text: str) -> None:
    full = list(batches([point(text)] * 200))
    body = [
        [
            {
                "id": str(p.id),
                "payload": p.payload,
                "vector": {"terms": p.terms._asdict(), "dense": p.vector.tolist()},
            }
            for p in run
            if p.terms is not None and p.vector is not None
        ]
        for run in full[:1]
    ]
    assert len(json.dumps(body[0], ensure_ascii=False).encode()) < 32 * 1024**2
