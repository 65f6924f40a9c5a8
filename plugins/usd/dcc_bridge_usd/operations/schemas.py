"""USD's schemas and shaders, as this version has them. No Qt in here. Main thread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from pxr import Sdr, Tf, Usd, UsdShade

from dcc_bridge.spi import ApiEntry, other_value, shortened

from ..coercion import plain

_MAX_CHARACTERS: Final = 100  # of a documentation
_MAX_TYPES: Final = 8  # types that are named for a property
_OWNERS: Final = {"ShapingAPI": ["SphereLight"], "ShadowAPI": ["SphereLight"]}
"""The types to which schemas are applied in an example, where that is not an Xform."""
_COMMON: Final = frozenset({"Camera", "Cube", "Mesh", "SphereLight", "Xform"})  # in most scenes


def shaders() -> Any:
    """Return the registry of shaders, of which the stubs have an older form."""
    return Sdr.Registry()


def shader_kind(prim: Usd.Prim) -> Any:
    """Return what USD's registry knows of the kind of a shader; None if it is unknown."""
    shader = UsdShade.Shader(prim)
    name = shader.GetShaderId() if shader else str(prim.GetTypeName())
    if not name:
        return None
    return shaders().GetShaderNodeByIdentifier(name)


def shader_inputs(prim: Usd.Prim) -> dict[str, Any]:
    """Return the inputs that a shader's kind has, by the names of the properties."""
    kind = shader_kind(prim) if UsdShade.Shader(prim) else None
    if not kind:
        return {}
    return {f"inputs:{name}": kind.GetShaderInput(name) for name in kind.GetShaderInputNames()}


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


@cache
def _schemas_by_property() -> dict[str, list[Any]]:
    """Return the schemas that can be applied to a prim once, by their properties."""
    registry = Usd.SchemaRegistry()
    schemas: dict[str, list[Any]] = {}
    for schema in Tf.Type.FindByName("UsdAPISchemaBase").GetAllDerivedTypes():
        if not registry.IsAppliedAPISchema(schema) or registry.IsMultipleApplyAPISchema(schema):
            continue
        name = registry.GetSchemaTypeName(schema)
        definition = registry.FindAppliedAPIPrimDefinition(name)
        for prop in definition.GetPropertyNames():
            schemas.setdefault(prop, []).append(schema)
    return schemas


def applicable(prim: Usd.Prim, prop: str) -> Any:
    """Return the only schema that brings a property when it is applied to a prim; None for none."""
    schemas = [each for each in _schemas_by_property().get(prop, ()) if prim.CanApplyAPI(each)]
    if len(schemas) != 1:
        return None
    return schemas[0]


def applicable_props() -> Iterable[str]:
    """Return the properties that schemas bring when they are applied."""
    return _schemas_by_property()


def entries() -> Iterator[ApiEntry]:
    """Yield types, the sockets of shaders, and properties with all types that have them."""
    types_by_property: dict[ApiEntry, list[str]] = {}
    for kind in types():
        definition = Usd.SchemaRegistry().FindConcretePrimDefinition(kind)
        if definition is None:
            yield from _shader(kind)
            continue
        text = _line(definition.GetDocumentation())
        yield ApiEntry(f"create type {kind}", "type", text, example=_create(kind))
        for name in definition.GetPropertyNames():
            types_by_property.setdefault(_property(definition, name), []).append(kind)
    for entry, kinds in types_by_property.items():
        definition = Usd.SchemaRegistry().FindConcretePrimDefinition(kinds[0])
        example = _property_example(kinds, definition, entry.name)
        if len(kinds) == 1:
            full = f"{kinds[0]}.{entry.name}"
            yield replace(entry, name=full, text=entry.text.strip(), example=example)
            continue
        more = ", ..." if len(kinds) > _MAX_TYPES else ""
        owners = f"Of {', '.join(kinds[:_MAX_TYPES])}{more}"
        yield replace(entry, text=f"{_ended(entry.text)} {owners}".strip(), example=example)
    yield from _applied_entries()


def _applied_entries() -> Iterator[ApiEntry]:
    """Yield the properties of schemas that are applied as one of their properties is set."""
    registry = Usd.SchemaRegistry()
    for prop, schemas in _schemas_by_property().items():
        if len(schemas) != 1:
            continue
        name = registry.GetSchemaTypeName(schemas[0])
        definition = registry.FindAppliedAPIPrimDefinition(name)
        entry = _property(definition, prop)
        kinds = registry.GetAPISchemaCanOnlyApplyToTypeNames(name) or _OWNERS.get(name, ["Xform"])
        example = ""
        if set(kinds) <= set(types()):
            example = _property_example(kinds, definition, prop)
        text = f"{_ended(entry.text)} Of {name}, which is applied with it".strip()
        yield replace(entry, name=f"{name}.{prop}", text=text, example=example)


def _ended(text: str) -> str:
    """Return a text that ends with a stop, where it has any words."""
    if not text or text.endswith("."):
        return text
    return f"{text}."


def _create(kind: str) -> str:
    """Return the call that creates a prim."""
    return f"create {json.dumps({'things': [{'type': kind}]})}"


def _set(kinds: Sequence[str], name: str, value: Any) -> str:
    """Return the call that sets a property of a prim of one of these types."""
    first = sorted(kinds, key=lambda kind: kind not in _COMMON)
    items = [f"<{'|'.join(first)}>"]
    return f"set_values {json.dumps({'items': items, 'values': {name: value}})}"


def _property_example(kinds: Sequence[str], definition: Any, name: str) -> str:
    """Return the call that sets a property to another value than its default; "" for none."""
    attribute = definition.GetAttributeDefinition(name)
    if not attribute:
        return ""
    default = plain(attribute.GetFallbackValue())
    value = other_value(default, attribute.GetMetadata("allowedTokens") or ())
    if value is None:
        return ""
    return _set(kinds, name, value)


def _shader(kind: str) -> Iterator[ApiEntry]:
    node = shaders().GetShaderNodeByIdentifier(kind)
    text = _line(node.GetHelp()) or "A shader"
    yield ApiEntry(f"create type {kind}", "type", text, example=_create(kind))
    for name in node.GetShaderInputNames():
        yield _socket(kind, node.GetShaderInput(name), "input")
    for name in node.GetShaderOutputNames():
        yield _socket(kind, node.GetShaderOutput(name), "output")


def _property(definition: Any, name: str) -> ApiEntry:
    text = _line(definition.GetPropertyDocumentation(name))
    attribute = definition.GetAttributeDefinition(name)
    if not attribute:
        return ApiEntry(name, "property", text, "relationship")
    signature = str(attribute.GetTypeName())
    choices = attribute.GetMetadata("allowedTokens")
    default = attribute.GetFallbackValue()
    if default is not None and not attribute.GetTypeName().isArray:
        signature += f" = {plain(default)}"
    if choices:
        signature += f", one of {', '.join(choices)}"
    return ApiEntry(name, "property", text, signature)


def _socket(kind: str, prop: Any, side: str) -> ApiEntry:
    sdf_type = prop.GetTypeAsSdfType().GetSdfType()
    signature = f"{side}, {sdf_type}"
    default = prop.GetDefaultValueAsSdfType()
    example = ""
    if default is not None and side == "input":
        signature += f" = {plain(default)}"
        value = other_value(plain(default))
        if value is not None:
            example = _socket_example(kind, prop.GetName(), str(sdf_type), value)
    name = f"{kind}.{prop.GetName()}"
    return ApiEntry(name, "socket", _line(prop.GetHelp()), signature, example)


def _socket_example(kind: str, name: str, sdf_type: str, value: Any) -> str:
    """Return the code that makes a shader with a value of an input, which has none until then."""
    if isinstance(value, list):
        if isinstance(value[0], list):
            return ""
        value = tuple(value)
    lines = (
        "from pxr import Sdf, UsdShade",
        f'shader = UsdShade.Shader.Define(stage, "/{kind}")',
        f'shader.CreateIdAttr("{kind}")',
        f'shader.CreateInput("{name}", Sdf.ValueTypeNames.Find("{sdf_type}")).Set({value!r})',
    )
    return "\n".join(lines)


def _line(text: str | None) -> str:
    """Return the first sentence of a documentation."""
    sentence = " ".join((text or "").split()).partition(". ")[0]
    return shortened(sentence, _MAX_CHARACTERS)
