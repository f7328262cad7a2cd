"""Wires the assembler: the one place where its parts are built."""

from services.assembler.assemble import assemble
from services.assembler.case import Policy
from services.assembler.recall import BusRecall
from shared.bus import ASSEMBLE, Bus
from shared.contracts.rpc import Assemble, Assembled
from shared.overrides import overridden
from shared.prompt.budget import limits_of
from shared.settings import Settings


async def start(settings: Settings, bus: Bus) -> None:
    """Answers until the bus is closed."""
    recall = BusRecall(bus, timeout_s=settings.recall_timeout_s)

    async def answer(request: Assemble) -> Assembled:
        return await assemble(request, policy_of(overridden(settings, request.overrides)), recall)

    await bus.serve(ASSEMBLE, answer)


def policy_of(settings: Settings) -> Policy:
    return Policy(
        limits=limits_of(settings),
        assembly_ttl_s=settings.assembly_ttl_s,
        drift_mode=settings.drift_mode,
        block_drift_rebuild=settings.block_drift_rebuild,
        block_check_docs=settings.block_check_docs,
        block_check_chars=settings.block_check_chars,
    )
