import httpx
import pytest
from structlog.testing import capture_logs

from shared.errors import DependencyUnavailable, PermanentFault
from shared.service import health_app, run, run_service
from shared.settings import Settings


async def fine() -> None: ...


async def down() -> None:
    raise DependencyUnavailable("bus_unavailable", "not connected")


async def broken() -> None:
    raise RuntimeError("secret")


@pytest.mark.parametrize(
    ("checks", "status", "body"),
    [
        ([fine], 200, {"status": "ready"}),
        ([fine, down], 503, {"status": "not ready", "part": "bus_unavailable"}),
        ([broken], 503, {"status": "not ready", "part": "RuntimeError"}),
    ],
)
async def test_ready_is_what_every_check_says_and_live_is_not(
    checks: list, status: int, body: dict[str, str]
) -> None:
    transport = httpx.ASGITransport(app=health_app(checks))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        ready = await client.get("/health/ready")
        assert (ready.status_code, ready.json()) == (status, body)
        assert (await client.get("/health/live")).status_code == 200
        assert "backscroll_chunks_total" in (await client.get("/metrics")).text


async def test_a_service_alone_needs_a_bus() -> None:
    async def start(*_: object) -> None: ...

    with pytest.raises(PermanentFault, match="BACKSCROLL_NATS_URL"):
        await run_service("chunker", start, Settings())


def test_what_a_service_fails_of_is_a_line_of_its_log() -> None:
    async def failing() -> None:
        raise PermanentFault("no key in force")

    with capture_logs() as lines, pytest.raises(SystemExit) as ended:
        run(failing())
    assert ended.value.code == 1
    assert [(line["event"], line["reason"]) for line in lines] == [("service_failed", "no key in force")]
