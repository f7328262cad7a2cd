import re

from hypothesis import given
from hypothesis import strategies as st

from shared.bus import subjects
from shared.contracts.events import ChunksCreated, ExchangeRecorded, MessagesRecorded

ids = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="aA.*>-_= \t\n", max_size=60),
    st.from_regex(r"[ibh]-[a-z0-9]{1,60}", fullmatch=True),
)
TOKEN = re.compile(r"[ibh]-[A-Za-z0-9_-]{0,64}")


@given(ids)
def test_any_id_becomes_one_bounded_token(user_id: str) -> None:
    assert TOKEN.fullmatch(subjects.token(user_id))


@given(ids, ids)
def test_two_ids_never_share_a_token(a: str, b: str) -> None:
    assert (subjects.token(a) == subjects.token(b)) == (a == b)


@given(ids)
def test_a_token_tells_its_id_or_that_it_is_a_hash(user_id: str) -> None:
    made = subjects.token(user_id)
    assert subjects.id_of(made) == (made if made.startswith("h-") else user_id)


@given(ids, ids)
def test_a_pattern_matches_what_its_stream_holds_of_a_session(tenant: str, session: str) -> None:
    event = MessagesRecorded(tenant=tenant, session=session, at=0, messages=())
    stream, subject = subjects.ROUTES[type(event)]
    for wanted in ((None, None), (tenant, None), (None, session), (tenant, session)):
        assert matches(subjects.pattern(stream, *wanted), subject(event))
    assert not matches(subjects.pattern(stream, tenant + "x", session), subject(event))


@given(ids, ids, ids, ids)
def test_two_conversations_never_share_a_subject(t1: str, s1: str, t2: str, s2: str) -> None:
    assert (subjects.messages(t1, s1) == subjects.messages(t2, s2)) == ((t1, s1) == (t2, s2))


def test_a_token_cannot_look_like_the_encoding_of_another_id() -> None:
    encoded = subjects.token("a.b")
    assert subjects.token(encoded) != encoded
    assert subjects.token("") == "b-"


def test_a_plain_id_stays_readable() -> None:
    assert subjects.messages("acme", "chat_1") == "ev.v1.i-acme.i-chat_1.messages"


@given(ids, ids, ids)
def test_every_event_goes_to_its_own_stream(tenant: str, session: str, record: str) -> None:
    events = [
        MessagesRecorded(tenant=tenant, session=session, at=0, messages=()),
        ChunksCreated(tenant=tenant, session=session, at=0, messages=()),
        ExchangeRecorded(tenant=tenant, session=session, record=record, at=0, body="{}"),
    ]
    published = {subjects.ROUTES[type(e)][0]: subjects.ROUTES[type(e)][1](e) for e in events}
    published[subjects.DOCUMENTS] = subjects.documents(tenant, session)
    published[subjects.DEADLETTERS] = subjects.dead_letter(published[subjects.MESSAGES], session)
    for stream, subject in published.items():
        assert [s for s, pattern in subjects.STREAM_SUBJECTS.items() if matches(pattern, subject)] == [stream]


def matches(pattern: str, subject: str) -> bool:
    wanted, tokens = pattern.split("."), subject.split(".")
    return len(wanted) == len(tokens) and all(w in ("*", t) for w, t in zip(wanted, tokens, strict=True))


def test_a_dead_letter_stands_beside_what_it_is_about() -> None:
    about = subjects.messages("acme", "a b")
    assert subjects.dead_letter(about, "chunker") == f"dl.v1.i-acme.{subjects.token('a b')}.i-chunker"
