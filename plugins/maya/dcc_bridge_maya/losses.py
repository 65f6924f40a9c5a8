"""What a step took away in Maya: nodes, and the parts of nodes that stay.

Maya tells of it while it happens; `Losses.left` then looks what is still gone, as an undo inside
the step, or a connection made again, brings it back. What is said here of Maya comes from
Autodesk's reference of its commands and of its Python API (`MDGMessage`, `MNodeMessage`,
`MAnimMessage`); it was not run in Maya. Main thread.

=================  ===============================================================================
noticed            by
=================  ===============================================================================
nodes              their UUIDs: a new name or parent is no loss
keys               the numbers of keys before and after, of the first 10,000 curves
connections        both ends are there, and nothing leads into the attribute any more
members            the connection to their set or layer; of a shading group, if there is no other
attributes         a callback on each of the first 10,000 nodes
=================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Set
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from maya import cmds
from maya.api import OpenMaya, OpenMayaAnim

_ask: Any = cmds  # the commands again, where the stubs have a query's type or a flag's wrong
_MOST_NOTED: Final = 10_000
_MEMBERS: Final = ("dagSetMembers", "dnSetMembers")  # of a set, where its members lead into it
_BOOKKEEPING: Final = {  # what Maya connects by itself, or only for an editor that draws it
    *("defaultShaderList", "defaultTextureList", "defaultRenderUtilityList", "defaultLightList"),
    *("materialInfo", "nodeGraphEditorInfo", "hyperLayout", "hyperView", "lightLinker"),
    *("partition", "groupId", "groupParts", "unitConversion", "renderLayer", "renderLayerManager"),
    "displayLayerManager",
}


class _Link(NamedTuple):
    """A connection that was broken: UUIDs, and attributes by their long names."""

    source: str
    giving: str
    target: str
    taking: str


class Losses:
    """What one step took away, as Maya told while it did so."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._gone: dict[str, None] = {}
        self._made: set[str] = set()
        self._broken: dict[_Link, None] = {}
        self._keys: dict[str, int] = {}
        self._edited: dict[str, None] = {}
        self._removed: dict[tuple[str, str], None] = {}
        self._new: set[tuple[str, ...]] = set()  # links and attributes that the step itself made
        self.is_other_scene = False  # it goes with all its nodes, as was agreed: none is listed

    def listen(self, *, parts: bool) -> Iterator[Any]:
        """Have Maya tell, of parts too if they are asked for; give what is removed to end it."""
        message = OpenMaya.MDGMessage
        yield message.addNodeAddedCallback(self._note_made, "dependNode")
        yield message.addNodeRemovedCallback(self._note_gone, "dependNode")
        yield message.addConnectionCallback(self._note_connection)
        if not parts:
            return
        yield OpenMayaAnim.MAnimMessage.addAnimCurveEditedCallback(self._note_keys)
        for curve in islice(_nodes(OpenMaya.MFn.kAnimCurve), _MOST_NOTED):
            self._keys[uuid_of(curve)] = OpenMayaAnim.MFnAnimCurve(curve).numKeys
        add = OpenMaya.MNodeMessage.addAttributeAddedOrRemovedCallback
        for node in islice(_nodes(OpenMaya.MFn.kDependencyNode), _MOST_NOTED):
            yield add(node, self._note_attribute)

    def clear(self) -> None:
        """Forget all: another step begins."""
        self.is_other_scene = False
        for kept in (self._paths, self._gone, self._made, self._broken):
            kept.clear()
        for noted in (self._keys, self._edited, self._removed, self._new):
            noted.clear()

    def left(self, agreed: Set[str]) -> list[str]:
        """List what is gone, but for what was agreed to, what was below, and what hung on it.

        `agreed` has UUIDs, long paths or short names. Gives long paths, names of nodes that are not
        in the DAG, and parts in words: "2 keys of translateX of |box". A node outside of the DAG
        goes with one that was agreed to if it was connected to it, as an animation curve is, which
        Maya deletes by itself.
        """
        if self.is_other_scene:
            return []
        gone = self._gone_nodes()
        nodes = self._not_agreed(gone, agreed)
        paths = self._owners(gone)
        curves = {it.source for it in self._links(nodes, paths) if it.source in self._keys}
        parts = [
            f"{what} of {path}"
            for what, uuid, path in self._parts(curves, paths)
            if not agreed & {uuid, *_names(path)}
        ]
        left = [path for uuid, path in nodes.items() if uuid not in curves]
        return list(dict.fromkeys([*left, *parts]))

    # ---- nodes

    def _gone_nodes(self) -> dict[str, str]:
        """Return the paths of the nodes that were there before and are not now, by UUID."""
        ids = [uuid for uuid in self._gone if uuid not in self._made]
        back = set(cmds.ls(ids, uuid=True) or []) if ids else set()
        return {uuid: self._paths[uuid] for uuid in ids if uuid not in back}

    def _not_agreed(self, gone: dict[str, str], agreed: Set[str]) -> dict[str, str]:
        left = dict(gone)
        taken = {uuid for uuid, path in left.items() if agreed & {uuid, *_names(path)}}
        while taken:
            for uuid in taken:
                del left[uuid]
            hung = set[str]()
            for link in self._broken:
                if (link.source in taken) != (link.target in taken):
                    hung.add(link.target if link.source in taken else link.source)
            taken = {uuid for uuid in left if uuid in hung and not left[uuid].startswith("|")}
        return left

    def _note_made(self, node: OpenMaya.MObject, *_: object) -> None:
        if (uuid := uuid_of(node)) not in self._gone:  # else it comes back
            self._made.add(uuid)

    def _note_gone(self, node: OpenMaya.MObject, *_: object) -> None:
        self._remember(node)
        self._gone[uuid_of(node)] = None

    def _remember(self, node: OpenMaya.MObject) -> None:
        """Keep a node's path, and the paths below: by their turn they may hang in the air."""
        uuid = uuid_of(node)
        if uuid in self._paths:
            return
        if not node.hasFn(OpenMaya.MFn.kDagNode):
            self._paths[uuid] = OpenMaya.MFnDependencyNode(node).name()
            return
        dag = OpenMaya.MFnDagNode(node)
        self._paths[uuid] = dag.fullPathName()
        for number in range(dag.childCount()):
            self._remember(dag.child(number))

    # ---- parts

    def _owners(self, gone: Container[str]) -> dict[str, str]:
        """Return where the nodes are now of which a part may be lost, by UUID."""
        owners = [uuid for uuid, _ in self._removed]
        owners += [uuid for link in self._broken for uuid in (link.source, link.target)]
        there = (uuid for uuid in dict.fromkeys(owners) if uuid not in gone)
        return {uuid: path for uuid in there if (path := _path(uuid))}

    def _links(self, sources: Container[str], targets: Container[str]) -> list[_Link]:
        """List the connections that were there before the step, and were broken, between nodes."""
        old = (link for link in self._broken if link not in self._new)
        return [link for link in old if link.source in sources and link.target in targets]

    def _parts(self, curves: Set[str], paths: dict[str, str]) -> Iterator[tuple[str, str, str]]:
        """Return what is lost of nodes that are there: words, the node's UUID, and its path.

        `curves` are those that are gone from a node that is there.
        """
        for link in self._links(curves, paths):
            what = _counted(self._keys[link.source])
            yield f"{what} of {link.taking}", link.target, paths[link.target]
        yield from self._fewer_keys()
        for link in self._links(paths, paths):
            yield from self._lost_link(link, paths[link.source], paths[link.target])
        for uuid, name in self._removed:
            path = paths.get(uuid, "")
            if path and not cmds.attributeQuery(name, node=path, exists=True):
                yield f"attribute {name}", uuid, path

    def _lost_link(self, link: _Link, source: str, target: str) -> Iterator[tuple[str, str, str]]:
        """Return what is lost by a connection that was broken, as far as nothing took its place."""
        if link.taking.partition("[")[0] in _MEMBERS:
            yield from _no_member(link, source, target)
        elif cmds.nodeType(source) == "displayLayer":
            if not _ask.listConnections(target, type="displayLayer"):
                yield f"member {target}", link.source, source
        elif link.source in self._keys and not _ask.listConnections(source, source=False):
            what = _counted(self._keys[link.source])  # the curve is there, and drives nothing
            yield f"{what} of {link.taking}", link.target, target
        elif cmds.nodeType(target) not in _BOOKKEEPING and _is_free(f"{target}.{link.taking}"):
            yield f"connection to {link.taking}", link.target, target

    def _fewer_keys(self) -> Iterator[tuple[str, str, str]]:
        for uuid in self._edited:
            curve: str = _path(uuid)
            if not curve:
                continue
            count = self._keys.get(uuid, 0) - _ask.keyframe(curve, query=True, keyframeCount=True)
            if count > 0:
                yield _of_curve(_counted(count), uuid, curve)

    def _note_keys(self, curves: Any, *_: object) -> None:
        for curve in curves:
            self._edited[uuid_of(curve)] = None

    def _note_connection(self, source: Any, target: Any, is_made: bool, *_: object) -> None:
        names = (_attribute(source), _attribute(target))
        link = _Link(uuid_of(source.node()), names[0], uuid_of(target.node()), names[1])
        if not is_made:
            self._broken[link] = None
        elif link not in self._broken:  # else it comes back
            self._new.add(link)

    def _note_attribute(self, what: int, plug: Any, *_: object) -> None:
        message = OpenMaya.MNodeMessage
        attribute = (uuid_of(plug.node()), _attribute(plug))
        if what & message.kAttributeAdded:
            self._new.add(attribute)
        if what & message.kAttributeRemoved and attribute not in self._new:
            self._removed[attribute] = None


def uuid_of(node: OpenMaya.MObject) -> str:
    """Return what stays of a node when it is renamed."""
    return str(OpenMaya.MFnDependencyNode(node).uuid().asString())


def _nodes(of: int) -> Iterator[OpenMaya.MObject]:
    iterator = OpenMaya.MItDependencyNodes(of)
    while not iterator.isDone():
        yield iterator.thisNode()
        iterator.next()


def _attribute(plug: Any) -> str:
    return str(plug.partialName(includeNonMandatoryIndices=True, useLongNames=True))


def _path(uuid: str) -> str:
    """Return where a node is now, or nothing."""
    return next(iter(cmds.ls(uuid, long=True) or []), "")


def _is_free(plug: str) -> bool:
    """Return whether an attribute is there that nothing leads into."""
    with suppress(RuntimeError, ValueError):  # it went itself
        return not cmds.connectionInfo(plug, sourceFromDestination=True)
    return False


def _no_member(link: _Link, member: str, group: str) -> Iterator[tuple[str, str, str]]:
    """Return what is in a set no more; what got another material is in another one."""
    if cmds.nodeType(group) == "shadingEngine":
        if not _ask.listConnections(member, type="shadingEngine"):
            shaders = _ask.listConnections(f"{group}.surfaceShader", destination=False) or [group]
            yield f"material {shaders[0]}", link.source, member
        return
    is_of_parts = "objectGroups" in link.giving
    names = _ask.sets(group, query=True) or []
    owners = [name.partition(".")[0] for name in names if ("." in name) == is_of_parts]
    if not owners or member not in cmds.ls(owners, long=True):
        what = "components of" if is_of_parts else "member"
        yield f"{what} {member}", link.target, group


def _counted(count: int) -> str:
    return "1 key" if count == 1 else f"{count} keys"


def _of_curve(what: str, uuid: str, curve: str) -> tuple[str, str, str]:
    """Say of what the keys of a curve are: of the attribute that it leads into, or its own."""
    ends = _ask.listConnections(curve, source=False, plugs=True, skipConversionNodes=True) or []
    for name, _, prop in (end.partition(".") for end in ends):
        (path,) = cmds.ls(name, long=True)
        (owner,) = cmds.ls(name, uuid=True)
        return f"{what} of {prop}", owner, path
    return what, uuid, curve


def _names(path: str) -> set[str]:
    """Return every name by which a path may have been agreed to: its own, and what it is below."""
    parts = path.split("|")
    ends = range(1, len(parts) + 1)
    return {"|".join(parts[begin:end]) for end in ends for begin in range(end)}
