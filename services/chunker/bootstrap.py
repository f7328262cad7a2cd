"""Wires the chunker: the one place where its parts are built."""

from services.chunker.chunk import Limits
from services.chunker.handlers import Handlers
from shared.bus import CHUNKER, Bus
from shared.settings import Settings
from shared.tokens.estimate import Coefficients


async def start(settings: Settings, bus: Bus) -> None:
    """Chunks until the bus is closed."""
    await bus.consume(CHUNKER, Handlers(bus, limits(settings)).messages_recorded)


def limits(settings: Settings) -> Limits:
    return Limits(
        chunk_tokens=settings.chunk_tokens,
        chars_per_token=settings.chars_per_token,
        coefficients=Coefficients(
            cjk=settings.tok_per_char_cjk,
            digit=settings.tok_per_char_digit,
            other=settings.tok_per_char_other,
        ),
        overlap_tokens=0 if settings.structure_chunking else settings.chunk_overlap_tokens,
    )
