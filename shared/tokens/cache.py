"""A bounded cache in two generations: what was used since the last change survives the next one."""

from typing import Generic, TypeVar

V = TypeVar("V")


class Generations(Generic[V]):
    def __init__(self, size: int = 65_536) -> None:
        self._young: dict[bytes, V] = {}
        self._old: dict[bytes, V] = {}
        self._size = size

    def get(self, key: bytes) -> V | None:
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self[key] = found
        return found

    def __setitem__(self, key: bytes, value: V) -> None:
        if len(self._young) >= self._size:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def clear(self) -> None:
        self._old, self._young = {}, {}
