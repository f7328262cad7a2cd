"""`backscroll erase`: a session goes for good."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from backscroll import options
from backscroll.reach import run
from services.gateway.http.access import OPEN_TENANT
from services.gateway.http.erase import ERASE_S
from services.gateway.reading.session import named
from shared.bus import ERASE, Bus
from shared.contracts.rpc import Erase, Receipt
from shared.settings import Settings

console = Console()

LINES = {
    "message_events": "events with messages",
    "chunk_events": "events with chunks",
    "records": "records",
    "dead_letters": "dead letters",
    "claims": "large bodies of these",
    "tips": "states of its prompts",
    "texts": "messages in the chunk store",
    "chunks": "chunks of these, with terms and vectors",
    "kept": "messages kept: said in another session too, or again meanwhile",
}


def erase(
    session: Annotated[str, typer.Argument(help="As its client names it; `X-Backscroll-Session` tells.")],
    tenant: Annotated[str, typer.Option(help="Whose session it is.")] = OPEN_TENANT,
    yes: options.Yes = False,
    as_json: options.Json = False,
    data: options.Data = None,
) -> None:
    """Delete all that is kept of a session, and show how much that was. It cannot be undone."""
    label = named(session)
    if not yes:
        typer.confirm(f"Erase session {label!r} of tenant {tenant!r} for good?", abort=True)

    async def work(bus: Bus, _: Settings) -> Receipt:
        return await bus.call(ERASE, Erase(tenant=tenant, session=label), timeout_s=ERASE_S)

    receipt = run(work, data)
    if as_json:
        print(receipt.model_dump_json())
        return
    at = options.shown_time(receipt.at)
    console.print(f"Erased session {escape(label)} of tenant {escape(tenant)}, {at}", soft_wrap=True)
    for name, meaning in LINES.items():
        console.print(f"{getattr(receipt, name):8}  {meaning}", highlight=False)
