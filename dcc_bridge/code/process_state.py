"""What agreed code does to the process beside the scene: gathered, put back, told. Main thread."""

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
from functools import partial
from operator import setitem
from threading import get_ident
from types import TracebackType
from typing import Any, Final

from dcc_bridge.code.bounded import BoundedText
from dcc_bridge.consent.own_code import AGREED
from dcc_bridge.consent.surroundings import Surroundings, put_names


class Outputs:
    """What one run has printed."""

    def __init__(self) -> None:
        self.stdout, self.stderr = BoundedText(), BoundedText()


class Caught:
    """Keeps whatever its block raises: agreed code may raise anything."""

    error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, at: TracebackType | None) -> bool:
        self.error = error
        return True


class _ThreadStream:
    """A stream in the place of `sys.stdout`: one thread's output is kept, others' goes on."""

    def __init__(self, kept: Any, original: Any) -> None:
        self._kept, self._ident = kept, get_ident()
        self._original = original if original is not None else BoundedText()  # without a console

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept if get_ident() == self._ident else self._original, name)


@contextmanager
def process_kept(text: str) -> Iterator[Outputs]:
    """Gather what this thread prints and warns, put the process back, and tell that in `stderr`."""
    outputs = Outputs()
    streams = sys.stdin, sys.stdout, sys.stderr
    surroundings = Surroundings()
    before = {what: read() for what, (read, _) in _STATE.items()}
    exits = atexit._ncallbacks()
    linecache.cache[AGREED] = (len(text), None, text.splitlines(keepends=True), AGREED)
    kept = io.StringIO(), outputs.stdout, outputs.stderr  # nobody types where code runs
    ours: Any = tuple(map(_ThreadStream, kept, streams))
    sys.stdin, sys.stdout, sys.stderr = ours
    try:
        with _warnings_shown(outputs):
            yield outputs
    finally:
        changed = [] if (sys.stdin, sys.stdout, sys.stderr) == ours else ["sys.stdout or the like"]
        sys.stdin, sys.stdout, sys.stderr = streams
        linecache.cache.pop(AGREED, None)
        changed += surroundings.put_back()
        changed += [what for what in _STATE if _put_back(what, before[what])]
        if changed:
            outputs.stderr.write(f"\nRestored after the code ended: {', '.join(changed)}.\n")
        if (more := atexit._ncallbacks() - exits) > 0:
            outputs.stderr.write(f"\nStill registered: {more} to be called when the host quits.\n")


@contextmanager
def _warnings_shown(outputs: Outputs) -> Iterator[None]:
    with warnings.catch_warnings():
        others, ident = warnings.showwarning, get_ident()

        def show(message: Any, category: Any, file: str, line: int, *more: Any) -> None:
            if get_ident() != ident:
                others(message, category, file, line, *more)
                return
            where = f"line {line}" if file == AGREED else f"{file}:{line}"
            outputs.stderr.write(f"{where}: {category.__name__}: {message}\n")

        vars(warnings)["showwarning"] = show
        warnings.filterwarnings("always", module="__agreed__")
        yield


def _put_back(what: str, before: Any) -> bool:
    """Put it back as it was, and give whether it was changed."""
    read, put = _STATE[what]
    now = read()
    with Caught():  # code may have put something there that fails when it is compared
        if now == before:
            return False
    with suppress(OSError, ValueError):  # the folder is gone, or the like
        put(before)
    return True


_STATE: Final[dict[str, tuple[Callable[[], Any], Callable[[Any], object]]]] = {
    "sys.path": (lambda: [*sys.path], lambda before: setitem(sys.path, slice(None), before)),
    "Python's builtins": (lambda: dict(vars(builtins)), partial(put_names, vars(builtins))),
    "the recursion limit": (sys.getrecursionlimit, sys.setrecursionlimit),
    "the garbage collector": (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
}
