"""An edit of JSON with comments that leaves every other byte as it is. Any thread.

Clients' configurations are written by hand too: with comments, trailing commas and an indentation
of their own. So nothing is written anew: a member is put between two bytes, or the bytes from here
to there are taken out. The result is read again and compared before anybody gets it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dcc_bridge.client.configs.jsonc import Member, Value, parse, skip

Path = Sequence[str]

_SAME_LINE: Final = re.compile(r"[ \t]*(?:/\*[^\n]*?\*/[ \t]*)*(?://[^\r\n]*)?")
"""What follows on a line, and belongs to what stands before it."""
_INDENT: Final = re.compile(r"^([ \t]+)[^\s/*]", re.MULTILINE)


def find(text: str, path: Path) -> Any:
    """Give what stands at a path, or None.

    Raises:
        NotJson: The text is none.
    """
    return _at(_data(text), path)


def put(text: str, path: Path, value: Any) -> str:
    """Give the text with a value at a path, where objects on the way are made if need be.

    Raises:
        NotJson: The text is none.
        ValueError: Something else than an object stands on the way.
    """
    if _at(_data(text), path) == value:
        return text
    before = text if text.strip() else "{}\n"
    at = parse(before)
    for depth, key in enumerate(path):
        if not isinstance(at.data, Mapping):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the whole'} is no object in it")
        member = at.member(key)
        if member is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _compared(text, _insert(before, at, key, value), path)
        at = member.value
    done = (
        before[: at.start] + _written(before, value, _margin(before, at.start)) + before[at.end :]
    )
    return _compared(text, done, path)


def remove(text: str, path: Path) -> str:
    """Give the text without the member at a path; as it is, where there is none.

    Raises:
        NotJson: The text is none.
    """
    if _at(_data(text), path) is None:
        return text
    at = parse(text)
    for key in path[:-1]:
        member = at.member(key)
        assert member is not None  # it was just found
        at = member.value
    return _compared(text, _without(text, at, path[-1]), path)


def _data(text: str) -> Any:
    return parse(text).data if text.strip() else {}


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _compared(before: str, after: str, path: Path) -> str:
    """See that nothing else has changed.

    Raises:
        ValueError: Something has; it was written in a way that is not understood.
    """
    if _rest(_data(before), path) != _rest(_data(after), path):
        raise ValueError("it is written in a way that cannot be edited safely")
    return after


def _rest(data: Any, path: Path) -> Any:
    """Give the data without what is at a path, and without what is empty then."""
    if not path or not isinstance(data, Mapping):
        return None if not path else data
    inner = _rest(data.get(path[0]), path[1:])
    others = {key: value for key, value in data.items() if key != path[0]}
    return others if inner in (None, {}) else {**others, path[0]: inner}


# ---- putting in


def _insert(text: str, at: Value, key: str, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _margin(text, at.start)
    indent = _margin(text, at.members[-1].start) if at.members else outer + _unit(text)
    indent = indent if len(indent) > len(outer) else outer + _unit(text)
    member = f"{indent}{json.dumps(key)}: {_written(text, value, indent)}"
    if not at.members:
        place = _end_of_line(text, at.start + 1)
        return text[:place] + newline + member + _closed(text, place, at, newline + outer)
    last = at.members[-1].value.end
    comma = skip(text, last)
    if text.startswith(",", comma):
        place = _end_of_line(text, comma + 1)
        return text[:place] + newline + member + "," + _closed(text, place, at, newline + outer)
    place = _end_of_line(text, last)
    between = text[last:place]
    closed = _closed(text, place, at, newline + outer)
    return text[:last] + "," + between + newline + member + closed


def _closed(text: str, place: int, at: Value, margin: str) -> str:
    """Give what follows, with the closing brace on a line of its own."""
    same_line = "\n" not in text[place : at.end]
    return (margin if same_line else "") + text[place:]


def _end_of_line(text: str, at: int) -> int:
    found = _SAME_LINE.match(text, at)
    end = found.end() if found is not None else at
    return end if text[end : end + 1] in ("\r", "\n", "") else at


def _margin(text: str, at: int) -> str:
    """Give the white space with which a line begins."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found is not None else "  "


def _written(text: str, value: Any, margin: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (newline + margin).join(lines)


# ---- taking out


def _without(text: str, at: Value, key: str) -> str:
    number = next(n for n, one in enumerate(at.members) if one.key == key)
    member = at.members[number]
    start, end = _begin(text, member), member.value.end
    comma = skip(text, end)
    if text.startswith(",", comma) and not text[end:comma].strip():
        return text[:start] + text[comma + 1 :]
    if number == 0:
        return text[:start] + text[end:]
    before = skip(text, at.members[number - 1].value.end)  # the comma that nothing follows now
    return text[:before] + text[before + 1 : start] + text[end:]


def _begin(text: str, member: Member) -> int:
    """Give where a member's line begins, the end of the line before included."""
    margin = len(_margin(text, member.start))
    line = text.rfind("\n", 0, member.start)
    if line < 0 or line + 1 + margin != member.start:
        return member.start
    return line - 1 if text[line - 1 : line] == "\r" else line
