"""A skill that another one calls, as the plain function it is. Any thread.

The decorator gives a function back unchanged, so nothing of ours runs when one skill calls another.
It is when something is asked that it matters: a destructive skill asks for consent, also in the
middle of an edit. So the stack of whoever asks is read, from there up to where the runner began,
and the code of a destructive skill in it counts. A helper that such a skill starts as a task of its
own has another stack, and asks as the skill that was called; a thread takes it along by `carry`,
and `on_main` does so by itself.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, TypeVar
from weakref import ref

_F = TypeVar("_F", bound=Callable[..., Any])


class _Codes:
    """Codes, each by what it is: two versions of a file may have codes that are equal."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[CodeType], str]] = {}

    def add(self, code: CodeType, name: str) -> None:
        number = id(code)
        self._known[number] = ref(code, lambda gone: self._forget(number, gone)), name

    def name(self, code: CodeType) -> str:
        """Give the name that a code is known by, or ""."""
        known, name = self._known.get(id(code), (None, ""))
        return name if known is not None and known() is code else ""

    def _forget(self, number: int, gone: ref[CodeType]) -> None:
        if self._known.get(number, (None, ""))[0] is gone:  # another code may be there by now
            del self._known[number]


_LOSING: Final = _Codes()
_BORDERS: Final = _Codes()


def note_destructive(fn: Callable[..., Any], name: str) -> None:
    """Know the code of a destructive skill again; a wrapper that names what it wraps is not it.

    Args:
        fn: Its function.
        name: The skill's own.
    """
    _note(fn, _LOSING, name)


def begins_run(fn: _F) -> _F:
    """Mark a function of the runner in which a run begins: what is above it is somebody else's."""
    _note(fn, _BORDERS, "the runner")
    return fn


def asks_to_lose() -> str:
    """Name the destructive skill that runs here, or called what does; "" where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _BORDERS.name(frame.f_code):
        if name := _LOSING.name(frame.f_code):
            return name
        frame = frame.f_back
    return ""


def _note(fn: Callable[..., Any], known: _Codes, name: str) -> None:
    code = getattr(inspect.unwrap(fn), "__code__", None)
    if isinstance(code, CodeType):  # an object that can be called has none
        known.add(code, name or "a skill")  # a name it must have: without one it is not known
