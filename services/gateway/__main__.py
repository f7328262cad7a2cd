"""`python -m services.gateway`"""

import asyncio
from contextlib import AsyncExitStack

from services.gateway.bootstrap import gateway_app
from shared.bus import Bus
from shared.service import run_service, serving
from shared.settings import Settings


async def main(settings: Settings) -> None:
    async with AsyncExitStack() as stack:

        async def start(settings: Settings, bus: Bus) -> None:
            app = await stack.enter_async_context(gateway_app(settings, bus))
            await stack.enter_async_context(serving(app, settings.host, settings.port))

        await run_service("gateway", start, settings)


if __name__ == "__main__":
    asyncio.run(main(Settings()))
