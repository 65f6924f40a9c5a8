"""Sockets of node groups, view layers with their collections, and splines. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import bpy

from ..names import name_of
from . import vertices
from .kind import Access, PartKind, by_name, named, numbered

_SOCKET: Final = "NodeSocket"
_HAS_INTERFACE: Final = hasattr(bpy.types, "NodeTreeInterfaceSocket")  # since 4.0
_OUT: Final = {"input": "INPUT", "output": "OUTPUT"}
# Variants of these have another subtype only, and Standard and Virtual are Blender's own.
_BASE_SOCKETS: Final = (
    *("Bool", "Collection", "Color", "Float", "Geometry", "Image", "Int", "Material", "Matrix"),
    *("Menu", "Object", "Rotation", "Shader", "String", "Texture", "Vector"),
)


# ---- the inputs and outputs of node groups


def _sockets(way: str) -> Callable[[Any], dict[str, Any]]:
    """Return a function that returns the inputs or the outputs of a node group."""

    def parts(owner: Any) -> dict[str, Any]:
        if not isinstance(owner, bpy.types.NodeTree):
            return {}
        return numbered((name_of(socket), socket) for socket in _sockets_of(owner, way))

    return parts


def _sockets_of(tree: Any, way: str) -> list[Any]:
    if not _HAS_INTERFACE:
        return list(tree.inputs if way == "INPUT" else tree.outputs)
    items = tree.interface.items_tree
    return [each for each in items if each.item_type == "SOCKET" and each.in_out == way]


def _socket_types(way: str) -> Callable[[], dict[str, str]]:
    """Return a function that returns the types of inputs or outputs, as "FLOAT_INPUT"."""

    @cache
    def types() -> dict[str, str]:
        names = [name for name in _BASE_SOCKETS if hasattr(bpy.types, f"{_SOCKET}{name}")]
        return {f"{name.upper()}_{way}": f"{_SOCKET}{name}" for name in names}

    return types


def _type_of_socket(socket: Any) -> str:
    if _HAS_INTERFACE:
        return f"{socket.socket_type.removeprefix(_SOCKET).upper()}_{socket.in_out}"
    way = "OUTPUT" if socket.is_output else "INPUT"
    return f"{socket.bl_socket_idname.removeprefix(_SOCKET).upper()}_{way}"


def _make_socket(way: str) -> Callable[[Any, str, str | None], str]:
    """Return a function that adds an input or an output to a node group."""

    def make(tree: Any, kind: str, name: str | None) -> str:
        try:
            _add_socket(tree, way, kind, name or kind.removeprefix(_SOCKET))
        except (RuntimeError, TypeError) as error:
            raise ValueError(str(error).strip()) from error
        return list(_sockets(way)(tree))[-1]

    return make


def _add_socket(tree: Any, way: str, kind: str, name: str) -> None:
    if _HAS_INTERFACE:
        tree.interface.new_socket(name, in_out=way, socket_type=kind)
    elif way == "INPUT":
        tree.inputs.new(kind, name)
    else:
        tree.outputs.new(kind, name)


def _remove_sockets(tree: Any, sockets: Sequence[Any]) -> None:
    for socket in sockets:
        if _HAS_INTERFACE:
            tree.interface.remove(socket)
        elif socket.is_output:
            tree.outputs.remove(socket)
        else:
            tree.inputs.remove(socket)


def _socket_kind(way: str) -> PartKind:
    struct = "NodeTreeInterfaceSocket" if _HAS_INTERFACE else "NodeSocketInterface"
    return PartKind(
        structs=(getattr(bpy.types, struct),),
        parts=_sockets(way),
        type_of=_type_of_socket,
        words=named("socket"),
        types=_socket_types(way),
        make=_make_socket(way),
        owners=(bpy.types.NodeTree,),
        owner_words="a node group, such as nodetree:Scatter",
        remove=_remove_sockets,
    )


# ---- view layers, and what each leaves out


def _view_layers(owner: Any) -> dict[str, Any]:
    return by_name(owner.view_layers) if isinstance(owner, bpy.types.Scene) else {}


def _make_view_layer(scene: Any, kind: str, name: str | None) -> str:
    return name_of(scene.view_layers.new(name or "ViewLayer"))


def _remove_view_layers(scene: Any, layers: Sequence[Any]) -> None:
    if len(layers) >= len(scene.view_layers):
        raise ValueError(f"{name_of(scene)} keeps at least one view layer")
    shown = _shown_layers()
    for layer in layers:
        if layer in shown:  # undo would bring the layer back, and leave the window in another one
            name = name_of(layer)
            raise ValueError(f"{name} is shown in a window: show another view layer first")
    for layer in layers:
        scene.view_layers.remove(layer)


def _shown_layers() -> list[Any]:
    """Return the view layers that windows show, and the one that edits go to."""
    context: Any = bpy.context
    return [context.view_layer, *(window.view_layer for window in context.window_manager.windows)]


def _layer_collections(owner: Any) -> dict[str, Any]:
    """Return the collections of a view layer, without that of the scene."""
    if not isinstance(owner, bpy.types.ViewLayer):
        return {}
    # A collection may be in several others.
    return numbered((name_of(each), each) for each in _below(owner.layer_collection))


def _below(collection: Any) -> Iterator[Any]:
    for child in collection.children:
        yield child
        yield from _below(child)


# ---- the splines of curves


def _splines(owner: Any) -> dict[str, Any]:
    if not isinstance(owner, bpy.types.Object) or owner.type not in ("CURVE", "SURFACE"):
        return {}
    data: Any = owner.data
    return {str(at): spline for at, spline in enumerate(data.splines)}


def _make_spline(thing: Any, kind: str, name: str | None) -> str:
    if name:
        raise ValueError("a spline is called by its number")
    if thing.type != "CURVE":
        raise ValueError(f"a {thing.type} has no splines")
    vertices.check_shown(thing)
    _check_no_shape_keys(thing.data)
    spline = thing.data.splines.new(kind)
    if kind == "BEZIER":
        _smoothen(spline.bezier_points)
    return str(len(thing.data.splines) - 1)


def _remove_splines(thing: Any, splines: Sequence[Any]) -> None:
    vertices.check_shown(thing)
    _check_no_shape_keys(thing.data)
    for spline in splines:
        thing.data.splines.remove(spline)


def _check_no_shape_keys(curve: Any) -> None:
    """Raise ValueError where other points would take the places of those of shape keys."""
    if curve.shape_keys is not None:
        raise ValueError("the curve has shape keys, which would go to other points: use edit mode")


def _smoothen(points: Any) -> None:
    for each in points:
        each.handle_left_type = "AUTO"
        each.handle_right_type = "AUTO"


def _points_of(spline: Any) -> Any:
    return spline.bezier_points if spline.type == "BEZIER" else spline.points


def _read_points(spline: Any) -> list[list[float]]:
    points = []
    for each in _points_of(spline):
        points.append([round(number, 6) + 0.0 for number in each.co[:3]])
    return points


def _write_points(spline: Any, value: Any) -> None:
    """Set the points of a spline, of which there may be more than before.

    Handles and weights stay as they are to their points, and the handles of new points go smoothly.
    """
    if not isinstance(value, list):
        raise ValueError(f"points takes [[x, y, z], ...], and not {value!r}")
    places = [vertices.point(each, "points") for each in value]
    points = _points_of(spline)
    if len(places) < len(points):
        raise ValueError(
            f"a spline keeps its {len(points)} points: create one of {len(places)}, and delete this"
        )
    before = len(points)
    if len(places) > before:
        if spline.point_count_v > 1:  # Blender writes beyond the points of a surface
            raise ValueError(f"a surface keeps its {before} points")
        _check_no_shape_keys(spline.id_data)
        points.add(len(places) - before)
        points = _points_of(spline)
    if spline.type != "BEZIER":
        for at, (each, place) in enumerate(zip(points, places, strict=True)):
            each.co = (*place, each.co[3] if at < before else 1.0)
        return
    _smoothen(points[before:])
    for each, place in zip(points, places, strict=True):
        left = each.handle_left - each.co
        right = each.handle_right - each.co
        each.co = place
        each.handle_left = each.co + left
        each.handle_right = each.co + right


def _copy_points(spline: Any, copy: Any) -> None:
    """Copy to a new spline the points of another one, with their handles, weights and radii."""
    points = _points_of(spline)
    _points_of(copy).add(len(points) - 1)
    for own, other in zip(_points_of(copy), points, strict=True):
        for name in _POINT_VALUES:
            if hasattr(own, name):
                setattr(own, name, getattr(other, name))


_POINT_VALUES: Final = (
    *("handle_left_type", "handle_right_type", "co", "handle_left", "handle_right"),
    *("tilt", "radius", "weight", "weight_softbody"),
)


def _here() -> Any:
    return bpy.context.scene


CONTAINING: Final[dict[str, PartKind]] = {
    **{name: _socket_kind(way) for name, way in _OUT.items()},
    "view_layer": PartKind(
        structs=(bpy.types.ViewLayer,),
        parts=_view_layers,
        type_of=lambda _: "VIEW_LAYER",
        words=named("view layer"),
        types=lambda: {"VIEW_LAYER": "VIEW_LAYER"},
        make=_make_view_layer,
        owners=(bpy.types.Scene,),
        owner_words="a scene, such as scene:Scene",
        remove=_remove_view_layers,
        home=_here,
    ),
    "collection": PartKind(
        structs=(bpy.types.LayerCollection,),
        parts=_layer_collections,
        type_of=lambda _: "LAYER_COLLECTION",
        words=named("layer collection"),
    ),
    "spline": PartKind(
        structs=(bpy.types.Spline,),
        parts=_splines,
        type_of=lambda spline: f"{spline.type}_SPLINE",
        words=lambda spline: _count(len(_points_of(spline))),
        types=lambda: {f"{kind}_SPLINE": kind for kind in ("BEZIER", "POLY", "NURBS")},
        make=_make_spline,
        owners=(bpy.types.Object,),
        owner_words="a curve object, such as Path",
        remove=_remove_splines,
        values={"points": Access(_read_points, _write_points)},
        copy=_copy_points,
    ),
}


def _count(points: int) -> str:
    return "1 point" if points == 1 else f"{points} points"
