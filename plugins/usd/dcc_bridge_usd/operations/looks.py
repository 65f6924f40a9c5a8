"""Materials as USD's preview surface has them. No Qt in here. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pxr import Gf, Sdf, Usd, UsdShade

from ..coercion import coerce

_TYPES: Final = Sdf.ValueTypeNames
_INPUTS: Final = {
    "base_color": ("diffuseColor", _TYPES.Color3f),
    "metallic": ("metallic", _TYPES.Float),
    "roughness": ("roughness", _TYPES.Float),
    "emission": ("emissiveColor", _TYPES.Color3f),
    "opacity": ("opacity", _TYPES.Float),
}
_FILES: Final = {
    "texture": ("diffuseColor", _TYPES.Color3f),
    "normal": ("normal", _TYPES.Normal3f),
}
_SHARES: Final = ("metallic", "roughness", "opacity")  # from 0 to 1


def set_look(material: UsdShade.Material, values: Mapping[str, Any]) -> None:
    """Write values into a material's surface; ValueError names one that it has not."""
    names = (*_INPUTS, *_FILES)
    if wrong := [each for each in values if each not in names]:
        raise ValueError(f"A material has no {', '.join(wrong)}: it has {', '.join(names)}.")
    surface = _surface(material)
    for name in filter(values.__contains__, _INPUTS):
        into, kind = _INPUTS[name]
        given = surface.CreateInput(into, kind)
        cut(given.GetAttr())
        given.Set(_bounded(name, coerce(kind, values[name])))
    for name in filter(values.get, _FILES):
        into, kind = _FILES[name]
        _read_file(material, surface.CreateInput(into, kind), coerce(_TYPES.Asset, values[name]))


def cut(attribute: Usd.Attribute) -> None:
    """Leave an attribute without connections, those of weaker layers too."""
    attribute.ClearConnections()
    if attribute.GetConnections():
        attribute.SetConnections([])


def _bounded(name: str, value: Any) -> Any:
    numbers = [value] if isinstance(value, float) else list(value)
    if min(numbers) < 0 or (name in _SHARES and max(numbers) > 1):
        raise ValueError(f"{name} is {'from 0 to 1' if name in _SHARES else '0 or more'}.")
    return value


def _surface(material: UsdShade.Material) -> UsdShade.Shader:
    """Give a material's UsdPreviewSurface; made where it has no surface at all."""
    shader = material.ComputeSurfaceSource()[0]
    if not shader:
        shader = _node(material, "Surface", "UsdPreviewSurface")
        given = shader.CreateOutput("surface", _TYPES.Token)
        material.CreateSurfaceOutput().ConnectToSource(given)
    if shader.GetShaderId() != "UsdPreviewSurface":
        raise ValueError(
            f"The surface of {material.GetPath()} is a {shader.GetShaderId()}: set its values "
            f"with set_values on {shader.GetPath()}."
        )
    return shader


def _node(material: UsdShade.Material, name: str, kind: str) -> UsdShade.Shader:
    path = material.GetPath().AppendChild(name)
    node = UsdShade.Shader.Define(material.GetPrim().GetStage(), path)
    node.CreateIdAttr(kind)
    return node


def _read_file(material: UsdShade.Material, into: UsdShade.Input, path: Sdf.AssetPath) -> None:
    """Have a texture's shader read a file; it is made if it is not there."""
    is_normal = into.GetBaseName() == "normal"
    sources = into.GetConnectedSources()[0]
    reader = UsdShade.Shader(sources[0].source.GetPrim()) if sources else None
    if reader is None or reader.GetShaderId() != "UsdUVTexture":
        reader = _node(material, f"{into.GetBaseName()}_texture", "UsdUVTexture")
        st = _node(material, "st", "UsdPrimvarReader_float2")
        st.CreateInput("varname", _TYPES.String).Set("st")
        uv = st.CreateOutput("result", _TYPES.Float2)
        reader.CreateInput("st", _TYPES.Float2).ConnectToSource(uv)
        for wrap in ("wrapS", "wrapT"):
            reader.CreateInput(wrap, _TYPES.Token).Set("repeat")
    reader.CreateInput("file", _TYPES.Asset).Set(path)
    reader.CreateInput("sourceColorSpace", _TYPES.Token).Set("raw" if is_normal else "sRGB")
    if is_normal:
        reader.CreateInput("scale", _TYPES.Float4).Set(Gf.Vec4f(2, 2, 2, 1))
        reader.CreateInput("bias", _TYPES.Float4).Set(Gf.Vec4f(-1, -1, -1, 0))
    into.ConnectToSource(reader.CreateOutput("rgb", _TYPES.Float3))
