"""What agreed code may not do without having said so: the audit hook refuses it.

It is no sandbox, and keeps code that means well from what the person did not read about, however
the call is spelled. What raises no event and is no writer of the host's gets through.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from dcc_bridge.checkpoints import FolderCopies, is_inside
from dcc_bridge.consent import audit_events as events
from dcc_bridge.consent.audit_hook import (
    WRITES_FILE,
    Watch,
    Writer,
    watch_here,
    watched_by,
    watching_files,
)
from dcc_bridge.consent.own_code import AGREED, IMPORTER, is_ours, owner_of
from dcc_bridge.errors import BridgeError, NoCheckpoint

_CALLERS: Final = (AGREED, str(Path(__file__).with_name("execution.py")))  # where no line runs
_LEAVES: Final = "dcc_bridge_"  # what the names of their packages begin with
watching_files.add(__file__)
_MOST: Final = 100  # tries that are kept
# What a folder goes through with all that is below it.
_WITH_ALL_BELOW: Final = ("remove", "rename", "move")
_UNDECLARED: Final = "which is not declared in `writes`"
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
        else:
            self._check_act(events.act_of(event))

    def refuse_writer(self) -> None:
        """Refuse a writer whose files are not known, or keep copies of all that is declared."""
        if not self._declared:
            self.refuse(WRITES_FILE, _UNDECLARED)
        for path in self._declared:
            self._keep_copy("write", path, with_all_below=True)

    def refuse(self, act: str, why: str = "which code may not do") -> None:
        """Raise, unless it is not the agreed code that does it."""
        frame = self.frame()
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
            self._keep_copy(act.verb, path, with_all_below=act.verb in _WITH_ALL_BELOW)

    def _may(self, path: str) -> bool:
        return any(is_inside(path, declared) for declared in self._declared)

    def _keep_copy(self, verb: str, path: str, *, with_all_below: bool) -> None:
        """Have a copy kept of what stands at a path; refuse where the copies themselves stand."""
        copies = self._copies
        if copies is None:
            return
        act = f"{verb} {path[-300:]}"
        takes_copies = verb in _WITH_ALL_BELOW and is_inside(os.path.normcase(copies.where), path)
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
