"""The few operations on points that an adapter brings."""

from abc import ABC, abstractmethod
from uuid import UUID

from shared.store.mapping import Point, Row, Where
from shared.store.port import Hit, Vector
from shared.text.terms import Terms

PAGE = 10_000


class Operations(ABC):
    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    @abstractmethod
    async def ensure(self) -> None: ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def compact(self) -> None: ...

    @abstractmethod
    async def _upsert(self, points: list[Point], insert_only: bool) -> None:
        """Durable when it returns."""

    @abstractmethod
    async def _delete(self, where: Where) -> None:
        """Durable when it returns."""

    @abstractmethod
    async def _count(self, where: Where) -> int: ...

    @abstractmethod
    async def _page(
        self, where: Where, fields: list[str], vectors: bool, limit: int, offset: UUID | str | int | None
    ) -> tuple[list[Row], UUID | str | int | None]:
        """One page in the order of ids, and where the next begins."""

    @abstractmethod
    async def _nearest(
        self, where: Where, terms: Terms | None, vector: Vector | None, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        """Both searches in one batch; IDF over what `where` selects."""

    async def _all(self, where: Where, fields: list[str], vectors: bool = False) -> list[Row]:
        rows: list[Row] = []
        offset: UUID | str | int | None = None
        while True:
            page, offset = await self._page(where, fields, vectors, PAGE, offset)
            rows += page
            if offset is None:
                return rows
