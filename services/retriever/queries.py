"""What to search with: the last message, and less of what led up to it.

A follow-up question seldom repeats its subject (DomainRAG dialogues .58 with the last message alone, .83
with these weights), but a short question that does is drowned by the hundreds of words before it: what led
up to it weighs together at most a share of it (LoCoMo at 2K .826 -> .852, BEAM 1M at 32K .511 -> .591). An
agent's last message is a tool result; there two queries are summed: the last result with the last text,
and the last four messages.
"""

from collections.abc import Sequence

from shared.contracts.base import Role
from shared.contracts.rpc import SearchText
from shared.text.terms import tokens
from shared.tokens.estimate import DEFAULT, Coefficients, upper_bound

DECAY = 0.7
"""Per message further back."""
EARLIER = {Role.USER: 0.3, Role.ASSISTANT: 0.1, Role.TOOL: 0.1}
EARLIER_CHARS = 1000
RESULT_CHARS = 2000
"""Of a tool result its end counts: that is where output stops and errors stand."""
AGENT_MESSAGES = 4


def search_weights(
    search: Sequence[SearchText], query_tokens: int, context_share: float | None
) -> dict[str, float]:
    """Tokens and their weights. `search` is newest first; a token counts once a text.

    `context_share`: what all earlier messages weigh at most, of what the last one does; None: no limit.
    """
    if not search:
        return {}
    if search[0].role == Role.TOOL:
        return _agent(search)
    weights: dict[str, float] = {}
    _add(weights, question(search, query_tokens), 1.0)
    earlier: dict[str, float] = {}
    for back, (role, text) in enumerate(search[1:]):
        _add(earlier, text[:EARLIER_CHARS], EARLIER[Role(role)] * DECAY**back)
    total = sum(earlier.values())
    allowed = total if context_share is None else min(total, context_share * len(weights))
    for token, weight in earlier.items():
        weights[token] = weights.get(token, 0.0) + weight * allowed / total
    return weights


def question(search: Sequence[SearchText], query_tokens: int, coefficients: Coefficients = DEFAULT) -> str:
    """The last message, for the vector and the reranker, cut to the budget of a query."""
    if not search:
        return ""
    text = search[0].text
    bound = upper_bound(text, coefficients)
    return both_ends(text, len(text) * query_tokens // bound) if bound > query_tokens else text


def both_ends(text: str, chars: int) -> str:
    """At most `chars` characters of the text: people ask before or after what they paste."""
    if len(text) <= chars:
        return text
    head = chars // 2
    return text[:head] + text[len(text) - (chars - head) :]


def _agent(search: Sequence[SearchText]) -> dict[str, float]:
    weights: dict[str, float] = {}
    _add(weights, search[0].text[-RESULT_CHARS:], 1.0)
    said = next((text for role, text in search[1:] if role != Role.TOOL and text), "")
    _add(weights, said[:EARLIER_CHARS], 1.0)
    for back, (_, text) in enumerate(search[:AGENT_MESSAGES]):
        _add(weights, text[-RESULT_CHARS:], DECAY**back)
    return weights


def _add(weights: dict[str, float], text: str, weight: float) -> None:
    for token in dict.fromkeys(tokens(text)):
        weights[token] = weights.get(token, 0.0) + weight
