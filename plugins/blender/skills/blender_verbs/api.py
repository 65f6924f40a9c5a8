"""What this Blender's API has, from introspection alone. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from dcc_bridge.verbs.acts import ApiEntry

from .items import sockets_of
from .seeing import Seeing


class Introspection(Seeing):
    """The act of `find_api`."""

    def api(self) -> Iterator[ApiEntry]:
        """Types to create, sockets of nodes, properties and functions of types, operators."""
        kinds = list(self.types())
        plain = [it for it in kinds if not hasattr(bpy.types, it)]
        nodes = [it for it in kinds if hasattr(bpy.types, it)]
        yield from (ApiEntry(f"create type {it}", "type") for it in plain)
        with self.host.unnoticed():  # the nodes that are made and taken away
            for at in range(0, len(nodes), 10):
                yield from _nodes(nodes[at : at + 10])
        for name in dir(bpy.types):
            rna = getattr(getattr(bpy.types, name), "bl_rna", None)
            if rna is not None and not name.startswith(("bpy_", "Node")) and "_OT_" not in name:
                yield from _type(name, rna)
        for module in dir(bpy.ops):
            for name in dir(getattr(bpy.ops, module)):
                yield _operator(f"bpy.ops.{module}.{name}", getattr(getattr(bpy.ops, module), name))


def _type(name: str, rna: Any) -> Iterator[ApiEntry]:
    yield ApiEntry(name, "type", rna.description)
    base = {it.identifier for it in rna.base.properties} if rna.base else set()
    for prop in rna.properties:
        if prop.identifier not in base and prop.identifier != "rna_type":
            full = f"{name}.{prop.identifier}"
            yield ApiEntry(full, "property", prop.description, _signature(prop))
    for function in rna.functions:
        yield ApiEntry(
            f"{name}.{function.identifier}()",
            "function",
            function.description,
            _arguments(function.parameters),
        )


def _operator(name: str, operator: Any) -> ApiEntry:
    rna = operator.get_rna_type()
    return ApiEntry(name, "operator", rna.description, _arguments(rna.properties))


def _arguments(properties: Any) -> str:
    parts = [it for it in properties if it.identifier != "rna_type"]
    return ", ".join(f"{it.identifier}: {_signature(it)}" for it in parts[:12])


def _signature(prop: Any) -> str:
    kind: str = prop.type.lower()
    if prop.type == "ENUM":
        return " | ".join(it.identifier for it in prop.enum_items_static[:16])
    if prop.type in ("POINTER", "COLLECTION"):
        return f"{prop.fixed_type.identifier}{' list' if prop.type == 'COLLECTION' else ''}"
    if prop.type in ("INT", "FLOAT"):
        count = f"[{prop.array_length}]" if prop.is_array else ""
        return f"{kind}{count} {prop.hard_min:.4g}..{prop.hard_max:.4g}"
    return kind


def _nodes(kinds: list[str]) -> Iterator[ApiEntry]:
    """Give types of nodes, shaders with their sockets: those of some made beside the file."""
    sockets: dict[str, str] = {}
    tree: Any = bpy.data.node_groups.new("find_api", "ShaderNodeTree")
    try:  # in `BlendData.temp_data` some nodes end Blender 4.5
        for kind in kinds:
            if kind.startswith("ShaderNode"):
                node = tree.nodes.new(kind)
                ins, outs = sockets_of(node.inputs), sockets_of(node.outputs)
                sockets[kind] = f"in: {', '.join(ins)}; out: {', '.join(outs)}"
    finally:
        bpy.data.node_groups.remove(tree)
    for kind in kinds:
        rna: Any = getattr(bpy.types, kind).bl_rna
        text = f"{rna.name}. {rna.description}"
        yield ApiEntry(f"create type {kind}", "type", text, sockets.get(kind, ""))
