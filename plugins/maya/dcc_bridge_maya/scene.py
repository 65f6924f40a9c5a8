"""A scene in Maya: its nodes, and what nobody may lose of it.

What is said here of Maya comes from Autodesk's reference of its commands (``ls``,
``namespaceInfo``, ``autoKeyframe``) and of its Python API (`MSceneMessage`, `MNodeMessage`); it
was not run in Maya. Main thread.

=======================  =========================================================================
refused before it is     a new scene, another scene opened, a save, an export over a file; for a
done                     body that only reads an import and a new or loaded reference too
undone exactly           what Maya records: all of a stretch is one chunk of our own
put back                 the scene's file, the current namespace, autokey
only told, with a copy   a reference that is removed or unloaded, for which Maya has no check
not noticed              what Python or a plug-in writes to disk by itself; a suspended refresh, of
                         which Maya cannot be asked; an edit by the API, which is on no queue
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
_MOST_NOTED: Final = 10_000


class Checks:
    """Refuses what a body must not lose: Maya asks before it does it.

    Maya's command may end as if all were well, so the error comes at the stretch's end at the
    latest. What the person does by themselves passes.
    """

    def __init__(self, host: Host, losses: Losses) -> None:
        self._host = host  # whose `losing` says what may be lost
        self._file = host.file()
        self._losses = losses  # told when the scene is another one
        self._refused: BridgeError | None = None

    def listen(self, *, read: bool) -> Iterator[int]:
        """Have Maya ask; give what is removed to end it."""
        plain, with_file = Message.addCheckCallback, Message.addCheckFileCallback
        yield plain(Message.kBeforeNewCheck, lambda *_: self._other_scene("begin a new scene"))
        yield with_file(
            Message.kBeforeOpenCheck, lambda file, *_: self._other_scene(f"open {_path(file).name}")
        )
        save = Message.kBeforeSaveCheck
        yield plain(save, lambda *_: self._may_go_on() and self._over(self._host.file()))
        yield with_file(Message.kBeforeExportCheck, lambda file, *_: self._over(_path(file)))
        # An edit may bring something in, as nothing is lost by it; a read may not.
        for added in ("Import", "CreateReference", "LoadReference") if read else ():
            yield with_file(
                getattr(Message, f"kBefore{added}Check"),
                lambda file, *_: self._may(f"bring in {_path(file).name}"),
            )
        yield Message.addCallback(Message.kBeforeRemoveReference, self._note_reference)
        yield Message.addCallback(Message.kBeforeUnloadReference, self._note_reference)

    def end(self) -> None:
        """Put the scene's file back, and raise what was refused, if the body went on anyway."""
        if not self._may_go_on() and self._file is not None:
            cmds.file(rename=self._file.as_posix())
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused

    def _other_scene(self, what: str) -> bool:
        may = self._may(f"{what} in place of {self._host.scene()}")
        if may:
            self._losses.is_other_scene = True
            self._file = None
        return may

    def _may_go_on(self) -> bool:
        """Return whether the scene may have the file it has now: Maya asks nobody before that."""
        file = self._host.file()
        if file is None or self._file in (None, file):
            return True
        return self._may(f"switch the scene to another file, {file.name}", [file])

    def _over(self, file: Path | None) -> bool:
        return file is None or not file.is_file() or self._may(f"write over {file.name}", [file])

    def _may(self, what: str, files: Sequence[Path] = ()) -> bool:
        try:
            self._host.losing(what, files)
        except BridgeError as error:  # an exception out of a callback, Maya only prints
            self._refused = self._refused or error
            return False
        return True

    def _note_reference(self, *_: object) -> None:
        what = "remove or unload a reference"
        try:
            self._host.losing(what)
        except BridgeError:
            if not isinstance(self._refused, LostAnyway):  # one copy is enough
                self._refused = keep_anyway(self._host, what)


@contextmanager
def guarded(host: Host, losses: Losses, put_back: list[str], *, read: bool) -> Iterator[None]:
    """Listen while a stretch of a body runs, and put back what undo does not hold."""
    checks = Checks(host, losses)
    with ExitStack() as stack:
        stack.callback(checks.end)
        losses.clear()
        for callback_id in chain(checks.listen(read=read), losses.listen(parts=not read)):
            stack.callback(_remove, callback_id)
        stack.enter_context(_kept_state(put_back))
        yield


@contextmanager
def touched_nodes(names: Sequence[str]) -> Iterator[set[str]]:
    """Note the UUIDs of those nodes of which something is set; of more than 10,000 nothing."""
    message, touched, chosen = OpenMaya.MNodeMessage, set[str](), OpenMaya.MSelectionList()
    passive = message.kConnectionMade | message.kConnectionBroken | message.kOtherPlugSet
    passive |= message.kAttributeEval

    def note(what: int, plug: Any, *_: object) -> None:
        if what & ~passive:  # Maya tells of a connection at both ends; what gives is as it was
            touched.add(uuid_of(plug.node()))

    for name in names if len(names) <= _MOST_NOTED else ():
        chosen.add(name)
    ids: list[int] = []
    try:
        for node in map(chosen.getDependNode, range(chosen.length())):
            ids.append(message.addAttributeChangedCallback(node, note))
        yield touched
    finally:
        for callback_id in ids:
            _remove(callback_id)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Keep what is done off the undo queue: nothing may be destroyed meanwhile."""
    recording = bool(cmds.undoInfo(query=True, state=True))
    cmds.undoInfo(stateWithoutFlush=False)
    try:
        yield
    finally:
        cmds.undoInfo(stateWithoutFlush=recording)


@contextmanager
def _kept_state(put_back: list[str]) -> Iterator[None]:
    """Put back at the end what undo does not hold; name what was another one by then."""
    namespace, autokey = _namespace(), _autokey()
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
    """Return the long path of the one node that a path or a short name means, or LookupError."""
    paths = [] if set("*? ") & set(item) else cmds.ls(item, long=True) or []
    if len(paths) > 1:
        raise LookupError(f"{item!r} is {' and '.join(paths[:3])}: give the whole path.")
    if not paths:
        raise LookupError(f"There is no node {item!r} in this scene.")
    return paths[0]


def describe(item: str) -> dict[str, Any]:
    """Describe a node."""
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
    """Name a node's type: its shape's where it has one, "camera" and not "transform"."""
    shapes = _relatives(path, shapes=True, noIntermediate=True)
    return str(cmds.nodeType(shapes[0] if shapes else path))


def _relatives(path: str, **which: Any) -> list[str]:
    """List relatives; none for what is not in the DAG."""
    if not path.startswith("|"):  # an empty list of nodes would mean all of them
        return []
    return cmds.listRelatives(path, fullPath=True, **which) or []


def _parent(path: str) -> str | None:
    return next(iter(_relatives(path, parent=True)), None)


def is_locked(path: str) -> bool:
    """Return whether a node is locked."""
    locks = cmds.lockNode(path, query=True, lock=True)
    return any(locks) if isinstance(locks, list) else bool(locks)


def is_referenced(path: str) -> bool:
    """Return whether a node is from a referenced file: it cannot be renamed or deleted."""
    return bool(cmds.referenceQuery(path, isNodeReferenced=True))


def facts(item: str) -> list[Any]:
    """List what a fingerprint of a node is made of; every node of a short name counts."""
    paths = cmds.ls(item, long=True) if cmds.objExists(item) else []
    if not paths:
        return [item, "gone"]
    below = sorted(child for path in paths for child in _relatives(path, allDescendents=True))
    ids = cmds.ls([*paths, *below], uuid=True)
    locks = [is_locked(item), is_referenced(item)]
    return [item, ids, cmds.nodeType(item), _parent(item), locks, below]


def _namespace() -> str:
    return str(cmds.namespaceInfo(currentNamespace=True, absoluteName=True))


def _autokey() -> bool:
    return bool(cmds.autoKeyframe(query=True, state=True))


def _remove(callback_id: Any) -> None:
    with suppress(RuntimeError):  # it went with its node
        OpenMaya.MMessage.removeCallback(callback_id)


def _path(file: Any) -> Path:
    return Path(str(file.resolvedFullName()))
