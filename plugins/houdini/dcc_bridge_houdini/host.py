"""SideFX Houdini as a host: 20.5 and newer. Main thread.

An item is the path of a node. No reference to a node is kept: a reference that outlives its scene,
or a deletion that was undone, raises or crashes; so a path is looked up again. All statements about
Houdini come from SideFX's reference of ``hou`` and of HScript; none was run in Houdini.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

import hou

from dcc_bridge.spi import (
    MOST_TOLD,
    SCENE,
    Account,
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
    readable,
    start_once,
)

from .account import Snapshot
from .losses import Losses, census, census_again, locks

_LOSSES: Final = {
    "BeforeLoad": "open another scene",
    "BeforeClear": "begin a new scene",
    "BeforeMerge": "merge a file into the scene, which may write over nodes",
    "BeforeSave": "write over the scene's file",
}
_MAX_OWN_GROUPS: Final = 10_000  # groups of our own that are remembered; no stack holds more
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

    Undo holds all that Houdini records, and a stretch of a body is one action of undo. Houdini
    reports a load, a new scene, a merge and a save beforehand, but cannot be made to refuse them: a
    copy is kept then, and the stretch ends with an error that says where. The update mode is put
    back. Not noticed: files that Python or a node writes by itself; edits under
    ``hou.undos.disabler()`` that has ended; the current frame, which stays where a skill went.

    There is no `trial`. The edits in a group become one action at the end of the group
    (`hou.undos`), and no documentation says what `performUndo` would do before. To end the group
    and undo it would drop the person's redo list, and leave our edit to be redone.
    """

    name = "Houdini"
    item_noun = "node"

    def __init__(self) -> None:
        self.version = hou.applicationVersionString()
        self.has_ui = hou.isUIAvailable()
        # Houdini adds the suffix of its licence to each file that it saves.
        self.suffix = _SUFFIXES.get(hou.licenseCategory().name(), ".hipnc")
        self._watchers = Callbacks()
        self._own: dict[str, UndoMark] = {}  # the marks of our own groups, by label
        self._before_group: UndoMark | None = None  # the mark before the group that is open
        self._moves = itertools.count(1)
        self._move = 0  # changes with each undo or redo of the person's actions
        self._losses = Losses()
        self._snapshot: Snapshot | None = None
        self._reach = AgreedIds()
        self._is_guarded = False
        self._is_copying = False

    def file(self) -> Path | None:
        """Return the scene's file; None for a scene that was never saved."""
        if hou.hipFile.isNewFile():  # which has a path all the same
            return None
        return Path(hou.hipFile.path())

    @property
    def modified(self) -> bool:
        """Return whether Houdini would ask before it closes the scene; always True in hython."""
        return bool(hou.hipFile.hasUnsavedChanges())

    def save_copy(self, path: Path) -> None:
        """Write a copy, by the only command that leaves the scene its name.

        Raises:
            OSError: Houdini did not write the copy.
        """
        # `hou.hipFile.save` with a path gives the scene that name, and changes `$HIP` with it.
        self._is_copying = True  # Houdini may report the command as a save
        try:
            quoted = re.sub(r'([\\"$`])', r"\\\1", path.as_posix())
            _, error = hou.hscript(f'mwrite -n "{quoted}"')
        finally:
            self._is_copying = False
        if not path.is_file():
            raise OSError(error.strip() or f"Houdini wrote no {path.name}")

    def summary(self) -> dict[str, Any]:
        """Return the scene's frames, and how many nodes each network at the top has."""
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
        """Group the edits of the block into one action.

        Raises:
            RuntimeError: Undo is off, or the block left it off.
        """
        if not hou.undos.areEnabled():
            raise RuntimeError(_UNDO_IS_OFF)
        # A group inside a parameter's callback has no effect, as a group is open there already. No
        # job runs there: jobs come from the event loop, which a callback turns only by showing a
        # dialog, and they wait while a dialog is modal.
        try:
            with self._group(label):
                yield
            if not hou.undos.areEnabled():
                raise RuntimeError(_UNDO_WAS_TURNED_OFF)
        finally:
            self._watchers.call()

    def undo_mark(self) -> UndoMark:
        """Return a mark of the action on top, which Houdini lists first.

        Houdini drops the oldest actions if all take more than `hou.undos.memoryUsageLimit`. So the
        depth is counted from the topmost group of our own, whose label nobody else uses. Two
        actions of the person's with one label at one depth look alike.
        """
        if self._before_group is not None:
            # No documentation says which labels Houdini lists while a group is open.
            return self._before_group
        labels = hou.undos.undoLabels()
        top = labels[0] if labels else None
        for position, label in enumerate(labels):
            if label not in self._own:
                continue
            own = self._own[label]
            if position == 0:
                return own
            return UndoMark(own.depth + position, top, self._move)
        return UndoMark(len(labels), top, self._move)

    def undo(self) -> None:
        """Undo the action on top, which can be redone until Houdini records a new one."""
        self._note_move(hou.undos.undoLabels())
        hou.undos.performUndo()
        self._watchers.call()

    def redo(self) -> None:
        """Redo the action that was undone last."""
        self._note_move(hou.undos.redoLabels())
        hou.undos.performRedo()
        self._watchers.call()

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Keep a copy of losses without a grant; restore the update mode.

        The edits of a body that only reads become one action too.

        Args:
            put_back: Receives the names of restored state.
            read: Whether the block should edit nothing.

        Raises:
            NoConsent: Something was lost, since Houdini cannot be made to refuse.
        """
        if self._is_guarded:  # a stretch within another one is a part of it
            yield
            return
        errors: list[BridgeError] = []

        def before_event(event: object) -> None:
            for name in _LOSSES:
                if event != getattr(hou.hipFileEventType, name):
                    continue
                if not errors and not self._is_copying:
                    errors.extend(self._check_loss(name))

        self._forget_step()
        if not read:
            self._losses.begin()
            # An edit does not end with what cannot be read here.
            self._snapshot = readable(SCENE, Snapshot, self._losses.paths, self._losses.parts)
        with ExitStack() as stack:
            stack.callback(_raise_first, errors)
            self._is_guarded = True
            stack.callback(setattr, self, "_is_guarded", False)
            hou.hipFile.addEventCallback(before_event)
            stack.callback(hou.hipFile.removeEventCallback, before_event)
            stack.callback(_put_back_mode, hou.updateModeSetting(), put_back)
            if read and hou.undos.areEnabled():
                stack.enter_context(self._group(f"Agent's read {next(self._moves)}"))
            yield

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """Return the nodes and parts that the newest step took away and nobody agreed to."""
        return self._losses.left(self._reach.of(agreed))

    def account(self) -> Account | None:
        """Return what the newest step changed; None if another scene was opened in it."""
        return None if self._snapshot is None else self._snapshot.account()

    def _forget_step(self) -> None:
        self._losses.clear()
        self._snapshot = None

    def _check_loss(self, event: str) -> list[BridgeError]:
        """Return the error of a loss that nobody agreed to, after keeping a copy; else nothing."""
        files: list[Path] = []
        if event == "BeforeSave":
            files = [file for file in self.files() if file.is_file()]
            if not files:
                return []
        try:
            self.losing(_LOSSES[event], files)
        except BridgeError:
            return [keep_anyway(self, _LOSSES[event], files)]
        if event in ("BeforeLoad", "BeforeClear"):
            self._forget_step()  # the nodes go with their scene
        return []

    @contextmanager
    def _group(self, label: str) -> Iterator[None]:
        """Make one action of the edits in the block, and remember its mark."""
        outer = self._before_group
        before = self.undo_mark()
        labels = hou.undos.undoLabels()
        self._before_group = before
        try:
            with hou.undos.group(label):
                yield
        finally:
            self._before_group = outer
            now = hou.undos.undoLabels()
            if outer is None and now[:1] == (label,) and now != labels:
                self._own[label] = UndoMark(before.depth + _added(labels, now), label, object())
                if len(self._own) > _MAX_OWN_GROUPS:
                    oldest = next(iter(self._own))
                    del self._own[oldest]

    def _note_move(self, labels: tuple[str, ...]) -> None:
        """Record an undo or redo of the top label; labels below one of ours cannot change."""
        if labels and labels[0] not in self._own:
            self._move = next(self._moves)

    @contextmanager
    def changes(self) -> Iterator[CountChanges]:
        """Note nodes by their session ids, and those that Houdini reports as changed.

        Yields:
            A function that returns the changes so far.
        """
        before = census()
        touched = set[int]()
        events = [getattr(hou.nodeEventType, name) for name in _CHANGES]

        def note(node: hou.OpNode, **_: object) -> None:
            touched.add(node.sessionId())

        try:
            for node in _nodes(before):
                node.addEventCallback(events, note)
            yield lambda: compared(before, census_again(before), touched)
        finally:
            for node in _nodes(before):
                with suppress(hou.Error):  # the node has no callback, or none any more
                    node.removeEventCallback(events, note)

    @property
    def selection(self) -> list[str]:
        """Return the paths of the selected nodes."""
        return [node.path() for node in hou.selectedNodes()]

    def select(self, items: Sequence[str]) -> None:
        """Select nodes; unrecorded, as Houdini might make an action of the selection."""
        with hou.undos.disabler():
            hou.clearAllSelected()
            for item in items:
                node = hou.node(item)
                if node is not None:
                    node.setSelected(True)
        if not self.has_ui:  # hython has no selection callbacks
            self._watchers.call()

    def frame(self, items: Sequence[str]) -> None:
        """Show nodes in the network editor, at the level of the first node."""
        looked_up = [hou.node(item) for item in items]
        nodes = [node for node in looked_up if node is not None]
        if not self.has_ui or not nodes:
            return
        editor = hou.ui.paneTabOfType(hou.paneTabType.NetworkEditor)
        network = nodes[0].parent()
        if network is None or not isinstance(editor, hou.NetworkEditor):
            return
        editor.setPwd(network)
        bounds = editor.itemRect(nodes[0])
        for node in nodes[1:]:
            if node.parent() == network:
                bounds.enlargeToContain(editor.itemRect(node))
        editor.setVisibleBounds(bounds)

    def describe(self, item: str) -> dict[str, Any]:
        """Return the facts about a node; LookupError if there is no such node."""
        node = find(item)
        parent = node.parent()
        return {
            "path": node.path(),
            "type": node.type().name(),
            "category": node.type().category().name(),
            "parent": None if parent is None else parent.path(),
            "children": [child.name() for child in node.children()][:MOST_TOLD],
            "inputs": [source.path() for source in node.inputs() if source is not None],
            "locked": locks(node),
        }

    def fingerprint(self, items: Sequence[str]) -> str:
        """Return a digest of the nodes' session ids, types, paths, locks and insides."""
        agreed = {item: _facts(item) for item in sorted(set(items))}
        for item, (_, key, *rest) in agreed.items():
            ids: list[int] = []
            if rest:  # else the node is gone
                ids = [key, *(child_key for _, child_key in rest[-1])]
            self._reach.note(item, ids)
        return digest([hou.hipFile.path(), agreed])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call `changed` after steps, and after a change of selection or scene.

        The person's edits of nodes are not reported: Houdini has callbacks for those only on each
        single node.
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
        """Return the main window; None in hython."""
        return hou.qt.mainWindow() if self.has_ui else None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call `start` in the next turn of the event loop; at once in hython, which has none."""
        if not self.has_ui:
            return super().when_ready(start)
        return start_once(start, hou.ui.postEventCallback)


def find(path: str) -> hou.OpNode:
    """Return the node at a path; LookupError if there is none."""
    node = hou.node(path) if path.startswith("/") else None
    if node is None:
        raise LookupError(f"There is no node {path!r} in this scene; a path begins with a slash.")
    # Other kinds of nodes live inside of an OpNode, and have no path from the root.
    return cast("hou.OpNode", node)


def _facts(item: str) -> list[Any]:
    """Return the facts for a node's fingerprint."""
    node = hou.node(item)
    if node is None:
        return [item, "gone"]
    below = sorted((child.path(), child.sessionId()) for child in node.allSubChildren())
    return [node.path(), node.sessionId(), node.type().name(), locks(node), below]


def _nodes(ids: Iterable[int]) -> list[hou.OpNode]:
    """Return the nodes of session ids that are still there."""
    nodes = [hou.nodeBySessionId(key) for key in ids]
    return [node for node in nodes if isinstance(node, hou.OpNode)]


def _added(labels: tuple[str, ...], now: tuple[str, ...]) -> int:
    """Return by how much a group raised the stack: one, unless the body undid actions.

    Args:
        labels: The labels before the group, the newest first.
        now: The labels after it, with the group's own first.
    """
    below = now[1:]
    if 2 * hou.undos.memoryUsage() < hou.undos.memoryUsageLimit():
        return 1 + len(below) - len(labels)
    # Near the limit the oldest actions may be gone too, so labels are compared and not counted.
    for undone in range(len(labels)):
        if labels[undone:][: len(below)] == below:
            return 1 - undone
    return 1 - len(labels)


def _put_back_mode(mode: hou.EnumValue, put_back: list[str]) -> None:
    if hou.updateModeSetting() != mode:
        hou.setUpdateMode(mode)
        put_back.append("the update mode")


def _raise_first(errors: list[BridgeError]) -> None:
    for error in errors:
        raise error
