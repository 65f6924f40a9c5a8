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
    """Write values into a material's surface.

    Args:
        material: The material.
        values: By the names of `_INPUTS` and `_FILES`.

    Raises:
        ValueError: A name is unknown, a value does not fit, or the surface is another shader.
    """
    names = (*_INPUTS, *_FILES)
    wrong = [name for name in values if name not in names]
    if wrong:
        raise ValueError(f"A material has no {', '.join(wrong)}: it has {', '.join(names)}.")
    surface = _surface(material)
    for name, (input_name, kind) in _INPUTS.items():
        if name in values:
            value = _bounded(name, coerce(kind, values[name]))
            socket = surface.CreateInput(input_name, kind)
            cut(socket.GetAttr())
            socket.Set(value)
    for name, (input_name, kind) in _FILES.items():
        if values.get(name):
            socket = surface.CreateInput(input_name, kind)
            _read_file(material, socket, coerce(_TYPES.Asset, values[name]))


def cut(attribute: Usd.Attribute) -> None:
    """Leave an attribute without connections, those of weaker layers too."""
    attribute.ClearConnections()
    if attribute.GetConnections():
        attribute.SetConnections([])


def _bounded(name: str, value: Any) -> Any:
    """Return a value of an input.

    Raises:
        ValueError: The value is out of the input's range.
    """
    numbers = [value] if isinstance(value, float) else list(value)
    is_share = name in _SHARES
    if min(numbers) < 0 or (is_share and max(numbers) > 1):
        bounds = "from 0 to 1" if is_share else "0 or more"
        raise ValueError(f"{name} is {bounds}.")
    return value


def _surface(material: UsdShade.Material) -> UsdShade.Shader:
    """Return a material's UsdPreviewSurface; it is made where the material has no surface.

    Raises:
        ValueError: The surface is another shader.
    """
    shader = material.ComputeSurfaceSource()[0]
    if not shader:
        shader = _node(material, "Surface", "UsdPreviewSurface")
        output = shader.CreateOutput("surface", _TYPES.Token)
        material.CreateSurfaceOutput().ConnectToSource(output)
    if shader.GetShaderId() != "UsdPreviewSurface":
        raise ValueError(
            f"The surface of {material.GetPath()} is a {shader.GetShaderId()}: set its values "
            f"with set_values on {shader.GetPath()}."
        )
    return shader


def _node(material: UsdShade.Material, name: str, kind: str) -> UsdShade.Shader:
    """Make a shader in a material."""
    path = material.GetPath().AppendChild(name)
    node = UsdShade.Shader.Define(material.GetPrim().GetStage(), path)
    node.CreateIdAttr(kind)
    return node


def _read_file(material: UsdShade.Material, socket: UsdShade.Input, path: Sdf.AssetPath) -> None:
    """Make the texture of an input read a file; the texture is made if it is not there."""
    is_normal = socket.GetBaseName() == "normal"
    color_space = "raw" if is_normal else "sRGB"
    sources = socket.GetConnectedSources()[0]
    reader = UsdShade.Shader(sources[0].source.GetPrim()) if sources else None
    if reader is None or reader.GetShaderId() != "UsdUVTexture":
        reader = _node(material, f"{socket.GetBaseName()}_texture", "UsdUVTexture")
        st = _node(material, "st", "UsdPrimvarReader_float2")
        st.CreateInput("varname", _TYPES.String).Set("st")
        uv = st.CreateOutput("result", _TYPES.Float2)
        reader.CreateInput("st", _TYPES.Float2).ConnectToSource(uv)
        for wrap in ("wrapS", "wrapT"):
            reader.CreateInput(wrap, _TYPES.Token).Set("repeat")
    reader.CreateInput("file", _TYPES.Asset).Set(path)
    reader.CreateInput("sourceColorSpace", _TYPES.Token).Set(color_space)
    if is_normal:
        reader.CreateInput("scale", _TYPES.Float4).Set(Gf.Vec4f(2, 2, 2, 1))
        reader.CreateInput("bias", _TYPES.Float4).Set(Gf.Vec4f(-1, -1, -1, 0))
    socket.ConnectToSource(reader.CreateOutput("rgb", _TYPES.Float3))
