"""One line of the doctor's report."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from shared.errors import BackscrollError


@dataclass(frozen=True)
class Finding:
    part: str
    text: str
    mend: str = ""
    """What to do about it; empty where all is well."""

    @property
    def ok(self) -> bool:
        return not self.mend


async def guarded(part: str, mend: str, check: AsyncIterator[Finding]) -> list[Finding]:
    """The findings of a check; a part that cannot be reached is the last of them."""
    found: list[Finding] = []
    try:
        async for finding in check:
            found.append(finding)  # noqa: PERF401 - what was found before the error counts
    except BackscrollError as error:
        found.append(Finding(part, str(error), mend))
    return found
