"""Which way of counting an engine offers, found by asking for the count of the shortest prompt."""

from collections.abc import Callable, Sequence

from shared.errors import DependencyUnavailable
from shared.tokens.adapters.anthropic import Anthropic
from shared.tokens.adapters.llamacpp import LlamaCpp, LlamaCppTemplate
from shared.tokens.adapters.port import Adapter, Line, NotOfferedError
from shared.tokens.adapters.tgi import Tgi
from shared.tokens.adapters.vllm import Vllm
from shared.tokens.prompt import probe


def ways_of(line: Line, told: Callable[[str, int], None], local: Adapter | None, kind: str) -> list[Adapter]:
    """In the order in which they are tried; `kind` is the setting `token_counter`."""
    engines: list[Adapter] = [
        Vllm(line, told),
        LlamaCpp(line),
        LlamaCppTemplate(line),
        Tgi(line),
        Anthropic(line),
    ]
    ways = [*engines, local] if local else engines
    return ways if kind == "auto" else [way for way in ways if way.name == kind]


async def pick(ways: Sequence[Adapter], model: str, dialect: str) -> Adapter | None:
    """The first way that counts; None where there is none.

    Raises `DependencyUnavailable` where one may be there but does not answer just now.
    """
    down: DependencyUnavailable | None = None
    for way in ways:
        try:
            await way.count(probe(model, dialect))
        except NotOfferedError:
            continue
        except DependencyUnavailable as error:
            # Some servers answer 500 to a form that they do not know, so the next way is tried too.
            down = error
            continue
        return way
    if down is not None:
        raise down
    return None
