"""The entries that `find_api` searches: Blender's types, operators and nodes. Main thread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import bpy

from dcc_bridge.spi import ApiEntry

from . import api_examples
from .items import sockets_of

_MAX_ARGUMENTS: Final = 12  # of an operator or function
_MAX_CHOICES: Final = 16  # of an enumeration
_LEFT_OUT: Final = ("bpy_", "NodeSocket", "NodeTreeInterfaceSocket")  # a type for each socket
# Types of Blender's own window, of which nobody calls the functions.
_OF_WINDOW: Final = {"Panel", "Menu", "Header", "UIList", "Operator", "AssetShelf", "Gizmo"}
_CALLED_BY_BLENDER: Final = _OF_WINDOW | {"Node", "NodeSocket", "NodeTree", "RenderEngine"}
# How likely it is that somebody means a type, by how its name begins, or that of its base.
_SELDOM: Final = re.compile(
    "Theme|Preferences|Space|UI|View3D|Region|Xr|Freestyle|LineStyle|FileSelect|Dope|Gpencil"
    "|Texture[NS]|RenderEngine|Strip|MovieTracking|Paint|Brush|Sculpt|Gizmo|KeyMap|Window|Rna|Asset"
)
_RARE: Final = 0.4
_TYPE: Final = 0.8  # a type whose objects cannot be created by its name
_MEMBER: Final = 0.9
_NODE: Final = 0.7  # the type of a node beside the entry that creates it
# The modules of operators for what a scene has; the others work in editors.
_SCENE_MODULES: Final = {
    *(
        "object",
        "mesh",
        "render",
        "wm",
        "uv",
        "export_scene",
        "import_scene",
        "anim",
        "import_mesh",
    ),
    *("export_mesh", "material", "curve", "armature", "pose", "world", "image", "transform"),
    *("import_anim", "export_anim", "rigidbody", "ptcache", "fluid", "collection"),
}


def type_entries() -> Iterator[ApiEntry]:
    """Yield the types, each with its properties and functions."""
    owners = api_examples.owners()
    for name in dir(bpy.types):
        rna = getattr(getattr(bpy.types, name), "bl_rna", None)
        if rna is not None and not name.startswith(_LEFT_OUT) and "_OT_" not in name:
            yield from _type(name, rna, owners.get(name))
    for name, (rna, _) in api_examples.scene_types().items():
        if not hasattr(bpy.types, name):  # those of add-ons, such as Cycles
            yield from _type(name, rna, owners.get(name))
    yield from _methods_of_all()
    yield from _context_entries()


def _type(name: str, rna: Any, owner: api_examples.Owner | None) -> Iterator[ApiEntry]:
    """Yield a type with the properties and functions that its base does not have."""
    root = _root(rna)
    weight = _weight(name, root)
    yield ApiEntry(name, "type", rna.description, label=_label(rna), weight=weight * _TYPE)
    base = {prop.identifier for prop in rna.base.properties} if rna.base else set()
    examples = api_examples.settings(rna, owner) if owner else {}
    for prop in rna.properties:
        if prop.identifier in base or prop.identifier == "rna_type":
            continue
        full = f"{name}.{prop.identifier}"
        example = examples.get(prop.identifier, "")
        yield ApiEntry(
            full,
            "property",
            prop.description,
            _signature(prop),
            example,
            label=f"{rna.name} {prop.name}",
            weight=weight * _MEMBER,
        )
    if root in _CALLED_BY_BLENDER:
        return
    yield from _own_members(name, weight)
    for function in rna.functions:
        full = f"{name}.{function.identifier}()"
        arguments = _arguments(function.parameters)
        yield ApiEntry(full, "function", function.description, arguments, weight=weight * _MEMBER)


def _own_members(name: str, weight: float) -> Iterator[ApiEntry]:
    """Yield what Blender adds to a type in Python, which the type does not list."""
    for member_name, member in vars(getattr(bpy.types, name, object)).items():
        if member_name.startswith(("_", "bl_")):
            continue
        text = " ".join((getattr(member, "__doc__", None) or "").split(":arg")[0].split())
        full = f"{name}.{member_name}"
        if isinstance(member, property):
            yield ApiEntry(full, "property", text, weight=weight * _MEMBER)
        elif callable(member):
            yield ApiEntry(f"{full}()", "function", text, weight=weight * _MEMBER)


def _methods_of_all() -> Iterator[ApiEntry]:
    """Yield the methods of `bpy_struct`, which everything has and no type lists."""
    for name in dir(bpy.types.bpy_struct):
        method = getattr(bpy.types.bpy_struct, name)
        if name.startswith("_") or not callable(method):
            continue
        first, _, rest = (method.__doc__ or "").strip().partition("\n")
        text = " ".join(rest.split(":arg")[0].split())
        signature = first.removeprefix(".. method:: ")
        yield ApiEntry(f"bpy_struct.{name}()", "function", text, signature)


def _context_entries() -> Iterator[ApiEntry]:
    """Yield what Blender's context has beyond the properties of its type, such as a selection."""
    known = {prop.identifier for prop in bpy.context.bl_rna.properties}
    for name in dir(bpy.context):
        if name.startswith("_") or name in known or callable(getattr(bpy.context, name, None)):
            continue
        full = f"bpy.context.{name}"
        yield ApiEntry(full, "property", f"The {name.replace('_', ' ')} of the context", "", full)


def _root(rna: Any) -> str:
    while rna.base:
        rna = rna.base
    return str(rna.identifier)


def _weight(name: str, root: str) -> float:
    if root in _OF_WINDOW or _SELDOM.match(name) or _SELDOM.match(root):
        return _RARE
    if root == "Node":
        return _NODE
    return 1.0


def _label(rna: Any) -> str:
    """Return the label of a type or operator, where it is not its name."""
    return "" if rna.name == rna.identifier else str(rna.name)


def operator_entries() -> Iterator[ApiEntry]:
    """Yield the operators."""
    for module_name in dir(bpy.ops):
        module = getattr(bpy.ops, module_name)
        weight = 1.0 if module_name in _SCENE_MODULES else _RARE
        for name in dir(module):
            rna = getattr(module, name).get_rna_type()
            full = f"bpy.ops.{module_name}.{name}"
            arguments = _arguments(rna.properties)
            label = _label(rna)
            yield ApiEntry(full, "operator", rna.description, arguments, label=label, weight=weight)


def _arguments(properties: Any) -> str:
    arguments = [prop for prop in properties if prop.identifier != "rna_type"]
    texts = [f"{prop.identifier}: {_signature(prop)}" for prop in arguments[:_MAX_ARGUMENTS]]
    return ", ".join(texts)


def _signature(prop: Any) -> str:
    """Return what a property takes, in a few words."""
    kind: str = prop.type.lower()
    if prop.type == "ENUM":
        choices = prop.enum_items_static[:_MAX_CHOICES]
        return " | ".join(choice.identifier for choice in choices)
    if prop.type == "COLLECTION":
        return f"{prop.fixed_type.identifier} list"
    if prop.type == "POINTER":
        return str(prop.fixed_type.identifier)
    if prop.type in ("INT", "FLOAT"):
        count = f"[{prop.array_length}]" if prop.is_array else ""
        return f"{kind}{count} {prop.hard_min:.4g}..{prop.hard_max:.4g}"
    return kind


def create_entry(kind: str) -> ApiEntry:
    """Return the entry of a type that `create` makes and that is no node."""
    return ApiEntry(f"create type {kind}", "type", example=api_examples.create(kind))


def node_entries(kinds: list[str]) -> Iterator[ApiEntry]:
    """Yield types of nodes; shaders with their sockets, read from nodes beside the file."""
    sockets: dict[str, str] = {}
    tree: Any = bpy.data.node_groups.new("find_api", "ShaderNodeTree")
    try:  # in `BlendData.temp_data` some nodes end Blender 4.5
        for kind in kinds:
            if kind.startswith("ShaderNode"):
                node = tree.nodes.new(kind)
                inputs = ", ".join(sockets_of(node.inputs))
                outputs = ", ".join(sockets_of(node.outputs))
                sockets[kind] = f"in: {inputs}; out: {outputs}"
    finally:
        bpy.data.node_groups.remove(tree)
    for kind in kinds:
        rna: Any = getattr(bpy.types, kind).bl_rna
        yield ApiEntry(
            f"create type {kind}",
            "type",
            f"{rna.name}. {rna.description}",
            sockets.get(kind, ""),
            api_examples.create(kind),
            label=f"{rna.name} node",
        )
