"""A recorded request, planned again: what would be different."""

from dataclasses import dataclass

import orjson
from pydantic import ValidationError

from services.gateway.inspector.differ import Moved, moved_of
from services.gateway.inspector.recorded import Record
from services.gateway.inspector.replan import Change, replan
from shared.bus import Bus
from shared.errors import PermanentFault
from shared.prompt.plan import Plan
from shared.settings import Settings


@dataclass(frozen=True)
class Again:
    record: Record
    plan: Plan

    @property
    def lines(self) -> list[tuple[str, object, object]]:
        """Name, as recorded, as planned now; what is alike too."""
        before = {"action": self.record.action, "window starts at": self.record.layout.window_start}
        after: dict[str, object] = {
            "action": self.plan.action,
            "window starts at": self.plan.layout.window_start,
        }
        names = {**self.record.budget, **self.plan.budget}
        lines = [(name, before[name], after[name]) for name in before]
        lines += [(name, self.record.budget.get(name), self.plan.budget.get(name)) for name in names]
        was, now = len(self.record.layout.block), len(self.plan.layout.block)
        return [*lines, ("excerpts", was, now)]

    @property
    def excerpts(self) -> list[Moved]:
        return moved_of(self.record, self.record.layout, self.record, self.plan.layout)


async def plan_again(bus: Bus, settings: Settings, tenant: str, record_id: str, change: Change) -> Again:
    """Asks the running assembler and retriever; nothing is written."""
    found = await bus.find_record(tenant, record_id)
    if found is None:
        raise PermanentFault(f"Tenant {tenant} has no record {record_id}.")
    try:
        record = Record.model_validate(orjson.loads(found.body))
    except ValidationError as error:
        raise PermanentFault(f"Record {record_id} is of another version and cannot be read.") from error
    if record.asked is None:
        raise PermanentFault(f"Record {record_id} does not tell what was asked of the assembler.")
    return Again(record, await replan(bus, record.asked, change, settings.assemble_timeout_s))
