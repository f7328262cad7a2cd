"""The embedding server is away during an import, or refuses one text for good."""

from shared.bus.codec import decode
from shared.contracts.events import DeadLetter
from tests.integration.services.asking import ask, whole
from tests.support.addresses import address_keys
from tests.support.embedding_server import EmbeddingServer
from tests.support.eventually import eventually
from tests.support.stack import Stack
from tests.support.talk import BOILER_QUESTION, LOCK_QUESTION, assistant, talk, user

POISON = "<poison> is a text that the embedding server refuses."
POISON_QUESTION = "Which text does the embedding server refuse?"


async def dead_letters(stack: Stack) -> list[DeadLetter]:
    state = (await stack.bus.js.stream_info("DEADLETTERS")).state
    numbers = range(state.first_seq, state.last_seq + 1) if state.messages else ()
    return [decode(DeadLetter, (await stack.bus.js.get_msg("DEADLETTERS", n)).data or b"") for n in numbers]


async def test_an_import_while_the_embedding_server_is_away(
    stack: Stack, embeddings: EmbeddingServer
) -> None:
    embeddings.down = True
    history = [*talk("hall", 300), user(LOCK_QUESTION)]
    assert "9174" in (await whole(stack, history)).text
    await eventually(lambda: embeddings.refused >= 3)
    history += [assistant("9174."), user(BOILER_QUESTION)]
    assert "RB-2209" in (await whole(stack, history)).text
    keys = address_keys(history)

    async def all_terms() -> bool:
        return (await stack.store.coverage("default", keys)).chunks == len(history)

    await eventually(all_terms)
    assert (await stack.store.coverage("default", keys)).with_vector == 0
    embeddings.down = False

    async def all_vectors() -> bool:
        return (await stack.store.coverage("default", keys)).with_vector == len(history)

    await eventually(all_vectors)
    assert await dead_letters(stack) == []
    said = [m["content"] for m in history]
    assert sorted(text for text in embeddings.texts if text in said) == sorted(set(said))


async def test_a_text_that_is_always_refused(stack: Stack, embeddings: EmbeddingServer) -> None:
    embeddings.refuses = lambda text: "<poison>" in text
    history = talk("hall", 150)
    history[9] = assistant(POISON)
    history.append(user(LOCK_QUESTION))
    assert "9174" in (await whole(stack, history)).text
    keys = address_keys(history)

    async def others_have_vectors() -> bool:
        return (await stack.store.coverage("default", keys)).with_vector == len(history) - 1

    await eventually(others_have_vectors)

    async def given_up() -> bool:
        return bool(await dead_letters(stack))

    await eventually(given_up)
    (letter,) = await dead_letters(stack)
    assert (letter.stream, letter.service) == ("CHUNKS", "embedder")
    assert "this text cannot be embedded" in letter.reason
    assert POISON in letter.item
    # Its message is indexed all the same: nobody waits for it, and its terms find it.
    assert await stack.store.missing("default", keys) == set()
    history += [assistant("9174."), user(POISON_QUESTION)]
    assert "<poison>" in (await ask(stack, history)).text
    refused = embeddings.refused
    history += [assistant(POISON), user(BOILER_QUESTION)]
    assert "RB-2209" in (await whole(stack, history)).text
    assert embeddings.refused == refused
    assert len(await dead_letters(stack)) == 1
