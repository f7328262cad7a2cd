"""`python -m services.chunker`"""

from services.chunker.bootstrap import start
from shared.service import run, run_service
from shared.settings import Settings

if __name__ == "__main__":
    run(run_service("chunker", start, Settings()))
