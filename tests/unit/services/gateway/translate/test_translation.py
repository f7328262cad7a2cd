"""What holds for the requests of either dialect."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from backscroll.engine import validate_messages
from services.gateway.prepare.templates import Template
from services.gateway.translate.translation import Translation, chat_prompt
from shared.tokens.prompt import Prompt
from tests.unit.services.gateway.translate.requests import (
    ASSISTANT_CALLS,
    SCHEMA,
    call_item,
    from_anthropic,
    from_responses,
    output_item,
    result,
    text,
    use,
    user,
)


def test_the_engines_template_is_kept_to() -> None:
    body = orjson.dumps(
        {
            "model": "m",
            "messages": [
                user(text("a")),
                user(text("b")),
                ASSISTANT_CALLS,
                user(result("a", "1"), result("b", "2")),
            ],
        }
    )
    strict = Template(strict_alternation=True, tool_ids="mistral")
    messages = orjson.loads(Translation("anthropic", body, strict).body)["messages"]
    assert messages[0]["content"] == "a\n\nb"
    assert all(len(m["tool_call_id"]) == 9 for m in messages if m["role"] == "tool")


def test_a_prompt_is_counted_as_it_is_sent() -> None:
    tools = orjson.dumps([{"name": "find", "input_schema": SCHEMA}])
    fields = {"model": b'"m"', "max_tokens": b"9", "system": b'"Be brief."', "tools": tools}
    counted = chat_prompt(Prompt("anthropic", "m", fields, [orjson.dumps(user(text("hi")))]))
    sent = from_anthropic(user(text("hi")), system="Be brief.", tools=orjson.loads(tools))
    assert (counted.dialect, counted.model) == ("chat", "m")
    assert [orjson.loads(m) for m in counted.messages] == sent["messages"]
    assert orjson.loads(counted.fields["tools"]) == sent["tools"]


words = st.text(min_size=1, max_size=8)
values = st.dictionaries(words, words, max_size=2)


@given(st.lists(st.tuples(st.lists(values, max_size=3), words, st.booleans()), min_size=1, max_size=5))
def test_every_history_of_calls_is_valid_and_nothing_is_lost(
    turns: list[tuple[list[dict[str, str]], str, bool]],
) -> None:
    messages: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    for n, (calls, said, beside) in enumerate(turns):
        messages.append(user(text(said)))
        items.append({"role": "user", "content": said})
        if not calls:
            continue
        ids = [f"c{n}-{i}" for i in range(len(calls))]
        messages.append(
            {"role": "assistant", "content": [use(i, **c) for i, c in zip(ids, calls, strict=True)]}
        )
        items += [call_item(i, orjson.dumps(c).decode()) for i, c in zip(ids, calls, strict=True)]
        extra = [text(said)] if beside else []
        messages.append(user(*extra, *(result(i, said) for i in ids)))
        items += [output_item(i, said) for i in ids]
    for built in (from_anthropic(*messages)["messages"], from_responses(*items)["messages"]):
        assert validate_messages(built) == []
        made = [c["function"]["arguments"] for m in built for c in m.get("tool_calls", [])]
        assert [orjson.loads(a) for a in made] == [c for calls, _, _ in turns for c in calls]
