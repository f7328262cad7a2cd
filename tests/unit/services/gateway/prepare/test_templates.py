"""What strict chat templates take, from any valid history; and what no rule touches keeps its bytes."""

from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings

from backscroll.engine import validate_messages
from backscroll.engine.strict import mistral_faults
from services.gateway.prepare.templates import CONTINUATION, OPENING, Template, conform, mistral_id
from tests.support.histories import Message, histories

STRICT = Template(strict_alternation=True)
MISTRAL = Template(strict_alternation=True, developer_role=False, tool_ids="mistral")
many = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def says(text: str | None, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def calls(*ids: str) -> Message:
    function = {"name": "search", "arguments": "{}"}
    return says(None, tool_calls=[{"id": i, "type": "function", "function": function} for i in ids])


def result(call: str, text: str = "found") -> Message:
    return {"role": "tool", "tool_call_id": call, "content": text}


def conformed(messages: list[Message], template: Template = STRICT) -> list[Message]:
    raw = [orjson.dumps(m) for m in messages]
    return [orjson.loads(m) for m in conform(raw, template, overhead=8).messages]


@many
@given(histories())
def test_a_strict_template_takes_any_valid_history(messages: list[Message]) -> None:
    assert validate_messages(messages) == []
    assert mistral_faults(conformed(messages, MISTRAL)) == []


@many
@given(histories())
def test_conforming_twice_changes_nothing(messages: list[Message]) -> None:
    once = conform([orjson.dumps(m) for m in messages], MISTRAL, 8)
    assert conform(once.messages, MISTRAL, 8).messages == once.messages


@many
@given(histories())
def test_no_word_is_lost(messages: list[Message]) -> None:
    sent = orjson.dumps(conformed(messages, MISTRAL)).decode()
    for message in messages:
        content = message["content"] or ""
        for text in [content] if isinstance(content, str) else [p.get("text", "") for p in content]:
            assert orjson.dumps(text).decode()[1:-1] in sent


def test_a_lenient_engine_gets_the_bytes_as_they_came() -> None:
    raw = [b'{"role":"user",  "content":null}', b'{"content": "", "role" : "assistant"}']
    assert conform(raw, Template(), 8).messages == raw


def test_messages_that_no_rule_touches_keep_their_bytes() -> None:
    raw = [
        b'{"role":"user",  "content":"a"}',
        b'{"content": "b", "role" : "assistant"}',
        b'{"role":"user","content":"c"}',
    ]
    done = conform(raw, MISTRAL, 8)
    assert done.messages == raw
    assert done.added == 0


def test_two_users_become_one_in_what_is_sent() -> None:
    assert conformed([system("S"), user("a"), user("b")]) == [system("S"), user("a\n\nb")]


def test_texts_and_parts_join_as_parts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    merged = conformed([user("a"), {"role": "user", "content": [image]}])
    assert merged == [{"role": "user", "content": [{"type": "text", "text": "a"}, image]}]


def test_two_names_in_one_message_are_told_in_its_text() -> None:
    assert conformed([user("a", name="alice"), user("b", name="bob")]) == [user("alice: a\n\nbob: b")]
    assert conformed([user("a", name="alice"), user("b", name="alice")]) == [user("a\n\nb", name="alice")]


def test_calls_of_the_assistant_in_a_row_are_made_in_one_message() -> None:
    sent = conformed([user("q"), says("Let me see."), calls("c1"), result("c1")])
    assert [m["role"] for m in sent] == ["user", "assistant", "tool"]
    assert sent[1]["content"] == "Let me see."
    assert [c["id"] for c in sent[1]["tool_calls"]] == ["c1"]


def test_leading_system_messages_become_one() -> None:
    developer = {"role": "developer", "content": "D"}
    assert conformed([system("S"), developer, user("a")], MISTRAL) == [system("S\n\nD"), user("a")]


def test_a_later_system_message_is_marked_text_of_the_user_after_it() -> None:
    sent = conformed([user("a"), says("b"), system("Be brief."), user("c")])
    assert sent[-1] == user("[system]\nBe brief.\n\nc")


def test_a_later_system_message_without_a_user_after_it_goes_to_what_stands_before() -> None:
    assert conformed([user("a"), system("S"), says("b"), user("c")])[0] == user("a\n\n[system]\nS")
    sent = conformed([user("a"), calls("c1"), result("c1"), system("S")])
    assert sent[-1] == result("c1", "found\n\n[system]\nS")


def test_a_system_message_does_not_come_between_a_call_and_its_results() -> None:
    sent = conformed([user("a"), calls("c1", "c2"), result("c1"), system("S"), result("c2"), says("b")])
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "assistant"]


def test_a_greeting_gets_a_user_before_it() -> None:
    assert conformed([system("S"), says("Hello!"), user("a")])[1] == user(OPENING)


def test_a_user_after_a_result_gets_a_word_of_the_assistant_before() -> None:
    sent = conformed([user("a"), calls("c1"), result("c1"), user("stop")])
    assert sent[-2] == says(CONTINUATION)


def test_what_is_put_in_is_counted() -> None:
    raw = [orjson.dumps(m) for m in (says("Hello!"), user("a"), user("b"))]
    done = conform(raw, STRICT, overhead=8)
    assert done.added >= 8 + len(OPENING) // 4


def test_the_developer_role_is_kept_where_the_template_knows_it() -> None:
    messages = [{"role": "developer", "content": "D"}, user("a")]
    assert conformed(messages, Template(tool_ids="mistral")) == messages
    assert conformed(messages, Template(developer_role=False))[0] == system("D")


def test_ids_stay_in_step_between_calls_and_results() -> None:
    sent = conformed([user("a"), calls("call_1", "toolu_01"), result("toolu_01"), result("call_1")], MISTRAL)
    made = [c["id"] for c in sent[1]["tool_calls"]]
    assert made == [mistral_id("call_1"), mistral_id("toolu_01")]
    assert [m["tool_call_id"] for m in sent[2:]] == made[::-1]
    assert mistral_id("a1B2c3D4e") == "a1B2c3D4e"
    assert len({mistral_id(f"call_{i}") for i in range(10_000)}) == 10_000


def test_null_becomes_empty_only_without_calls() -> None:
    sent = conformed([user("a"), says(None), user("b"), calls("c1"), result("c1")])
    assert sent[1]["content"] == ""
    assert sent[3]["content"] is None


@many
@given(histories(most_turns=5))
def test_what_was_sent_stays_the_prefix(messages: list[Message]) -> None:
    """Up to the last message, into which the next one may have been merged."""
    raw = [orjson.dumps(m) for m in messages]
    whole = conform(raw, MISTRAL, 8).messages
    for length in range(1, len(raw)):
        if messages[length - 1]["role"] in ("user", "tool") and not validate_messages(messages[:length]):
            shorter = conform(raw[:length], MISTRAL, 8).messages
            assert whole[: len(shorter) - 1] == shorter[:-1]
