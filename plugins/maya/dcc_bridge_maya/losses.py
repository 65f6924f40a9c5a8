"""The losses of a step in Maya: nodes, and parts of nodes that stay. Main thread.

Maya reports each loss when it happens. `Losses.left` then checks which losses are still there: an
undo inside the step, or a new connection, may have restored something. All statements about Maya
come from Autodesk's reference of its commands and of its Python API (`MDGMessage`, `MNodeMessage`,
`MAnimMessage`); none was run in Maya.

=================  ===============================================================================
loss of            is noticed by
=================  ===============================================================================
nodes              their UUIDs: a new name or parent is no loss
keys               the numbers of keys before and after, of the first 10,000 curves
connections        an attribute without an incoming connection, if both nodes still exist
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

_ask: Any = cmds  # for calls whose types are wrong in the stubs
_MAX_NOTED: Final = 10_000  # curves whose keys are counted, and nodes whose attributes are watched
_MEMBERS: Final = ("dagSetMembers", "dnSetMembers")  # the attributes that members connect to
BOOKKEEPING: Final = {  # nodes that Maya connects by itself, or only for an editor's drawing
    *("defaultShaderList", "defaultTextureList", "defaultRenderUtilityList", "defaultLightList"),
    *("materialInfo", "nodeGraphEditorInfo", "hyperLayout", "hyperView", "lightLinker"),
    *("partition", "groupId", "groupParts", "unitConversion", "renderLayer", "renderLayerManager"),
    "displayLayerManager",
}


class _Link(NamedTuple):
    """A connection that was broken.

    Attributes:
        source: The UUID of the node that gives a value.
        output: The attribute that gives it, by its long name.
        target: The UUID of the node that takes the value.
        input: The attribute that takes it, by its long name.
    """

    source: str
    output: str
    target: str
    input: str


class _LostPart(NamedTuple):
    """A part of a node that stays.

    Attributes:
        words: The part for a person, without the node: "2 keys of translateX".
        uuid: The UUID of the node.
        path: The path or name of the node.
    """

    words: str
    uuid: str
    path: str


class Losses:
    """Collects the nodes and parts that one step removes, as Maya reports them.

    Attributes:
        is_other_scene: Whether another scene was opened or begun. A person has then agreed to the
            loss of the whole scene, so no node of it is a loss.
    """

    def __init__(self) -> None:
        self.is_other_scene = False
        self._paths: dict[str, str] = {}
        self._deleted: dict[str, None] = {}
        self._created: set[str] = set()
        self._broken: dict[_Link, None] = {}
        self._key_counts: dict[str, int] = {}  # of each curve before the step
        self._edited_curves: dict[str, None] = {}
        self._removed_attributes: dict[tuple[str, str], None] = {}
        self._new_parts: set[tuple[str, ...]] = set()  # links and attributes that the step made

    def listen(self, *, parts: bool) -> Iterator[Any]:
        """Add the callbacks by which Maya reports losses.

        Args:
            parts: Whether to collect lost parts of nodes too.

        Yields:
            The id of each callback, for its removal.
        """
        message = OpenMaya.MDGMessage
        yield message.addNodeAddedCallback(self._note_created, "dependNode")
        yield message.addNodeRemovedCallback(self._note_deleted, "dependNode")
        yield message.addConnectionCallback(self._note_connection)
        if not parts:
            return
        yield OpenMayaAnim.MAnimMessage.addAnimCurveEditedCallback(self._note_keys)
        for curve in islice(_nodes(OpenMaya.MFn.kAnimCurve), _MAX_NOTED):
            self._key_counts[uuid_of(curve)] = OpenMayaAnim.MFnAnimCurve(curve).numKeys
        add = OpenMaya.MNodeMessage.addAttributeAddedOrRemovedCallback
        for node in islice(_nodes(OpenMaya.MFn.kDependencyNode), _MAX_NOTED):
            yield add(node, self._note_attribute)

    def clear(self) -> None:
        """Remove everything that was collected."""
        self.is_other_scene = False
        self._paths.clear()
        self._deleted.clear()
        self._created.clear()
        self._broken.clear()
        self._key_counts.clear()
        self._edited_curves.clear()
        self._removed_attributes.clear()
        self._new_parts.clear()

    def left(self, agreed: Set[str]) -> list[str]:
        """Return the losses that no person agreed to.

        An agreed node includes the nodes below it. It also includes nodes outside of the DAG that
        were connected to it, because Maya itself deletes animation curves.

        Args:
            agreed: UUIDs, long paths or short names of nodes.

        Returns:
            Long paths, names of nodes that are not in the DAG, and parts in words: "2 keys of
            translateX of |box".
        """
        if self.is_other_scene:
            return []
        gone = self._gone_nodes()
        nodes = self._not_agreed(gone, agreed)
        paths = self._owners(gone)
        curves = set[str]()
        for link in self._links(nodes, paths):
            if link.source in self._key_counts:
                curves.add(link.source)
        losses = [path for uuid, path in nodes.items() if uuid not in curves]
        for part in self._parts(curves, paths):
            if not agreed & {part.uuid, *_names(part.path)}:
                losses.append(f"{part.words} of {part.path}")
        return list(dict.fromkeys(losses))

    # ---- nodes

    def _gone_nodes(self) -> dict[str, str]:
        """Return the paths of the nodes that existed before the step and are deleted, by UUID."""
        ids = [uuid for uuid in self._deleted if uuid not in self._created]
        back = set(cmds.ls(ids, uuid=True) or []) if ids else set()
        return {uuid: self._paths[uuid] for uuid in ids if uuid not in back}

    def _not_agreed(self, gone: dict[str, str], agreed: Set[str]) -> dict[str, str]:
        """Return the nodes that no agreed node includes."""
        rest = dict(gone)
        leaving = {uuid for uuid, path in rest.items() if agreed & {uuid, *_names(path)}}
        while leaving:
            for uuid in leaving:
                del rest[uuid]
            neighbours = set[str]()
            for link in self._broken:
                if link.source in leaving and link.target not in leaving:
                    neighbours.add(link.target)
                elif link.target in leaving and link.source not in leaving:
                    neighbours.add(link.source)
            outside_dag = [uuid for uuid, path in rest.items() if not path.startswith("|")]
            leaving = neighbours.intersection(outside_dag)
        return rest

    def _note_created(self, node: OpenMaya.MObject, *_: object) -> None:
        uuid = uuid_of(node)
        if uuid not in self._deleted:  # else an undo has brought the node back
            self._created.add(uuid)

    def _note_deleted(self, node: OpenMaya.MObject, *_: object) -> None:
        self._remember_paths(node)
        self._deleted[uuid_of(node)] = None

    def _remember_paths(self, node: OpenMaya.MObject) -> None:
        """Store the paths of a node and all nodes below it, which may lose their parents later."""
        uuid = uuid_of(node)
        if uuid in self._paths:
            return
        if not node.hasFn(OpenMaya.MFn.kDagNode):
            self._paths[uuid] = OpenMaya.MFnDependencyNode(node).name()
            return
        dag = OpenMaya.MFnDagNode(node)
        self._paths[uuid] = dag.fullPathName()
        for number in range(dag.childCount()):
            self._remember_paths(dag.child(number))

    # ---- parts

    def _owners(self, gone: Container[str]) -> dict[str, str]:
        """Return the present paths of the nodes that may have lost a part, by UUID."""
        owners = [uuid for uuid, _ in self._removed_attributes]
        for link in self._broken:
            owners += [link.source, link.target]
        paths = dict[str, str]()
        for uuid in dict.fromkeys(owners):
            path = "" if uuid in gone else _path(uuid)
            if path:
                paths[uuid] = path
        return paths

    def _links(self, sources: Container[str], targets: Container[str]) -> list[_Link]:
        """Return the broken connections between nodes that existed before the step."""
        old = (link for link in self._broken if link not in self._new_parts)
        return [link for link in old if link.source in sources and link.target in targets]

    def _parts(self, curves: Set[str], paths: dict[str, str]) -> Iterator[_LostPart]:
        """Yield the lost parts of nodes that still exist.

        Args:
            curves: The UUIDs of deleted animation curves of such nodes.
            paths: The paths of such nodes, by UUID.
        """
        for link in self._links(curves, paths):
            keys = _counted(self._key_counts[link.source])
            yield _LostPart(f"{keys} of {link.input}", link.target, paths[link.target])
        yield from self._fewer_keys()
        for link in self._links(paths, paths):
            yield from self._lost_link(link, paths[link.source], paths[link.target])
        for uuid, name in self._removed_attributes:
            path = paths.get(uuid, "")
            if path and not cmds.attributeQuery(name, node=path, exists=True):
                yield _LostPart(f"attribute {name}", uuid, path)

    def _lost_link(self, link: _Link, source: str, target: str) -> Iterator[_LostPart]:
        """Yield the part that is lost by a broken connection, unless another one replaces it."""
        if link.input.partition("[")[0] in _MEMBERS:
            yield from _lost_member(link, source, target)
        elif cmds.nodeType(source) == "displayLayer":
            if not _ask.listConnections(target, type="displayLayer"):
                yield _LostPart(f"member {target}", link.source, source)
        elif link.source in self._key_counts and not _ask.listConnections(source, source=False):
            keys = _counted(self._key_counts[link.source])  # of a curve that drives nothing now
            yield _LostPart(f"{keys} of {link.input}", link.target, target)
        elif cmds.nodeType(target) not in BOOKKEEPING and _is_free(f"{target}.{link.input}"):
            yield _LostPart(f"connection to {link.input}", link.target, target)

    def _fewer_keys(self) -> Iterator[_LostPart]:
        """Yield the keys that are missing from curves that still exist."""
        for uuid in self._edited_curves:
            curve: str = _path(uuid)
            if not curve:
                continue
            now = _ask.keyframe(curve, query=True, keyframeCount=True)
            count = self._key_counts.get(uuid, 0) - now
            if count > 0:
                yield _keys_of_curve(_counted(count), uuid, curve)

    def _note_keys(self, curves: Any, *_: object) -> None:
        for curve in curves:
            self._edited_curves[uuid_of(curve)] = None

    def _note_connection(self, source: Any, target: Any, is_made: bool, *_: object) -> None:
        link = _Link(
            uuid_of(source.node()), _attribute(source), uuid_of(target.node()), _attribute(target)
        )
        if not is_made:
            self._broken[link] = None
        elif link not in self._broken:  # else the connection comes back
            self._new_parts.add(link)

    def _note_attribute(self, what: int, plug: Any, *_: object) -> None:
        message = OpenMaya.MNodeMessage
        attribute = (uuid_of(plug.node()), _attribute(plug))
        if what & message.kAttributeAdded:
            self._new_parts.add(attribute)
        if what & message.kAttributeRemoved and attribute not in self._new_parts:
            self._removed_attributes[attribute] = None


def uuid_of(node: OpenMaya.MObject) -> str:
    """Return a node's UUID, which stays when the node is renamed."""
    return str(OpenMaya.MFnDependencyNode(node).uuid().asString())


def _nodes(function_set: int) -> Iterator[OpenMaya.MObject]:
    iterator = OpenMaya.MItDependencyNodes(function_set)
    while not iterator.isDone():
        yield iterator.thisNode()
        iterator.next()


def _attribute(plug: Any) -> str:
    return str(plug.partialName(includeNonMandatoryIndices=True, useLongNames=True))


def _path(uuid: str) -> str:
    """Return the present path of a node; "" if there is no such node."""
    paths = cmds.ls(uuid, long=True)
    if not paths:
        return ""
    return paths[0]


def _is_free(plug: str) -> bool:
    """Return whether an attribute still exists and has no incoming connection."""
    with suppress(RuntimeError, ValueError):  # the attribute does not exist
        return not cmds.connectionInfo(plug, sourceFromDestination=True)
    return False


def _lost_member(link: _Link, member: str, group: str) -> Iterator[_LostPart]:
    """Yield the member that a set has lost, or the material that a shape has lost."""
    if cmds.nodeType(group) == "shadingEngine":
        # A shape with another material is in another shading group.
        if not _ask.listConnections(member, type="shadingEngine"):
            shaders = _ask.listConnections(f"{group}.surfaceShader", destination=False) or [group]
            yield _LostPart(f"material {shaders[0]}", link.source, member)
        return
    is_of_components = "objectGroups" in link.output
    names = _ask.sets(group, query=True) or []
    owners = [name.partition(".")[0] for name in names if ("." in name) == is_of_components]
    if not owners or member not in cmds.ls(owners, long=True):
        what = "components of" if is_of_components else "member"
        yield _LostPart(f"{what} {member}", link.target, group)


def _counted(count: int) -> str:
    return "1 key" if count == 1 else f"{count} keys"


def _keys_of_curve(keys: str, uuid: str, curve: str) -> _LostPart:
    """Return keys as a part of the attribute that their curve drives, or else of the curve."""
    ends = _ask.listConnections(curve, source=False, plugs=True, skipConversionNodes=True)
    if not ends:
        return _LostPart(keys, uuid, curve)
    name, _, prop = ends[0].partition(".")
    (path,) = cmds.ls(name, long=True)
    (owner,) = cmds.ls(name, uuid=True)
    return _LostPart(f"{keys} of {prop}", owner, path)


def _names(path: str) -> set[str]:
    """Return every name that may stand for a path: all runs of its parts, "a|b" for "|a|b|c"."""
    parts = path.split("|")
    names = set[str]()
    for end in range(1, len(parts) + 1):
        for begin in range(end):
            names.add("|".join(parts[begin:end]))
    return names
