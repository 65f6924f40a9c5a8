"""What agreed code may not do without having said so: the audit hook refuses it.

It is no sandbox, and keeps code that means well from what the person did not read about, however
the call is spelled. What raises no event and is no writer of the host's gets through.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from dcc_bridge.checkpoints import FolderCopies, is_inside
from dcc_bridge.consent import audit_events as events
from dcc_bridge.consent.audit_hook import (
    Watch,
    Writer,
    watch_here,
    watched_by,
    watching_files,
    wrapped,
)
from dcc_bridge.consent.own_code import AGREED, IMPORTER, has_module, is_ours, owner_of
from dcc_bridge.errors import BridgeError, NoCheckpoint

_CALLERS: Final = (AGREED, str(Path(__file__).with_name("execution.py")))  # where no line runs
_LEAVES: Final = "dcc_bridge_"  # what the names of their packages begin with
watching_files.add(__file__)
_MOST: Final = 100  # tries that are kept
# What a folder goes through with all that is below it.
_WITH_ALL_BELOW: Final = ("remove", "rename", "move")
_UNDECLARED: Final = "which had not been declared in `writes`"
STAND_IN: Final = "stand_in"  # the name of what a host lets code call in place of its own function


class ReachedOut(BridgeError):
    """Agreed code tried what it had not declared; the try was refused."""


@contextmanager
def trip_wire(
    writes: Sequence[Path],
    reached: list[str],
    writers: Sequence[Writer] = (),
    copies: FolderCopies | None = None,
) -> Iterator[None]:
    """Refuse on this thread what agreed code has not declared; `reached` gets each try.

    `copies` is told of each declared path before the code changes it.
    """
    with watched_by(_Wire(writes, reached, copies), writers):
        yield


def guarded_import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """Import as Python does, but not what the bridge holds. For the builtins of agreed code."""
    wire = watch_here()
    if wire is not None:
        inner = [f"{name}.{it}" for it in fromlist or ()]
        if any(it.startswith(_LEAVES) or is_ours(it) for it in (name, *inner)):
            wire.refuse("reach into dcc_bridge itself")
    return builtins.__import__(name, globals, locals, fromlist, level)


def guarded_attribute(it: Any, name: str, *default: Any) -> Any:
    """Read an attribute for agreed code; what writes in C++ is refused when it is called."""
    value = getattr(it, name, *default)
    wire = watch_here()
    for owner, called, does in wire.fixed if wire is not None else ():
        if called == name and (it is owner or owner in type(it).__mro__):
            return wrapped(value, does if it is owner else partial(does, it))
    return value


BUILTINS: Final = {"__import__": guarded_import, "getattr": guarded_attribute}


class Guarded:
    """What agreed code reads one attribute of, as `guarded_attribute` does."""

    def __init__(self, it: Any) -> None:
        self._it = it

    def __getattr__(self, name: str) -> Any:
        return guarded_attribute(object.__getattribute__(self, "_it"), name)


class _Wire(Watch):
    """What one run may do."""

    def __init__(
        self, writes: Sequence[Path], reached: list[str], copies: FolderCopies | None
    ) -> None:
        super().__init__()
        self._declared = [*map(events.resolve, writes)]
        self._reached = reached
        self._copies = copies

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that is not allowed."""
        if (act := events.file_act(event, args)) is not None:
            self._check_files(act)
        elif event == "import":
            self._check_act(events.MODULES.get(args[0]))
        elif event in events.DIRECT or (
            event.startswith("object.__") and args[1] in events.ATTRIBUTES
        ):
            self.refuse(events.INSPECT, only_direct=True)
        else:
            self._check_act(events.act_of(event))

    def refuse(
        self, act: str, why: str = "which code may not do", *, only_direct: bool = False
    ) -> None:
        """Raise, unless it is not the agreed code that does it."""
        frame = self.frame()
        if only_direct and (frame is None or has_module(frame)):
            return
        # Blender packs an FBX in threads; a script, which it calls __main__, may not.
        is_packing = act == events.THREAD
        while frame is not None and frame.f_code.co_filename not in _CALLERS:
            is_packing = is_packing and frame.f_globals.get("__name__") != "__main__"
            is_own = owner_of(frame) not in ("", IMPORTER)
            if is_own and (frame.f_code.co_name != STAND_IN or is_packing):
                return  # a listener, called meanwhile, or such a thread
            frame = frame.f_back
        where = None if frame is None or frame.f_code.co_filename != AGREED else frame.f_lineno
        line = f"Line {where}" if where else "The code"
        error = ReachedOut(f"{line} tried to {act}, {why}; it was refused.")
        if len(self._reached) < _MOST:
            self._reached.append(str(error))
        raise error

    def _check_act(self, act: str | None) -> None:
        if act is not None and not (act == events.NATIVE and _is_importing(self.frame())):
            self.refuse(act)

    def _check_files(self, act: events.FileAct) -> None:
        if not all(map(self._may, act.paths)):
            self.refuse(act.text, _UNDECLARED)
            return
        for path in act.paths:
            self._keep_copy(act.verb, path)

    def _may(self, path: str) -> bool:
        return any(is_inside(path, declared) for declared in self._declared)

    def _keep_copy(self, verb: str, path: str) -> None:
        """Have a copy kept of what stands at a path; refuse where the copies themselves stand."""
        copies = self._copies
        if copies is None:
            return
        act = f"{verb} {path[-300:]}"
        with_all_below = verb in _WITH_ALL_BELOW
        takes_copies = with_all_below and is_inside(os.path.normcase(copies.where), path)
        if takes_copies or is_inside(path, copies.where):
            self.refuse(act, "where copies of files are kept")
            return
        try:
            copies.before_change(path, with_all_below=with_all_below)
        except NoCheckpoint as error:
            self.refuse(act, f"of which no copy could be kept ({error.why})")


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a module is being imported on the way: numpy loads libraries by ctypes."""
    while frame is not None and frame.f_code.co_filename != AGREED:
        if owner_of(frame) == IMPORTER:
            return True
        frame = frame.f_back
    return False
