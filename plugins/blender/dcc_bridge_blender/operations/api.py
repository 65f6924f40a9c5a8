"""The entries that `find_api` searches: Blender's types, operators and nodes. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import bpy

from dcc_bridge.spi import ApiEntry

from .items import sockets_of

_MAX_ARGUMENTS: Final = 12  # of an operator or function
_MAX_CHOICES: Final = 16  # of an enumeration


def type_entries() -> Iterator[ApiEntry]:
    """Yield the types, each with its properties and functions."""
    for name in dir(bpy.types):
        rna = getattr(getattr(bpy.types, name), "bl_rna", None)
        if rna is not None and not name.startswith(("bpy_", "Node")) and "_OT_" not in name:
            yield from _type(name, rna)


def _type(name: str, rna: Any) -> Iterator[ApiEntry]:
    """Yield a type with the properties and functions that its base does not have."""
    yield ApiEntry(name, "type", rna.description)
    base = {prop.identifier for prop in rna.base.properties} if rna.base else set()
    for prop in rna.properties:
        if prop.identifier not in base and prop.identifier != "rna_type":
            full = f"{name}.{prop.identifier}"
            yield ApiEntry(full, "property", prop.description, _signature(prop))
    for function in rna.functions:
        full = f"{name}.{function.identifier}()"
        arguments = _arguments(function.parameters)
        yield ApiEntry(full, "function", function.description, arguments)


def operator_entries() -> Iterator[ApiEntry]:
    """Yield the operators."""
    for module_name in dir(bpy.ops):
        module = getattr(bpy.ops, module_name)
        for name in dir(module):
            rna = getattr(module, name).get_rna_type()
            full = f"bpy.ops.{module_name}.{name}"
            yield ApiEntry(full, "operator", rna.description, _arguments(rna.properties))


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
        text = f"{rna.name}. {rna.description}"
        yield ApiEntry(f"create type {kind}", "type", text, sockets.get(kind, ""))
