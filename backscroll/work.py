"""How every command begins and ends: what is wrong is said in one line."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import httpx
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from shared.errors import BackscrollError
from shared.settings import Settings

T = TypeVar("T")
console = Console()


def settings_of(**given: Any) -> Settings:
    """Options over environment over file; None is not given. Exit code 2 for a wrong value."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        for problem in error.errors():
            name = ".".join(str(part) for part in problem["loc"])
            console.print(f"[red]BACKSCROLL_{name.upper()}[/red]: {escape(problem['msg'])}", soft_wrap=True)
        raise typer.Exit(2) from error
    except BackscrollError as error:
        raise _failed(error, 2) from error


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Exit code 1 for what goes wrong on purpose."""
    try:
        return asyncio.run(work)
    except (BackscrollError, httpx.HTTPError, ValidationError) as error:
        raise _failed(error, 1) from error


def _failed(error: Exception, code: int) -> typer.Exit:
    console.print(f"[red]{escape(str(error))}[/red]", soft_wrap=True)
    return typer.Exit(code)
