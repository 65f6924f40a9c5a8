"""Bounds the size of what agreed code returns: its output, its result, its errors. Any thread."""

from __future__ import annotations

import io
import json
import math
import re
import reprlib
import traceback
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import suppress
from itertools import islice
from numbers import Integral, Real
from typing import Any, Final

from dcc_bridge.consent.own_code import AGREED

MAX_BYTES: Final = 32_000  # of one text, and of a result: what an answer has room for
_MARKS_BYTES: Final = 2000  # of a result, reserved for the marks of what is left out
_MAX_DEPTH: Final = 6  # levels of a result
_MAX_ITEMS: Final = 200  # of each container in a result
_ITEM_BYTES: Final = 20  # counted for each item: a number, and what stands between two items
_MAX_EXACT: Final = 2**53  # up to here JSON's readers have each integer exactly
_MAX_FRAMES: Final = 5  # of a traceback, at either end
_MAX_ERRORS: Final = 3  # of a chain of errors
_MAX_MESSAGE_BYTES: Final = 2000  # of one error
_MAX_LINE: Final = 200  # characters of a line of code, in an error
_MAX_REPR: Final = 200  # characters of the text of an object
_MAX_REPR_BITS: Final = 500  # of an integer that is written in full
_MAX_REPR_ITEMS: Final = 1000  # a larger object's own text may take seconds
# What iterates over a container, past methods of a subclass that agreed code has made.
_ITERATORS: Final[dict[type, Callable[[Any], Iterator[Any]]]] = {
    kind: kind.__iter__ for kind in (list, tuple, set, frozenset, range)
}
_CUT_BY_REPRLIB: Final = (str, bytes, dict, list, tuple, set, frozenset)
_USD_SENTENCE: Final = r"Error in '[^']*' at line \d+ in file .+? : '(.*)'$"
_NAME_ERRORS: Final = (AttributeError, NameError, ImportError)


def clip(text: str, max_bytes: int = MAX_BYTES) -> str:
    """Return a text that is cut to a size: the head and the tail stay.

    Args:
        text: The text.
        max_bytes: The size in UTF-8, without the mark between head and tail.
    """
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= max_bytes:
        return data.decode()
    half = max_bytes // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[-half:].decode("utf-8", "ignore")
    return f"{head}\n… {len(data) - 2 * half:,} bytes left out …\n{tail}"


class BoundedText(io.TextIOBase):
    """A stream that keeps the head and the tail of the output, however much is written."""

    encoding = "utf-8"
    errors = "backslashreplace"
    closed = False

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._omitted = 0  # characters between head and tail
        self._new: list[str] = []  # what was written since the last `_fold`
        self._new_size = 0

    def write(self, text: str) -> int:
        """Write a text, and return how many characters it has."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._new.append(text)
        self._new_size += len(text) + 1
        if self._new_size > 2 * MAX_BYTES:
            self._fold()
        return len(text)

    def text(self) -> str:
        """Return the output so far, with a mark where some of it is left out."""
        self._fold()
        if not self._omitted:
            return clip(self._head + self._tail)
        head = clip(self._head, MAX_BYTES // 2)
        tail = clip(self._tail, MAX_BYTES // 2)
        return f"{head}\n… {self._omitted:,} characters left out …\n{tail}"

    def _fold(self) -> None:
        """Move what is new to the head as far as there is room, and else to the tail."""
        new = "".join(self._new)
        self._new = []
        self._new_size = 0
        half = MAX_BYTES // 2
        room = half - len(self._head)
        self._head += new[:room]
        tail = self._tail + new[room:]
        self._omitted += max(0, len(tail) - half)
        self._tail = tail[-half:]


class _JsonValue:
    """Converts one value to JSON's types, within `MAX_BYTES` in all."""

    def __init__(self) -> None:
        self._bytes_left = MAX_BYTES - _MARKS_BYTES
        self._parents: set[int] = set()  # the containers above the current value, by identity

    def convert(self, value: object, depth: int = _MAX_DEPTH) -> Any:
        """Return the JSON value; below so many levels, and in a circle, a mark."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, Integral):
            return self._integer(int(value))
        if isinstance(value, Real):
            return _real(float(value))
        iterate = _iterator_of(value)
        if iterate is None and not isinstance(value, dict):
            return self._text(_short(value))
        return self._container(value, iterate, depth)

    def _integer(self, number: int) -> Any:
        if abs(number) <= _MAX_EXACT:
            return number
        return self._text(_short(number))

    def _container(
        self, value: Any, iterate: Callable[[Any], Iterator[Any]] | None, depth: int
    ) -> Any:
        """Convert a container, unless it is too deep or inside itself.

        Args:
            value: The container.
            iterate: Iterates over its items; None for a dict.
            depth: The levels that may be converted, this one included.
        """
        if not depth or id(value) in self._parents:
            return "…"
        self._parents.add(id(value))
        try:
            if iterate is None:
                return self._fields(value, depth - 1)
            return self._items(iterate(value), len(value), depth - 1)
        finally:
            self._parents.discard(id(value))

    def _items(self, items: Iterator[object], size: int, depth: int) -> list[Any]:
        converted: list[Any] = []
        for item in islice(items, _MAX_ITEMS):
            if self._bytes_left <= 0:
                break
            self._bytes_left -= _ITEM_BYTES
            converted.append(self.convert(item, depth))
        more = size - len(converted)
        if more > 0:
            converted.append(f"… and {more:,} more")
        return converted

    def _fields(self, fields: dict[Any, Any], depth: int) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for key, member in islice(dict.items(fields), _MAX_ITEMS):
            if self._bytes_left <= 0:
                break
            self._bytes_left -= _ITEM_BYTES
            name = key
            if not isinstance(key, str):
                name = _short(key)
            name = self._text(name)  # before the member: both take from the same size
            converted[name] = self.convert(member, depth)
        more = dict.__len__(fields) - len(converted)
        if more:
            converted["…"] = f"and {more:,} more"
        return converted

    def _text(self, text: str) -> str:
        """Return a text, cut to what is left of the size."""
        room = max(0, self._bytes_left)
        cut = text[:room].encode("utf-8", "backslashreplace").decode()
        size = len(json.dumps(cut))
        while size > room + 2:  # the quotes are not counted
            cut = cut[: min(len(cut) - 1, len(cut) * room // size)]
            size = len(json.dumps(cut))
        self._bytes_left -= size
        if len(text) <= len(cut):
            return cut
        return f"{cut}… ({len(text):,} characters)"


def _iterator_of(value: object) -> Callable[[Any], Iterator[Any]] | None:
    """Return what iterates over a container; None for a dict and for all that is no container."""
    for kind, iterate in _ITERATORS.items():
        if isinstance(value, kind):
            return iterate
    return None


def _real(number: float) -> Any:
    if math.isfinite(number):
        return number
    return str(number)  # JSON has no infinity


def plain_value(value: object) -> Any:
    """Return the JSON value of an object: at most 6 levels of 200 items each, 32 kB in all.

    Raises:
        Exception: Whatever a method of the object raises.
    """
    return _JsonValue().convert(value)


def _short(value: object) -> str:
    """Return a short text of an object; the name of the type where the object has no text."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if isinstance(value, int):
        bits = value.bit_length()
        if bits > _MAX_REPR_BITS:
            return f"an integer of {bits:,} bits"
        return str(value)
    with suppress(Exception):  # the methods may be those of agreed code
        if _has_unreadable_name(value):
            return f"<{kind} (unreadable name)>"
        if isinstance(value, Sized) and not isinstance(value, _CUT_BY_REPRLIB):
            size = len(value)
            if size > _MAX_REPR_ITEMS:
                return f"<{kind} of {size:,} items>"
        short = reprlib.Repr()
        short.maxother = _MAX_REPR
        short.maxstring = _MAX_REPR
        return short.repr(value)
    return f"<{kind}>"


def _has_unreadable_name(value: object) -> bool:
    """Return whether an object of Blender has a name that is not UTF-8.

    The `repr` of such an object ends Blender 3.4 (measured with Debian's 3.4.1). No other object is
    asked for its name, as that may have an effect: a library of ctypes looks for a function then.
    """
    if not hasattr(type(value), "bl_rna"):
        return False
    try:
        getattr(value, "name", None)
    except UnicodeDecodeError:
        return True
    return False


def message_of(error: BaseException) -> str:
    """Return the type of an error with the error's own message, if there is one, in 2,000 bytes."""
    kind = type(error).__name__
    message = ""
    with suppress(Exception):  # the text of an error may come from a method of agreed code
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        message = clip(text, _MAX_MESSAGE_BYTES)
    usd_message = " ".join(re.findall(_USD_SENTENCE, message, re.MULTILINE))
    if usd_message:
        message = usd_message
    if not message:
        return kind
    return f"{kind}: {message}"


def failure_text(error: BaseException, lines: Sequence[str]) -> str:
    """Return where agreed code failed, and why: for the error and for those that led to it.

    Args:
        error: The error.
        lines: The lines of the code.
    """
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < _MAX_ERRORS:
        sentence = re.sub(r"(?<![.!?])\Z", ".", message_of(current))
        parts.append("\n".join([*_places(current, lines), sentence]))
        current = _previous(current)
    return "\n\nand before that:\n".join(parts)


def _previous(error: BaseException) -> BaseException | None:
    """Return the error that led to this one, as Python's traceback does."""
    if error.__cause__ is not None:
        return error.__cause__
    if error.__suppress_context__:
        return None
    return error.__context__


def _places(error: BaseException, lines: Sequence[str]) -> list[str]:
    """Return the lines of agreed code in the traceback of an error, the outermost first."""
    numbers = _line_numbers(error)
    if isinstance(error, SyntaxError) and error.filename == AGREED and error.lineno:
        numbers.append(error.lineno)
    places = list[str]()
    for number in numbers:
        if 0 < number <= len(lines):
            line = lines[number - 1].strip()
            places.append(f"line {number}: {line[:_MAX_LINE]}")
    more = len(places) - 2 * _MAX_FRAMES
    if more > 0:
        places[_MAX_FRAMES:-_MAX_FRAMES] = [f"… {more:,} more …"]
    return places


def _line_numbers(error: BaseException) -> list[int]:
    trace = traceback.walk_tb(error.__traceback__)
    return [line for frame, line in trace if frame.f_code.co_filename == AGREED]


def name_missing(error: BaseException, lines: Sequence[str]) -> str:
    """Return the name that an API does not have, or the call that did not take its arguments.

    Args:
        error: The error that agreed code raised.
        lines: The lines of the code.

    Returns:
        The name without those of its owners; "" where the error is of another kind.
    """
    message = message_of(error)
    if isinstance(error, ImportError):
        imported = re.search(r"import name '(\w+)'", message)
        if imported:
            return imported[1]
    if isinstance(error, _NAME_ERRORS):
        return _name_of(error, message)
    if isinstance(error, TypeError):
        return _called_name(error, message, lines)
    return ""


def _name_of(error: BaseException, message: str) -> str:
    """Return the name that an error has or, failing that, the last one that its message quotes."""
    name = getattr(error, "name", None)
    if name:
        return str(name)
    quoted = re.findall(r"['\"]([\w.]+)['\"]", message)
    if not quoted:
        return ""
    return str(quoted[-1])


def _called_name(error: TypeError, message: str, lines: Sequence[str]) -> str:
    """Return the first call that the message names or, failing that, the line that failed."""
    numbers = _line_numbers(error)
    line = ""
    if numbers:
        line = lines[numbers[-1] - 1]
    text = message.partition(": ")[2] + "\n" + line
    called = re.search(r"([A-Za-z_][\w.]*)\(", text)
    if not called:
        return ""
    return called[1].rpartition(".")[2]
