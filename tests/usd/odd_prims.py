"""Prims as artists, exporters and broken files leave them: a text of USD for each kind."""

from __future__ import annotations

from typing import Final

_TEXT: Final = r"""
-- a cycle of references
def Xform "It" (prepend references = </World>) {}
-- a cycle of two files
def Xform "It" (prepend references = @./scene.usda@) {}
-- a cycle of inherits
def Xform "It" (inherits = </World/It/Below>) {
def Cube "Below" (inherits = </World/It>) {}
}
-- a dead reference
def Xform "It" (prepend references = @./gone.usda@) {}
-- a dead payload
def Xform "It" (prepend payload = @./gone.usd@</X>) {}
-- a reference into nothing
def Xform "It" (prepend references = </Nowhere>) {}
-- a reference of no file
def Xform "It" (prepend references = @./text.txt@) {}
-- a broken file
def Xform "It" (prepend references = @./broken.usda@) {}
-- points of no numbers
def Mesh "It" {
point3f[] points = [(nan, 0, 0), (1, inf, 0), (0, -inf, 1)]
int[] faceVertexCounts = [3]
int[] faceVertexIndices = [0, 1, 2]
}
-- only points of no numbers
def Mesh "It" {
point3f[] points = [(nan, nan, nan), (nan, nan, nan), (nan, nan, nan)]
int[] faceVertexCounts = [3]
int[] faceVertexIndices = [0, 1, 2]
}
-- an extent of no numbers
def Mesh "It" {
float3[] extent = [(nan, nan, nan), (inf, inf, inf)]
point3f[] points = [(0,0,0)]
}
-- an extent of one point
def Mesh "It" {
float3[] extent = [(0, 0, 0)]
point3f[] points = [(0,0,0)]
}
-- an extent the wrong way round
def Mesh "It" {
float3[] extent = [(3.4e38, 3.4e38, 3.4e38), (-3.4e38, -3.4e38, -3.4e38)]
point3f[] points = [(0,0,0)]
}
-- a place of no numbers
def Cube "It" {
double3 xformOp:translate = (nan, inf, 0)
uniform token[] xformOpOrder = ["xformOp:translate"]
}
-- a place beyond a float
def Cube "It" {
double3 xformOp:translate = (1e308, 1e308, 1e308)
float3 xformOp:scale = (3e38, 3e38, 3e38)
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale", "xformOp:scale:no"]
}
-- a matrix of zeros
def Cube "It" {
matrix4d xformOp:transform = ((0,0,0,0),(0,0,0,0),(0,0,0,0),(0,0,0,0))
uniform token[] xformOpOrder = ["xformOp:transform"]
}
-- a place of a text
def Cube "It" {
string xformOp:translate = "here"
uniform token[] xformOpOrder = ["xformOp:translate"]
}
-- an order of other types
def Cube "It" {
double3 xformOp:translate = (1, 2, 3)
string xformOpOrder = "xformOp:translate"
}
-- points of a text
def Mesh "It" {
string points = "none"
string faceVertexCounts = "3"
float faceVertexIndices = 1
string extent = "x"
int visibility = 3
float purpose = 1
}
-- a size of a text
def Cube "It" {
string size = "large"
}
-- a size of no numbers
def Cube "It" {
double size = nan
custom double far = inf
custom double[] list = [nan, -inf]
}
-- metadata of no numbers
def Cube "It" (
customData = {
double n = nan
dictionary x = {
float[] y = [inf]

}

}
kind = "no such kind"
) {
double size = 1 (
customData = {
double n = nan

}
)
}
-- keys of no numbers
def Cube "It" {
double size.timeSamples = {
1: nan, 2: inf, 3: None, 1e308: 2
}
}
-- an unknown type
def NoSuchType "It" {
custom opaque nothing
custom token t = "x"
custom rel r = None
custom uniform asset a = @@
}
-- unknown value types
def Cube "It" {
custom nosuch3f thing = (1, 2, 3)
custom double3[] pts = None
}
-- an unknown schema
def Cube "It" (prepend apiSchemas = ["NoSuchAPI", "CollectionAPI:", "MaterialBindingAPI"]) {
rel material:binding = </World/Plain>
uniform token collection:x:expansionRule = "no"
}
-- a binding to itself
def Mesh "It" (prepend apiSchemas = ["MaterialBindingAPI"]) {
rel material:binding = </World/It>
rel r = [</World/It.r>, </Nowhere.x>]
}
-- a cycle of connections
def Material "It" {
token outputs:surface.connect = </World/It/A.outputs:out>
def Shader "A" {
token inputs:a.connect = </World/It/B.outputs:out>
token outputs:out.connect = </World/It/A.inputs:a>
}
def Shader "B" {
uniform token info:id = "NoSuch"
token inputs:b.connect = [</World/It/A.outputs:out>, </Nowhere.outputs:x>]
token outputs:out.connect = </World/It/B.inputs:b>
}
}
-- a shader of other types
def Material "It" {
token outputs:surface.connect = </World/It/S.outputs:surface>
def Shader "S" {
uniform float info:id = 3
string inputs:diffuseColor = "red"
asset inputs:file = @./gone<UDIM>.png@
token outputs:surface
}
}
-- a camera of no numbers
def Camera "It" {
float focalLength = 0
float horizontalAperture = nan
float2 clippingRange = (inf, -1)
string focusDistance = "far"
}
-- a light of no numbers
def SphereLight "It" {
float inputs:radius = nan
float inputs:intensity = inf
}
-- an instancer of nothing
def PointInstancer "It" {
int[] protoIndices = [0, 9, -1]
point3f[] positions = [(nan, 0, 0)]
rel prototypes = [</Nowhere>]
}
-- an instancer of itself
def PointInstancer "It" {
int[] protoIndices = [0]
point3f[] positions = [(0, 0, 0)]
rel prototypes = [</World>]
}
-- a skin of nothing
def SkelRoot "It" {
def Mesh "M" (prepend apiSchemas = ["SkelBindingAPI"]) {
rel skel:skeleton = </World/It/S>
int[] primvars:skel:jointIndices = [9]
float[] primvars:skel:jointWeights = [nan]
point3f[] points = [(0,0,0)]
}
def Skeleton "S" {
uniform token[] joints = ["a"]
}
}
-- clips of nothing
def Xform "It" (clips = {
dictionary default = {
asset[] assetPaths = [@./gone.usda@]
string primPath = "/X"
double2[] active = [(0, 0), (nan, 5)]
}
}) {}
-- a variant of nothing
def Xform "It" (variants = {
string a = "gone"
}
prepend variantSets = ["a", "b"]) {
variantSet "a" = {
"x" {}
}
}
-- an instance of nothing
def Xform "It" (instanceable = true
prepend references = @./gone.usda@) {
over "X" {}
}
-- an inactive prim
def Xform "It" (active = false) {
def Cube "X" {}
}
-- an odd name
def Xform "It" (displayName = "a\nb/\"") {
custom string a:b:c = "\x01"
}
-- curves of other counts
def BasisCurves "It" {
int[] curveVertexCounts = [5, -1]
point3f[] points = [(0,0,0)]
float[] widths = [nan]
}
def NurbsPatch "P" {
int uVertexCount = 99
}
def Points "Q" {
float[] widths = [inf]
point3f[] points
}
-- a volume of nothing
def Volume "It" {
rel field:density = </World/It/F>
def OpenVDBAsset "F" {
asset filePath = @./gone.vdb@
}
}
"""


def _split(text: str) -> dict[str, str]:
    """Return the text of each kind; the kind stands in a line before it."""
    bodies = {}
    for part in text.strip().removeprefix("-- ").split("\n-- "):
        kind, _, body = part.partition("\n")
        bodies[kind] = body
    return bodies


BODIES: Final = _split(_TEXT)
