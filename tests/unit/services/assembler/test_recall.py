import numpy as np

from services.assembler.recall import only
from shared.contracts.rpc import ChunkRef
from shared.conversation.history import SIZE, History

HISTORY = History(
    addresses=bytes(range(8 * SIZE)),
    roles=np.zeros(8, np.uint8),
    turns=np.arange(8, dtype=np.uint32),
    steps=np.zeros(8, np.uint32),
    units=np.ones(8, np.uint16),
    tokens=np.arange(8, dtype=np.uint32),
    least=np.zeros(8, dtype=np.uint32),
)


def test_only_the_messages_of_the_chunks_are_sent_and_refs_still_name_them() -> None:
    chunks = (ChunkRef(6, 0, 1), ChunkRef(2, 3, 0), ChunkRef(6, 1, 0))
    packed, refs = only(HISTORY.pack(), chunks)
    sent = History.unpack(packed)
    assert len(sent) == 2
    for chunk, ref in zip(chunks, refs, strict=True):
        assert sent.address(ref.position) == HISTORY.address(chunk.position)
        assert ref[1:] == chunk[1:]
