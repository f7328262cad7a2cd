"""Images cost what the bound says, whether the engine's tokenizer counts them or not."""

from typing import Any

from tests.support.pipeline import Pipeline, sent


def showing(images: int) -> dict[str, Any]:
    shown = [{"type": "image_url", "image_url": {"url": f"data:,{i}"}} for i in range(images)]
    return {"role": "user", "content": [{"type": "text", "text": "Look at these boats."}, *shown]}


async def test_an_engine_that_counts_images_is_not_charged_for_them_twice() -> None:
    pipeline = Pipeline(16_384)
    prepared = await pipeline.ask([showing(14)])
    assert prepared.mode == "passthrough"


async def test_images_that_left_the_window_teach_nothing_about_texts() -> None:
    pipeline = Pipeline(4096)
    seen = {"role": "assistant", "content": "I see boats."}
    prepared = await pipeline.ask([showing(8), seen, {"role": "user", "content": "Which boats?"}])
    assert prepared.mode == "assembled"
    assert not prepared.shrunk
    assert "I see boats." in str(sent(prepared))
