"""Which name a request gives its conversation."""

import json

import pytest

from services.gateway.reading.session import HEADERS, label_of, named

UUID = "0b5a3c1e-0000-4000-8000-1d2e3f405060"
USER = "user_" + "a" * 64


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_names_a_session(header: str) -> None:
    assert label_of({header: UUID}, {}) == UUID


@pytest.mark.parametrize(
    "values",
    [
        {"metadata": {"user_id": f"{USER}_account_{UUID}_session_{UUID}"}},
        {"metadata": {"user_id": json.dumps({"device_id": "d", "session_id": UUID})}},
        {"metadata": {"session_id": UUID}},
        {"prompt_cache_key": UUID},
    ],
)
def test_each_field_names_a_session(values: dict[str, object]) -> None:
    assert label_of({}, values) == UUID


def test_a_header_in_utf8_names_what_is_erased_by_it() -> None:
    assert label_of({"x-session-id": "чат".encode().decode("latin-1")}, {}) == named("чат")
    assert label_of({"x-session-id": "caf\xe9"}, {}) == named("café")


def test_baggage_names_a_session() -> None:
    assert label_of({"baggage": "userId=alice, session.id=a%20b;p=1"}, {}) == label_of({}, _key("a b"))
    assert label_of({"baggage": f"userId=alice,session.id={UUID};ttl=3"}, {}) == UUID


def _key(text: str) -> dict[str, object]:
    return {"prompt_cache_key": text}


@pytest.mark.parametrize(
    "values",
    [
        {"metadata": {"user_id": "alice"}},
        {"metadata": {"user_id": "{broken"}},
        {"metadata": {"user_id": '{"session_id": 7}'}},
        {"metadata": "text"},
        {"metadata": {"session_id": ["x"]}},
        {"metadata": None, "prompt_cache_key": 3},
        {"user": "alice", "safety_identifier": "alice"},
    ],
)
def test_people_and_nonsense_name_none(values: dict[str, object]) -> None:
    assert label_of({"baggage": "userId=alice,session.id", "user-agent": "x"}, values) is None


def test_the_most_specific_wins() -> None:
    values: dict[str, object] = {"metadata": {"session_id": "body"}, "prompt_cache_key": "hint"}
    named = {"x-session-id": "general", "x-openwebui-chat-id": "chat", "x-litellm-trace-id": "trace"}
    assert label_of(named, values) == "chat"
    assert label_of({"x-litellm-trace-id": "trace", "x-session-id": "general"}, values) == "general"
    assert label_of({"baggage": "session.id=b"}, values) == "body"
    assert label_of({"baggage": "session.id=b"}, _key("hint")) == "b"
    assert label_of({"x-task-id": "  "}, _key("hint")) == "hint"


@pytest.mark.parametrize("name", ["汉字", "a\r\nset-cookie: x", "x" * 129, "with space", "\ud800"])
def test_a_name_that_no_header_carries_comes_back_as_one_that_does(name: str) -> None:
    label = label_of({}, _key(name))
    assert label is not None
    assert label.isalnum()
    assert label == label_of({}, _key(name)) != label_of({}, _key(name + "."))
