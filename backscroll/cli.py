"""The `backscroll` command."""

import asyncio
import signal
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from backscroll.deadletters import deadletters
from backscroll.demo.conversation import Conversation, demo_conversation
from backscroll.demo.load import load_conversations
from backscroll.demo.play import play
from backscroll.demo.result import DemoResult
from backscroll.doctor import examine, examine_engines
from backscroll.erase import erase
from backscroll.keys import keys
from backscroll.nats_users import print_nats_users
from backscroll.reindex import reindex
from backscroll.replay import replay
from backscroll.standalone import DEMO_WINDOW, standalone
from backscroll.work import finish, settings_of
from shared.bus import provision as provision_bus
from shared.settings import Settings
from shared.telemetry import configure_logging
from shared.tracing import configure_tracing

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Million-token conversations on an engine whose window is far smaller.",
)
app.add_typer(keys, name="keys")
app.add_typer(deadletters, name="deadletters")
app.add_typer(replay, name="replay")
app.command()(erase)
app.command()(reindex)
app.command(name="nats-users")(print_nats_users)
if find_spec("evals"):  # the image goes without it
    from evals.command import evaluate

    app.command("eval")(evaluate)
console = Console()


def _default(name: str) -> str:
    return str(Settings.model_fields[name].default)


@app.command()
def up(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.", show_default=_default("host"))
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on.", show_default=_default("port"))
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="OpenAI-compatible engine, with /v1.", show_default="the demo engine"),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Where embedded parts keep their data.", show_default=_default("data_dir")),
    ] = None,
) -> None:
    """Run all services in one process; nothing else is needed."""
    settings = settings_of(host=host, port=port, engine_url=engine, data_dir=data)
    configure_logging(settings.log_level)
    configure_tracing("standalone", settings.otlp_endpoint)
    finish(_up(settings))


async def _up(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with standalone(settings) as running:
        print(f"backscroll is ready at {running.url} (engine: {running.engine_url})", flush=True)
        async for finding in examine_engines(settings, probe_overflow=False):
            if not finding.ok:
                print(f"  {finding.part}: {finding.text}\n  -> {finding.mend}", flush=True)
        await stop.wait()


@app.command()
def provision(
    update: Annotated[bool, typer.Option(help="Change what differs and may be changed.")] = False,
) -> None:
    """Make the streams, durables and buckets on BACKSCROLL_NATS_URL; say what differs."""
    settings = settings_of()
    if settings.nats_url is None:
        console.print("[red]BACKSCROLL_NATS_URL[/red] is not set.")
        raise typer.Exit(2)
    differences = finish(provision_bus(settings.nats_url, settings, update=update))
    for difference in differences:
        console.print(difference, soft_wrap=True)
    raise typer.Exit(1 if differences else 0)


@app.command()
def demo(
    conversation: Annotated[
        Path | None, typer.Option(help="Play this file: OpenAI messages, LoCoMo or a mini-swe-agent run.")
    ] = None,
    number: Annotated[int, typer.Option(help="Which conversation of the file, from 1.")] = 1,
    window: Annotated[int, typer.Option(help="The engine's window, tokens.")] = DEMO_WINDOW,
    questions: Annotated[int | None, typer.Option(help="How many questions to ask; all by default.")] = None,
    url: Annotated[
        str | None, typer.Option(help="Play against this Backscroll instead of an own one.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="API key for --url.")] = None,
) -> None:
    """Play a conversation many times the engine's window through the real endpoint."""
    try:
        played = load_conversations(conversation)[number - 1] if conversation else demo_conversation(window)
    except (OSError, ValueError, IndexError) as error:
        console.print(f"[red]{conversation}[/red]: {error}", soft_wrap=True)
        raise typer.Exit(2) from error
    result = finish(_demo(played, window, questions, url, key))
    raise typer.Exit(result.exit_code)


async def _demo(
    played: Conversation, window: int, questions: int | None, url: str | None, key: str | None
) -> DemoResult:
    if url is not None:
        return await play(url, played, console, questions=questions, api_key=key)
    with TemporaryDirectory(prefix="backscroll-demo-") as folder:
        settings = settings_of(max_context=window, data_dir=Path(folder), port=0)
        configure_logging("error")
        async with standalone(settings) as running:
            return await play(running.url, played, console, questions=questions)


@app.command()
def doctor(
    url: Annotated[str | None, typer.Option(help="A running Backscroll, with /v1, to look at too.")] = None,
    probe_overflow: Annotated[
        bool, typer.Option(help="Send each engine one prompt that is far too long.")
    ] = False,
) -> None:
    """Look at every part that the settings name; say what is wrong, and how to mend it."""
    settings = settings_of()
    configure_logging("error")
    raise typer.Exit(1 if finish(_doctor(settings, url, probe_overflow)) else 0)


async def _doctor(settings: Settings, url: str | None, probe_overflow: bool) -> int:
    """How many lines tell of something wrong."""
    wrong = 0
    async for finding in examine(settings, url, probe_overflow=probe_overflow):
        mark = "[green]ok[/green]   " if finding.ok else "[red]wrong[/red]"
        console.print(
            f"{mark} {escape(finding.part)}: {escape(finding.text)}", soft_wrap=True, highlight=False
        )
        if not finding.ok:
            wrong += 1
            console.print(f"      -> {escape(finding.mend)}", soft_wrap=True, highlight=False)
    return wrong


def main() -> None:
    app()


if __name__ == "__main__":
    main()
