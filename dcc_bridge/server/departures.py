"""A client that goes away in the middle is no error of the host's. Worker; records come from it.

The SDK and uvicorn log a traceback for a request whose client was killed, and a host has a
terminal, or a script editor, that shows it. Of such a record there remains a sentence, at a level
that is shown only where somebody asked for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio
from starlette.requests import ClientDisconnect

_WHO: Final = (
    "mcp.server.connection",
    "mcp.server.runner",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.shared.jsonrpc_dispatcher",
    "uvicorn.error",
)
"""The loggers that speak of requests and their streams."""
_GONE: Final = (
    ClientDisconnect,
    ConnectionError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)


@contextmanager
def said_quietly() -> Iterator[None]:
    """Say less of them as long as the block lasts."""
    loggers = [logging.getLogger(name) for name in _WHO]
    for logger in loggers:
        logger.addFilter(_quieten)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_quieten)


def _quieten(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and _is_departure(error):
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        record.msg = f"{record.getMessage()}: the client is gone ({type(error).__name__})"
        record.args, record.exc_info = (), None
        return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
    return True


def _is_departure(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_departure(one) for one in error.exceptions)
    return isinstance(error, _GONE)
