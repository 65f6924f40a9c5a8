"""Autodesk Maya as a host: 2025 and newer.

An item is the long path of a DAG node, or the name of any other node. What is said here of Maya
comes from Autodesk's reference of its commands and of its Python API; it was not run in Maya. Main
thread: a command that is called elsewhere raises, and the API is undefined there.
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
    AgreedIds,
    Callbacks,
    CountChanges,
    Host,
    Undo,
    UndoMark,
    compared,
    digest,
    start_once,
)

from . import scene
from .losses import Losses

MQtUtil: Any = OpenMayaUI.MQtUtil  # type: ignore[attr-defined]  # its stub is empty
"""Maya's Qt, as numbers that are addresses."""
_EVENTS: Final = ("SelectionChanged", "SceneOpened", "NewSceneOpened", "NameChanged")
_UNDO_IS_OFF: Final = (
    "Undo is switched off in Maya, so an agent's edits could not be undone. "
    "Switch it on: Windows > Settings/Preferences > Preferences > Undo."
)
_UNDO_WAS_TURNED_OFF: Final = (
    "Undo was switched off in the middle of this step and is on again. What was changed meanwhile "
    "cannot be undone, and as undoing what came before may crash Maya, its undo list was emptied."
)
_MOST_OWN: Final = 10_000  # chunks of our own that are remembered; more are on no queue


class UndoQueue:
    """Maya's undo queue, of which ``undoInfo`` tells its length and the name on top, no more.

    So each stretch of a body is a chunk with a name of its own, also of one that only reads: it
    leaves one entry or none. An entry of the person is told by its depth and its name; one that
    they exchange for another of the same name, between marks, is seen where Maya tells of their
    undo. A queue of a fixed length drops the oldest entry with each new one: there an entry of the
    person's on top of one of theirs of the same name is not seen, but ours always are.
    """

    def __init__(self) -> None:
        self._own: dict[str, UndoMark] = {}
        self._open: UndoMark | None = None
        self._dropped = 0
        self._moves = 0
        self._reads = itertools.count(1)

    def mark(self) -> UndoMark:
        """Mark the entry on top; while a chunk is open, the one before it.

        What Maya says of its queue while a chunk is open is not documented.
        """
        if self._open is not None:
            return self._open
        count, label = _length(), _top()
        own = self._own.get(label) if label else None
        return own or UndoMark(count + self._dropped, label, self._moves)

    def note_undo(self, *_: object) -> None:
        """Note that something was undone: with one of ours what lies below is what it was."""
        if not self.is_open:
            self._moves += cmds.undoInfo(query=True, redoName=True) not in self._own

    def note_redo(self, *_: object) -> None:
        """Note that something was redone."""
        if not self.is_open:
            self._moves += _top() not in self._own

    @property
    def is_open(self) -> bool:
        """Whether a chunk of ours is open."""
        return self._open is not None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep a chunk open for a body that only reads, where Maya records anything."""
        if not cmds.undoInfo(query=True, state=True):
            yield
            return
        with self.chunk(f"Agent's read {next(self._reads)}"):
            yield

    @contextmanager
    def chunk(self, label: str) -> Iterator[None]:
        """Keep a chunk open, and close it whatever happens; Maya leaves an empty one off its list.

        RuntimeError says that undo was turned off inside and left so.
        """
        outer, before, count = self._open, self.mark(), _length() if self._open is None else 0
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
        now = _length()
        if now == count and label in self._own:  # an empty chunk, on one of the same name
            return
        is_endless = cmds.undoInfo(query=True, infinity=True)
        is_full = count >= cmds.undoInfo(query=True, length=True) and not is_endless
        added = 1 if is_full else now - count  # less where the body undid what was there
        self._own[label] = UndoMark(before.depth + added, label, object())
        self._dropped = before.depth + added - now
        if len(self._own) > _MOST_OWN:
            del self._own[next(iter(self._own))]


class MayaHost(Host):
    """The scene that is open in this Maya.

    There is no `trial`. As long as a chunk is open all that is done falls into it (`undoInfo`), and
    nothing says what `cmds.undo` would do there. To close the chunk and undo it would drop what
    the person can redo, and leave ours to be redone.
    """

    name = "Maya"
    item_noun = "node"
    suffix = ".ma"

    def __init__(self, wrap: Callable[[int], object] | None = None) -> None:
        self.version = str(cmds.about(version=True))
        self.has_ui = not cmds.about(batch=True)
        # Makes a widget of a window's address, by Maya's Qt binding; else dialogs have no parent.
        self._wrap = wrap
        self._in_step = False
        self._queue = UndoQueue()
        self._losses = Losses()
        self._reach = AgreedIds()
        self._watchers = Callbacks()
        if not self.has_ui:
            # A batch Maya begins with undo off, and what fails is rolled back by it.
            cmds.undoInfo(state=True)

    def file(self) -> Path | None:
        """Return the scene's file; None for an untitled one."""
        name = cmds.file(query=True, sceneName=True)
        return Path(str(name)) if name else None

    @property
    def modified(self) -> bool:
        """Whether Maya would ask before it closes the scene."""
        return bool(cmds.file(query=True, modified=True))

    def save_copy(self, path: Path) -> None:
        """Export all to another file."""
        # Maya has no "save a copy". To rename the scene, save it and rename it back would change
        # its name for a while, call every tool that listens for a save, and clear the mark that
        # it is modified. An export does none of these.
        kind = "mayaBinary" if path.suffix == ".mb" else "mayaAscii"
        cmds.file(
            path.as_posix(),
            exportAll=True,
            preserveReferences=True,  # or they are written into the copy
            exportUnloadedReferences=True,  # or they are left out
            force=True,
            type=kind,
        )

    def summary(self) -> dict[str, Any]:
        """Describe the scene: units, frames, what is on top, how many of what can be counted."""
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
        """Open a chunk, and close it whatever happens; RuntimeError if undo is off or left so."""
        if not cmds.undoInfo(query=True, state=True):
            raise RuntimeError(_UNDO_IS_OFF)
        self._in_step = True
        try:
            with self._queue.chunk(label):
                yield
        finally:
            self._in_step = False
            self._tell()

    def undo_mark(self) -> UndoMark:
        """Mark the entry on top; see `UndoQueue` for what Maya tells of it."""
        return self._queue.mark()

    def undo(self) -> None:
        """Undo the entry on top. It can be redone: Maya forgets that only with a new entry."""
        cmds.undo()
        self._queue.note_undo()

    def redo(self) -> None:
        """Redo the entry undone last."""
        cmds.redo()
        self._queue.note_redo()

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Refuse what undo does not bring back; put back the current namespace and autokey.

        What a body leaves that only reads is one chunk too. The module `scene` says what Maya
        cannot refuse.
        """
        if self._queue.is_open:  # a stretch within another one is a part of it
            yield
            return
        chunk = self._queue.reading() if read else nullcontext()
        with scene.guarded(self, self._losses, put_back, read=read), chunk:
            yield

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List nodes and parts of nodes that the newest step took away; `losses` says how."""
        return self._losses.left(self._reach.of(agreed))

    @contextmanager
    def changes(self) -> Iterator[CountChanges]:
        """Note nodes by their UUIDs before and after, and what is set, locked or connected."""
        before = _census()
        with scene.touched_nodes([*before.values()]) as touched:
            yield lambda: compared(before, _census(), touched)

    @property
    def selection(self) -> list[str]:
        """The selected nodes and components."""
        return cmds.ls(selection=True, long=True) or []

    def select(self, items: Sequence[str]) -> None:
        """Select nodes, without an undo entry."""
        # By the API: the command would be an entry on top of ours.
        chosen = OpenMaya.MSelectionList()
        for item in items:
            with suppress(RuntimeError):  # it is gone
                chosen.add(item)
        OpenMaya.MGlobal.setActiveSelectionList(chosen)

    def frame(self, items: Sequence[str]) -> None:
        """Fit the view to items; the selection stays, and there is no undo entry."""
        if not (self.has_ui and items):
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
        """Describe a node."""
        return scene.describe(item)

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the type of each node, or of its shape."""
        return [scene.kind(item) if cmds.objExists(item) else "gone" for item in items]

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest ids, types, parents, locks, references and what is below.

        A file that is referenced twice brings the same ids twice, so paths belong to it as well.
        """
        agreed = [scene.facts(item) for item in sorted(set(items))]
        for item, ids, *rest in agreed:
            self._reach.note(item, ids if rest else ())
        return digest([str(self.file()), agreed])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call after steps, undo, redo, and when the selection, scene or nodes are others.

        Not when the person changes a value: Maya has callbacks for that on each node only.
        """
        cleanup = ExitStack()
        cleanup.callback(self._watchers.add(changed))
        add = OpenMaya.MEventMessage.addEventCallback
        ids = [add("Undo", self._queue.note_undo), add("Redo", self._queue.note_redo)]
        ids += [add(event, self._tell) for event in ("Undo", "Redo", *_EVENTS)]
        ids.append(OpenMaya.MDGMessage.addNodeAddedCallback(self._tell, "dependNode"))
        ids.append(OpenMaya.MDGMessage.addNodeRemovedCallback(self._tell, "dependNode"))
        for callback_id in ids:
            cleanup.callback(OpenMaya.MMessage.removeCallback, callback_id)
        return cleanup.close

    def main_window(self) -> object | None:
        """Return the main window, whose address Maya gives as a number."""
        address = _window() if self.has_ui else 0
        return self._wrap(address) if address and self._wrap else None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call when Maya idles with nothing else to do and its window is up; in batch at once."""
        if not self.has_ui:  # what is deferred in batch never runs, as there are no idle events
            return super().when_ready(start)
        return start_once(start, partial(cmds.evalDeferred, lowestPriority=True), _window)

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Call when Maya says that it exits, and when the interpreter ends, which may be all."""
        # A plug-in is often not unloaded on exit, so its own end is not enough.
        message = OpenMaya.MSceneMessage
        cleanup = ExitStack()
        exiting = message.addCallback(message.kMayaExiting, lambda *_: stop())
        cleanup.callback(OpenMaya.MMessage.removeCallback, exiting)
        cleanup.callback(super().when_leaving(stop))
        return cleanup.close

    def _tell(self, *_: object) -> None:
        if not self._in_step:  # a step that deletes thousands of nodes is reported once, at its end
            self._watchers.call()


def _census() -> dict[str, str]:
    """List the nodes by UUID; of a file that is referenced twice, also by what they are called."""
    names, nodes = cmds.ls(long=True) or [], dict[str, str]()
    for uuid, name in zip(cmds.ls(names, uuid=True) or [], names, strict=True):
        nodes[f"{uuid} {name}" if uuid in nodes else uuid] = name
    return nodes


def _length() -> int:
    """Count the entries of the undo queue; a query without a flag gives that."""
    return int(cmds.undoInfo(query=True))  # type: ignore[call-overload]  # its stub has no such one


def _top() -> str | None:
    if cmds.undoInfo(query=True, undoQueueEmpty=True):
        return None
    return str(cmds.undoInfo(query=True, undoName=True)) or None


def _close_chunk() -> None:
    was_on = bool(cmds.undoInfo(query=True, state=True))
    if not was_on:
        cmds.undoInfo(stateWithoutFlush=True)
    cmds.undoInfo(closeChunk=True)
    if not was_on:
        cmds.flushUndo()
        raise RuntimeError(_UNDO_WAS_TURNED_OFF)


def _window() -> int:
    """Return the address of the main window, 0 as long as there is none."""
    return int(MQtUtil.mainWindow() or 0)
