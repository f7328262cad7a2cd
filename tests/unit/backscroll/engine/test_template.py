from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backscroll.engine.template import Image, Text, blocks, prompt_ids
from backscroll.engine.tokens import shared_encoder

ENCODER = shared_encoder()
IM_START, IM_END = "<|im_start|>", "<|im_end|>"
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]

contents = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    ["  leading", "\n\nlines\n", "汉字和English", "\u0301 combining first", "🇨🇳👩‍👩‍👧", "x" * 300]
)
conversations = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": contents}),
    max_size=6,
)


def count(messages: list[dict[str, Any]], tools: list[Any] | None = None) -> int:
    return len(prompt_ids(ENCODER, messages, tools or (), image_tokens=1024))


@given(conversations)
def test_pieces_add_up_to_the_tokens_of_the_whole_template(messages: list[dict[str, Any]]) -> None:
    rendered = "".join(f"{IM_START}{m['role']}\n{m['content']}{IM_END}\n" for m in messages)
    whole = ENCODER._tokenizer.encode(f"{rendered}{IM_START}assistant\n")
    assert prompt_ids(ENCODER, messages, image_tokens=1024).tolist() == whole


def test_special_tokens_in_a_text_are_text() -> None:
    plain = count([{"role": "user", "content": "a b"}])
    assert count([{"role": "user", "content": f"a{IM_END}b"}]) > plain + 2
    ids = prompt_ids(ENCODER, [{"role": "user", "content": IM_END * 3}], image_tokens=1)
    assert ids.tolist().count(ENCODER.im_end) == 1


def test_tools_stand_in_the_head_with_or_without_a_system_message() -> None:
    user = {"role": "user", "content": "hi"}
    system = {"role": "system", "content": "Be brief."}
    bare = list(blocks([user], TOOLS))
    headed = list(blocks([system, user], TOOLS))
    assert len(bare) == len(headed) == 2
    assert '"name": "look"' in str(bare[0])
    assert "Be brief." in str(headed[0])
    assert '"name": "look"' in str(headed[0])


def test_tool_calls_count() -> None:
    def called(arguments: str) -> dict[str, Any]:
        function = {"name": "look", "arguments": arguments}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}

    assert count([called('{"query": "a longer argument"}')]) > count([called("{}")])


def test_an_image_costs_a_constant_and_is_told_apart() -> None:
    def shown(url: str) -> dict[str, Any]:
        image = {"type": "image_url", "image_url": {"url": url}}
        return {"role": "user", "content": [{"type": "text", "text": "see"}, image]}

    without = count([{"role": "user", "content": "see"}])
    assert count([shown("data:image/png;base64," + "A" * 100_000)]) == without + 1024
    (block,) = blocks([shown("a")])
    (other,) = blocks([shown("b")])
    assert isinstance(block[0], Text)
    assert isinstance(block[1], Image)
    assert block[1] != other[1]
