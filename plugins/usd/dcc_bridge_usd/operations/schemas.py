"""USD's schemas and shaders, as this version has them. No Qt in here. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from pxr import Sdr, Tf, Usd

from ..coercion import plain

_MAX_CHARACTERS: Final = 100  # of a documentation
_MAX_TYPES: Final = 8  # types that are named for a property


class Entry(NamedTuple):
    """A type, a property or a socket.

    Attributes:
        name: Its name, with that of its type or shader where it is of one alone.
        kind: "type", "property" or "socket".
        text: The first sentence of the documentation.
        signature: The type of its values, and the default.
    """

    name: str
    kind: str
    text: str = ""
    signature: str = ""


def shaders() -> Any:
    """Return the registry of shaders, of which the stubs have an older form."""
    return Sdr.Registry()


@cache
def types() -> list[str]:
    """Return the concrete types, and the shaders by their ids."""
    registry = Usd.SchemaRegistry()
    names = set()
    for schema in Tf.Type.FindByName("UsdTyped").GetAllDerivedTypes():
        if registry.IsConcrete(schema):
            names.add(registry.GetConcreteSchemaTypeName(schema))
    for shader_id in shaders().GetShaderNodeIdentifiers():
        # A light that is no schema is applied to something else.
        if shaders().GetShaderNodeByIdentifier(shader_id).GetContext() != "light":
            names.add(shader_id)
    return sorted(names)


def entries() -> Iterator[Entry]:
    """Yield types, the sockets of shaders, and properties with all types that have them."""
    types_by_property: dict[Entry, list[str]] = {}
    for kind in types():
        definition = Usd.SchemaRegistry().FindConcretePrimDefinition(kind)
        if definition is None:
            yield from _shader(kind)
            continue
        yield Entry(f"create type {kind}", "type", _line(definition.GetDocumentation()))
        for name in definition.GetPropertyNames():
            types_by_property.setdefault(_property(definition, name), []).append(kind)
    for entry, kinds in types_by_property.items():
        if len(kinds) == 1:
            yield entry._replace(name=f"{kinds[0]}.{entry.name}", text=entry.text.strip())
            continue
        more = ", ..." if len(kinds) > _MAX_TYPES else ""
        owners = f"Of {', '.join(kinds[:_MAX_TYPES])}{more}"
        yield entry._replace(text=f"{entry.text} {owners}".strip())


def _shader(kind: str) -> Iterator[Entry]:
    node = shaders().GetShaderNodeByIdentifier(kind)
    yield Entry(f"create type {kind}", "type", _line(node.GetHelp()) or "A shader")
    for name in node.GetShaderInputNames():
        yield _socket(kind, node.GetShaderInput(name), "input")
    for name in node.GetShaderOutputNames():
        yield _socket(kind, node.GetShaderOutput(name), "output")


def _property(definition: Any, name: str) -> Entry:
    text = _line(definition.GetPropertyDocumentation(name))
    attribute = definition.GetAttributeDefinition(name)
    if not attribute:
        return Entry(name, "property", text, "relationship")
    signature = str(attribute.GetTypeName())
    choices = attribute.GetMetadata("allowedTokens")
    default = attribute.GetFallbackValue()
    if default is not None and not attribute.GetTypeName().isArray:
        signature += f" = {plain(default)}"
    if choices:
        signature += f", one of {', '.join(choices)}"
    return Entry(name, "property", text, signature)


def _socket(kind: str, prop: Any, side: str) -> Entry:
    sdf_type = prop.GetTypeAsSdfType().GetSdfType()
    signature = f"{side}, {sdf_type}"
    default = prop.GetDefaultValueAsSdfType()
    if default is not None and side == "input":
        signature += f" = {plain(default)}"
    return Entry(f"{kind}.{prop.GetName()}", "socket", _line(prop.GetHelp()), signature)


def _line(text: str | None) -> str:
    """Return the first sentence of a documentation."""
    words = " ".join((text or "").split())
    return words.partition(". ")[0][:_MAX_CHARACTERS]
