import time

from backscroll.engine.tokens import TextEncoder, shared_encoder


def test_a_million_blanks_are_counted() -> None:
    assert 0 < len(shared_encoder().encode(" " * 1_000_000)) < 1_000_000


def test_a_known_text_is_not_encoded_again() -> None:
    encoder = shared_encoder()
    text = "The quick brown fox reads 37 pages. " * 20_000
    encoder.encode(text)
    start = time.perf_counter()
    encoder.encode(text)
    assert time.perf_counter() - start < 0.02


def test_what_is_kept_is_bounded() -> None:
    encoder = TextEncoder(kept_tokens=1000)
    texts = [f"number {n} " * 20 for n in range(100)]
    counts = [len(encoder.encode(text)) for text in texts]
    assert sum(len(ids) for ids in encoder._kept.values()) <= 1000
    assert [len(encoder.encode(text)) for text in texts] == counts
