"""The wire around agreed code: the audit hook refuses acts that the code has not declared.

The wire is no sandbox. It keeps code that means well from acts that the person did not read about,
however the call is spelled. An act passes if it raises no audit event and is no writer of the host.
"""

from __future__ import annotations

import builtins
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

# The files of agreed code, and of its caller: on the stack the latter stands for code that has no
# line of its own there, such as a finalizer.
_CALLERS: Final = (AGREED, str(Path(__file__).with_name("execution.py")))
_LEAF_PREFIX: Final = "dcc_bridge_"  # of the names of the leaves' packages
watching_files.add(__file__)
_MAX_TRIES: Final = 100  # of which there is a sentence
_FOLDER_VERBS: Final = ("remove", "rename", "move")  # acts on a folder and on all that is below it
_UNDECLARED: Final = "which is not declared in `writes`"
STAND_IN: Final = "stand_in"  # the name of a function that stands in place of one of the host


class ReachedOut(BridgeError):
    """Agreed code tried an act that it had not declared; the act was refused."""


@contextmanager
def trip_wire(
    writes: Sequence[Path],
    reached: list[str],
    writers: Sequence[Writer] = (),
    copies: FolderCopies | None = None,
) -> Iterator[None]:
    """Refuse acts on this thread that agreed code has not declared, for as long as the block lasts.

    Args:
        writes: The declared files and folders.
        reached: Gets a sentence for each refused try, as the code may catch the error.
        writers: The host's functions that write files and raise no audit event.
        copies: Keeps a copy of each declared file before the code changes the file.
    """
    with watched_by(_Wire(writes, reached, copies), writers):
        yield


def guarded_import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """Import as Python does, but no module of the bridge. For the builtins of agreed code."""
    wire = watch_here()
    if wire is not None:
        modules = [name]
        modules += [f"{name}.{attribute}" for attribute in fromlist or ()]
        if any(_is_bridge(module) for module in modules):
            wire.refuse("reach into dcc_bridge itself")
    return builtins.__import__(name, globals, locals, fromlist, level)


def _is_bridge(module: str) -> bool:
    """Return whether a module belongs to the bridge or to a leaf."""
    return module.startswith(_LEAF_PREFIX) or is_ours(module)


class _Wire(Watch):
    """The watch over one run of agreed code: undeclared acts are refused."""

    def __init__(
        self, writes: Sequence[Path], reached: list[str], copies: FolderCopies | None
    ) -> None:
        super().__init__()
        self._declared = [events.resolve(path) for path in writes]
        self._reached = reached
        self._copies = copies

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that is not allowed."""
        act = events.file_act(event, args)
        if act is not None:
            self._check_files(act)
        else:
            self._check_act(events.act_of(event))

    def refuse_writer(self) -> None:
        """Keep copies of all that is declared, as a writer's files are not known.

        The writer is refused where nothing is declared.
        """
        if not self._declared:
            self.refuse(WRITES_FILE, _UNDECLARED)
        for path in self._declared:
            self._keep_copy("write", path, with_all_below=True)

    def refuse(self, act: str, why: str = "which code may not do") -> None:
        """Raise ReachedOut, unless the bridge or the host acts, and not the agreed code.

        Args:
            act: The act: "start a thread".
            why: The reason, a relative clause.
        """
        frame = self.frame()
        # Blender packs an FBX in threads. A script may not, which Blender calls __main__.
        is_packing = act == events.THREAD
        while frame is not None and frame.f_code.co_filename not in _CALLERS:
            is_packing = is_packing and frame.f_globals.get("__name__") != "__main__"
            is_own = owner_of(frame) not in ("", IMPORTER)
            if is_own and frame.f_code.co_name != STAND_IN:
                return  # a listener of ours, which the host calls meanwhile
            if is_own and is_packing:
                return
            frame = frame.f_back
        place = "The code"
        if frame is not None and frame.f_code.co_filename == AGREED and frame.f_lineno:
            place = f"Line {frame.f_lineno}"
        error = ReachedOut(f"{place} tried to {act}, {why}; it was refused.")
        if len(self._reached) < _MAX_TRIES:
            self._reached.append(str(error))
        raise error

    def _check_act(self, act: str | None) -> None:
        if act is None:
            return
        if act == events.NATIVE and _is_importing(self.frame()):
            return
        self.refuse(act)

    def _check_files(self, act: events.FileAct) -> None:
        if not all(self._is_declared(path) for path in act.paths):
            self.refuse(act.text, _UNDECLARED)
            return
        for path in act.paths:
            self._keep_copy(act.verb, path, with_all_below=act.verb in _FOLDER_VERBS)

    def _is_declared(self, path: str) -> bool:
        return any(is_inside(path, declared) for declared in self._declared)

    def _keep_copy(self, verb: str, path: str, *, with_all_below: bool) -> None:
        """Keep a copy of a file or folder before an act; refuse the act on the copies themselves.

        Args:
            verb: The act: "write", "remove".
            path: The path that is acted on.
            with_all_below: Copy what is below a folder too.
        """
        copies = self._copies
        if copies is None:
            return
        act = f"{verb} {path[-events.MAX_PATH :]}"
        holds_copies = verb in _FOLDER_VERBS and is_inside(str(copies.where), path)
        if holds_copies or is_inside(path, copies.where):
            self.refuse(act, "where copies of files are kept")
            return
        try:
            copies.before_change(path, with_all_below=with_all_below)
        except NoCheckpoint as error:
            self.refuse(act, f"of which no copy could be kept ({error.why})")


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether an import stands between a frame and agreed code.

    numpy loads libraries by ctypes while it is imported.
    """
    while frame is not None and frame.f_code.co_filename != AGREED:
        if owner_of(frame) == IMPORTER:
            return True
        frame = frame.f_back
    return False
