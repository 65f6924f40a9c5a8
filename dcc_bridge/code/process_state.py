"""Restores what agreed code changes in the process, and gathers its output. Main thread."""

from __future__ import annotations

import atexit
import builtins
import gc
import io
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from types import TracebackType
from typing import Any, Final, NamedTuple

from dcc_bridge.code.bounded import BoundedText
from dcc_bridge.consent.own_code import AGREED
from dcc_bridge.consent.surroundings import Surroundings, put_names


class Outputs:
    """The output of one run.

    Attributes:
        stdout: The text of `sys.stdout`.
        stderr: The text of `sys.stderr`, with Python's warnings.
    """

    def __init__(self) -> None:
        self.stdout = BoundedText()
        self.stderr = BoundedText()


class CapturedError:
    """A block that keeps any error that it raises: agreed code may raise anything.

    Attributes:
        error: The error; None where the block has raised none.
    """

    error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, at: TracebackType | None) -> bool:
        self.error = error
        return True


class _ThreadStream:
    """A stand-in for a stream such as `sys.stdout`, which takes the output of one thread.

    The output of the other threads goes on to the original stream.
    """

    def __init__(self, replacement: Any, original: Any) -> None:
        if original is None:  # the process has no console
            original = BoundedText()
        self._replacement = replacement
        self._ident = get_ident()
        self._original = original

    def __getattr__(self, name: str) -> Any:
        if get_ident() == self._ident:
            return getattr(self._replacement, name)
        return getattr(self._original, name)


@contextmanager
def restored_process(text: str) -> Iterator[Outputs]:
    """Gather the output and the warnings of this thread, and restore the process at the end.

    A note of each thing that was restored goes to the gathered `stderr`.

    Args:
        text: The code that runs, for the lines of its tracebacks.

    Yields:
        The output so far.
    """
    outputs = Outputs()
    streams = (sys.stdin, sys.stdout, sys.stderr)
    surroundings = Surroundings()
    before = {name: setting.read() for name, setting in _SETTINGS.items()}
    exit_functions = atexit._ncallbacks()
    linecache.cache[AGREED] = (len(text), None, text.splitlines(keepends=True), AGREED)
    no_input = io.StringIO()  # there is nobody who could type
    ours: Any = (
        _ThreadStream(no_input, sys.stdin),
        _ThreadStream(outputs.stdout, sys.stdout),
        _ThreadStream(outputs.stderr, sys.stderr),
    )
    sys.stdin, sys.stdout, sys.stderr = ours
    try:
        with _gathered_warnings(outputs):
            yield outputs
    finally:
        changed = list[str]()
        if (sys.stdin, sys.stdout, sys.stderr) != ours:
            changed.append("sys.stdout or the like")
        sys.stdin, sys.stdout, sys.stderr = streams
        linecache.cache.pop(AGREED, None)
        changed += surroundings.put_back()
        for name, setting in _SETTINGS.items():
            if _restore(setting, before[name]):
                changed.append(name)
        if changed:
            outputs.stderr.write(f"\nRestored after the code ended: {', '.join(changed)}.\n")
        added = atexit._ncallbacks() - exit_functions
        if added > 0:
            outputs.stderr.write(f"\nStill registered: {added} to be called when the host quits.\n")


@contextmanager
def _gathered_warnings(outputs: Outputs) -> Iterator[None]:
    with warnings.catch_warnings():
        usual_show = warnings.showwarning
        ident = get_ident()

        def show(message: Any, category: Any, file: str, line: int, *more: Any) -> None:
            if get_ident() != ident:
                usual_show(message, category, file, line, *more)
                return
            place = f"{file}:{line}"
            if file == AGREED:
                place = f"line {line}"
            outputs.stderr.write(f"{place}: {category.__name__}: {message}\n")

        vars(warnings)["showwarning"] = show
        warnings.filterwarnings("always", module="__agreed__")
        yield


class _Setting(NamedTuple):
    """A setting of the process that agreed code may change.

    Attributes:
        read: Returns the value.
        write: Sets the value.
    """

    read: Callable[[], Any]
    write: Callable[[Any], object]


def _restore(setting: _Setting, before: Any) -> bool:
    """Set a setting to the value before the run, and return whether the value had changed."""
    now = setting.read()
    with CapturedError():  # code may have put an object there that cannot be compared
        if now == before:
            return False
    with suppress(OSError, ValueError):  # the value is not possible any more
        setting.write(before)
    return True


def _read_path() -> list[str]:
    return list(sys.path)


def _write_path(before: list[str]) -> None:
    sys.path[:] = before


def _read_builtins() -> dict[str, Any]:
    return dict(vars(builtins))


def _write_builtins(before: dict[str, Any]) -> None:
    put_names(vars(builtins), before)


def _enable_gc(is_on: bool) -> None:
    if is_on:
        gc.enable()
    else:
        gc.disable()


_SETTINGS: Final = {
    "sys.path": _Setting(_read_path, _write_path),
    "Python's builtins": _Setting(_read_builtins, _write_builtins),
    "the recursion limit": _Setting(sys.getrecursionlimit, sys.setrecursionlimit),
    "the garbage collector": _Setting(gc.isenabled, _enable_gc),
}
