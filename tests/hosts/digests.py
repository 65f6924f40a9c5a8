"""Digests of whole scenes, by which tests see that nothing was changed. Main thread of the host.

Each host's own API is imported where it runs only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from dcc_bridge.host import Host, digest

_LEFT_OUT: Final = {
    "session_uid",
    "use_nodes",
    "use_extra_user",
    "users",
    "matrix_world",
    "matrix_local",
}
"""Undo changes the first; to read the second is deprecated since 5.0; Blender's editors set the
third where they show a thing; undo counts the users of its own brushes' materials wrongly (3.4);
the last two are of the last evaluation, which may be of before or after an undo."""


def scene_digest(host: Host) -> str:
    """Digest the whole scene of a host: values, keys, connections, order."""
    own: Callable[[], str] | None = getattr(host, "scene_digest", None)
    return own() if own is not None else _Digest(_FACTS[host.name]())


class _Digest(str):
    """A digest that prints what differs where it is compared with another: pytest shows it."""

    _facts: list[Any]

    def __new__(cls, facts: list[Any]) -> _Digest:
        made = super().__new__(cls, digest(facts))
        made._facts = facts
        return made

    def __eq__(self, other: object) -> bool:
        is_same = super().__eq__(other)
        if not is_same and isinstance(other, _Digest):
            _print_differences(self._facts, other._facts, "scene")
        return bool(is_same)

    __hash__ = str.__hash__


def _print_differences(one: Any, other: Any, place: str) -> None:
    """Print the facts of two scenes that differ, each with its place in the list of facts."""
    is_list = isinstance(one, list | tuple) and isinstance(other, list | tuple)
    if is_list and len(one) == len(other):
        for number, (part, other_part) in enumerate(zip(one, other, strict=True)):
            _print_differences(part, other_part, f"{place}[{number}]")
    elif one != other:
        print(f"{place}: {one!r:.500} is not {other!r:.500}")


def shape_of(host: Host, item: str) -> str:
    """Name the data that an item shows, which an instance shares with others."""
    stage = getattr(host, "stage", None)
    return _in_usd(stage.GetPrimAtPath(item)) if stage is not None else _SHAPES[host.name](item)


def _in_usd(prim: Any) -> str:
    """Give what an instance refers to; what is none stands for itself."""
    if not prim.IsInstance():
        return str(prim.GetPath())
    (reference,) = prim.GetMetadata("references").GetAppliedItems()
    return str(reference.primPath)


def _in_houdini(item: str) -> str:
    """Give the object whose parameters it follows, or itself."""
    from dcc_bridge_houdini.host import find

    followed = [parm.expression() for parm in find(item).parms() if parm.keyframes()]
    return next((it.split('"')[1].rpartition("/")[0] for it in followed), item)


def _in_blender(item: str) -> str:
    import bpy

    thing: Any = bpy.data.objects[item]
    return str(thing.data.name)


def _in_freecad(item: str) -> str:
    import FreeCAD

    return str(FreeCAD.ActiveDocument.getObject(item).getLinkedObject().Name)


def _in_maya(item: str) -> str:
    from maya import cmds

    (shape,) = cmds.listRelatives(item, shapes=True, fullPath=True)
    return str(cmds.ls(shape, uuid=True)[0])


def _blender() -> list[Any]:
    """List of every object, mesh, collection and material what a skill could have changed."""
    import bpy

    from dcc_bridge_blender.census import census
    from dcc_bridge_blender.objects import facts, item_of

    things = sorted(bpy.data.objects, key=item_of)
    return [
        census(),
        [fact[:1] + fact[2:5] for fact in facts([item_of(each) for each in things])],
        [[each.name, _values(each), _modifiers(each)] for each in things],
        [[mesh.name, _mesh(mesh)] for mesh in bpy.data.meshes],
        [[group.name, [item_of(each) for each in group.objects]] for group in bpy.data.collections],
        [[it.name, _values(it), _values(it.render)] for it in bpy.data.scenes],
        [[material.name, _values(material)] for material in bpy.data.materials],
        [[each.name, _values(each)] for each in [*bpy.data.lights, *bpy.data.cameras]],
        [[each.name, _nodes(each.node_tree)] for each in [*bpy.data.materials, *bpy.data.worlds]],
        [[each.name, _places(each)] for each in things],
    ]


def _nodes(tree: Any) -> list[Any]:
    inputs = [
        [node.name, it.identifier, _value(getattr(it, "default_value", None))]
        for node in (tree.nodes if tree else ())
        for it in node.inputs
    ]
    links = [
        [it.from_node.name, it.from_socket.identifier, it.to_node.name, it.to_socket.identifier]
        for it in (tree.links if tree else ())
    ]
    return [inputs, sorted(links)]


def _places(thing: Any) -> list[Any]:
    """Give what an object's place hangs on, its slots, and its keys."""
    animation = thing.animation_data
    action = animation.action if animation else None
    slots = [[slot.link, slot.material and slot.material.name] for slot in thing.material_slots]
    parent = [thing.parent and thing.parent.name, repr(thing.matrix_parent_inverse)]
    data = [thing.data and thing.data.name, action and action.name]
    return [slots, parent, data, action and [list(action.frame_range), repr(_curves(action))]]


def _curves(action: Any) -> list[Any]:
    bags = [bag for layer in getattr(action, "layers", ()) for strip in layer.strips
            for bag in strip.channelbags]  # fmt: skip
    curves = [curve for bag in bags or [action] for curve in bag.fcurves]
    return [
        [
            it.data_path,
            it.array_index,
            [[tuple(key.co), key.interpolation] for key in it.keyframe_points],
        ]
        for it in curves
    ]


def _modifiers(thing: Any) -> list[Any]:
    return [[each.name, _values(each)] for each in thing.modifiers]


def _mesh(mesh: Any) -> list[Any]:
    points: list[Any] = [vertex.co for vertex in mesh.vertices]
    faces: list[Any] = [face.vertices for face in mesh.polygons]
    return [[tuple(each) for each in points], [tuple(each) for each in faces]]


def _values(thing: Any) -> list[tuple[str, str]]:
    plain = ("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM")
    names = [p.identifier for p in thing.bl_rna.properties if p.type in plain]
    return [(name, _value(getattr(thing, name))) for name in names if name not in _LEFT_OUT]


def _value(value: Any) -> str:
    try:
        return repr([_value(part) for part in value]) if not isinstance(value, str) else value
    except TypeError:
        return repr(value)


def _freecad() -> list[Any]:
    """List every object with all its properties, and how it looks. An undo changes their order.

    Which were set since they were made, FreeCAD notes with them, and what watches them.
    """
    import FreeCAD

    objects = FreeCAD.ActiveDocument.Objects
    facts = [(it, it.Content + (it.ViewObject.Content if it.ViewObject else "")) for it in objects]
    noted = re.compile(r' status="\d+"|\s*<Extensions.*?</Extensions>', re.DOTALL)
    return sorted([it.Name, it.TypeId, noted.sub("", told)] for it, told in facts)


def _houdini() -> list[Any]:
    """Give the code that would make every node again, node groups and what the playbar has."""
    import hou

    from dcc_bridge_houdini.host import find

    networks = [hou.node("/"), *find("/").allSubChildren()]
    known = [(it, it.nodeGroups()) for it in networks if isinstance(it, hou.OpNode)]
    groups = [
        [it.path(), g.name(), [n.path() for n in g.nodes()]] for it, has in known for g in has
    ]
    playbar = [hou.fps(), hou.frame(), list(hou.playbar.frameRange())]
    return [[node.asCode(recurse=True) for node in find("/").children()], groups, playbar]


def _maya() -> list[Any]:
    from maya import cmds

    nodes = sorted(cmds.ls(long=True))
    return [
        [node, cmds.ls(node, uuid=True), cmds.nodeType(node), _attributes(node)] for node in nodes
    ]


def _attributes(node: str) -> list[Any]:
    from maya import cmds

    values: list[Any] = []
    for name in cmds.listAttr(node, scalar=True, read=True) or []:
        with suppress(RuntimeError, ValueError):  # an element of an array that has none
            values.append([name, cmds.getAttr(f"{node}.{name}")])
    return [values, cmds.listConnections(node, plugs=True, connections=True) or []]


_FACTS: Final[dict[str, Callable[[], list[Any]]]] = {
    "Blender": _blender,
    "FreeCAD": _freecad,
    "Houdini": _houdini,
    "Maya": _maya,
}
_SHAPES: Final[dict[str, Callable[[str], str]]] = {
    "Blender": _in_blender,
    "FreeCAD": _in_freecad,
    "Houdini": _in_houdini,
    "Maya": _in_maya,
}
