"""`backscroll keys`: who may use a gateway, and as which tenant."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from backscroll.work import finish, settings_of
from services.gateway.http.keys import FileKeys, KeyStore, StoredKey, key_store, new_key
from shared.bus import connect
from shared.settings import Settings

FILE = "keys.json"
"""Under `data_dir`, where neither a file nor a NATS server is set."""

keys = typer.Typer(no_args_is_help=True, help="API keys: one tenant each.")
console = Console()
T = TypeVar("T")
DATA = typer.Option(help="The data directory of the `backscroll up` that the keys are for.")


def own_file(settings: Settings) -> Path:
    """The keys of a `backscroll up` that has no NATS server but its own."""
    return settings.data_dir / FILE


@keys.command()
def add(
    tenant: Annotated[str, typer.Argument(help="Letters, digits, `_`, `-` and `.`.")],
    data: Annotated[Path | None, DATA] = None,
    admin: Annotated[bool, typer.Option("--admin", help="It opens the inspector: every tenant's.")] = False,
) -> None:
    """Make a key. It is shown this once; what is kept is a hash of it.

    A gateway that was started without any key asks for keys from its next start on.
    """
    try:
        key, stored = new_key(tenant, time.time(), admin)
    except ValidationError as error:
        console.print("[red]A tenant's name has 1 to 64 letters, digits, '_', '-' and '.'.[/red]")
        raise typer.Exit(2) from error
    _run(lambda store: store.save(stored), data)
    print(key)


@keys.command(name="list")
def list_keys(data: Annotated[Path | None, DATA] = None) -> None:
    """Show id, tenant and time of each key; the keys themselves are not kept."""
    table = Table("id", "tenant", "created", "state", "rights")
    for key in sorted(_run(lambda store: store.load(), data), key=lambda k: (k.tenant, k.created)):
        created = datetime.fromtimestamp(key.created, UTC).isoformat(timespec="seconds")
        table.add_row(
            key.id,
            key.tenant,
            created,
            "revoked" if key.revoked else "in force",
            "admin" if key.login else "",
        )
    console.print(table)


@keys.command()
def revoke(
    key: Annotated[str, typer.Argument(help="The id that `backscroll keys list` shows.")],
    data: Annotated[Path | None, DATA] = None,
) -> None:
    """Put a key out of force; running gateways follow within seconds."""

    async def put_out(store: KeyStore) -> StoredKey | None:
        found = next((k for k in await store.load() if k.id == key), None)
        if found is not None:
            await store.save(found.model_copy(update={"revoked": True}))
        return found

    if _run(put_out, data) is None:
        console.print("[red]There is no key of this id.[/red]")
        raise typer.Exit(1)


def _run(work: Callable[[KeyStore], Awaitable[T]], data: Path | None) -> T:
    async def with_store() -> T:
        async with _store(settings_of(data_dir=data)) as store:
            return await work(store)

    return finish(with_store())


@asynccontextmanager
async def _store(settings: Settings) -> AsyncIterator[KeyStore]:
    if settings.keys_file is not None or settings.nats_url is None:
        yield FileKeys(settings.keys_file or own_file(settings))
        return
    bus = await connect(settings.nats_url, service="keys")
    try:
        yield key_store(settings, bus.keys)
    finally:
        await bus.close()
