"""The response to a request that is refused before anything else sees it. Worker."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

_HEADERS: Final = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Connection": "close"}}


def refusal_response(status: int, why: str) -> JSONResponse:
    """Return the response to a refused request.

    Args:
        status: The HTTP status.
        why: The reason, for the person who reads the client's log.
    """
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": why}}
    return JSONResponse(body, status, _HEADERS.get(status))
