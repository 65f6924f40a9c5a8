"""Autodesk Maya as a host: 2025 and newer. Main thread.

An item is the long path of a DAG node, or the name of any other node. All statements about Maya
come from Autodesk's reference of its commands and of its Python API; none was run in Maya. On
another thread a command raises, and the API is undefined.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from maya import OpenMayaUI, cmds
from maya.api import OpenMaya

from dcc_bridge.spi import (
    MOST_TOLD,
    SCENE,
    Account,
    AgreedIds,
    Callbacks,
    CountChanges,
    Host,
    Undo,
    UndoMark,
    compared,
    digest,
    readable,
    start_once,
)

from . import scene
from .account import Snapshot, census
from .losses import Losses

MQtUtil: Any = OpenMayaUI.MQtUtil  # type: ignore[attr-defined]  # its stub is empty
"""Maya's access to its Qt widgets, by their addresses as numbers."""
_EVENTS: Final = ("SelectionChanged", "SceneOpened", "NewSceneOpened", "NameChanged")
_UNDO_IS_OFF: Final = (
    "Undo is switched off in Maya, so an agent's edits could not be undone. "
    "Switch it on: Windows > Settings/Preferences > Preferences > Undo."
)
_UNDO_WAS_TURNED_OFF: Final = (
    "Undo was switched off in the middle of this step and is on again. What was changed meanwhile "
    "cannot be undone, and as undoing what came before may crash Maya, its undo list was emptied."
)
_MAX_OWN_CHUNKS: Final = 10_000  # chunks of our own that are remembered; no queue holds more


class UndoQueue:
    """Maya's undo queue, of which ``undoInfo`` gives only the length and the name on top.

    So each stretch of a body, also of one that only reads, is a chunk with a name of its own, which
    leaves one entry or none. A person's entry is recognised by its depth and its name. If they
    exchange it between two marks for another one of the same name, Maya's event of their undo shows
    that. A queue of a fixed length drops the oldest entry with each new one: there a new entry of
    the person's on top of another one of the same name is not seen, but ours always are.
    """

    def __init__(self) -> None:
        self._own: dict[str, UndoMark] = {}  # the marks of our own chunks, by name
        self._open: UndoMark | None = None  # the mark before the chunk that is open
        self._dropped = 0  # entries that a queue of a fixed length has dropped
        self._moves = 0  # undos and redos of the person's entries
        self._reads = itertools.count(1)

    def mark(self) -> UndoMark:
        """Return a mark of the entry on top; while a chunk is open, of the entry before it.

        Maya's documentation does not say what ``undoInfo`` gives while a chunk is open.
        """
        if self._open is not None:
            return self._open
        label = _top()
        if label and label in self._own:
            return self._own[label]
        return UndoMark(_length() + self._dropped, label, self._moves)

    def note_undo(self, *_: object) -> None:
        """Note an undo, unless of our own entry, below which nothing has changed."""
        if not self.is_open and cmds.undoInfo(query=True, redoName=True) not in self._own:
            self._moves += 1

    def note_redo(self, *_: object) -> None:
        """Note a redo, unless of our own entry."""
        if not self.is_open and _top() not in self._own:
            self._moves += 1

    @property
    def is_open(self) -> bool:
        """Return whether a chunk of ours is open."""
        return self._open is not None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep a chunk open for a body that only reads, unless Maya records nothing."""
        if not cmds.undoInfo(query=True, state=True):
            yield
            return
        with self.chunk(f"Agent's read {next(self._reads)}"):
            yield

    @contextmanager
    def chunk(self, label: str) -> Iterator[None]:
        """Keep a chunk open, and close it whatever happens; an empty one leaves no entry.

        Args:
            label: The name of the entry.

        Raises:
            RuntimeError: The block turned undo off and left it so.
        """
        outer = self._open
        before = self.mark()
        count = _length() if outer is None else 0
        cmds.undoInfo(openChunk=True, chunkName=label)
        self._open = before
        try:
            yield
        finally:  # an open chunk swallows all that follows
            self._open = outer
            _close_chunk()
            if outer is None and _top() == label:
                self._note(label, before, count)

    def _note(self, label: str, before: UndoMark, count: int) -> None:
        """Remember a chunk that has left an entry; `count` entries were there before it."""
        now = _length()
        if now == count and label in self._own:  # an empty chunk, above another of its name
            return
        is_endless = cmds.undoInfo(query=True, infinity=True)
        is_full = count >= cmds.undoInfo(query=True, length=True) and not is_endless
        added = 1 if is_full else now - count  # below 1 if the body undid entries
        self._own[label] = UndoMark(before.depth + added, label, object())
        self._dropped = before.depth + added - now
        if len(self._own) > _MAX_OWN_CHUNKS:
            oldest = next(iter(self._own))
            del self._own[oldest]


class MayaHost(Host):
    """The scene that is open in this Maya.

    There is no `trial`. As long as a chunk is open, all edits fall into it (`undoInfo`), and no
    documentation says what `cmds.undo` would do then. To close the chunk and undo it would drop
    the person's redo list, and leave our edit to be redone.
    """

    name = "Maya"
    item_noun = "node"
    suffix = ".ma"

    def __init__(self, wrap: Callable[[int], object] | None = None) -> None:
        """Turn undo on if Maya has no window.

        Args:
            wrap: Returns the widget at an address, by Maya's Qt binding; None if dialogs need no
                parent.
        """
        self.version = str(cmds.about(version=True))
        self.has_ui = not cmds.about(batch=True)
        self._wrap = wrap
        self._in_step = False
        self._queue = UndoQueue()
        self._losses = Losses()
        self._snapshot: Snapshot | None = None
        self._touched: set[str] = set()  # the UUIDs of nodes whose values were not read
        self._reach = AgreedIds()
        self._watchers = Callbacks()
        if not self.has_ui:
            # A batch Maya begins with undo off, which rolls back a body that fails.
            cmds.undoInfo(state=True)

    def file(self) -> Path | None:
        """Return the scene's file; None for an untitled scene."""
        name = cmds.file(query=True, sceneName=True)
        if not name:
            return None
        return Path(str(name))

    @property
    def modified(self) -> bool:
        """Return whether Maya would ask before it closes the scene."""
        return bool(cmds.file(query=True, modified=True))

    def save_copy(self, path: Path) -> None:
        """Export the whole scene to another file."""
        # Maya has no "save a copy". Renaming the scene, saving it and renaming it back would change
        # its name for a while, call every tool that listens for a save, and clear the mark that
        # the scene is modified. An export does none of these.
        kind = "mayaBinary" if path.suffix == ".mb" else "mayaAscii"
        cmds.file(
            path.as_posix(),
            exportAll=True,
            preserveReferences=True,  # else the referenced nodes are written into the copy
            exportUnloadedReferences=True,  # else unloaded references are left out
            force=True,
            type=kind,
        )

    def summary(self) -> dict[str, Any]:
        """Return the scene's units, frames and top nodes, and how many of some types it has."""
        top = cmds.ls(assemblies=True, long=True) or []
        return {
            **super().summary(),
            "units": {
                "linear": cmds.currentUnit(query=True, linear=True),
                "angle": cmds.currentUnit(query=True, angle=True),
                "time": cmds.currentUnit(query=True, time=True),
            },
            "frames": [
                cmds.playbackOptions(query=True, minTime=True),
                cmds.playbackOptions(query=True, maxTime=True),
            ],
            "frame": cmds.currentTime(query=True),  # type: ignore[call-arg]  # its stub has no query
            "top": top[:MOST_TOLD],
            "cameras": len(cmds.ls(cameras=True) or []),
            "lights": len(cmds.ls(lights=True) or []),
            "references": len(cmds.ls(type="reference") or []),
        }

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Open a chunk, and close it whatever happens.

        Raises:
            RuntimeError: Undo is off, or the block turned it off.
        """
        if not cmds.undoInfo(query=True, state=True):
            raise RuntimeError(_UNDO_IS_OFF)
        self._in_step = True
        try:
            with self._queue.chunk(label):
                yield
        finally:
            self._in_step = False
            self._call_watchers()

    def undo_mark(self) -> UndoMark:
        """Return a mark of the entry on top; `UndoQueue` says how entries are recognised."""
        return self._queue.mark()

    def undo(self) -> None:
        """Undo the entry on top, which can be redone until Maya records a new entry."""
        cmds.undo()
        self._queue.note_undo()

    def redo(self) -> None:
        """Redo the entry that was undone last."""
        cmds.redo()
        self._queue.note_redo()

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Refuse actions that undo cannot reverse; restore the namespace and autokey.

        The edits of a body that only reads become one chunk too. The module `scene` lists the
        losses that Maya cannot refuse.

        Args:
            put_back: Receives the names of restored state.
            read: Whether the block should edit nothing.

        Raises:
            BridgeError: The block went on in spite of a refusal.
        """
        if self._queue.is_open:  # a stretch within another one is a part of it
            yield
            return
        chunk = self._queue.reading() if read else nullcontext()
        self._snapshot = None
        with ExitStack() as stack:
            if not read:
                self._snapshot = readable(SCENE, Snapshot)  # an edit does not end with it
            if self._snapshot is not None:
                others = self._snapshot.others
                self._touched = stack.enter_context(scene.touched_nodes(others))
            stack.enter_context(scene.guarded(self, self._losses, put_back, read=read))
            stack.enter_context(chunk)
            yield

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """Return the nodes and parts that the newest step took away and nobody agreed to."""
        return self._losses.left(self._reach.of(agreed))

    def account(self) -> Account | None:
        """Return what the newest step changed; None if another scene was opened in it."""
        if self._snapshot is None or self._losses.is_other_scene:
            return None
        return self._snapshot.account(self._touched)

    @contextmanager
    def changes(self) -> Iterator[CountChanges]:
        """Note nodes by their UUIDs before and after, and those that are set, locked or connected.

        Yields:
            A function that returns the changes so far.
        """
        before = _paths()
        with scene.touched_nodes([*before.values()]) as touched:
            yield lambda: compared(before, _paths(), touched)

    @property
    def selection(self) -> list[str]:
        """Return the selected nodes and components."""
        return cmds.ls(selection=True, long=True) or []

    def select(self, items: Sequence[str]) -> None:
        """Select nodes, without an undo entry."""
        # By the API: the command would leave an entry on top of ours.
        nodes = OpenMaya.MSelectionList()
        for item in items:
            with suppress(RuntimeError):  # the node is gone
                nodes.add(item)
        OpenMaya.MGlobal.setActiveSelectionList(nodes)

    def frame(self, items: Sequence[str]) -> None:
        """Fit the view to items; the selection stays, and there is no undo entry."""
        if not self.has_ui or not items:
            return
        # `viewFit` fits to the selection and is undoable. With recording off it is unsafe to
        # destroy anything, but nothing moves here except the camera.
        before = OpenMaya.MGlobal.getActiveSelectionList()
        try:
            with scene.unrecorded():
                self.select(items)
                cmds.viewFit()
        finally:
            OpenMaya.MGlobal.setActiveSelectionList(before)

    def describe(self, item: str) -> dict[str, Any]:
        """Return the facts about a node; LookupError if there is no such node."""
        return scene.describe(item)

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Return the type of each node or of its shape; "gone" of nodes that are not there."""
        kinds = []
        for item in items:
            kind = scene.kind(item) if cmds.objExists(item) else "gone"
            kinds.append(kind)
        return kinds

    def fingerprint(self, items: Sequence[str]) -> str:
        """Return a digest of the nodes' ids, types, parents, locks, references and descendants.

        A file that is referenced twice brings the same ids twice, so the paths are digested too.
        """
        agreed = [scene.facts(item) for item in sorted(set(items))]
        for item, ids, *rest in agreed:
            if rest:
                self._reach.note(item, ids)
            else:  # the node is gone, and has no ids
                self._reach.note(item, ())
        return digest([str(self.file()), agreed])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call `changed` after steps, undo, redo, and a change of selection, scene or nodes.

        The person's edits of values are not reported: Maya has callbacks for those only on each
        single node.
        """
        cleanup = ExitStack()
        cleanup.callback(self._watchers.add(changed))
        add = OpenMaya.MEventMessage.addEventCallback
        ids = [add("Undo", self._queue.note_undo), add("Redo", self._queue.note_redo)]
        ids += [add(event, self._call_watchers) for event in ("Undo", "Redo", *_EVENTS)]
        ids.append(OpenMaya.MDGMessage.addNodeAddedCallback(self._call_watchers, "dependNode"))
        ids.append(OpenMaya.MDGMessage.addNodeRemovedCallback(self._call_watchers, "dependNode"))
        for callback_id in ids:
            cleanup.callback(OpenMaya.MMessage.removeCallback, callback_id)
        return cleanup.close

    def main_window(self) -> object | None:
        """Return the main window, whose address Maya gives as a number; None without one."""
        if not self.has_ui or self._wrap is None:
            return None
        address = _window_address()
        if not address:
            return None
        return self._wrap(address)

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call `start` once Maya idles and its window is up; in batch at once."""
        if not self.has_ui:  # batch has no idle events, so a deferred call would never run
            return super().when_ready(start)
        later = partial(cmds.evalDeferred, lowestPriority=True)
        return start_once(start, later, _window_address)

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Call `stop` when Maya announces its exit, and when the interpreter ends.

        The end of the interpreter may be the only one of the two.
        """
        # A plug-in is often not unloaded on exit, so its own end is not enough.
        message = OpenMaya.MSceneMessage
        cleanup = ExitStack()
        exiting = message.addCallback(message.kMayaExiting, lambda *_: stop())
        cleanup.callback(OpenMaya.MMessage.removeCallback, exiting)
        cleanup.callback(super().when_leaving(stop))
        return cleanup.close

    def _call_watchers(self, *_: object) -> None:
        if not self._in_step:  # a step that deletes thousands of nodes is reported once, at its end
            self._watchers.call()


def _paths() -> dict[str, str]:
    return {key: node.path for key, node in census().items()}


def _length() -> int:
    """Return the number of entries on the undo queue, by a query without a flag."""
    return int(cmds.undoInfo(query=True))  # type: ignore[call-overload]  # its stub has no such one


def _top() -> str | None:
    """Return the name of the entry on top of the undo queue; None if there is none."""
    if cmds.undoInfo(query=True, undoQueueEmpty=True):
        return None
    return str(cmds.undoInfo(query=True, undoName=True)) or None


def _close_chunk() -> None:
    """Close the chunk; RuntimeError if undo is off, after turning it on and emptying the queue."""
    was_on = bool(cmds.undoInfo(query=True, state=True))
    if not was_on:
        cmds.undoInfo(stateWithoutFlush=True)
    cmds.undoInfo(closeChunk=True)
    if not was_on:
        cmds.flushUndo()
        raise RuntimeError(_UNDO_WAS_TURNED_OFF)


def _window_address() -> int:
    """Return the address of the main window; 0 as long as there is no window."""
    return int(MQtUtil.mainWindow() or 0)
