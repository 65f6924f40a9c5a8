"""Blender's undo stack, what changed in the scene, and operators that code of an agent calls.

Nothing in Python names what lies on the stack. ``WindowManager.print_undo_steps`` prints it to the
process's standard output, where it is read from, in 80 µs. In 4.5 and older it crashes in
background as long as nothing was pushed since the file was opened, so it is not asked then.

Blender evaluates what was changed, and calls its handlers; what it does not tell of is compared
(`census`), in a large file and after a read less of it. What neither is evaluated nor compared is
no edit: a fake user, how a modifier is folded, another scene's data that is not open, the frame
that is shown. Nor is what Blender makes for itself: the results of a render, the groups in which
an add-on keeps its settings, brushes for a mode that an export leaves. Main thread.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import bpy

from dcc_bridge.spi import Callbacks, UndoMark

from .census import census
from .loop import editing, in_window
from .objects import identity

_BOTH: Final = (False, True)
_LONGEST: Final = 63  # bytes of a name; Blender cuts off the rest, which makes ours unique
# One that is no part of a longer one, which undo passes over.
_ENTRY: Final = re.compile(
    r"^\[(.)..[^S]\]\s+\d+ \{(.*?)\} type='(.*?)', name='(.*)'$", re.MULTILINE
)
_GLOBAL: Final = "Global Undo"  # entries that hold the whole file
_Key = tuple[str, str]
_BASE: Final = "Original"
_STDOUT: Final = 1
_C: Final = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
_HANDLERS: Final = ("depsgraph_update_post", "undo_post", "redo_post", "load_post", "save_post")
_UNDONE: Final = ("undo_pre", "undo_post", "redo_pre", "redo_post")
_BEFORE: Final = ("undo_pre", "redo_pre", "load_pre", "save_pre", "load_post_fail")


class Stack:
    """The undo stack.

    Its entries are told apart by tokens of ours: Blender may put a new one where an old one of the
    same name has been. It is looked at before and after each undo and redo, so what else is above
    the entry that was on top has been pushed.
    """

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}
        self._dropped = 0
        self.opened = 0  # how many other files were opened
        self.moves = 0  # how often somebody has undone or redone
        self.handlers = 0  # how many of ours are running
        self.is_loading = False  # a file is read, or was and nothing has been looked at since
        self.why_opened = ""  # what a roll-back says that would go back to before the last one
        self._begin()

    def start_over(self) -> None:
        """Take note that another file was opened: it begins a stack of its own.

        That counts as an entry, which cannot be undone.
        """
        self._dropped += self._active + 1
        self.opened += 1
        self.why_opened = "Another file was opened, and undo cannot restore the previous one."
        self._begin()

    def _begin(self) -> None:
        self._is_there = not bpy.app.background
        self._active = 0
        self._base = object()
        self._steps: list[tuple[_Key, object]] = []

    def prepare(self) -> None:
        """Have something on the stack to undo the first edit to; RuntimeError: undo is off."""
        if not editing().use_global_undo:
            raise RuntimeError(
                "Blender's undo is turned off, so an agent's edit could not be undone: turn "
                "on Preferences > System > Memory & Limits > Global Undo."
            )
        if not self._is_there or not self._entries():
            self._push(_BASE)
            self._is_there = True
        # To read an entry anew takes another one below or above it.
        if not can_move(bpy.ops.ed.undo) and not can_move(bpy.ops.ed.redo):
            self._push(_BASE)
            self._take_for_base()

    def _take_for_base(self) -> None:
        """Take the entry on top for the base that was there."""
        token = self._steps[0][1] if self._steps else self._base
        *_, (_, address, _, name) = self._entries()
        self._steps = [((address, name), token)]
        self._active = 0

    @property
    def is_global(self) -> bool:
        """Whether the entry on top holds the whole file, and not what an edit mode edits."""
        kinds = [kind for mark, _, kind, _ in self._entries() if mark == "*"]
        return kinds == [_GLOBAL]

    def ahead(self) -> list[str]:
        """Return the names of what can be redone, the next one first."""
        entries = self._entries()
        active = next((at for at, (mark, *_) in enumerate(entries) if mark == "*"), 0)
        return [name for *_, name in entries[active + 1 :]]

    def push(self, label: str) -> None:
        """Make an entry of all that was changed since the last one."""
        name = _cut(label)
        self._labels[name] = label
        self._push(name)

    def mark(self) -> UndoMark:
        """Mark what undo would undo."""
        self.look()
        if not self._active:
            return UndoMark(self._dropped, None, self._steps[0][1] if self._steps else self._base)
        (_, name), token = self._steps[self._active]
        return UndoMark(self._dropped + self._active, self._labels.get(name, name), token)

    def look(self, *, moved: bool = False) -> None:
        """Take note of what was pushed, or of where an undo or a redo has gone."""
        self.moves += moved
        # Until all handlers of a load have run there is no stack, and to print it crashes Blender.
        self.is_loading = self.is_loading and self.handlers > 0
        entries = self._entries() if self._is_there and not self.is_loading else []
        if not entries:
            return
        keys = [(address, name) for _, address, _, name in entries]
        active = next((at for at, (mark, *_) in enumerate(entries) if mark == "*"), 0)
        if not self._steps:
            self._steps = [(keys[0], self._base)]
        gone = self._gone(keys)
        kept = self._steps[gone : self._active + 1]
        above = self._steps[self._active + 1 :] if moved or active < len(kept) else []
        known = [*kept, *above]
        self._steps = [
            known[at] if at < len(known) and known[at][0] == key else (key, object())
            for at, key in enumerate(keys)
        ]
        self._dropped += gone
        self._active = active

    def _gone(self, keys: list[_Key]) -> int:
        """Count the oldest entries that Blender has dropped: those up to the top are in order."""
        top = self._steps[self._active][0]
        reach = range(self._active + 1)
        here = (n for n in reach if self._active - n < len(keys) and keys[self._active - n] == top)
        return next(here, self._active + 1)

    @staticmethod
    def _push(name: str) -> None:
        with in_window():
            bpy.ops.ed.undo_push(message=name)

    @staticmethod
    def _entries() -> list[tuple[str, str, str, str]]:
        """List them, the oldest first: what marks the one on top, address, kind and name."""
        entries = _ENTRY.findall(_printed())
        # Without a window 3.4 keeps those of the file before, below the first one of this file.
        first = max((at for at, it in enumerate(entries) if it[3] == _BASE), default=0)
        return entries[first:]


def can_move(operator: Any) -> bool:
    """Return whether `ed.undo` or `ed.redo` has an entry to go to."""
    return bool(operator.poll())


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


class ChangeCounter:
    """Counts changes of the scene by Blender's handlers, and reports them."""

    def __init__(self, stack: Stack, files: Callable[[str, str], None]) -> None:
        self._stack = stack  # told of each undo and redo, and that another file was opened
        # Called around each load and save with the handler's name and the file, which is "" where
        # Blender does not tell: before 4.0, and for a new scene.
        self._files = files
        self._thread = threading.get_ident()
        self.watchers = Callbacks()  # called whenever the scene or the selection has changed
        self.seen = self.saved = self._edits = 0  # as Blender told of them; when it saved
        # Censuses between which nothing was edited: the later one, and the one that it stands for.
        self._alike: dict[int, int] = {}
        self.touched: set[int] | None = None  # what was evaluated while it is noted
        self._added: list[tuple[list[Any], Any]] = []
        for name in filter(lambda name: hasattr(bpy.app.handlers, name), (*_BEFORE, *_HANDLERS)):
            handlers, fn = getattr(bpy.app.handlers, name), self._handler(name)
            handlers.append(fn)
            self._added.append((handlers, fn))

    @property
    def count(self) -> int:
        """How many changes there were that Blender evaluated."""
        if (layer := bpy.context.view_layer) is not None:
            layer.update()  # what waits to be evaluated is told of now
        return self.seen

    def state(self, *, read: bool = False) -> tuple[int, int]:
        """Return what is another one after a change; for a read, what is soon compared."""
        return self._told(read=read), self.compared(read=read)

    def is_changed(self, since: tuple[int, int], *, read: bool = False) -> bool:
        """Return whether the state is another one; what Blender told of needs no census."""
        told, compared = since
        return self._told(read=read) != told or self.compared(read=read) != compared

    def edits(self) -> int:
        """Return how many changes there were that are more than settings of a scene."""
        return self._told(read=True)

    def put_back(self, seen: int, edits: int) -> None:
        """Take what was changed since for no change: it was reverted."""
        while self.seen != self.count:  # Blender tells of it now, and of what follows from it
            continue
        self.seen, self._edits = seen, edits

    def _told(self, *, read: bool) -> int:
        count = self.count
        return self._edits if read else count

    def compared(self, *, read: bool) -> int:
        """Return a number that is another one after a change that Blender does not tell of."""
        now = census(read=read)
        return self._alike.get(now, now)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Take what the block does for no change: what it makes is gone at its end.

        What Blender makes for itself meanwhile stays, such as brushes for a mode that is entered.
        """
        before = self.count, self._edits
        censuses = [self.compared(read=read) for read in _BOTH]
        try:
            yield
        finally:
            while self.seen != self.count:  # Blender tells of it now, and of what follows from it
                continue
            self.seen, self._edits = before
            for read, was in zip(_BOTH, censuses, strict=True):
                now = census(read=read)
                if now != was:
                    self._alike[now] = was

    def end(self) -> None:
        """Listen no more; harmless the second time."""
        while self._added:
            handlers, fn = self._added.pop()
            if fn in handlers:
                handlers.remove(fn)

    def _handler(self, name: str) -> Any:
        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def handle(about: object = None, depsgraph: Any = None) -> None:
            if threading.get_ident() != self._thread:
                return  # a render calls the handlers too, on a thread of its own
            self._stack.handlers += 1
            self._stack.is_loading |= name.startswith("load")
            try:
                self._handle(name, about, depsgraph)
            finally:
                self._stack.handlers -= 1

        return handle

    def _handle(self, name: str, about: object, depsgraph: Any) -> None:
        if name in _UNDONE:
            self._stack.look(moved=name in _HANDLERS)
        if name == "load_post":
            self._stack.start_over()
            self._alike.clear()
        if name.startswith(("load", "save")):
            self._files(name, about if isinstance(about, str) else "")
        if name in _BEFORE:
            return
        if name == "depsgraph_update_post" and depsgraph and depsgraph.mode != "VIEWPORT":
            return
        edits = [it for it in depsgraph.updates if _is_edit(it)] if depsgraph else []
        self._edits += bool(edits)
        if self.touched is not None:
            set_up = [it for it in depsgraph.updates if _is_setting(it)] if depsgraph else []
            self.touched.update(identity(it.id.original) for it in (*edits, *set_up))
        self.seen += 1
        if name in ("load_post", "save_post"):
            self.saved = self.seen
        self.watchers.call()


def _is_edit(update: Any) -> bool:
    """Whether it is more than settings of a scene, with which cameras are evaluated as well."""
    is_camera = getattr(update.id, "type", "") == "CAMERA" and not update.is_updated_transform
    return not (is_camera or isinstance(update.id, bpy.types.Scene))


def _is_setting(update: Any) -> bool:
    """Whether it is no more than a setting of a scene."""
    is_more = update.is_updated_transform or update.is_updated_geometry
    return isinstance(update.id, bpy.types.Scene) and not is_more
