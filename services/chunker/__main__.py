"""`python -m services.chunker`"""

import asyncio

from services.chunker.bootstrap import start
from shared.service import run_service
from shared.settings import Settings

if __name__ == "__main__":
    asyncio.run(run_service("chunker", start, Settings()))
