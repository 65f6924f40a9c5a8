"""The content of a scene, item by item, so that a test can name what differs. Main thread."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from dcc_bridge import skill
from dcc_bridge.elicitation.context import current_context

_UNSTEADY = {"session_uid", "use_extra_user", "users", "is_evaluated", "rna_type", "use_nodes"}
"""Properties of Blender that undo itself, or its editors, set anew."""
_DERIVED = (
    "Depsgraph",
    "ViewLayer",
    "ToolSettings",
    "MeshVertex",
    "MeshLoop",
    "MeshPolygon",
    "MeshLoopTriangle",
    "MeshNormalValue",
    "ColorManagedInputColorspaceSettings",
)
"""Types of Blender whose content follows from others', is the person's view, or is read at once."""
_NUMBER = re.compile(r'(?<=")-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?=")')
_MOST_MEMBERS = 500  # of a list; those of a mesh are read at once
_VIEWS = ("WindowManager", "Screen", "WorkSpace", "Brush", "Palette")


@skill(risk="read")
def real_facts() -> dict[str, str]:
    """Digest each item of the scene, by its name."""
    return {name: hashlib.sha256(it.encode()).hexdigest()[:12] for name, it in _told().items()}


@skill(risk="read")
def real_text(name: str) -> str:
    """Return all that is known of an item of the scene."""
    return _told()[name]


@skill(risk="edit")
def real_compute() -> dict[str, int]:
    """Compute the whole document, as another version of FreeCAD may have saved it."""
    import FreeCAD

    for obj in FreeCAD.ActiveDocument.Objects:
        obj.touch()
    return {"computed": FreeCAD.ActiveDocument.recompute()}


def _told() -> dict[str, str]:
    installed = current_context()
    assert installed is not None
    facts = {"Blender": _blender, "FreeCAD": _freecad, "dcc_bridge USD": _usd}[installed.host.name]
    return facts(installed.host)


def _usd(host: Any) -> dict[str, str]:
    stage = host.stage
    facts = {}
    for number, layer in enumerate(stage.GetLayerStack()):
        for spec in layer.rootPrims:
            facts[f"{number} {spec.path}"] = spec.GetAsText()
        facts[f"{number} layer"] = layer.ExportToString()
    return facts


def _freecad(host: Any) -> dict[str, str]:
    import FreeCAD

    noted = re.compile(r' status="\d+"|\s*<Extensions.*?</Extensions>', re.DOTALL)
    facts = {}
    for obj in FreeCAD.ActiveDocument.Objects:
        told = noted.sub("", obj.Content)
        facts[obj.Name] = obj.TypeId + _NUMBER.sub(_rounded, told)
    return facts


def _rounded(number: re.Match[str]) -> str:
    """Return a number as it is written after another computation too."""
    return f"{float(number[0]) + 0:.6f}".replace("-0.000000", "0.000000")


def _blender(host: Any) -> dict[str, str]:
    import bpy

    facts = {}
    for prop in bpy.data.bl_rna.properties:
        if prop.type != "COLLECTION" or prop.fixed_type.identifier in _VIEWS:
            continue
        for thing in getattr(bpy.data, prop.identifier):
            name = f"{type(thing).__name__} {_name(thing)}"
            if name == "Image Render Result":
                continue
            if thing.library:
                name += f" of {thing.library.filepath}"
            facts[name] = repr([*_values(thing, set()), _geometry(thing)])
    return facts


def _name(thing: Any) -> str:
    try:
        return str(thing.name_full)
    except UnicodeDecodeError:
        return "a name that cannot be read"


def _geometry(thing: Any) -> str:
    import bpy

    if not isinstance(thing, bpy.types.Mesh):
        return ""
    numbers: list[float] = [0.0] * (3 * len(thing.vertices))
    thing.vertices.foreach_get("co", numbers)
    loops = [0] * len(thing.loops)
    thing.loops.foreach_get("vertex_index", loops)
    return repr((numbers, loops))


def _values(thing: Any, seen: set[tuple[type, int]]) -> list[Any]:
    """List what a thing and its parts hold, each part once; of other data only the name."""
    key = (type(thing), thing.as_pointer())
    if key in seen:
        return [_plain(getattr(thing, "name", ""))]
    seen.add(key)
    values: list[Any] = []
    for prop in thing.bl_rna.properties:
        if prop.identifier in _UNSTEADY:
            continue
        try:
            value = getattr(thing, prop.identifier)
        except (AttributeError, RuntimeError, UnicodeDecodeError):
            continue
        if prop.type == "COLLECTION":
            members = list(value) if len(value) <= _MOST_MEMBERS else []
            told: Any = len(value), [_member(member, seen) for member in members]
        elif prop.type == "POINTER":
            told = _member(value, seen)
        else:
            told = _plain(value)
        values.append((prop.identifier, told))
    return values


def _member(thing: Any, seen: set[tuple[type, int]]) -> Any:
    import bpy

    if thing is None or _is_derived(thing):
        return ""
    if isinstance(thing, bpy.types.ID) and not thing.is_embedded_data:
        return type(thing).__name__, _name(thing)
    return _values(thing, seen)


def _is_derived(value: Any) -> bool:
    return type(value).__name__ in _DERIVED


def _plain(value: Any) -> str:
    if isinstance(value, (str, int, float, bool, set)):
        return repr(value)
    try:
        return repr([_plain(part) for part in value])
    except TypeError:
        return repr(value)
