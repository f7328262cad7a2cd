"""The operator's commands, as the user that may do everything."""

from backscroll.doctor.parts import check_bus
from shared.settings import Settings
from tests.support.compose_nats import ComposeNats
from tests.support.compose_run import password_of


async def test_doctor_looks_at_the_bus_and_shows_no_password(server: ComposeNats) -> None:
    settings = Settings(nats_url=server.url("operator"))
    found = [finding async for finding in check_bus(settings)]
    assert [finding.ok for finding in found] == [True, True]
    assert f"nats://127.0.0.1:{server.port}: " in found[0].text
    assert password_of("operator") not in str(found)
