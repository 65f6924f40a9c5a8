"""SideFX Houdini as a host: 20.5 and newer.

An item is the path of a node. No reference to a node is kept: one that outlives its scene, or a
deletion that was undone, raises or crashes; a path is looked up again. What is said here of Houdini
comes from SideFX's reference of ``hou`` and of HScript; it was not run in Houdini. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, cast

import hou

from dcc_bridge.callbacks import Callbacks
from dcc_bridge.host import MOST_TOLD, Host, Undo, UndoMark, digest

_OTHER_SCENE: Final = ("AfterLoad", "AfterClear", "AfterMerge")
_SUFFIXES: Final = {"Commercial": ".hip", "Indie": ".hiplc"}
_UNDO_IS_OFF: Final = (
    "Undo is switched off in Houdini, so what an agent does could not be taken back. "
    "Leave hou.undos.disabler() first, or switch it on in the preferences."
)


class HoudiniHost(Host):
    """The scene that is open in this Houdini."""

    name = "Houdini"
    item_noun = "node"

    def __init__(self) -> None:
        """Look at the application."""
        self.version = hou.applicationVersionString()
        self.has_ui = hou.isUIAvailable()
        category = hou.licenseCategory().name()
        self.suffix = _SUFFIXES.get(category, ".hipnc")  # Houdini adds it to what it saves
        self._watchers = Callbacks()

    def file(self) -> Path | None:
        """Give the scene's file; None for one never saved, which has a path all the same."""
        return None if hou.hipFile.isNewFile() else Path(hou.hipFile.path())

    @property
    def modified(self) -> bool:
        """Whether Houdini would ask before it closes the scene; always true in hython."""
        return bool(hou.hipFile.hasUnsavedChanges())

    def save_copy(self, path: Path) -> None:
        """Write a copy, by the one command that leaves the scene its name.

        Raises:
            OSError: Houdini wrote none.
        """
        # `hou.hipFile.save` with a path gives the scene that name, and with it `$HIP`, until it is
        # set back; what is evaluated meanwhile looks in the wrong place.
        _, error = hou.hscript(f'mwrite -n "{_quoted(path)}"')
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

    # ---- undo

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Group what is edited into one action.

        Raises:
            RuntimeError: Undo is off.
        """
        if not hou.undos.areEnabled():
            raise RuntimeError(_UNDO_IS_OFF)
        # A group inside a parameter's callback has no effect, as one is open there already. Jobs
        # do not run there: they come from the event loop, which a callback turns only by showing a
        # dialog, and they are held while that is modal.
        try:
            with hou.undos.group(label):
                yield
        finally:
            self._watchers.call()

    def undo_mark(self) -> UndoMark:
        """Mark the action on top, which Houdini lists first."""
        labels = hou.undos.undoLabels()
        return UndoMark(len(labels), next(iter(labels), None), tuple(labels))

    def undo(self) -> None:
        """Undo the action on top."""
        hou.undos.performUndo()
        self._watchers.call()

    def redo(self) -> None:
        """Redo the action undone last."""
        hou.undos.performRedo()
        self._watchers.call()

    # ---- items

    @property
    def selection(self) -> list[str]:
        """The paths of the selected nodes."""
        return [node.path() for node in hou.selectedNodes()]

    def select(self, items: Sequence[str]) -> None:
        """Select nodes. Houdini may keep that as an action of its own on the undo stack."""
        hou.clearAllSelected()
        for node in map(hou.node, items):
            if node is not None:
                node.setSelected(True)
        if not self.has_ui:  # hython has no selection callbacks
            self._watchers.call()

    def frame(self, items: Sequence[str]) -> None:
        """Show nodes in the network editor, at the first one's level."""
        nodes = [node for node in map(hou.node, items) if node is not None]
        editor = hou.ui.paneTabOfType(hou.paneTabType.NetworkEditor) if self.has_ui else None
        if not nodes or not isinstance(editor, hou.NetworkEditor):
            return
        network = nodes[0].parent()
        if network is None:
            return
        editor.setPwd(network)
        bounds = editor.itemRect(nodes[0])
        for node in nodes[1:]:
            if node.parent() == network:
                bounds.enlargeToContain(editor.itemRect(node))
        editor.setVisibleBounds(bounds)

    def describe(self, item: str) -> dict[str, Any]:
        """Describe a node.

        Raises:
            LookupError: There is no such node.
        """
        node = find(item)
        parent = node.parent()
        return {
            "path": node.path(),
            "type": node.type().name(),
            "category": node.type().category().name(),
            "parent": parent.path() if parent is not None else None,
            "children": [child.name() for child in node.children()][:MOST_TOLD],
            "inputs": [source.path() for source in node.inputs() if source is not None],
            "locked": _locks(node),
        }

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest session ids, types, places, locks and what is below."""
        return digest([hou.hipFile.path(), [_facts(item) for item in sorted(set(items))]])

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

        undo = ExitStack()
        undo.callback(self._watchers.add(changed))
        hou.hipFile.addEventCallback(scene_changed)
        undo.callback(hou.hipFile.removeEventCallback, scene_changed)
        if self.has_ui:
            hou.ui.addSelectionCallback(selection_changed)
            undo.callback(hou.ui.removeSelectionCallback, selection_changed)
        return undo.close

    # ---- the application around the scene

    def main_window(self) -> object | None:
        """Give the main window."""
        return hou.qt.mainWindow() if self.has_ui else None

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call in the next turn of Houdini's event loop; at once in hython, which has none."""
        is_wanted = [True]

        def begin() -> None:
            if is_wanted:
                is_wanted.clear()
                start()

        hou.ui.postEventCallback(begin) if self.has_ui else begin()
        return is_wanted.clear


def find(path: str) -> hou.OpNode:
    """Find a node by its path.

    Raises:
        LookupError: There is none.
    """
    node = hou.node(path) if path.startswith("/") else None
    if node is None:
        raise LookupError(f"There is no node {path!r} in this scene; a path begins with a slash.")
    return cast("hou.OpNode", node)  # the others live inside of one, and have no path from the root


def _quoted(path: Path) -> str:
    r"""Write a path so that HScript takes it as it stands between double quotes."""
    return "".join(f"\\{c}" if c in '\\"$`' else c for c in path.as_posix())


def _locks(node: Any) -> list[str]:
    if not hasattr(node, "isLockedHDA"):  # a node that is no operator has no asset either
        return []
    locks = {"asset": node.isLockedHDA(), "inside an asset": node.isInsideLockedHDA()}
    return [name for name, is_locked in locks.items() if is_locked]


def _facts(item: str) -> list[Any]:
    node = hou.node(item)
    if node is None:
        return [item, "gone"]
    below = sorted((child.path(), child.sessionId()) for child in node.allSubChildren())
    return [node.path(), node.sessionId(), node.type().name(), _locks(node), below]
