"""A gateway that starts anew finds what the one before it left on the bus."""

from tests.integration.services.asking import whole
from tests.support.stack import Stack
from tests.support.talk import LOCK_QUESTION, assistant, talk, user


async def test_a_new_gateway_inherits_from_the_old_one(stack: Stack) -> None:
    history = [*talk("hall"), user(LOCK_QUESTION)]
    first = await whole(stack, history)
    await stack.stop("gateway")
    await stack.start("gateway")
    history += [assistant(first.text), user("Thank you. It is raining again.")]
    second = await whole(stack, history)
    assert second.cached_tokens > 0.9 * first.prompt_tokens
    record = await stack.record(second.record_id or "")
    assert (record["action"], record["inherited"]["length"]) == ("reuse", len(history) - 2)
