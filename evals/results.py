"""Raw results as JSON lines, a file a suite. What is in a file is not asked again."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from evals import machine
from evals.judged import Judged, Repeated
from evals.turns.turn import Embedded, Found, Turn

Row = Judged | Repeated | Turn | Embedded
KINDS: dict[str, type[Row]] = {kind.__name__.lower(): kind for kind in (Judged, Repeated, Turn, Embedded)}


@dataclass(frozen=True)
class Run:
    """What results depend on, besides budget and question; and where they were made."""

    suite: str
    system: str
    settings: dict[str, Any]
    vectors: bool
    seed: int
    code: str
    made: dict[str, str] = field(default_factory=dict)
    """Machine, commit, command, time: told in the report, not part of the key."""

    @property
    def key(self) -> str:
        facts = asdict(self)
        del facts["made"]
        return blake2b(json.dumps(facts, sort_keys=True, default=str).encode(), digest_size=8).hexdigest()


def made_here() -> dict[str, str]:
    return {
        "machine": machine.machine(),
        "commit": machine.commit(),
        "command": machine.command(),
        "at": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


class Results:
    """Rows of one suite, on disk as soon as they are known."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        self.runs: dict[str, Run] = {}
        self.rows: dict[str, list[Row]] = {}
        if file.exists() and not file.read_bytes().endswith(b"\n"):
            with file.open("a", encoding="utf-8") as lines:
                lines.write("\n")  # a stopped run left its last line half written
        for key, found in _read(file):
            self._take(key, found)

    def begin(self, run: Run) -> None:
        if run.key not in self.runs:
            self._write(run.key, run)

    def add(self, run: Run, row: Row) -> None:
        self._write(run.key, row)

    def of(self, run: Run) -> list[Row]:
        return self.rows.get(run.key, [])

    def asked(self, run: Run) -> set[tuple[str, str, int]]:
        """(case, question, budget) of what was judged already."""
        return {(r.case, r.question, r.budget) for r in self.of(run) if isinstance(r, Judged)}

    def _take(self, key: str, found: Run | Row) -> None:
        if isinstance(found, Run):
            # The newest run of a key stands last, so that a report takes it.
            self.runs.pop(key, None)
            self.runs[key] = found
        else:
            self.rows.setdefault(key, []).append(found)

    def _write(self, key: str, found: Run | Row) -> None:
        kind = "run" if isinstance(found, Run) else type(found).__name__.lower()
        line = json.dumps({"key": key, "row": kind, **asdict(found)}, ensure_ascii=False, default=str)
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(line + "\n")
        self._take(key, found)


def _read(file: Path) -> Iterator[tuple[str, Run | Row]]:
    """A line that was left half written is left out."""
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        key, kind = fields.pop("key"), fields.pop("row")
        if kind == "run":
            yield key, Run(**fields)
            continue
        values = {name: _tuples(value) for name, value in fields.items()}
        if kind == "turn":
            values["found"] = tuple(Found(*each) for each in values["found"])
        yield key, KINDS[kind](**values)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
