"""A scene in Maya: its nodes, and the guard against actions that undo cannot reverse. Main thread.

A *stretch* is the part of a skill's body between two questions; each is one undo chunk. All
statements about Maya come from Autodesk's reference of its commands (``ls``, ``namespaceInfo``,
``autoKeyframe``) and of its Python API (`MSceneMessage`, `MNodeMessage`); none was run in Maya.

=======================  =========================================================================
refused beforehand       a new scene, opening another scene, a save, an export over a file; for a
                         body that only reads also an import, and a new or loaded reference
undone exactly           everything that Maya records
restored here            the scene's file, the current namespace, autokey
reported, with a copy    a removed or unloaded reference, for which Maya has no check
not noticed              files that Python or a plug-in writes; a suspended refresh, which cannot be
                         queried; an edit by the API, which is on no undo queue
=======================  =========================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

from maya import cmds
from maya.api import OpenMaya

from dcc_bridge.spi import MOST_TOLD, BridgeError, Host, LostAnyway, keep_anyway

from .losses import Losses, uuid_of

Message: Final = OpenMaya.MSceneMessage
_MAX_NOTED: Final = 10_000  # nodes whose attributes are watched


class Checks:
    """Refuses actions that undo cannot reverse, in callbacks that Maya calls before each.

    A refused command of Maya may end without an error, so `end` raises the error at the end of the
    stretch. Edits by the person are not refused.
    """

    def __init__(self, host: Host, losses: Losses) -> None:
        """Store the scene's present file.

        Args:
            host: The host, whose `losing` raises for a loss that nobody agreed to.
            losses: Is told when another scene is opened.
        """
        self._host = host
        self._file = host.file()
        self._losses = losses
        self._refusal: BridgeError | None = None

    def listen(self, *, read: bool) -> Iterator[int]:
        """Add the callbacks.

        Args:
            read: Whether the body only reads, and so may import nothing.

        Yields:
            The id of each callback, for its removal.
        """
        yield Message.addCheckCallback(Message.kBeforeNewCheck, self._before_new)
        yield Message.addCheckFileCallback(Message.kBeforeOpenCheck, self._before_open)
        yield Message.addCheckCallback(Message.kBeforeSaveCheck, self._before_save)
        yield Message.addCheckFileCallback(Message.kBeforeExportCheck, self._before_export)
        if read:  # a body that edits may import, which undo reverses
            for event in ("Import", "CreateReference", "LoadReference"):
                check = getattr(Message, f"kBefore{event}Check")
                yield Message.addCheckFileCallback(check, self._before_import)
        yield Message.addCallback(Message.kBeforeRemoveReference, self._note_reference)
        yield Message.addCallback(Message.kBeforeUnloadReference, self._note_reference)

    def end(self) -> None:
        """Restore the scene's file, and raise the refusal if the body continued after it."""
        if not self._may_keep_file() and self._file is not None:
            cmds.file(rename=self._file.as_posix())
        refusal = self._refusal
        self._refusal = None
        if refusal is not None:
            raise refusal

    # ---- called by Maya; each returns whether Maya may continue

    def _before_new(self, *_: object) -> bool:
        return self._may_replace_scene("begin a new scene")

    def _before_open(self, file: Any, *_: object) -> bool:
        return self._may_replace_scene(f"open {_path(file).name}")

    def _before_save(self, *_: object) -> bool:
        return self._may_keep_file() and self._may_write(self._host.file())

    def _before_export(self, file: Any, *_: object) -> bool:
        return self._may_write(_path(file))

    def _before_import(self, file: Any, *_: object) -> bool:
        return self._may(f"bring in {_path(file).name}")

    # ---- decisions

    def _may_replace_scene(self, what: str) -> bool:
        may = self._may(f"{what} in place of {self._host.scene()}")
        if may:
            self._losses.is_other_scene = True
            self._file = None
        return may

    def _may_keep_file(self) -> bool:
        """Return whether the scene may have its present file: Maya does not ask about a rename."""
        file = self._host.file()
        if file is None or self._file in (None, file):
            return True
        return self._may(f"switch the scene to another file, {file.name}", [file])

    def _may_write(self, file: Path | None) -> bool:
        if file is None or not file.is_file():
            return True
        return self._may(f"write over {file.name}", [file])

    def _may(self, what: str, files: Sequence[Path] = ()) -> bool:
        try:
            self._host.losing(what, files)
        except BridgeError as error:  # Maya only prints an exception that leaves a callback
            self._refusal = self._refusal or error
            return False
        return True

    def _note_reference(self, *_: object) -> None:
        what = "remove or unload a reference"
        try:
            self._host.losing(what)
        except BridgeError:
            if not isinstance(self._refusal, LostAnyway):  # one copy is enough
                self._refusal = keep_anyway(self._host, what)


@contextmanager
def guarded(host: Host, losses: Losses, put_back: list[str], *, read: bool) -> Iterator[None]:
    """Listen while a stretch of a body runs, and restore the state that undo does not cover.

    Args:
        host: The host, whose `losing` raises for a loss that nobody agreed to.
        losses: Collects the losses of the stretch.
        put_back: Receives the names of restored state.
        read: Whether the body only reads.

    Raises:
        BridgeError: The body continued after a refusal.
    """
    checks = Checks(host, losses)
    with ExitStack() as stack:
        stack.callback(checks.end)
        losses.clear()
        for callback_id in chain(checks.listen(read=read), losses.listen(parts=not read)):
            stack.callback(_remove, callback_id)
        stack.enter_context(_restored_state(put_back))
        yield


@contextmanager
def touched_nodes(names: Sequence[str]) -> Iterator[set[str]]:
    """Collect the nodes whose attributes are set during the block.

    Args:
        names: The nodes to watch; if there are more than 10,000, none is watched.

    Yields:
        The UUIDs of the nodes, which grow while the block runs.
    """
    message = OpenMaya.MNodeMessage
    touched = set[str]()
    nodes = OpenMaya.MSelectionList()
    passive = message.kConnectionMade | message.kConnectionBroken | message.kOtherPlugSet
    passive |= message.kAttributeEval

    def note(what: int, plug: Any, *_: object) -> None:
        if what & ~passive:  # Maya reports a connection at its source too, which did not change
            touched.add(uuid_of(plug.node()))

    if len(names) <= _MAX_NOTED:
        for name in names:
            nodes.add(name)
    ids: list[int] = []
    try:
        for number in range(nodes.length()):
            node = nodes.getDependNode(number)
            ids.append(message.addAttributeChangedCallback(node, note))
        yield touched
    finally:
        for callback_id in ids:
            _remove(callback_id)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Keep the block off the undo queue; the block must destroy no node that is on the queue."""
    recording = bool(cmds.undoInfo(query=True, state=True))
    cmds.undoInfo(stateWithoutFlush=False)
    try:
        yield
    finally:
        cmds.undoInfo(stateWithoutFlush=recording)


@contextmanager
def _restored_state(put_back: list[str]) -> Iterator[None]:
    """Restore the namespace and autokey after the block, and add their names if they changed."""
    namespace = _namespace()
    autokey = _autokey()
    try:
        yield
    finally:
        if _namespace() != namespace and cmds.namespace(exists=namespace):
            put_back.append("the current namespace")
            with unrecorded():
                cmds.namespace(set=namespace)
        if _autokey() != autokey:
            put_back.append("autokey")
            with unrecorded():
                cmds.autoKeyframe(state=autokey)


def find(item: str) -> str:
    """Return the long path of the only node with a path or a short name.

    Raises:
        LookupError: There is no such node, or there are several.
    """
    paths: list[str] = []
    if not set("*? ") & set(item):  # `ls` would take these for a pattern
        paths = cmds.ls(item, long=True) or []
    if len(paths) > 1:
        raise LookupError(f"{item!r} is {' and '.join(paths[:3])}: give the whole path.")
    if not paths:
        raise LookupError(f"There is no node {item!r} in this scene.")
    return paths[0]


def describe(item: str) -> dict[str, Any]:
    """Return the facts about a node for an agent; LookupError if there is no such node."""
    path = find(item)
    return {
        "path": path,
        "type": kind(path),
        "uuid": cmds.ls(path, uuid=True)[0],
        "parent": _parent(path),
        "children": _relatives(path, children=True)[:MOST_TOLD],
        "referenced": is_referenced(path),
        "locked": is_locked(path),
    }


def kind(path: str) -> str:
    """Return a node's type; of a transform the type of its shape, "camera", if it has a shape."""
    shapes = _relatives(path, shapes=True, noIntermediate=True)
    typed = shapes[0] if shapes else path
    return str(cmds.nodeType(typed))


def _relatives(path: str, **which: Any) -> list[str]:
    """Return relatives by their long paths; none of a node that is not in the DAG."""
    if not path.startswith("|"):  # an empty list of nodes would mean all nodes
        return []
    return cmds.listRelatives(path, fullPath=True, **which) or []


def _parent(path: str) -> str | None:
    parents = _relatives(path, parent=True)
    return parents[0] if parents else None


def is_locked(path: str) -> bool:
    """Return whether a node is locked."""
    locks = cmds.lockNode(path, query=True, lock=True)
    if isinstance(locks, list):
        return any(locks)
    return bool(locks)


def is_referenced(path: str) -> bool:
    """Return whether a node is from a referenced file, and cannot be renamed or deleted."""
    return bool(cmds.referenceQuery(path, isNodeReferenced=True))


def facts(item: str) -> list[Any]:
    """Return the facts for a node's fingerprint; for a short name, of all nodes with it."""
    paths = cmds.ls(item, long=True) if cmds.objExists(item) else []
    if not paths:
        return [item, "gone"]
    below = list[str]()
    for path in paths:
        below += _relatives(path, allDescendents=True)
    below.sort()
    ids = cmds.ls([*paths, *below], uuid=True)
    locks = [is_locked(item), is_referenced(item)]
    return [item, ids, cmds.nodeType(item), _parent(item), locks, below]


def _namespace() -> str:
    return str(cmds.namespaceInfo(currentNamespace=True, absoluteName=True))


def _autokey() -> bool:
    return bool(cmds.autoKeyframe(query=True, state=True))


def _remove(callback_id: Any) -> None:
    with suppress(RuntimeError):  # the callback has ended with its node
        OpenMaya.MMessage.removeCallback(callback_id)


def _path(file: Any) -> Path:
    return Path(str(file.resolvedFullName()))
