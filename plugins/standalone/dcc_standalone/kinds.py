"""What a prim is to an artist: one of a dozen kinds, told from its schema type.

Main thread.
"""

from __future__ import annotations

from enum import Enum
from functools import cache

from pxr import Tf, Usd, UsdGeom, UsdLux, UsdShade


class Kind(Enum):
    """How a prim is drawn, counted and found."""

    ROOT = "stage"
    GROUP = "group"
    SCOPE = "scope"
    CAMERA = "camera"
    LIGHT = "light"
    GEOMETRY = "mesh"
    CURVES = "curves"
    MATERIAL = "material"
    SHADER = "shader"
    OTHER = "prim"


# The first that fits wins: a mesh light is a light.
_SCHEMAS = (
    (UsdLux.BoundableLightBase, Kind.LIGHT),
    (UsdLux.NonboundableLightBase, Kind.LIGHT),
    (UsdGeom.Camera, Kind.CAMERA),
    (UsdGeom.Curves, Kind.CURVES),
    (UsdGeom.Gprim, Kind.GEOMETRY),
    (UsdGeom.PointInstancer, Kind.GEOMETRY),
    (UsdGeom.Xform, Kind.GROUP),
    (UsdGeom.Scope, Kind.SCOPE),
    (UsdShade.Material, Kind.MATERIAL),
    (UsdShade.Shader, Kind.SHADER),
    (UsdShade.NodeGraph, Kind.SHADER),
)


@cache
def kind_of(type_name: str) -> Kind:
    """Tell the kind from a prim's type name; a prim without a type is a group."""
    if not type_name:
        return Kind.GROUP
    type_ = Usd.SchemaRegistry.GetTypeFromName(type_name)
    return next((kind for schema, kind in _SCHEMAS if type_.IsA(Tf.Type.Find(schema))), Kind.OTHER)
