"""SideFX Houdini as a host: 20.5 and newer.

An item is the path of a node. No reference to a node is kept: one that outlives its scene, or a
deletion that was undone, raises or crashes; a path is looked up again. What is said here of Houdini
comes from SideFX's reference of ``hou`` and of HScript; it was not run in Houdini. Main thread.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

import hou

from dcc_bridge.spi import (
    MOST_TOLD,
    AgreedIds,
    BridgeError,
    Callbacks,
    CountChanges,
    Host,
    Undo,
    UndoMark,
    compared,
    digest,
    keep_anyway,
    start_once,
)

from .losses import MOST_COMPARED, Losses, census, locks

_LOSSES: Final = {
    "BeforeLoad": "open another scene",
    "BeforeClear": "begin a new scene",
    "BeforeMerge": "merge a file into the scene, which may write over nodes",
    "BeforeSave": "write over the scene's file",
}
_MOST_OWN: Final = 10_000  # groups of our own that are remembered; more are on no stack
_CHANGES: Final = ("ParmTupleChanged", "ParmTupleAnimated", "InputRewired", "FlagChanged")
_OTHER_SCENE: Final = ("AfterLoad", "AfterClear", "AfterMerge")
_SUFFIXES: Final = {"Commercial": ".hip", "Indie": ".hiplc"}
_UNDO_IS_OFF: Final = (
    "Undo is switched off in Houdini, so an agent's edits could not be undone. "
    "Leave hou.undos.disabler() first, or switch it on in the preferences."
)
_UNDO_WAS_TURNED_OFF: Final = (
    "Undo was switched off in the middle of this step, and what was changed since cannot be undone."
)


class HoudiniHost(Host):
    """The scene that is open in this Houdini.

    Undo holds what Houdini records, and a stretch of a body is one action of it. Houdini tells of
    a load, a new scene, a merge and a save before they are done, and lets nobody refuse: a copy is
    kept then, and the stretch ends with an error that says where. The update mode is put back. Not
    noticed: what Python or a node writes to disk by itself; what is done under
    ``hou.undos.disabler()`` and left again; the current frame, which stays where a skill went.

    There is no `trial`. What is done in a group is one action once the group ends (`hou.undos`),
    and nothing says what `performUndo` would do before. To end it and undo it would drop what the
    person can redo, and leave ours to be redone.
    """

    name = "Houdini"
    item_noun = "node"

    def __init__(self) -> None:
        self.version = hou.applicationVersionString()
        self.has_ui = hou.isUIAvailable()
        self.suffix = _SUFFIXES.get(hou.licenseCategory().name(), ".hipnc")  # added to each save
        self._watchers = Callbacks()
        self._own: dict[str, UndoMark] = {}
        self._before_group: UndoMark | None = None
        self._moves = itertools.count(1)
        self._move = 0
        self._losses = Losses()
        self._reach = AgreedIds()
        self._is_guarded = self._is_copying = False

    def file(self) -> Path | None:
        """Return the scene's file; None for one never saved, which has a path all the same."""
        return None if hou.hipFile.isNewFile() else Path(hou.hipFile.path())

    @property
    def modified(self) -> bool:
        """Whether Houdini would ask before it closes the scene; always true in hython."""
        return bool(hou.hipFile.hasUnsavedChanges())

    def save_copy(self, path: Path) -> None:
        """Write a copy, by the one command that leaves the scene its name."""
        # `hou.hipFile.save` with a path gives the scene that name, and `$HIP` with it.
        self._is_copying = True  # it may be told of as a save
        try:
            quoted = "".join(f"\\{c}" if c in '\\"$`' else c for c in path.as_posix())
            _, error = hou.hscript(f'mwrite -n "{quoted}"')
        finally:
            self._is_copying = False
        if not path.is_file():
            raise OSError(error.strip() or f"Houdini wrote no {path.name}")

    def summary(self) -> dict[str, Any]:
        """Describe the scene: frames, and how many nodes there are in each network at the top."""
        first, last = hou.playbar.frameRange()
        networks = find("/").children()
        return {
            **super().summary(),
            "frames": [first, last],
            "frame": hou.frame(),
            "fps": hou.fps(),
            "networks": {node.path(): len(node.children()) for node in networks},
        }

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Group what is edited into one action; RuntimeError where undo is off, or left so."""
        if not hou.undos.areEnabled():
            raise RuntimeError(_UNDO_IS_OFF)
        # A group inside a parameter's callback has no effect, as one is open there already. Jobs
        # do not run there: they come from the event loop, which a callback turns only by showing a
        # dialog, and they are held while that is modal.
        try:
            with self._group(label):
                yield
            if not hou.undos.areEnabled():
                raise RuntimeError(_UNDO_WAS_TURNED_OFF)
        finally:
            self._watchers.call()

    def undo_mark(self) -> UndoMark:
        """Mark the action on top, which Houdini lists first.

        Houdini drops the oldest when they take more than `hou.undos.memoryUsageLimit`, so the depth
        is counted from the topmost group of our own, whose label nobody else gives. Two actions of
        the person's with one label at one depth look alike.
        """
        if self._before_group is not None:  # what is listed while a group is open is not documented
            return self._before_group
        labels = hou.undos.undoLabels()
        own = [place for place, label in enumerate(labels) if label in self._own][:1]
        if own == [0]:
            return self._own[labels[0]]
        depth = self._own[labels[own[0]]].depth + own[0] if own else len(labels)
        return UndoMark(depth, labels[0] if labels else None, self._move)

    def undo(self) -> None:
        """Undo the action on top. It can be redone: Houdini forgets that only with a new one."""
        self._note_move(hou.undos.undoLabels())
        hou.undos.performUndo()
        self._watchers.call()

    def redo(self) -> None:
        """Redo the action undone last."""
        self._note_move(hou.undos.redoLabels())
        hou.undos.performRedo()
        self._watchers.call()

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Keep a copy of what is lost without a grant; put back the update mode.

        What a body leaves that only reads is one action too. NoConsent says that something was
        lost: Houdini lets nobody refuse it.
        """
        if self._is_guarded:  # a stretch within another one is a part of it
            yield
            return
        lost: list[BridgeError] = []

        def before(event: object) -> None:
            for name in _LOSSES:
                is_it = event == getattr(hou.hipFileEventType, name)
                if is_it and not (lost or self._is_copying):
                    lost.extend(self._keep(name))

        self._losses.clear()
        if not read:
            self._losses.begin()
        with ExitStack() as stack:
            stack.callback(_raise_first, lost)
            self._is_guarded = True
            stack.callback(setattr, self, "_is_guarded", False)
            hou.hipFile.addEventCallback(before)
            stack.callback(hou.hipFile.removeEventCallback, before)
            stack.callback(_put_back_mode, hou.updateModeSetting(), put_back)
            if read and hou.undos.areEnabled():
                stack.enter_context(self._group(f"Agent's read {next(self._moves)}"))
            yield

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List nodes and parts of nodes that the newest step took away; `losses` says how."""
        return self._losses.left(self._reach.of(agreed))

    def _keep(self, event: str) -> list[BridgeError]:
        is_save = event == "BeforeSave"
        files = [file for file in self.files() if file.is_file()] if is_save else []
        if is_save and not files:
            return []
        try:
            self.losing(_LOSSES[event], files)
        except BridgeError:
            return [keep_anyway(self, _LOSSES[event], files)]
        if event in ("BeforeLoad", "BeforeClear"):
            self._losses.clear()  # they go with their scene
        return []

    @contextmanager
    def _group(self, label: str) -> Iterator[None]:
        """Make one action of what is done inside, and know it again."""
        outer, before, labels = self._before_group, self.undo_mark(), hou.undos.undoLabels()
        self._before_group = before
        try:
            with hou.undos.group(label):
                yield
        finally:
            self._before_group = outer
            now = hou.undos.undoLabels()
            if outer is None and now[:1] == (label,) and now != labels:
                self._own[label] = UndoMark(before.depth + _added(labels, now), label, object())
                if len(self._own) > _MOST_OWN:
                    del self._own[next(iter(self._own))]

    def _note_move(self, labels: tuple[str, ...]) -> None:
        if labels and labels[0] not in self._own:  # with one of ours what lies below is what it was
            self._move = next(self._moves)

    @contextmanager
    def changes(self) -> Iterator[CountChanges]:
        """Note nodes by their session ids, and those of which Houdini tells that they changed."""
        before, touched = census(), set[int]()
        events = [getattr(hou.nodeEventType, name) for name in _CHANGES]

        def note(node: hou.OpNode, **_: object) -> None:
            touched.add(node.sessionId())

        def names() -> dict[int, str]:
            new = census() if len(before) < MOST_COMPARED else {}
            return new | {node.sessionId(): node.path() for node in _nodes(before)}

        try:
            for node in _nodes(before):
                node.addEventCallback(events, note)
            yield lambda: compared(before, names(), touched)
        finally:
            for node in _nodes(before):
                with suppress(hou.Error):  # one that has none, or not any more
                    node.removeEventCallback(events, note)

    @property
    def selection(self) -> list[str]:
        """The paths of the selected nodes."""
        return [node.path() for node in hou.selectedNodes()]

    def select(self, items: Sequence[str]) -> None:
        """Select nodes. Houdini might keep that as an action of its own, so nothing is recorded."""
        with hou.undos.disabler():
            hou.clearAllSelected()
            for node in filter(None, map(hou.node, items)):
                node.setSelected(True)
        if not self.has_ui:  # hython has no selection callbacks
            self._watchers.call()

    def frame(self, items: Sequence[str]) -> None:
        """Show nodes in the network editor, at the first one's level."""
        nodes = [node for node in map(hou.node, items) if node is not None]
        editor = hou.ui.paneTabOfType(hou.paneTabType.NetworkEditor) if self.has_ui else None
        network = nodes[0].parent() if nodes else None
        if network is None or not isinstance(editor, hou.NetworkEditor):
            return
        editor.setPwd(network)
        bounds = editor.itemRect(nodes[0])
        for node in nodes[1:]:
            if node.parent() == network:
                bounds.enlargeToContain(editor.itemRect(node))
        editor.setVisibleBounds(bounds)

    def describe(self, item: str) -> dict[str, Any]:
        """Describe a node."""
        node = find(item)
        parent = node.parent()
        return {
            "path": node.path(),
            "type": node.type().name(),
            "category": node.type().category().name(),
            "parent": parent.path() if parent is not None else None,
            "children": [child.name() for child in node.children()][:MOST_TOLD],
            "inputs": [source.path() for source in node.inputs() if source is not None],
            "locked": locks(node),
        }

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest session ids, types, places, locks and what is below."""
        agreed = {item: _facts(item) for item in sorted(set(items))}
        for item, (_, key, *rest) in agreed.items():
            self._reach.note(item, [key, *(below for _, below in rest[-1])] if rest else ())
        return digest([hou.hipFile.path(), agreed])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call after steps, and when the selection or the scene is another one.

        Not after what the person does to a node: Houdini has callbacks for that on each node only.
        """
        events = [getattr(hou.hipFileEventType, name) for name in _OTHER_SCENE]

        def scene_changed(event: object) -> None:
            if event in events:
                changed()

        def selection_changed(nodes: object) -> None:
            changed()

        with ExitStack() as on_failure:
            on_failure.callback(self._watchers.add(changed))
            hou.hipFile.addEventCallback(scene_changed)
            on_failure.callback(hou.hipFile.removeEventCallback, scene_changed)
            if self.has_ui:
                hou.ui.addSelectionCallback(selection_changed)
                on_failure.callback(hou.ui.removeSelectionCallback, selection_changed)
            return on_failure.pop_all().close

    def main_window(self) -> object | None:
        """Return the main window."""
        return hou.qt.mainWindow() if self.has_ui else None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call in the next turn of Houdini's event loop; at once in hython, which has none."""
        if not self.has_ui:
            return super().when_ready(start)
        return start_once(start, hou.ui.postEventCallback)


def find(path: str) -> hou.OpNode:
    """Find a node by its path, or raise LookupError."""
    node = hou.node(path) if path.startswith("/") else None
    if node is None:
        raise LookupError(f"There is no node {path!r} in this scene; a path begins with a slash.")
    return cast("hou.OpNode", node)  # the others live inside of one, and have no path from the root


def _facts(item: str) -> list[Any]:
    if (node := hou.node(item)) is None:
        return [item, "gone"]
    below = sorted((child.path(), child.sessionId()) for child in node.allSubChildren())
    return [node.path(), node.sessionId(), node.type().name(), locks(node), below]


def _nodes(ids: Iterable[int]) -> list[hou.OpNode]:
    return [node for key in ids if isinstance(node := hou.nodeBySessionId(key), hou.OpNode)]


def _added(labels: tuple[str, ...], now: tuple[str, ...]) -> int:
    """Return by how much a group raised the stack: one, unless something was undone inside."""
    below = now[1:]  # near the memory limit the oldest may be gone too, so labels are compared
    if 2 * hou.undos.memoryUsage() < hou.undos.memoryUsageLimit():
        return 1 + len(below) - len(labels)
    undone = (n for n in range(len(labels)) if labels[n:][: len(below)] == below)
    return 1 - next(undone, len(labels))


def _put_back_mode(mode: hou.EnumValue, put_back: list[str]) -> None:
    if hou.updateModeSetting() != mode:
        hou.setUpdateMode(mode)
        put_back.append("the update mode")


def _raise_first(errors: list[BridgeError]) -> None:
    for error in errors:
        raise error
