"""The node types of the stand-in: what they derive from, and their attributes.

By Autodesk's "Nodes" reference: the inheritance of each node, its attributes with type, default and
range. Only those that somebody here needs.
"""

from __future__ import annotations

from ast import literal_eval
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


ORDERS: Final = "xyz:yzx:zxy:xzy:yxz:zyx"
_TABLE: Final = """
abstract containerBase
abstract entity < containerBase
abstract dagNode < entity
    visibility bool True keyable
    worldMatrix matrix multi output
transform < dagNode
    translate XYZ:doubleLinear keyable
    rotate XYZ:doubleAngle keyable
    scale XYZ:double 1.0 keyable
    rotatePivot XYZ:doubleLinear
    rotateOrder enum 0 = xyz:yzx:zxy:xzy:yxz:zyx
joint < transform
abstract constraint < transform
parentConstraint < constraint
    target message multi
abstract shape < dagNode
    intermediateObject bool False
abstract geometryShape < shape
abstract deformableShape < geometryShape
abstract controlPoint < deformableShape
abstract surfaceShape < controlPoint
mesh < surfaceShape
    inMesh mesh
nurbsCurve < controlPoint
camera < shape
    focalLength double 35.0 2.5.. keyable
    horizontalFilmAperture double 1.417 0.001.. keyable
    verticalFilmAperture double 0.945 0.001.. keyable
    cameraAperture double2 = horizontalFilmAperture:verticalFilmAperture
    nearClipPlane doubleLinear 0.1 keyable
    farClipPlane doubleLinear 10000.0 keyable
    centerOfInterest doubleLinear 5.0 keyable
    orthographic bool False
    orthographicWidth doubleLinear 10.0
    renderable bool False
abstract light < shape
    color RGB:float 1.0 keyable
    intensity float 1.0 keyable
abstract renderLight < light
abstract nonAmbientLightShapeNode < renderLight
directionalLight < nonAmbientLightShapeNode
areaLight < nonAmbientLightShapeNode
imagePlane < shape
    imageName string '' file
annotationShape < shape
    text string ''
abstract abstractBaseCreate
abstract polyBase < abstractBaseCreate
    output mesh output
abstract polyCreator < polyBase
abstract polyPrimitive < polyCreator
    axisY double 1.0
polyCube < polyPrimitive
    width double 1.0 keyable
    height double 1.0 keyable
    depth double 1.0 keyable
polySphere < polyPrimitive
    radius double 1.0 keyable
abstract geometryFilter
    envelope float 1.0 keyable
skinCluster < geometryFilter
    input mesh multi
abstract shadingDependNode
lambert < shadingDependNode
    outColor RGB:float output
    normalCamera XYZ:float
    color RGB:float 0.5 keyable
standardSurface < shadingDependNode
    outColor RGB:float output
    normalCamera XYZ:float
    base float 1.0 0.0..1.0 keyable
    baseColor RGB:float 0.8 keyable
    metalness float 0.0 0.0..1.0 keyable
    specularRoughness float 0.2 0.0..1.0 keyable
    emission float 0.0 0.0..1.0 keyable
    emissionColor RGB:float 1.0 keyable
    opacity RGB:float 1.0 keyable
abstract texture2d < shadingDependNode
file < texture2d
    coverage,translateFrame,rotateFrame,mirrorU,mirrorV,stagger float
    wrapU,wrapV,repeatUV,offset,rotateUV,noiseUV float
    uvCoord float2 0.0
    uvFilterSize float2 0.0
    fileTextureName string '' file
    colorSpace string 'sRGB'
    outColor RGB:float output
    outAlpha float output
place2dTexture < shadingDependNode
    coverage,translateFrame,rotateFrame,mirrorU,mirrorV,stagger float
    wrapU,wrapV,repeatUV,offset,rotateUV,noiseUV float
    outUV float2 0.0 output
    outUvFilterSize float2 0.0 output
bump2d < shadingDependNode
    bumpInterp enum 0 = Bump:Tangent Space Normals:Object Space Normals
    bumpValue float keyable
    outNormal XYZ:float output
multiplyDivide < shadingDependNode
    output double output
    input double
    input1X float
plusMinusAverage < shadingDependNode
    input1D float multi
    output1D float output
objectSet < entity
    notes string ''
shadingEngine < objectSet
    surfaceShader RGB:float
displayLayer
abstract animCurve
animCurveTL < animCurve
    output double output
    input double
animCurveTA < animCurve
    output double output
    input double
animCurveTU < animCurve
    output double output
    input double
unitConversion
    output double output
    input double
resolution
    width long 960 2..
    height long 540 2..
    pixelAspect float 1.0
    deviceAspectRatio float 1.777
defaultShaderList
    shaders message multi
reference
script
    before string ''
expression
    expression string ''
unknown
"""
"""Each type with what it derives from; below it its attributes, with type, default and range.

Behind an equals sign are the labels of an enumeration, or the parts of a compound.
"""
_NO_VALUE: Final = ("message", "matrix", "mesh", "double2")


def _read(line: str) -> dict[str, Attribute]:
    """Read a line of the table: attributes of one type, with their parts where they have some."""
    told, _, names = line.partition(" = ")
    name, kind, *words = told.split()
    flags = {f"is_{word}": True for word in words if word.isalpha() and word.islower()}
    ends, _, of = kind.rpartition(":")
    default: Any = None if of in _NO_VALUE else 0.0
    limits: list[Any] = [None, None]
    for word in words:
        if ".." in word:
            limits = [float(end) if end else None for end in word.split("..")]
        elif f"is_{word}" not in flags:
            default = literal_eval(word)
    if ends:
        parts = tuple(f"{name}{end}" for end in ends)
        whole = Attribute(f"{of.removesuffix('Linear').removesuffix('Angle')}3", None, parts=parts)
        return {name: whole} | {part: Attribute(of, default, **flags) for part in parts}
    if kind == "enum":
        return {name: Attribute(kind, default, labels=names)}
    parts = tuple(names.split(":")) if names else ()
    one = Attribute(kind, default, *limits, parts=parts, **flags)
    return dict.fromkeys(name.split(","), one)


def _types() -> dict[str, tuple[str, dict[str, Attribute]]]:
    types: dict[str, tuple[str, dict[str, Attribute]]] = {}
    own: dict[str, Attribute] = {}
    for line in _TABLE.strip().splitlines():
        if line.startswith(" "):
            own.update(_read(line.strip()))
        else:
            name, _, above = line.removeprefix("abstract ").partition(" < ")
            own = {}
            types[name] = above, own
    return types


TYPES: Final = _types()
ABSTRACT: Final = {line.split()[1] for line in _TABLE.splitlines() if line.startswith("abstract")}
CLASSES: Final = {
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


@cache
def bases(type_name: str) -> list[str]:
    """List what a type derives from, from the widest to itself: `nodeType -inherited`."""
    above, _ = TYPES.get(type_name, ("", {}))
    return [*(bases(above) if above else []), type_name]


@cache
def attributes(type_name: str) -> dict[str, Attribute]:
    named = {"message": Attribute("message", None, is_output=True)}
    for base in bases(type_name):
        named |= TYPES.get(base, ("", {}))[1]
    return named
