"""Where the evaluation data lies. It is not part of the project: several licences forbid that."""

import os
from pathlib import Path

ENVIRONMENT = "BACKSCROLL_DATA"


class NoData(Exception):
    """Says how to name the data."""


def data_root(option: Path | None = None) -> Path:
    """`--data`, else the environment, else a folder `shared/data` beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    named = os.environ.get(ENVIRONMENT)
    root = option or (Path(named) if named else beside)
    if not root.is_dir():
        raise NoData(f"there is no evaluation data at {root}; name it by --data or {ENVIRONMENT}")
    return root
