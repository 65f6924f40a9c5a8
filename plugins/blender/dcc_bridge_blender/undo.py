"""Blender's undo stack, and the changes of the scene. Main thread.

Nothing in Python names the entries of the stack. ``WindowManager.print_undo_steps`` prints them to
the process's standard output, from which they are read here, in 80 µs. In 4.5 and older that call
crashes in background as long as nothing was pushed since the file was opened, so it is not made
then.

Blender evaluates what was changed, and calls its handlers. What Blender does not report is compared
(`census`); in a large file, and after a read, less of that. What neither is evaluated nor compared
is no edit: a fake user, how a modifier is folded, the data of another scene that is not open, the
frame that is shown. Nor is what Blender creates for itself: the results of a render, the groups in
which an add-on keeps its settings, brushes for a mode that an export leaves.
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

_BOTH: Final = (False, True)  # censuses: of edits, and of reads
_MAX_NAME_BYTES: Final = 63  # Blender cuts off the rest of a name, which makes ours unique
_KEPT_END: Final = 20  # characters at the end of a label that is cut
# An entry that is no part of a longer one: undo passes over such parts.
_ENTRY: Final = re.compile(
    r"^\[(.)..[^S]\]\s+\d+ \{(.*?)\} type='(.*?)', name='(.*)'$", re.MULTILINE
)
_GLOBAL: Final = {"Global Undo", "GLOBAL_UNDO"}
"""The kind of the entries that hold the whole file: in 3.4 to 5.2, and in 5.3."""
_Key = tuple[str, str]  # the address and the name of an entry
_BASE: Final = "Original"  # the name of the entry below all edits
_STDOUT: Final = 1  # the file descriptor
_C: Final = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
_HANDLERS: Final = ("depsgraph_update_post", "undo_post", "redo_post", "load_post", "save_post")
_UNDONE: Final = ("undo_pre", "undo_post", "redo_pre", "redo_post")
_BEFORE: Final = ("undo_pre", "redo_pre", "load_pre", "save_pre", "load_post_fail")


class Stack:
    """The undo stack.

    Each entry has a token of ours, since Blender may put a new entry at the address and name of an
    old one. The stack is read before and after each undo and redo. So whatever else is above the
    entry that was on top has been pushed.

    Attributes:
        opened: How many other files were opened.
        moves: How often somebody has undone or redone.
        handlers: How many of our handlers are running.
        is_loading: Whether a file is being read, or was read and the stack has not been since.
        why_opened: Why nothing can be rolled back to before the last opening of a file.
    """

    def __init__(self) -> None:
        """Begin with the stack as it is."""
        self._labels: dict[str, str] = {}
        self._dropped = 0
        self.opened = 0
        self.moves = 0
        self.handlers = 0
        self.is_loading = False
        self.why_opened = ""
        self._begin()

    def start_over(self) -> None:
        """Note that another file was opened, which begins a stack of its own.

        The opening counts as an entry that cannot be undone.
        """
        self._dropped += self._active + 1
        self.opened += 1
        self.why_opened = "Another file was opened, and undo cannot restore the previous one."
        self._begin()

    def _begin(self) -> None:
        """Note a new stack."""
        self._is_there = not bpy.app.background
        self._active = 0
        self._base = object()
        self._steps: list[tuple[_Key, object]] = []

    def prepare(self) -> None:
        """Have an entry on the stack to which the first edit can be undone.

        Raises:
            RuntimeError: Blender's undo is turned off.
        """
        if not editing().use_global_undo:
            raise RuntimeError(
                "Blender's undo is turned off, so an agent's edit could not be undone: turn "
                "on Preferences > System > Memory & Limits > Global Undo."
            )
        if not self._is_there or not self._entries():
            self._push(_BASE)
            self._is_there = True
        # To read an entry anew takes another entry below or above it.
        if not can_move(bpy.ops.ed.undo) and not can_move(bpy.ops.ed.redo):
            self._push(_BASE)
            self._take_for_base()

    def _take_for_base(self) -> None:
        """Note that the entry on top stands for the base that was there."""
        token = self._base_token()
        _, address, _, name = self._entries()[-1]
        self._steps = [((address, name), token)]
        self._active = 0

    def _base_token(self) -> object:
        if not self._steps:
            return self._base
        _, token = self._steps[0]
        return token

    @property
    def is_global(self) -> bool:
        """Whether the entry on top holds the whole file, and not what an edit mode edits."""
        kinds = [kind for mark, _, kind, _ in self._entries() if mark == "*"]
        return len(kinds) == 1 and kinds[0] in _GLOBAL

    def ahead(self) -> list[str]:
        """Return the names of the entries that can be redone, the next one first."""
        entries = self._entries()
        return [name for *_, name in entries[_active_of(entries) + 1 :]]

    def push(self, label: str) -> None:
        """Make an entry of all that was changed since the last entry."""
        name = _cut(label)
        self._labels[name] = label
        self._push(name)

    def mark(self) -> UndoMark:
        """Return the mark of the entry that undo would undo."""
        self.look()
        if not self._active:
            return UndoMark(self._dropped, None, self._base_token())
        (_, name), token = self._steps[self._active]
        return UndoMark(self._dropped + self._active, self._labels.get(name, name), token)

    def look(self, *, moved: bool = False) -> None:
        """Read which entries were pushed, or where an undo or a redo has gone.

        Args:
            moved: Whether somebody has undone or redone.
        """
        if moved:
            self.moves += 1
        # Until all handlers of a load have run there is no stack, and to print it crashes Blender.
        self.is_loading = self.is_loading and self.handlers > 0
        if self.is_loading or not self._is_there:
            return
        entries = self._entries()
        if not entries:
            return
        keys = [(address, name) for _, address, _, name in entries]
        active = _active_of(entries)
        if not self._steps:
            self._steps = [(keys[0], self._base)]
        dropped = self._count_dropped(keys)
        known = self._steps[dropped : self._active + 1]
        if moved or active < len(known):
            known += self._steps[self._active + 1 :]
        self._steps = []
        for at, key in enumerate(keys):
            if at < len(known) and known[at][0] == key:
                self._steps.append(known[at])
            else:
                self._steps.append((key, object()))
        self._dropped += dropped
        self._active = active

    def _count_dropped(self, keys: list[_Key]) -> int:
        """Return how many of the oldest entries Blender has dropped.

        The entries up to the one that was on top are in the same order as before.
        """
        top = self._steps[self._active][0]
        for dropped in range(self._active + 1):
            at = self._active - dropped
            if at < len(keys) and keys[at] == top:
                return dropped
        return self._active + 1

    @staticmethod
    def _push(name: str) -> None:
        with in_window():
            bpy.ops.ed.undo_push(message=name)

    @staticmethod
    def _entries() -> list[tuple[str, str, str, str]]:
        """Return mark, address, kind and name of each entry, the oldest first.

        The mark is "*" for the entry on top.
        """
        entries = _ENTRY.findall(_printed())
        # Without a window 3.4 keeps the entries of the file before, below the first of this file.
        first = 0
        for at, (*_, name) in enumerate(entries):
            if name == _BASE:
                first = at
        return entries[first:]


def _active_of(entries: list[tuple[str, str, str, str]]) -> int:
    """Return the place of the entry that is on top; 0 where none is."""
    for at, (mark, *_) in enumerate(entries):
        if mark == "*":
            return at
    return 0


def can_move(operator: Any) -> bool:
    """Return whether `ed.undo` or `ed.redo` has an entry to go to."""
    return bool(operator.poll())


def _printed() -> str:
    """Return what Blender prints of its stack."""
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
        with suppress(OSError, ValueError):  # the output is closed, or nobody reads it
            sys.stdout.flush()
    _C.fflush(None)


def _cut(label: str) -> str:
    """Cut a label that is too long in its middle: the end is what no other label has."""
    if len(label.encode()) <= _MAX_NAME_BYTES:
        return label
    end = f"… {label[-_KEPT_END:]}"
    room = _MAX_NAME_BYTES - len(end.encode())
    return label.encode()[:room].decode(errors="ignore") + end


class ChangeCounter:
    """Counts the changes of the scene that Blender reports to handlers, and reports them.

    Attributes:
        watchers: Called whenever the scene or the selection has changed.
        seen: How many changes Blender has reported.
        saved: How many of them there were when the file was saved or opened last.
        touched: The identities of what was evaluated, while that is noted; else None.
        evaluated: The Python `id` of what was evaluated in the open step; None outside of a step.
    """

    def __init__(self, stack: Stack, files: Callable[[str, str], None]) -> None:
        """Add our handlers to Blender's.

        Args:
            stack: Learns of each undo and redo, and that another file was opened.
            files: Called around each load and save, with the name of the handler and the file: ""
                where Blender does not say which, before 4.0 and for a new scene.
        """
        self._stack = stack
        self._files = files
        self._thread = threading.get_ident()
        self.watchers = Callbacks()
        self.seen = 0
        self.saved = 0
        self._edits = 0
        # Censuses between which nothing was edited: the later one, and the one that it stands for.
        self._alike: dict[int, int] = {}
        self.touched: set[int] | None = None
        self.evaluated: set[int] | None = None
        self._added: list[tuple[list[Any], Any]] = []
        for name in (*_BEFORE, *_HANDLERS):
            handlers = getattr(bpy.app.handlers, name, None)
            if handlers is not None:
                handler = self._handler(name)
                handlers.append(handler)
                self._added.append((handlers, handler))

    @property
    def count(self) -> int:
        """How many changes Blender has evaluated, with those that waited for it."""
        self.let_evaluate()
        return self.seen

    def let_evaluate(self) -> None:
        """Have Blender evaluate what waits, and report it."""
        layer = bpy.context.view_layer
        if layer is not None:
            layer.update()

    def state(self, *, read: bool = False) -> tuple[int, int]:
        """Return a state that differs after a change; for a read, one that takes less time."""
        return self._reported(read=read), self.compared(read=read)

    def is_changed(self, since: tuple[int, int], *, read: bool = False) -> bool:
        """Return whether the state differs from one before.

        The census is only taken where Blender has reported no change.
        """
        reported, compared = since
        return self._reported(read=read) != reported or self.compared(read=read) != compared

    def edits(self) -> int:
        """Return how many changes there were that are more than settings of a scene."""
        return self._reported(read=True)

    def put_back(self, seen: int, edits: int) -> None:
        """Set the counts back to those before changes that were reverted."""
        self._let_report()
        self.seen = seen
        self._edits = edits

    def _let_report(self) -> None:
        """Have Blender report all changes, and also those that follow from them."""
        while self.seen != self.count:
            continue

    def _reported(self, *, read: bool) -> int:
        count = self.count
        return self._edits if read else count

    def compared(self, *, read: bool) -> int:
        """Return a number that differs after a change that Blender does not report."""
        now = census(read=read)
        return self._alike.get(now, now)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Do not count the changes of the block, which reverts its changes itself.

        What Blender creates for itself meanwhile stays, such as brushes for a mode that is entered.
        """
        seen = self.count
        edits = self._edits
        censuses = [self.compared(read=read) for read in _BOTH]
        try:
            yield
        finally:
            self.put_back(seen, edits)
            self.saved = min(self.saved, seen)
            for read, before in zip(_BOTH, censuses, strict=True):
                now = census(read=read)
                if now != before:
                    self._alike[now] = before

    def end(self) -> None:
        """Remove our handlers; harmless the second time."""
        while self._added:
            handlers, handler = self._added.pop()
            if handler in handlers:
                handlers.remove(handler)

    def _handler(self, name: str) -> Any:
        """Return our handler for one of Blender's lists of handlers."""

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def handle(about: object = None, depsgraph: Any = None) -> None:
            if threading.get_ident() != self._thread:
                return  # a render calls the handlers too, on a thread of its own
            self._stack.handlers += 1
            if name.startswith("load"):
                self._stack.is_loading = True
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
        if depsgraph:
            self._note_updates(depsgraph.updates)
        self._count(name)
        self.watchers.call()

    def _count(self, name: str) -> None:
        """Count a change of the scene, which a save is not; note the state of the file."""
        if name != "save_post":
            self.seen += 1
        if name in ("load_post", "save_post"):
            self.saved = self.seen

    def _note_updates(self, updates: Any) -> None:
        """Count what was evaluated as an edit, and note what was."""
        edits = [update for update in updates if _is_edit(update)]
        if edits:
            self._edits += 1
        if self.touched is None and self.evaluated is None:
            return
        settings = [update for update in updates if _is_setting(update)]
        blocks = [update.id.original for update in (*edits, *settings)]
        if self.touched is not None:
            self.touched.update(map(identity, blocks))
        if self.evaluated is not None:
            self.evaluated.update(map(id, blocks))


def _is_edit(update: Any) -> bool:
    """Return whether an update is more than the settings of a scene.

    With these Blender evaluates the cameras as well.
    """
    is_camera = getattr(update.id, "type", "") == "CAMERA" and not update.is_updated_transform
    return not (is_camera or isinstance(update.id, bpy.types.Scene))


def _is_setting(update: Any) -> bool:
    """Return whether an update is of the settings of a scene, and of nothing more."""
    is_more = update.is_updated_transform or update.is_updated_geometry
    return isinstance(update.id, bpy.types.Scene) and not is_more
