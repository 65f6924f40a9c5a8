"""What a request gets that nobody looks at: a status and a sentence. Any thread."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse

_MORE: Final = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Connection": "close"}}


def refuse(status: int, why: str) -> JSONResponse:
    """Make the answer.

    Args:
        status: Of HTTP.
        why: A sentence for whoever reads the client's log.
    """
    error: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": why},
    }
    return JSONResponse(error, status, _MORE.get(status))
