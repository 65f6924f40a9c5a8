"""What USD's schemas and shaders are, as this version knows them. No Qt in here. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from pxr import Sdr, Tf, Usd

from ..coercion import plain

_MOST_SAID: Final = 100
_MOST_TYPES: Final = 8


class Entry(NamedTuple):
    """A type, a property or a socket."""

    name: str
    kind: str
    text: str = ""
    signature: str = ""


def shaders() -> Any:
    """Give the registry of shaders, of which the stubs know an older form."""
    return Sdr.Registry()


@cache
def types() -> list[str]:
    """Give the concrete types, and the shaders by their ids."""
    registry = Usd.SchemaRegistry()
    concrete = filter(registry.IsConcrete, Tf.Type.FindByName("UsdTyped").GetAllDerivedTypes())
    found = {registry.GetConcreteSchemaTypeName(kind) for kind in concrete}
    nodes = ((it, shaders().GetShaderNodeByIdentifier(it)) for it in _shader_ids())
    # a light that is no schema is one that is applied to something else
    return sorted(found | {kind for kind, node in nodes if node.GetContext() != "light"})


def _shader_ids() -> list[str]:
    return list(shaders().GetShaderNodeIdentifiers())


def entries() -> Iterator[Entry]:
    """Give the types, the sockets of shaders, and the properties with all types that have them."""
    having: dict[Entry, list[str]] = {}
    for kind in types():
        definition = Usd.SchemaRegistry().FindConcretePrimDefinition(kind)
        if definition is None:
            yield from _shader(kind)
            continue
        yield Entry(f"create type {kind}", "type", _line(definition.GetDocumentation()))
        for name in definition.GetPropertyNames():
            having.setdefault(_property(definition, name), []).append(kind)
    for entry, kinds in having.items():
        name = f"{kinds[0]}.{entry.name}" if len(kinds) == 1 else entry.name
        more = ", ..." if len(kinds) > _MOST_TYPES else ""
        of = f" Of {', '.join(kinds[:_MOST_TYPES])}{more}" if len(kinds) > 1 else ""
        yield Entry(name, entry.kind, f"{entry.text}{of}".strip(), entry.signature)


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
    """Give the first sentence of a documentation."""
    words = " ".join((text or "").split())
    return words.partition(". ")[0][:_MOST_SAID]
