"""What agreed code may not do without having said so: a PEP 578 audit hook that refuses it.

It is no sandbox, and keeps code that means well from what the person did not read about, however
the call is spelled. What raises no event and is no writer of the host's gets through.

The hook stays for the life of the process; while no wire is open it looks at one empty dict. It
judges the thread that opened it and there only what the agreed code does, itself or through a
library: a listener of ours, by its code, that a host calls meanwhile does as always.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import get_ident
from types import FrameType
from typing import Any, Final

from dcc_bridge.checkpoints import FolderCopies, is_inside
from dcc_bridge.code import (
    AGREED,
    IMPORTER,
    has_module,
    is_ours,
    note_code,
    note_modules,
    owner_of,
)
from dcc_bridge.code import code_tables as tables
from dcc_bridge.errors import BridgeError, NoCheckpoint

_CALLERS: Final = (AGREED, str(Path(__file__).with_name("execution.py")))  # where no line runs
_LEAVES: Final = "dcc_bridge_"  # what the names of their packages begin with
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
    writers: Sequence[tuple[Any, str, Callable[..., Iterable[Any]]]] = (),
    copies: FolderCopies | None = None,
) -> Iterator[None]:
    """Refuse on this thread what agreed code has not declared; `reached` gets each try.

    `copies` is told of each declared path before the code changes it.
    """
    global _has_hook
    wire, ident = _Wire(writes, reached, copies), get_ident()
    if not _wires:
        note_code()
    if not _has_hook:
        sys.addaudithook(_hook)
        _has_hook = True
    originals, wrote_bytecode = list[tuple[Any, str, Any]](), sys.dont_write_bytecode
    try:
        sys.dont_write_bytecode = True  # modules come in still
        every: list[tuple[Any, str, Any]] = [*tables.WRAPPED, *writers]
        for owner, name, does in every:
            try:
                original = vars(owner)[name]
                setattr(owner, name, _wrapped(original, does))
                originals.append((owner, name, original))
            except (KeyError, TypeError):  # it is not here, or in C, where nobody can replace it
                wire.fixed.append((owner, name, does))
        _wires[ident] = wire
        yield
    finally:
        _wires.pop(ident, None)
        for owner, name, original in originals:
            setattr(owner, name, original)
        sys.dont_write_bytecode = wrote_bytecode
        note_modules()


def guarded_import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """Import as Python does, but not what the bridge holds. For the builtins of agreed code."""
    wire = _wires.get(get_ident())
    if wire is not None:
        inner = [f"{name}.{it}" for it in fromlist or ()]
        if any(it.startswith(_LEAVES) or is_ours(it) for it in (name, *inner)):
            wire.refuse("reach into dcc_bridge itself")
    return builtins.__import__(name, globals, locals, fromlist, level)


def guarded_attribute(it: Any, name: str, *default: Any) -> Any:
    """Read an attribute for agreed code; what writes in C++ is refused when it is called."""
    value = getattr(it, name, *default)
    wire = _wires.get(get_ident())
    for owner, called, does in wire.fixed if wire is not None else ():
        if called == name and (it is owner or owner in type(it).__mro__):
            return _wrapped(value, does if it is owner else partial(does, it))
    return value


BUILTINS: Final = {"__import__": guarded_import, "getattr": guarded_attribute}


class Guarded:
    """What agreed code reads one attribute of, as `guarded_attribute` does."""

    def __init__(self, it: Any) -> None:
        self._it = it

    def __getattr__(self, name: str) -> Any:
        return guarded_attribute(object.__getattribute__(self, "_it"), name)


class _Wire:
    """What one run may do."""

    def __init__(
        self, writes: Sequence[Path], reached: list[str], copies: FolderCopies | None
    ) -> None:
        self._declared = [*map(tables.resolve, writes)]
        self._reached = reached
        self._copies = copies
        self.fixed: list[tuple[Any, str, Any]] = []

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that is not allowed."""
        if event == "open":
            path, mode, flags = args[:3]
            if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & tables.WRITES:
                self._check_paths("write", [path])
        elif row := tables.NAMES.get(event) or tables.FILES.get(event):
            paths = [args[place] for place in row[1]]
            folders = [None, None] if row[2] is None else [*args[row[2] :][:2], None, None]
            self._check_paths(row[0], paths, folders, event in tables.FILES)
        elif event == "import":
            self._check_act(tables.MODULES.get(args[0]))
        elif event in tables.DIRECT or (
            event.startswith("object.__") and args[1] in tables.ATTRIBUTES
        ):
            self.refuse(tables.INSPECT, only_direct=True)
        elif event not in tables.HARMLESS:
            act = tables.ACTS.get(event) or tables.ACTS.get(event.partition(".")[0] + ".")
            self._check_act(act)

    def refuse(
        self, act: str, why: str = "which code may not do", *, only_direct: bool = False
    ) -> None:
        """Raise, unless it is not the agreed code that does it."""
        frame = self._frame()
        if only_direct and (frame is None or has_module(frame)):
            return
        # Blender packs an FBX in threads; a script, which it calls __main__, may not.
        is_packing = act == tables.THREAD
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
        if act is not None and not (act == tables.NATIVE and _is_importing(self._frame())):
            self.refuse(act)

    def _check_paths(
        self, verb: str, paths: Sequence[Any], at: Sequence[Any] = (None,), follows: bool = True
    ) -> None:
        if verb == "open the database" and tables.plain_path(paths[0]) == ":memory:":
            return
        try:
            resolved = [tables.resolve(*pair, follows) for pair in zip(paths, at, strict=False)]
        except (OSError, TypeError, ValueError):
            resolved = [""]  # no path at all, or below a folder that cannot be told
        if verb == "write" and resolved == [tables.NULL]:
            return
        if not all(map(self._may, resolved)):
            named = " and ".join(path[-300:] for path in resolved if path)
            self.refuse(f"{verb} {named or 'an open file'}", _UNDECLARED)
            return
        for path in resolved:
            self._keep_copy(verb, path)

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

    def _frame(self) -> FrameType | None:
        """Give the innermost frame that is not this module's."""
        ident = get_ident()
        del _wires[ident]  # looking at frames is an event as well
        try:
            frame: FrameType | None = sys._getframe(2)
        finally:
            _wires[ident] = self
        while frame and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        return frame


_wires: dict[int, _Wire] = {}  # by thread
_has_hook = False


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _wires and (wire := _wires.get(get_ident())) is not None:
        wire.check(event, args)


def _wrapped(kept: Any, does: str | Callable[..., Iterable[Any]]) -> Any:
    original = getattr(kept, "__func__", kept) if isinstance(kept, staticmethod) else kept

    def call(*args: Any, **kwargs: Any) -> Any:
        if (wire := _wires.get(get_ident())) is not None:
            if isinstance(does, str):
                wire.refuse(does)
            else:
                for path in does(*args, **kwargs):
                    wire.check("open", (path, "w", None))
        return original(*args, **kwargs)

    return staticmethod(call) if isinstance(kept, staticmethod) else call


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a module is being imported on the way: numpy loads libraries by ctypes."""
    while frame is not None and frame.f_code.co_filename != AGREED:
        if owner_of(frame) == IMPORTER:
            return True
        frame = frame.f_back
    return False
