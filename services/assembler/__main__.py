"""`python -m services.assembler`"""

import asyncio

from services.assembler.bootstrap import start
from shared.service import run_service
from shared.settings import Settings

if __name__ == "__main__":
    asyncio.run(run_service("assembler", start, Settings()))
