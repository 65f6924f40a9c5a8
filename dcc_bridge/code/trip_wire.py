"""What agreed code may not do without having said so: a PEP 578 audit hook that refuses it.

It is no sandbox. It keeps code that means well from writing, removing, connecting and starting
what the person did not read about, however the call is spelled. What raises no event gets through:
exports in C++ that the host does not tell, `os.write` to a descriptor that is open, `dcc_bridge`
out of `sys.modules`. The vetoes of the host and the reading beforehand are for those.

The hook is added at the first use and stays for the life of the process, as Python has it; while
no wire is open it looks at one empty dict. It judges the thread that opened it and there only what
the agreed code does, itself or through a library: a listener of ours that a host calls meanwhile
does as always.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from types import FrameType
from typing import Any, Final

from dcc_bridge.code.code_tables import (
    ACTS,
    ATTRIBUTES,
    DIRECT,
    FILES,
    HARMLESS,
    INSPECT,
    MODULES,
    NAMES,
    NATIVE,
    THREAD,
    WRAPPED,
    WRITES,
    resolve,
)
from dcc_bridge.errors import BridgeError

AGREED: Final = "<agreed code>"  # the file name of agreed code, in its frames
_PACKAGE: Final = str(Path(__file__).parents[1]) + os.sep
_CODE: Final = str(Path(__file__).parent) + os.sep  # what agreed code can call itself, as `print`
_CALLERS: Final = (AGREED, _CODE + "execution.py")  # the latter where no line of its own runs
_MOST: Final = 100  # tries that are kept
STAND_IN: Final = "stand_in"  # the name of what a host lets code call in place of its own function


class ReachedOut(BridgeError):
    """Agreed code tried what it had not declared; the try was refused."""


@contextmanager
def trip_wire(
    writes: Sequence[Path],
    reached: list[str],
    writers: Sequence[tuple[Any, str, Callable[..., Iterable[Any]]]] = (),
) -> Iterator[None]:
    """Refuse on this thread what agreed code has not declared. Not inside another on the thread.

    Args:
        writes: The files and folders that the code may write to; whatever is below a folder too.
        reached: Gets a sentence for each try, also where the code caught the error.
        writers: What writes files without an event: see `Acts.writers`.

    Raises:
        ReachedOut: At the line that tried it.
    """
    global _has_hook
    wire, ident = _Wire(writes, reached), get_ident()
    if not _has_hook:
        sys.addaudithook(_hook)
        _has_hook = True
    every: list[tuple[Any, str, Any]] = [*WRAPPED, *writers]
    rows = [row for row in every if hasattr(*row[:2])]
    originals = [(owner, name, vars(owner)[name]) for owner, name, _ in rows]
    wrote_bytecode = sys.dont_write_bytecode
    try:
        sys.dont_write_bytecode = True  # modules come in still
        for row in rows:
            setattr(*row[:2], _wrapped(*row))
        _wires[ident] = wire
        yield
    finally:
        _wires.pop(ident, None)
        for owner, name, original in originals:
            setattr(owner, name, original)
        sys.dont_write_bytecode = wrote_bytecode


def guarded_import(name: str, *more: Any, **named: Any) -> Any:
    """Import as Python does, but not what this package holds. For the builtins of agreed code."""
    wire = _wires.get(get_ident())
    if wire is not None and name.partition(".")[0] == "dcc_bridge":
        wire.refuse("reach into dcc_bridge itself")
    return builtins.__import__(name, *more, **named)


class _Wire:
    """What one run may do."""

    def __init__(self, writes: Sequence[Path], reached: list[str]) -> None:
        self._declared = [*map(resolve, writes)]
        self._reached = reached

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that is not allowed."""
        if event == "open":
            path, mode, flags = args[:3]
            if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & WRITES:
                self._check_paths("write", [path])
        elif event in NAMES or event in FILES:
            self._check_row(event, args)
        elif event == "import":
            self._check_act(MODULES.get(args[0]))
        elif event in DIRECT or (event.startswith("object.__") and args[1] in ATTRIBUTES):
            self.refuse(INSPECT, only_direct=True)
        elif event not in HARMLESS:
            self._check_act(ACTS.get(event) or ACTS.get(event.partition(".")[0] + "."))

    def refuse(self, act: str, *, only_direct: bool = False, is_file: bool = False) -> None:
        """Raise, unless it is not the agreed code that does it."""
        frame = self._frame()
        if only_direct and (frame is None or frame.f_code.co_filename != AGREED):
            return
        while frame is not None and (file := frame.f_code.co_filename) not in _CALLERS:
            is_ours = file.startswith(_PACKAGE) and not file.startswith(_CODE)
            if is_ours and (frame.f_code.co_name != STAND_IN or act == THREAD):
                return  # a listener, called meanwhile; or threads in which Blender packs an FBX
            frame = frame.f_back
        where = None if frame is None or frame.f_code.co_filename != AGREED else frame.f_lineno
        line = f"Line {where}" if where else "The code"
        why = "which had not been declared in `writes`" if is_file else "which code may not do"
        error = ReachedOut(f"{line} tried to {act}, {why}; it was refused.")
        if len(self._reached) < _MOST:
            self._reached.append(str(error))
        raise error

    def _check_act(self, act: str | None) -> None:
        if act is not None and not (act == NATIVE and _is_importing(self._frame())):
            self.refuse(act)

    def _check_row(self, event: str, args: tuple[Any, ...]) -> None:
        verb, places, at = NAMES.get(event) or FILES[event]
        folders = [None, None] if at is None else [*args[at : at + 2], None, None]
        self._check_paths(verb, [args[place] for place in places], folders, event in FILES)

    def _check_paths(
        self,
        verb: str,
        paths: Sequence[Any],
        folders: Sequence[Any] = (None,),
        follows: bool = True,
    ) -> None:
        if paths[0] in (os.devnull, ":memory:"):
            return
        pairs = zip(paths, folders, strict=False)
        try:
            resolved = [resolve(path, folder, follows) for path, folder in pairs]
        except (OSError, TypeError, ValueError):
            resolved = [""]  # no path at all, or below a folder that cannot be told
        if not all(map(self._may, resolved)):
            named = " and ".join(path[-300:] for path in resolved if path)
            self.refuse(f"{verb} {named or 'an open file'}", is_file=True)

    def _may(self, path: str) -> bool:
        folders = (declared.rstrip(os.sep) + os.sep for declared in self._declared)
        return path in self._declared or path.startswith(tuple(folders))

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


def _wrapped(owner: Any, name: str, does: str | Callable[..., Iterable[Any]]) -> Any:
    original = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if (wire := _wires.get(get_ident())) is not None:
            if isinstance(does, str):
                wire.refuse(does)
            else:
                for path in does(*args, **kwargs):
                    wire.check("open", (path, "w", None))
        return original(*args, **kwargs)

    return staticmethod(call) if isinstance(vars(owner)[name], staticmethod) else call


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a module is being imported on the way: numpy loads libraries by ctypes."""
    while frame is not None and frame.f_code.co_filename != AGREED:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
