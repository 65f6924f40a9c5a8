"""Log lines without tokens: whatever is logged here or by what serves here loses them. Any thread.

A record is changed where it is made, so no handler of the host's own ever sees a token. Records of
other loggers are none of our business.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable
from typing import Any, Final

_OURS: Final = ("dcc_bridge", "mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")
_TOKEN: Final = re.compile(r"\b[0-9a-f]{64}\b")
"""The code of a token, and the secret from which it is made; what else looks so is not missed."""
GONE: Final = "[redacted]"


def clean(text: str) -> str:
    """Give a text without what may be a token's code."""
    return _TOKEN.sub(GONE, text)


def install() -> Callable[[], None]:
    """Redact what is logged from now on.

    Returns:
        What ends it. Where somebody else changes records as well by then, ours are passed on.
    """
    before = logging.getLogRecordFactory()
    is_on = [True]

    def make(*args: Any, **more: Any) -> logging.LogRecord:
        record = before(*args, **more)
        if is_on and record.name.partition(".")[0] in _OURS:
            _redact(record)
        return record

    def end() -> None:
        is_on.clear()
        if logging.getLogRecordFactory() is make:
            logging.setLogRecordFactory(before)

    logging.setLogRecordFactory(make)
    return end


def _redact(record: logging.LogRecord) -> None:
    try:
        said = record.getMessage()
    except (TypeError, ValueError):  # the arguments do not fit; logging says so where it is handled
        said = f"{record.msg} {record.args}"
    if _TOKEN.search(said):
        record.msg, record.args = clean(said), ()
    if record.exc_info and record.exc_info[1] is not None:
        told = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
        if _TOKEN.search(told):
            record.exc_info, record.exc_text = None, clean(told)
    if record.stack_info:
        record.stack_info = clean(record.stack_info)
