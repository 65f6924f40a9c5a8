"""The audit hook (PEP 578) that watches a run for acts that undo does not bring back. Any thread.

The hook stays for the life of the process; while nothing is watched, it looks at one empty dict. It
watches the thread that asked for that. Acts of the bridge itself on that thread pass: a listener of
ours that a host calls meanwhile is known by its code.

Each name that the hook uses stands at the level of a module: an import inside the hook crashes
FreeCAD 0.20, whose PySide2 replaces ``__import__`` by a function that raises an event.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from types import FrameType, ModuleType
from typing import Any, Final

from dcc_bridge.consent import audit_events as events
from dcc_bridge.consent.own_code import note_code, note_modules

# The owner of a function that writes files, the name there, and a function that lists the files by
# the arguments of a call.
Writer = tuple[Any, str, Callable[..., Iterable[Any]]]
WRITES_FILE: Final = "write a file"


class Watch:
    """The rules for one run on one thread. A method raises where the run breaks a rule."""

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that is not allowed."""

    def refuse(self, act: str) -> None:
        """Refuse an act such as "start a thread", if the run itself does it."""

    def refuse_writer(self) -> None:
        """Refuse a writer of the host that cannot be replaced, if the run itself calls the writer.

        The files that it writes are not known.
        """
        self.refuse(WRITES_FILE)

    def frame(self) -> FrameType | None:
        """Return the innermost frame that does not belong to the watching."""
        ident = get_ident()
        del watches[ident]  # looking at frames is an event as well
        try:
            frame: FrameType | None = sys._getframe(2)
        finally:
            watches[ident] = self
        while frame is not None and frame.f_code.co_filename in watching_files:
            frame = frame.f_back
        return frame


watches: Final[dict[int, Watch]] = {}  # by thread
watching_files: Final = {__file__}  # the files whose frames belong to the watching
_has_hook = False


def watch_here() -> Watch | None:
    """Return the watch over this thread, or None."""
    return watches.get(get_ident())


@contextmanager
def watched_by(watch: Watch, writers: Sequence[Writer] = ()) -> Iterator[None]:
    """Watch what this thread does, for as long as the block lasts.

    Args:
        watch: The rules.
        writers: Functions that write files and raise no event, mostly written in C++.
    """
    global _has_hook
    if not watches:
        note_code()
    if not _has_hook:
        sys.addaudithook(_hook)
        _has_hook = True
    ident = get_ident()
    originals = list[tuple[Any, str, Any]]()
    irreplaceable = list[Writer]()
    wrote_bytecode = sys.dont_write_bytecode
    outer = sys.getprofile()
    try:
        sys.dont_write_bytecode = True  # so that an import of the run writes no file
        every: list[tuple[Any, str, Any]] = [*events.WRAPPED, *writers]
        for owner, name, does in every:
            if isinstance(owner, ModuleType) and not hasattr(owner, name):
                continue  # another Python or system has it
            try:
                original = vars(owner)[name]
                setattr(owner, name, wrapped(original, does))
                originals.append((owner, name, original))
            except (KeyError, TypeError):  # of a type written in C, where nobody can replace it
                irreplaceable.append((owner, name, does))
        if irreplaceable:
            sys.setprofile(_profiler(watch, irreplaceable))
        watches[ident] = watch
        yield
    finally:
        watches.pop(ident, None)
        sys.setprofile(outer)
        for owner, name, original in reversed(originals):
            setattr(owner, name, original)
        sys.dont_write_bytecode = wrote_bytecode
        note_modules()


@contextmanager
def unwatched() -> Iterator[None]:
    """Watch nothing on this thread for the block, in which the host's own event loop goes on.

    What add-ons and timers of the person do then is not done by the run. It raises nothing.

    Returns:
        A context manager.
    """
    ident = get_ident()
    watch = watches.pop(ident, None)
    profile = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(profile)
        if watch is not None:
            watches[ident] = watch


def _profiler(watch: Watch, writers: Sequence[Writer]) -> Callable[[FrameType, str, Any], None]:
    """Return a profile function that has the watch refuse writers that cannot be replaced.

    Python reports calls of functions and methods in C, but neither the arguments nor the functions
    that Blender makes of its own, such as `Image.save`.

    Args:
        watch: The rules of the run.
        writers: The writers.
    """
    owners = defaultdict[str, list[Any]](list)
    for owner, name, _ in writers:
        owners[name].append(owner)
    names = owners.keys()

    def called(frame: FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            return
        name = getattr(function, "__name__", "")
        if name not in names:
            return
        bound = getattr(function, "__self__", None)
        for owner in owners[name]:
            if owner is bound or (isinstance(owner, type) and isinstance(bound, owner)):
                watch.refuse_writer()

    return called


def wrapped(attribute: Any, does: str | Callable[..., Iterable[Any]]) -> Any:
    """Return a function that asks the watch of its thread before it calls another function.

    Args:
        attribute: The other function, as its owner holds it.
        does: The act, "start a thread"; or a function that takes the same arguments and lists the
            files that are written.
    """
    is_static = isinstance(attribute, staticmethod)
    original = attribute
    if is_static:
        original = attribute.__func__

    # By this name `dcc_bridge.code.trip_wire` sees that the act is not the bridge's own.
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        watch = watches.get(get_ident())
        if watch is None:
            return original(*args, **kwargs)
        if isinstance(does, str):
            watch.refuse(does)
        else:
            for path in does(*args, **kwargs):
                watch.check("open", (path, "w", None))
        return original(*args, **kwargs)

    if is_static:
        return staticmethod(stand_in)
    return stand_in


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not watches:
        return
    watch = watches.get(get_ident())
    if watch is not None:
        watch.check(event, args)
