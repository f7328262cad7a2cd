"""`DELETE /v1/sessions/{id}`: the tenant's session of this name goes for good."""

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from services.gateway.reading.session import named
from shared.bus import ERASE, Bus
from shared.contracts.rpc import Erase
from shared.errors import InvalidRequest

PATH = "/v1/sessions/{session:path}"
ERASE_S = 600.0
"""A long history is deleted message by message, and a store on Qdrant Edge is written anew."""


async def erase(http: HttpRequest, bus: Bus) -> Response:
    """The receipt. A session that nobody knows is erased all the same: what is under way of it stays dead."""
    name = http.path_params["session"]
    if not name.strip():
        raise InvalidRequest("The session's id is missing: DELETE /v1/sessions/{id}.")
    request = Erase(tenant=http.state.tenant, session=named(name))
    receipt = await bus.call(ERASE, request, timeout_s=ERASE_S)
    return JSONResponse(receipt.model_dump())
