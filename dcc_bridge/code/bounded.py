"""What agreed code hands back, made small: its output, its result, its error. Any thread."""

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

MOST: Final = 64_000  # bytes of one text, and of a result
_DEEP, _LONG = 6, 200  # levels of a result, and items of each container
_SAFE: Final = 2**53  # every number up to here is the same in JSON
_FRAMES, _CHAIN, _MESSAGE = 5, 3, 2000  # of an error
_ITEMS: Final[dict[type, Callable[[Any], Iterator[Any]]]] = {
    kind: kind.__iter__ for kind in (list, tuple, set, frozenset, range)
}
_CUT: Final = (str, bytes, dict, list, tuple, set, frozenset)  # reprlib cuts them itself
_OF_USD: Final = r"Error in '[^']*' at line \d+ in file .+? : '(.*)'$"  # its own sentence
_MISSING: Final = (AttributeError, NameError, ImportError)


def clip(text: str, most: int = MOST) -> str:
    """Cut a text to so many bytes of UTF-8: its head and its tail stay."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= most:
        return data.decode()
    half = most // 2
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{head}\n… {len(data) - 2 * half:,} bytes left out …\n{tail}"


class BoundedText(io.TextIOBase):
    """Output that keeps its first and its last bytes, however much is written."""

    encoding, errors, closed = "utf-8", "backslashreplace", False

    def __init__(self) -> None:
        self._head, self._tail, self._gone = "", "", 0
        self._new: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        """Add to it."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._new.append(text)
        self._size += len(text) + 1
        if self._size > 2 * MOST:
            self._fold()
        return len(text)

    def text(self) -> str:
        """Give what is left of it."""
        self._fold()
        if not self._gone:
            return clip(self._head + self._tail)
        head, tail = clip(self._head, MOST // 2), clip(self._tail, MOST // 2)
        return f"{head}\n… {self._gone:,} characters left out …\n{tail}"

    def _fold(self) -> None:
        fresh, half = "".join(self._new), MOST // 2
        self._new, self._size = [], 0
        room = half - len(self._head)
        self._head += fresh[:room]
        tail = self._tail + fresh[room:]
        self._gone += max(0, len(tail) - half)
        self._tail = tail[-half:]


class _Plain:
    """Makes one value what JSON carries, within `MOST` bytes in all."""

    def __init__(self) -> None:
        self._left = MOST - 2000  # what the marks of what is left out take
        self._above: set[int] = set()

    def value(self, value: object, depth: int = _DEEP) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, Integral):
            number = int(value)
            return number if abs(number) <= _SAFE else self._text(_short(number))
        if isinstance(value, Real):
            real = float(value)
            return real if math.isfinite(real) else str(real)
        items = next((read for kind, read in _ITEMS.items() if isinstance(value, kind)), None)
        if not isinstance(value, dict) and items is None:
            return self._text(_short(value))
        if not depth or id(value) in self._above:
            return "…"
        self._above.add(id(value))
        try:
            if items is None:
                return self._fields(value, depth - 1)  # type: ignore[arg-type]  # it is a dict
            return self._items(items(value), len(value), depth - 1)  # type: ignore[arg-type]  # sized
        finally:
            self._above.discard(id(value))

    def _items(self, items: Iterator[object], size: int, depth: int) -> list[Any]:
        kept: list[Any] = []
        for item in islice(items, _LONG):
            if self._left <= 0:
                break
            self._left -= 20  # a number, and what stands between two
            kept.append(self.value(item, depth))
        return [*kept, f"… and {size - len(kept):,} more"] if size > len(kept) else kept

    def _fields(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, member in islice(dict.items(value), _LONG):
            if self._left <= 0:
                break
            self._left -= 20
            name = self._text(key if isinstance(key, str) else _short(key))
            kept[name] = self.value(member, depth)
        more = dict.__len__(value) - len(kept)
        return kept | {"…": f"and {more:,} more"} if more else kept

    def _text(self, text: str) -> str:
        room = max(0, self._left)
        cut = text[:room].encode("utf-8", "backslashreplace").decode()
        while (size := len(json.dumps(cut))) > room + 2:
            cut = cut[: min(len(cut) - 1, len(cut) * room // size)]
        self._left -= size
        return cut if len(text) <= len(cut) else f"{cut}… ({len(text):,} characters)"


def plain_value(value: object) -> Any:
    """Give what JSON carries of a value: at most 6 levels, 200 items in each, 64 kB in all."""
    return _Plain().value(value)


def _short(value: object) -> str:
    """Give a short representation; an object that fails to give one is named by its type."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if isinstance(value, int):
        bits = value.bit_length()
        return f"an integer of {bits:,} bits" if bits > 500 else str(value)
    with suppress(Exception):
        if _has_unreadable_name(value):
            return f"<{kind} (unreadable name)>"
        if isinstance(value, Sized) and not isinstance(value, _CUT) and (size := len(value)) > 1000:
            return f"<{kind} of {size:,} items>"  # its own text may take seconds
        short = reprlib.Repr()
        short.maxother = short.maxstring = 200
        return short.repr(value)
    return f"<{kind}>"


def _has_unreadable_name(value: object) -> bool:
    """Return whether a thing of Blender's has a name that is not UTF-8.

    The `repr` of such a thing ends Blender 3.4 (measured with Debian's 3.4.1). Nothing else is
    asked for its name, as that may do something: of a library it looks for a function.
    """
    if not hasattr(type(value), "bl_rna"):
        return False
    try:
        getattr(value, "name", None)
    except UnicodeDecodeError:
        return True
    return False


def message_of(error: BaseException) -> str:
    """Give an error's own message in a bounded text; its type alone where it has none."""
    message = ""
    with suppress(Exception):
        message = clip(error.msg if isinstance(error, SyntaxError) else str(error), _MESSAGE)
    message = " ".join(re.findall(_OF_USD, message, re.MULTILINE)) or message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def failure_text(error: BaseException, lines: Sequence[str]) -> str:
    """Tell where agreed code failed: its own lines, and what led to what."""
    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < _CHAIN:
        sentence = re.sub(r"(?<![.!?])\Z", ".", message_of(current))
        parts.append("\n".join([*_places(current, lines), sentence]))
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
    return "\n\nand before that:\n".join(parts)


def _places(error: BaseException, lines: Sequence[str]) -> list[str]:
    numbers = _lines_of(error)
    if isinstance(error, SyntaxError) and error.filename == AGREED and error.lineno:
        numbers.append(error.lineno)
    places = [f"line {n}: {lines[n - 1].strip()[:200]}" for n in numbers if 0 < n <= len(lines)]
    if (more := len(places) - 2 * _FRAMES) > 0:
        places[_FRAMES:-_FRAMES] = [f"… {more:,} more …"]
    return places


def _lines_of(error: BaseException) -> list[int]:
    trace = traceback.walk_tb(error.__traceback__)
    return [line for frame, line in trace if frame.f_code.co_filename == AGREED]


def name_missing(error: BaseException, lines: Sequence[str]) -> str:
    """Give the name that an API does not have, or the call whose arguments it did not take."""
    message = message_of(error)
    if isinstance(error, ImportError) and (found := re.search(r"import name '(\w+)'", message)):
        return found[1]
    if isinstance(error, _MISSING):
        quoted = re.findall(r"['\"]([\w.]+)['\"]", message)
        return str(getattr(error, "name", None) or (quoted[-1] if quoted else ""))
    if isinstance(error, TypeError):
        numbers = _lines_of(error)
        line = lines[numbers[-1] - 1] if numbers else ""
        called = re.search(r"([A-Za-z_][\w.]*)\(", message.partition(": ")[2] + "\n" + line)
        return called[1].rpartition(".")[2] if called else ""
    return ""
