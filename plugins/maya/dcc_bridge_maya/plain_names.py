"""The *plain* Maya commands, which only read and edit the scene, within undo. Any thread.

An agent's code that uses only these can run without a look at its text, if a person allows that.
Commands are left out if they take a file, run text (expressions, script nodes, MEL), call code
later, or change the application. The whole API is left out, because undo does not cover its edits.
No text can be set on an attribute, because that may be the name of a file.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.spi import LiteralArgument, PlainNames

_COMMANDS: Final = """
    addAttr aimConstraint ambientLight angleBetween arclen areaLight attributeQuery blendShape
    boundingBox camera circle cluster cone connectAttr connectionInfo copyKey createDisplayLayer
    createNode currentTime curve cutKey cylinder delete deleteAttr directionalLight disconnectAttr
    duplicate duplicateCurve duplicateSurface editDisplayLayerMembers exactWorldBoundingBox extrude
    filterExpand findKeyframe geometryConstraint getAttr group hide hilite ikHandle insertKnotCurve
    instance isConnected joint keyTangent keyframe lattice listAttr listConnections listHistory
    listRelatives loft ls makeIdentity mirrorJoint move nodeType nonLinear normalConstraint
    nurbsPlane objExists objectType offsetCurve orientConstraint parent parentConstraint pasteKey
    pickWalk plane pointConstraint pointLight pointPosition poleVectorConstraint polyAppend
    polyAutoProjection polyAverageVertex polyBevel polyBevel3 polyBoolOp polyBridgeEdge polyCBoolOp
    polyChipOff polyCloseBorder polyCollapseEdge polyCone polyConnectComponents polyCreateFacet
    polyCube polyCut polyCylinder polyCylindricalProjection polyDelEdge polyDelFacet polyDelVertex
    polyDisc polyDuplicateEdge polyEditUV polyEvaluate polyExtrudeEdge polyExtrudeFacet
    polyExtrudeVertex polyFlipUV polyHelix polyInfo polyLayoutUV polyMergeEdge polyMergeFacet
    polyMergeVertex polyMirrorFace polyMoveEdge polyMoveFacet polyMoveUV polyMoveVertex polyNormal
    polyNormalPerVertex polyNormalizeUV polyPipe polyPlanarProjection polyPlane polyPlatonic
    polyPlatonicSolid polyPoke polyPrimitive polyPrism polyProjection polyPyramid polyQuad
    polyReduce polyRemesh polySelect polySeparate polySetToFaceNormal polySmooth polySoftEdge
    polySphere polySphericalProjection polySplit polySplitEdge polySplitRing polySubdivideEdge
    polySubdivideFacet polyTorus polyTriangulate polyUVSet polyUnite polyWedgeFace quadAreaLight
    rebuildCurve rename reorder reverseCurve revolve rotate scale scaleConstraint scaleKey sculpt
    select setAttr setDrivenKeyframe setInfinity setKeyframe sets shadingNode showHidden skinCluster
    skinPercent snapKey softMod spaceLocator sphere spotLight tangentConstraint torus
    transformLimits ungroup warning xform
"""
_NODES: Final = (
    r"transform|joint|locator|mesh|nurbsCurve|nurbsSurface|camera|(ambient|area|directional|point"
    r"|spot|volume)Light|lambert|blinn|phong|phongE|anisotropic|surfaceShader|layeredShader"
    r"|standardSurface|openPBRSurface|aiStandardSurface|useBackground|ramp|checker|noise|fractal"
    r"|cloud|marble|wood|granite|leather|brownian|grid|bulge|place2dTexture|place3dTexture|bump2d"
    r"|bump3d|samplerInfo|multiplyDivide|plusMinusAverage|addDoubleLinear|multDoubleLinear|reverse"
    r"|condition|clamp|setRange|remapValue|remapColor|blendColors|blendTwoAttr|distanceBetween"
    r"|angleBetween|vectorProduct|decomposeMatrix|composeMatrix|multMatrix|inverseMatrix|pairBlend"
    r"|curveInfo|pointOnCurveInfo|motionPath|gammaCorrect|luminance|contrast|hsvToRgb|rgbToHsv"
    r"|displayLayer|objectSet|animCurve[TU][ALTU]|poly\w+|makeNurb\w+"
)
_TYPES: Final = (
    r"(short|long|float|double)[23]|matrix|double4|doubleArray|floatArray|Int32Array|vectorArray"
    r"|pointArray|nurbsCurve|nurbsSurface|mesh|lattice|componentList|attributeAlias|reflectanceRGB"
)
# Excludes attributes that hold a file or run a text, by parts of their long or short names.
_SET: Final = r"(?i).*\.(?!.*(file|path|script|mel|prefix|code)|ftn$|st$)[^.]+"
# The attributes that may be connected to.
_WIRED: Final = (
    r".*\.(translate|rotate|scale)[XYZ]?|.*\.[trs][xyz]?|.*\.(visibility|v|surfaceShader"
    r"|displacementShader|volumeShader|rotateOrder|offset|uvCoord|uv|uvFilterSize|normalCamera"
    r"|bumpValue|weight|envelope|amount|intensity|parentMatrix|worldMatrix|matrixIn"
    r"|inMesh|create|inputCurve|inputGeometry|firstTerm|secondTerm|blender|attributesBlender)"
    r"|.*\.(color|baseColor|incandescence|transparency|ambientColor|specularColor|emissionColor"
    r"|outColor|outValue|subsurfaceColor|normal)[RGBXYZ]?|.*\.(input|input[123]|min|max|value"
    r"|colorIfTrue|colorIfFalse|oldMin|oldMax|inputMatrix|inputTranslate|inputRotate|inputScale)"
    r"[DXYZRGB]?|.*\.(diffuse|specular|metalness|roughness|specularRoughness|base|opacity)[RGB]?"
)
_CLOSES: Final = """
    file(i) file(import) file(new) file(newFile) file(o) file(open) file(r)
    file(reference) file(removeReference) file(rename) flushUndo newFile openFile quit redo
    renameFile undo undoInfo(state) undoInfo(stateWithoutFlush)
"""

PLAIN: Final = PlainNames(
    given={"cmds": "maya.cmds", "om": "maya.api.OpenMaya"},
    modules=frozenset({"maya", "maya.cmds"}),
    paths=frozenset(f"maya.cmds.{it}" for it in _COMMANDS.split()),
    literals={
        "maya.cmds.createNode": (LiteralArgument(_NODES),),
        "maya.cmds.shadingNode": (LiteralArgument(_NODES),),
        "maya.cmds.setAttr": (
            LiteralArgument(_TYPES, None, ("type", "typ")),
            LiteralArgument(_SET, 0, is_end=True),
            *(LiteralArgument(r"(?!)", place, or_number=True) for place in range(1, 17)),
        ),
        "maya.cmds.connectAttr": (LiteralArgument(_WIRED, 1, is_end=True),),
        "maya.cmds.addAttr": (LiteralArgument(r"(?!)", None, ("usedAsFilename", "uaf")),),
    },
    closes_scene=frozenset(_CLOSES.split()),
)
