"""The NATS configuration says what the table says."""

import re
from pathlib import Path

from shared.bus.permissions import ANSWER_WITHIN, SERVICES, nats_users, permissions
from shared.bus.subjects import DURABLES, ROUTES
from shared.settings import Settings

NATS = Path(__file__).parents[3] / "deploy" / "nats"


def test_users_are_as_the_table_says() -> None:
    """`backscroll nats-users > deploy/nats/users.conf`"""
    assert (NATS / "users.conf").read_text() == nats_users()


def test_no_service_has_the_run_of_a_stream_or_of_all_subjects() -> None:
    for user in SERVICES:
        told = permissions(user)
        for subject in [*told["publish"]["allow"], *told["subscribe"]["allow"]]:
            assert not re.match(r"(>|\*|_INBOX\.[>*]|\$JS\.[>*]|\$JS\.API\.[>*]|ev\.v1\.>)", subject)
            assert not re.search(r"STREAM\.(CREATE|UPDATE|DELETE|PURGE|RESTORE|SNAPSHOT)", subject)


def test_each_event_has_one_service_that_publishes_it() -> None:
    for _, subject in ROUTES.values():
        of = re.sub(r"X+", "*", subject(_Event()))
        publishers = [u for u in SERVICES if any(_same(of, p) for p in SERVICES[u].publish)]
        assert len(publishers) == 1


def test_each_durable_has_one_service_that_works_on_it() -> None:
    for durable in DURABLES:
        pull = f"$JS.API.CONSUMER.MSG.NEXT.{durable.stream}.{durable.name}"
        assert sum(pull in rights.publish for rights in SERVICES.values()) == 1


def test_an_answer_may_take_as_long_as_its_caller_waits() -> None:
    assert Settings().assemble_timeout_s < int(ANSWER_WITHIN.removesuffix("m")) * 60


class _Event:
    tenant = session = record = "XX"


def _same(subject: str, allowed: str) -> bool:
    plain = [re.sub(r"^i-", "", token) for token in subject.split(".")]
    return plain == allowed.split(".")
