"""`python -m backscroll.engine --port 8500 --window 8192`"""

from typing import Annotated

import typer
import uvicorn

from backscroll.engine.app import create_engine
from backscroll.engine.engine import DEMO_MODEL


def serve(
    window: Annotated[int, typer.Option(help="Tokens of prompt and answer together.")] = 8192,
    host: str = "127.0.0.1",
    port: int = 8500,
    model: Annotated[str, typer.Option(help="Name under /v1/models.")] = DEMO_MODEL,
) -> None:
    """The demo engine alone."""
    uvicorn.run(create_engine(window, model), host=host, port=port, log_level="warning")


if __name__ == "__main__":
    typer.run(serve)
