"""A short soak: the long one is `make soak`."""

from pathlib import Path

from evals.soak.__main__ import soak
from evals.soak.said import PATHS


async def test_nothing_is_refused(tmp_path: Path) -> None:
    tally = await soak(
        requests=240,
        seed=7,
        windows=(2048, 4096),
        dialects=tuple(PATHS),
        at_once=6,
        only=None,
        data=tmp_path / "data",
        failures=tmp_path / "failures",
    )
    assert not tally.kinds
    assert tally.requests >= 240
    assert all(tally.seen[name] for name in (*PATHS, "assembled", "passthrough", "stream", "whole"))
