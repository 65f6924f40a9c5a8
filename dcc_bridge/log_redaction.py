"""Redacts tokens from log records of this package and of the libraries that serve it. Any thread.

A filter on each of these loggers changes a record before any handler of the host's sees it. Other
loggers are left alone.
"""

from __future__ import annotations

import logging
import re
import traceback
from typing import Final

_PREFIXES: Final = ("dcc_bridge", "mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")
_TOKEN: Final = re.compile(r"\b[0-9a-f]{64}\b")
"""The code of a token, and the secret from which it is derived; any other digest goes too."""
GONE: Final = "[redacted]"


class _TokenFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the message, the traceback and the stack of a record; always let it pass."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # the arguments do not fit; logging reports that itself
            message = f"{record.msg} {record.args}"
        if _TOKEN.search(message):
            record.msg, record.args = redact_tokens(message), ()
        if record.exc_info and record.exc_info[1] is not None:
            text = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            if _TOKEN.search(text):
                record.exc_info, record.exc_text = None, redact_tokens(text)
        if record.stack_info:
            record.stack_info = redact_tokens(record.stack_info)
        return True


_FILTER: Final = _TokenFilter()


def redact_tokens(text: str) -> str:
    """Give a text without what may be the code of a token."""
    return _TOKEN.sub(GONE, text)


def install() -> None:
    """Add the filter to every logger of ours that exists; a second time does no harm.

    It is called again after later imports, since a filter on a logger is not inherited.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _PREFIXES:
            logging.getLogger(name).addFilter(_FILTER)
