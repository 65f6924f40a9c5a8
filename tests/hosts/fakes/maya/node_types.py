"""The node types of the stand-in: what they derive from, and their attributes.

By Autodesk's "Nodes" reference: the inheritance of each node, its attributes with type, default and
range. Only those that somebody here needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final


@dataclass(frozen=True)
class Attribute:
    """One attribute."""

    type: str  # as `attributeQuery -attributeType` has it
    default: Any = 0.0  # its value in a new node, in centimetres, degrees and frames
    least: float | None = None  # the lowest number that `setAttr` takes, or None
    most: float | None = None  # the highest, or None
    labels: str = ""  # of an enumeration, as `attributeQuery -listEnum` has them
    parts: tuple[str, ...] = ()  # the names of a compound's parts
    is_keyable: bool = False  # it is in the Channel Box, and keyed by default
    is_file: bool = False  # it names a file
    is_multi: bool = False  # it is an array
    is_output: bool = False  # it can be read only


def three(
    name: str,
    type_name: str,
    values: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ends: str = "XYZ",
    **more: Any,
) -> dict[str, Attribute]:
    names = tuple(f"{name}{end}" for end in ends)
    whole = "float3" if type_name == "float" else "double3"
    parts = {n: Attribute(type_name, v, **more) for n, v in zip(names, values, strict=True)}
    return {name: Attribute(whole, None, parts=names), **parts}


def color(name: str, value: float = 0.0) -> dict[str, Attribute]:
    return three(name, "float", (value, value, value), "RGB", is_keyable=True)


ORDERS: Final = "xyz:yzx:zxy:xzy:yxz:zyx"
_MESSAGE: Final = {"message": Attribute("message", None, is_output=True)}
_DAG: Final = {
    "visibility": Attribute("bool", True, is_keyable=True),
    "worldMatrix": Attribute("matrix", None, is_multi=True, is_output=True),
}
_TRANSFORM: Final = {
    **three("translate", "doubleLinear", is_keyable=True),
    **three("rotate", "doubleAngle", is_keyable=True),
    **three("scale", "double", (1.0, 1.0, 1.0), is_keyable=True),
    **three("rotatePivot", "doubleLinear"),
    "rotateOrder": Attribute("enum", 0, labels=ORDERS),
}
_CAMERA: Final = {
    "focalLength": Attribute("double", 35.0, 2.5, is_keyable=True),
    "horizontalFilmAperture": Attribute("double", 1.417, 0.001, is_keyable=True),
    "verticalFilmAperture": Attribute("double", 0.945, 0.001, is_keyable=True),
    "cameraAperture": Attribute(
        "double2", None, parts=("horizontalFilmAperture", "verticalFilmAperture")
    ),
    "nearClipPlane": Attribute("doubleLinear", 0.1, is_keyable=True),
    "farClipPlane": Attribute("doubleLinear", 10_000.0, is_keyable=True),
    "centerOfInterest": Attribute("doubleLinear", 5.0, is_keyable=True),
    "orthographic": Attribute("bool", False),
    "orthographicWidth": Attribute("doubleLinear", 10.0),
    "renderable": Attribute("bool", False),
}
_LIGHT: Final = {
    **color("color", 1.0),
    "intensity": Attribute("float", 1.0, is_keyable=True),
}
_SURFACE: Final = {
    **three("outColor", "float", ends="RGB", is_output=True),
    **three("normalCamera", "float"),
}
_STANDARD: Final = {
    "base": Attribute("float", 1.0, 0.0, 1.0, is_keyable=True),
    **color("baseColor", 0.8),
    "metalness": Attribute("float", 0.0, 0.0, 1.0, is_keyable=True),
    "specularRoughness": Attribute("float", 0.2, 0.0, 1.0, is_keyable=True),
    "emission": Attribute("float", 0.0, 0.0, 1.0, is_keyable=True),
    **color("emissionColor", 1.0),
    **color("opacity", 1.0),
}
_PLACED: Final = (
    *("coverage", "translateFrame", "rotateFrame", "mirrorU", "mirrorV", "stagger"),
    *("wrapU", "wrapV", "repeatUV", "offset", "rotateUV", "noiseUV"),
)
_UV: Final = dict.fromkeys(_PLACED, Attribute("float", 0.0))
_FILE: Final = {
    **_UV,
    "uvCoord": Attribute("float2", 0.0),
    "uvFilterSize": Attribute("float2", 0.0),
    "fileTextureName": Attribute("string", "", is_file=True),
    "colorSpace": Attribute("string", "sRGB"),
    **three("outColor", "float", ends="RGB", is_output=True),
    "outAlpha": Attribute("float", 0.0, is_output=True),
}
_BUMP: Final = {
    "bumpInterp": Attribute("enum", 0, labels="Bump:Tangent Space Normals:Object Space Normals"),
    "bumpValue": Attribute("float", 0.0, is_keyable=True),
    **three("outNormal", "float", is_output=True),
}
_CUBE: Final = {
    name: Attribute("double", 1.0, is_keyable=True) for name in ("width", "height", "depth")
}
_SIZE: Final = {
    "width": Attribute("long", 960, 2),
    "height": Attribute("long", 540, 2),
    "pixelAspect": Attribute("float", 1.0),
    "deviceAspectRatio": Attribute("float", 1.777),
}
_OUT: Final = {"output": Attribute("double", 0.0, is_output=True), "input": Attribute("double", 0)}

TYPES: Final[dict[str, tuple[str, dict[str, Attribute]]]] = {
    "containerBase": ("", {}),
    "entity": ("containerBase", {}),
    "dagNode": ("entity", _DAG),
    "transform": ("dagNode", _TRANSFORM),
    "joint": ("transform", {}),
    "constraint": ("transform", {}),
    "parentConstraint": ("constraint", {"target": Attribute("message", None, is_multi=True)}),
    "shape": ("dagNode", {"intermediateObject": Attribute("bool", False)}),
    "geometryShape": ("shape", {}),
    "deformableShape": ("geometryShape", {}),
    "controlPoint": ("deformableShape", {}),
    "surfaceShape": ("controlPoint", {}),
    "mesh": ("surfaceShape", {"inMesh": Attribute("mesh", None)}),
    "nurbsCurve": ("controlPoint", {}),
    "camera": ("shape", _CAMERA),
    "light": ("shape", _LIGHT),
    "renderLight": ("light", {}),
    "nonAmbientLightShapeNode": ("renderLight", {}),
    "directionalLight": ("nonAmbientLightShapeNode", {}),
    "areaLight": ("nonAmbientLightShapeNode", {}),
    "spotLight": ("nonAmbientLightShapeNode", {}),
    "pointLight": ("nonAmbientLightShapeNode", {}),
    "locator": ("geometryShape", {}),
    "imagePlane": ("shape", {"imageName": Attribute("string", "", is_file=True)}),
    "annotationShape": ("shape", {"text": Attribute("string", "")}),
    "abstractBaseCreate": ("", {}),
    "polyBase": ("abstractBaseCreate", {"output": Attribute("mesh", None, is_output=True)}),
    "polyCreator": ("polyBase", {}),
    "polyPrimitive": ("polyCreator", {"axisY": Attribute("double", 1.0)}),
    "polyCube": ("polyPrimitive", _CUBE),
    "polySphere": ("polyPrimitive", {"radius": Attribute("double", 1.0, is_keyable=True)}),
    "polyCylinder": ("polyPrimitive", {}),
    "polyPlane": ("polyPrimitive", {}),
    "geometryFilter": ("", {"envelope": Attribute("float", 1.0, is_keyable=True)}),
    "skinCluster": ("geometryFilter", {"input": Attribute("mesh", None, is_multi=True)}),
    "shadingDependNode": ("", {}),
    "lambert": ("shadingDependNode", {**_SURFACE, **color("color", 0.5)}),
    "standardSurface": ("shadingDependNode", {**_SURFACE, **_STANDARD}),
    "texture2d": ("shadingDependNode", {}),
    "file": ("texture2d", _FILE),
    "noise": ("texture2d", {}),
    "ramp": ("texture2d", {}),
    "place2dTexture": (
        "shadingDependNode",
        {
            **_UV,
            "outUV": Attribute("float2", 0.0, is_output=True),
            "outUvFilterSize": Attribute("float2", 0.0, is_output=True),
        },
    ),
    "bump2d": ("shadingDependNode", _BUMP),
    "multiplyDivide": ("shadingDependNode", {**_OUT, "input1X": Attribute("float", 0.0)}),
    "plusMinusAverage": (
        "shadingDependNode",
        {
            "input1D": Attribute("float", 0.0, is_multi=True),
            "output1D": Attribute("float", 0.0, is_output=True),
        },
    ),
    "objectSet": ("entity", {"notes": Attribute("string", "")}),
    "shadingEngine": ("objectSet", three("surfaceShader", "float", ends="RGB")),
    "displayLayer": ("", {}),
    "animCurve": ("", {}),
    **{f"animCurve{kind}": ("animCurve", _OUT) for kind in ("TL", "TA", "TU")},
    "unitConversion": ("", _OUT),
    "resolution": ("", _SIZE),
    "defaultShaderList": ("", {"shaders": Attribute("message", None, is_multi=True)}),
    "reference": ("", {}),
    "script": ("", {"before": Attribute("string", "")}),
    "expression": ("", {"expression": Attribute("string", "")}),
    "unknown": ("", {}),
}
ABSTRACT: Final = {
    *("containerBase", "entity", "dagNode", "shape", "geometryShape", "deformableShape"),
    *("controlPoint", "surfaceShape", "light", "renderLight", "nonAmbientLightShapeNode"),
    *("abstractBaseCreate", "polyBase", "polyCreator", "polyPrimitive", "geometryFilter"),
    *("shadingDependNode", "texture2d", "animCurve", "constraint"),
}
CLASSES: Final = {
    "spotLight": ["light:drawdb/light/spotLight"],
    "pointLight": ["light:drawdb/light/pointLight"],
    "noise": ["texture/2d:drawdb/shader/texture/2d/noise"],
    "ramp": ["texture/2d:drawdb/shader/texture/2d/ramp"],
    "directionalLight": ["light:drawdb/light/directionalLight"],
    "areaLight": ["light:drawdb/light/areaLight"],
    "lambert": ["shader/surface:drawdb/shader/surface/lambert"],
    "standardSurface": ["shader/surface:drawdb/shader/surface/standardSurface"],
    "file": ["texture/2d:drawdb/shader/texture/2d/file"],
    "place2dTexture": ["utility/placement:drawdb/shader/utility/placement"],
    "bump2d": ["utility/general:swatch/Hardware"],
    "multiplyDivide": ["utility/general"],
    "plusMinusAverage": ["utility/general"],
}

# Commands that the stand-in lists, and has not.
COMMANDS: Final = (
    *("polyExtrudeFacet", "polyBevel3", "polyCBoolOp", "polyUnite", "polySeparate", "polySmooth"),
    *("polyReduce", "polyTriangulate", "polyMergeVertex", "polySoftEdge", "polyNormal"),
    *("polyMirrorFace", "polyAutoProjection", "polyEvaluate", "curve", "xform"),
    *("exactWorldBoundingBox", "aimConstraint", "parentConstraint", "pointConstraint"),
    *("skinCluster", "ikHandle", "blendShape", "bakeResults", "setDrivenKeyframe", "addAttr"),
    *("listRelatives", "playblast", "polyColorPerVertex", "polySplit", "move", "rotate", "scale"),
    *("hide", "showHidden", "parent", "group", "setKeyframe", "cutKey", "copyKey", "select"),
    *("lightlink", "texturePlacementContext", "normalConstraint", "polyBlendColor", "camera"),
)


@cache
def bases(type_name: str) -> list[str]:
    """List what a type derives from, from the widest to itself: `nodeType -inherited`."""
    above, _ = TYPES.get(type_name, ("", {}))
    return [*(bases(above) if above else []), type_name]


@cache
def attributes(type_name: str) -> dict[str, Attribute]:
    named = dict(_MESSAGE)
    for base in bases(type_name):
        named |= TYPES.get(base, ("", {}))[1]
    return named
