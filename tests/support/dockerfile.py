"""The Dockerfile, read as far as tests ask."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass
class Stage:
    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def of(self, name: str) -> list[str]:
        return [rest for word, rest in self.instructions if word == name]


def stages() -> list[Stage]:
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    found: list[Stage] = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append(Stage(rest.partition(" AS ")[0]))
        elif found and word:
            found[-1].instructions.append((word, rest))
    return found


def environment() -> dict[str, str]:
    """What a container gets before its own environment."""
    pairs = [pair for line in stages()[-1].of("ENV") for pair in shlex.split(line)]
    return dict(pair.split("=", 1) for pair in pairs)


def ignored() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]
