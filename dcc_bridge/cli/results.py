"""What came of a call, on the screen and as an exit code."""

from __future__ import annotations

import json
import sys
from typing import Any

from dcc_bridge.cli.exits import REFUSED, SUCCESS, TOOL_ERROR
from dcc_bridge.client.agent import Result
from dcc_bridge.elicitation.plain import line, passage
from dcc_bridge.server.results import STATUS

_REFUSALS = ("refused", "no_consent")


def status(result: Result) -> str:
    """Give how a call ended, in the runner's words; "" where the server does not say."""
    return str((result.meta or {}).get(STATUS, ""))


def show(result: Result, *, as_json: bool) -> int:
    """Print a result, and give the exit code that tells how it ended.

    Args:
        result: An error goes to stderr, anything else to stdout.
        as_json: Print the data and nothing else.
    """
    if result.is_error:
        print(_whole("\n".join(result.texts)), file=sys.stderr)
    elif as_json:
        print(json.dumps(_data(result)))
    else:
        print(_prose(result))
    return code(result)


def code(result: Result) -> int:
    """Give the exit code that tells how a call ended."""
    if status(result) in _REFUSALS:
        return REFUSED
    return TOOL_ERROR if result.is_error else SUCCESS


def value(result: Result) -> Any:
    """Give what a skill returned, without the object that the protocol puts around it."""
    if result.structured is None and result.texts == ("Done.",):
        return None  # the server's word for it
    data = _data(result)
    is_wrapped = isinstance(data, dict) and list(data) == ["result"]
    return data["result"] if is_wrapped and not _is_said(result) else data


def _is_said(result: Result) -> bool:
    return any(_read(text) == result.structured for text in result.texts)


def _data(result: Result) -> Any:
    if result.structured is not None:
        return result.structured
    found = [_read(text) for text in result.texts]
    return found[0] if len(found) == 1 else found


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _prose(result: Result) -> str:
    """Lay data out in two aligned columns, and what is said beside it below."""
    if not isinstance(result.structured, dict):
        return _whole("\n".join(result.texts))
    if list(result.structured) == ["result"]:  # the protocol wants an object; the words say it all
        return _whole("\n".join(result.texts))
    texts = [text for text in result.texts if _read(text) != result.structured]
    width = max((len(line(name)) for name in result.structured), default=0)
    rows = [f"{line(name):{width}}  {_cell(v, width + 2)}" for name, v in result.structured.items()]
    return "\n".join(rows + [_whole(text) for text in texts])


def _whole(text: str) -> str:
    return passage(text, most=len(text))


def _cell(value: Any, indent: int) -> str:
    if isinstance(value, str):
        return line(value)
    if isinstance(value, list) and value:
        return ("\n" + " " * indent).join(line(str(part)) for part in value)
    return json.dumps(value)
