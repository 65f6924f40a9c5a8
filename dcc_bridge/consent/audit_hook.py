"""The audit hook (PEP 578) by which a run is watched for what undo does not bring back. Any thread.

The hook stays for the life of the process; while nothing is watched it looks at one empty dict. It
watches the thread that asked for it, and there only what is not the bridge's own: a listener of
ours, by its code, that a host calls meanwhile does as always.

Each name that the hook uses stands at the level of a module: an import in it ends FreeCAD, whose
PySide2 replaces ``__import__`` by one that raises an event.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from types import FrameType
from typing import Any, Final

from dcc_bridge.consent import audit_events as events
from dcc_bridge.consent.own_code import note_code, note_modules

Writer = tuple[Any, str, Callable[..., Iterable[Any]]]  # an owner, a name, and what files it writes


class Watch:
    """What one run on one thread may do; `check` and `refuse` raise where it may not.

    Attributes:
        fixed: The functions that could not be replaced: written in C, where nobody can.
    """

    def __init__(self) -> None:
        self.fixed: list[tuple[Any, str, Any]] = []

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that is not allowed."""

    def refuse(self, act: str) -> None:
        """Refuse an act, "start a thread", unless it is not the run that does it."""

    def frame(self) -> FrameType | None:
        """Return the innermost frame that is not of the watching itself."""
        ident = get_ident()
        del watches[ident]  # looking at frames is an event as well
        try:
            frame: FrameType | None = sys._getframe(2)
        finally:
            watches[ident] = self
        while frame and frame.f_code.co_filename in watching_files:
            frame = frame.f_back
        return frame


watches: Final[dict[int, Watch]] = {}  # by thread
watching_files: Final = {__file__}  # whose frames are the watching itself
_has_hook = False


def watch_here() -> Watch | None:
    """Return what watches this thread, or None."""
    return watches.get(get_ident())


@contextmanager
def watched_by(watch: Watch, writers: Sequence[Writer] = ()) -> Iterator[None]:
    """Have a watch see what this thread does.

    Args:
        watch: What decides.
        writers: What writes files and raises no event, in C++ mostly.
    """
    global _has_hook
    if not watches:
        note_code()
    if not _has_hook:
        sys.addaudithook(_hook)
        _has_hook = True
    ident = get_ident()
    originals = list[tuple[Any, str, Any]]()
    wrote_bytecode = sys.dont_write_bytecode
    try:
        sys.dont_write_bytecode = True  # modules come in still
        every: list[tuple[Any, str, Any]] = [*events.WRAPPED, *writers]
        for owner, name, does in every:
            try:
                original = vars(owner)[name]
                setattr(owner, name, wrapped(original, does))
                originals.append((owner, name, original))
            except (KeyError, TypeError):  # it is not here, or in C, where nobody can replace it
                watch.fixed.append((owner, name, does))
        watches[ident] = watch
        yield
    finally:
        watches.pop(ident, None)
        for owner, name, original in reversed(originals):
            setattr(owner, name, original)
        sys.dont_write_bytecode = wrote_bytecode
        note_modules()


def wrapped(kept: Any, does: str | Callable[..., Iterable[Any]]) -> Any:
    """Return a function that is refused where it does what is not allowed.

    Args:
        kept: The function, as its owner has it.
        does: What it does, "start a thread"; or a function of its arguments that lists the files
            that it writes.
    """
    original = getattr(kept, "__func__", kept) if isinstance(kept, staticmethod) else kept

    def call(*args: Any, **kwargs: Any) -> Any:
        watch = watches.get(get_ident())
        if watch is None:
            return original(*args, **kwargs)
        if isinstance(does, str):
            watch.refuse(does)
        else:
            for path in does(*args, **kwargs):
                watch.check("open", (path, "w", None))
        return original(*args, **kwargs)

    return staticmethod(call) if isinstance(kept, staticmethod) else call


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if watches and (watch := watches.get(get_ident())) is not None:
        watch.check(event, args)
