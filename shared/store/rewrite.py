"""A shard written anew.

Edge 0.9.0 keeps the bytes of what was deleted: in its segments until they are merged, and in its log until
some 64 MiB were written after them. The log cannot be left out: after it the numbers of writes begin anew,
and the segments take new writes for old ones.
"""

import shutil
from pathlib import Path
from typing import Any

import qdrant_edge as edge

PAGE = 1000


def rewrite(shard: edge.EdgeShard, config: edge.EdgeConfig, directory: Path) -> None:
    """All points of the shard in a new one beside it, to be taken over by `take_over`."""
    new = _beside(directory)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    copy = edge.EdgeShard.create(str(new), config)
    offset: Any = None
    while True:
        records, offset = shard.scroll(
            edge.ScrollRequest(offset=offset, limit=PAGE, with_payload=True, with_vector=True)
        )
        points = [edge.Point(id=r.id, vector=r.vector or {}, payload=r.payload) for r in records]
        copy.update(edge.UpdateOperation.upsert_points(points))
        if offset is None:
            break
    copy.flush()
    copy.close()
    # Only what is complete has this name.
    new.rename(_complete(directory))


def take_over(directory: Path) -> None:
    """Put what `rewrite` made in the place of the shard, which is closed. Safe to repeat after a crash."""
    complete = _complete(directory)
    if complete.exists():
        shutil.rmtree(directory, ignore_errors=True)
        complete.rename(directory)
    shutil.rmtree(_beside(directory), ignore_errors=True)


def _beside(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.new")


def _complete(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.complete")
