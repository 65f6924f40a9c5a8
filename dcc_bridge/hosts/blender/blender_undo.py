"""Blender's undo stack, pushed to and read, and what changed in the scene.

Nothing in Python names what lies on the stack. ``WindowManager.print_undo_steps`` prints it to the
process's standard output, so that is where it is read from: the names are Blender's own then, with
what the person did and undid in between. It takes 80 µs. In 4.5 and older it crashes in
background as long as nothing was pushed since the file was opened, so it is not asked then.

Blender evaluates what was changed, and calls its handlers. It does not for names, new data that is
in no scene, custom properties, texts and markers; those are compared. What neither is evaluated nor
compared is not seen as an edit: a fake user, how a modifier is folded in the properties, the values
of another scene's data that is not open. The frame that is shown is no edit, as in Blender itself.
Main thread.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import bpy

from dcc_bridge.callbacks import Callbacks
from dcc_bridge.host import UndoMark
from dcc_bridge.hosts.blender.blender_loop import in_window

_LONGEST: Final = 63
"""Bytes of a name; Blender cuts off the rest, which is what makes ours unique."""
_ENTRY: Final = re.compile(r"^\[(.).{3}\]\s+\d+ \{.*?\} type='.*?', name='(.*)'$", re.MULTILINE)
_BASE: Final = "Original"
_STDOUT: Final = 1


class Stack:
    """The undo stack."""

    def __init__(self) -> None:
        """Know of nothing that was pushed."""
        self._labels: dict[str, str] = {}
        self._is_there = False
        self.start_over()

    def start_over(self) -> None:
        """Take note that another file was opened: it begins a stack of its own."""
        self._is_there = not bpy.app.background

    def prepare(self) -> None:
        """Have something on the stack that the first edit can be undone to.

        Raises:
            RuntimeError: Blender's undo is turned off, so nothing could be taken back.
        """
        preferences = bpy.context.preferences
        if preferences is not None and not preferences.edit.use_global_undo:
            raise RuntimeError(
                "Blender's undo is turned off, and an agent's edit could not be taken back: turn "
                "on Preferences > System > Memory & Limits > Global Undo."
            )
        if not self._is_there or not self._names():
            self._push(_BASE)
            self._is_there = True

    def push(self, label: str) -> None:
        """Make an entry of all that was changed since the last one."""
        name = _cut(label)
        self._labels[name] = label
        self._push(name)

    def mark(self) -> UndoMark:
        """Mark what undo would undo."""
        names = self._names() if self._is_there else []
        at = next((at for at, (mark, _) in enumerate(names) if mark == "*"), 0)
        label = self._labels.get(names[at][1], names[at][1]) if at else None
        return UndoMark(at, label, tuple(name for _, name in names[: at + 1]))

    @staticmethod
    def _push(name: str) -> None:
        with in_window():
            bpy.ops.ed.undo_push(message=name)

    @staticmethod
    def _names() -> list[tuple[str, str]]:
        return _ENTRY.findall(_printed())


def _printed() -> str:
    """Give what Blender prints of its stack."""
    windows = bpy.context.window_manager
    assert windows is not None
    with tempfile.TemporaryFile() as output:
        _flush()
        stdout = os.dup(_STDOUT)
        try:
            os.dup2(output.fileno(), _STDOUT)
            windows.print_undo_steps()
            _flush()
        finally:
            os.dup2(stdout, _STDOUT)
            os.close(stdout)
        output.seek(0)
        return output.read().decode(errors="replace")


def _flush() -> None:
    """Empty the buffers of Python's and of C's standard output."""
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # closed, or nobody reads it
            sys.stdout.flush()
    _C.fflush(None)


def _cut(label: str) -> str:
    """Keep the end of a label that is too long: it is what no other one has."""
    if len(label.encode()) <= _LONGEST:
        return label
    end = label[-20:]
    room = _LONGEST - len(f"… {end}".encode())
    return f"{label.encode()[:room].decode(errors='ignore')}… {end}"


_C: Final = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


_HANDLERS: Final = ("depsgraph_update_post", "undo_post", "redo_post", "load_post", "save_post")
_WINDOWS: Final = {"window_managers", "screens", "workspaces"}
_MOST_COMPARED: Final = 50_000
"""Data-blocks up to which custom properties are compared."""


class Changes:
    """Counts changes of the scene by Blender's handlers, and reports them.

    Attributes:
        watchers: Called whenever the scene or the selection has changed.
    """

    def __init__(self, loaded: Callable[[], None]) -> None:
        """Listen to Blender.

        Args:
            loaded: Called when another file was opened, before all others.
        """
        self._loaded = loaded
        self._thread = threading.get_ident()
        self.watchers = Callbacks()
        self._count = self._saved = 0
        self._added: list[tuple[list[Any], Any]] = []
        for name in _HANDLERS:
            self._add(name, self._handler(name))

    @property
    def count(self) -> int:
        """How many changes there were that Blender evaluated."""
        layer = bpy.context.view_layer
        if layer is not None:
            layer.update()  # what waits to be evaluated is told of now
        return self._count

    @property
    def are_saved(self) -> bool:
        """Whether there was none since the file was loaded or saved."""
        return self.count == self._saved

    def end(self) -> None:
        """Listen no more; harmless the second time."""
        while self._added:
            handlers, fn = self._added.pop()
            if fn in handlers:
                handlers.remove(fn)

    def _add(self, name: str, fn: Any) -> None:
        handlers = getattr(bpy.app.handlers, name)
        handlers.append(fn)
        self._added.append((handlers, fn))

    def _handler(self, name: str) -> Any:
        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def handle(_: object = None, depsgraph: Any = None) -> None:
            if threading.get_ident() != self._thread:
                return  # a render calls the handlers too, on a thread of its own
            if name == "depsgraph_update_post" and depsgraph and depsgraph.mode != "VIEWPORT":
                return
            self._changed(name)

        return handle

    def _changed(self, name: str) -> None:
        self._count += 1
        if name == "load_post":
            self._loaded()
        if name in ("load_post", "save_post"):
            self._saved = self._count
        self.watchers.call()


def census() -> int:
    """Digest what Blender does not tell of."""
    collections = [getattr(bpy.data, name) for name in _lists()]
    names = tuple(tuple(blocks.keys()) for blocks in collections)
    few = sum(map(len, names)) <= _MOST_COMPARED
    custom = [_custom(block) for blocks in collections for block in blocks] if few else []
    texts = [text.as_string() for text in bpy.data.texts]
    markers = [[(m.name, m.frame) for m in scene.timeline_markers] for scene in bpy.data.scenes]
    return hash((names, repr([values for values in custom if values]), repr(texts), repr(markers)))


def _lists() -> list[str]:
    """Name the lists of data-blocks, but for what is Blender's own windows."""
    lists = (p.identifier for p in bpy.types.BlendData.bl_rna.properties if p.type == "COLLECTION")
    return [name for name in lists if name not in _WINDOWS]


def _custom(block: Any) -> list[tuple[str, str]]:
    return [(key, plain(block[key])) for key in block.keys()]  # noqa: SIM118 - it is no dict


def plain(value: Any) -> str:
    """Give a custom property's value as a text that tells two of them apart."""
    for name in ("to_dict", "to_list"):
        if hasattr(value, name):
            return repr(getattr(value, name)())
    return repr(value)
