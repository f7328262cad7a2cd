"""`python -m services.gateway`"""

from contextlib import AsyncExitStack

from services.gateway.bootstrap import gateway_app
from shared.bus import Bus
from shared.service import run, run_service, serving
from shared.settings import Settings

DRAIN_S = 45
"""For streams that run at the end: what a pod's grace period of 60 s leaves room for."""


async def main(settings: Settings) -> None:
    async with AsyncExitStack() as stack:

        async def start(settings: Settings, bus: Bus) -> None:
            app = await stack.enter_async_context(gateway_app(settings, bus))
            await stack.enter_async_context(serving(app, settings.host, settings.port, DRAIN_S))

        await run_service("gateway", start, settings, finish=stack.aclose)


if __name__ == "__main__":
    run(main(Settings()))
