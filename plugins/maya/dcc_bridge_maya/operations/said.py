"""The words that people say for nodes and commands of Maya, for `find_api`, and code. Main thread.

The code is by Autodesk's reference of its commands; none of it was run in Maya.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dcc_bridge.spi import Said

SAID: Final[Mapping[str, Said]] = {
    "set_keys": Said(
        "", 'set_keys {"item": "<item>", "prop": "translateX", "keys": [[1, 0], [24, 5]]}'
    ),
    # Nodes that are created.
    "create type transform": Said("group, empty group, null, empty transform"),
    "create type locator": Said("locator, empty, helper point"),
    "create type joint": Said("joint, bone, skeleton"),
    "create type camera": Said("camera, render camera"),
    "create type polyCube": Said("cube, box, block"),
    "create type polySphere": Said("sphere, ball"),
    "create type polyCylinder": Said("cylinder, tube, pipe"),
    "create type polyPlane": Said("plane, floor, ground plane"),
    "create type areaLight": Said("area light, softbox, panel light"),
    "create type directionalLight": Said("sun, sun light, directional light, distant light"),
    "create type spotLight": Said("spot light, cone light"),
    "create type pointLight": Said("point light, light bulb, omni light"),
    "create type lambert": Said("matte material, diffuse material, lambert"),
    "create type standardSurface": Said(
        "pbr material, standard surface, metallic and roughness, principled shader"
    ),
    "create type file": Said("image texture, texture file, load an image, texture map"),
    "create type noise": Said("noise texture, procedural noise"),
    "create type ramp": Said("gradient, ramp texture, colour ramp"),
    "create type bump2d": Said("bump map, normal map, bump mapping"),
    "create type place2dTexture": Said("repeat a texture, texture placement, tile a texture"),
    "create type displayLayer": Said("display layer"),
    # Attributes.
    "camera.focalLength": Said("focal length, lens, field of view, zoom of a camera"),
    "camera.nearClipPlane": Said("near clipping, clipping plane"),
    "transform.visibility": Said("hide, hide an object, show an object, invisible"),
    "transform.rotateOrder": Said("rotation order, order of axes, gimbal lock"),
    # Commands.
    "cmds.polyExtrudeFacet": Said(
        "extrude, extrude faces, inset",
        'cmds.polyExtrudeFacet("box.f[0]", localTranslateZ=1.0)',
    ),
    "cmds.polyBevel3": Said(
        "bevel, bevel edges, round edges, chamfer", 'cmds.polyBevel3("box", offset=0.1, segments=2)'
    ),
    "cmds.polyCBoolOp": Said(
        "boolean, subtract, boolean difference, cut a hole",
        'cmds.polyCBoolOp("box", "ball", operation=2)',
    ),
    "cmds.polyUnite": Said(
        "combine meshes, join meshes, merge meshes", 'cmds.polyUnite("box", "ball")'
    ),
    "cmds.polySeparate": Said("separate a mesh, split into shells", 'cmds.polySeparate("both")'),
    "cmds.polySmooth": Said("smooth a mesh, subdivide", 'cmds.polySmooth("box", divisions=2)'),
    "cmds.polyReduce": Said(
        "reduce polygons, decimate, lower the polycount",
        'cmds.polyReduce("box", version=1, percentage=50.0)',
    ),
    "cmds.polyTriangulate": Said("triangulate", 'cmds.polyTriangulate("box")'),
    "cmds.polyMergeVertex": Said(
        "merge vertices, weld vertices, remove doubles",
        'cmds.polyMergeVertex("box.vtx[*]", distance=0.01)',
    ),
    "cmds.polySoftEdge": Said(
        "soften edges, harden edges, smooth shading", 'cmds.polySoftEdge("box", angle=30.0)'
    ),
    "cmds.polyNormal": Said(
        "reverse normals, flip normals", 'cmds.polyNormal("box", normalMode=0)'
    ),
    "cmds.polyMirrorFace": Said("mirror a mesh, symmetry", 'cmds.polyMirrorFace("box", axis=0)'),
    "cmds.polyAutoProjection": Said(
        "unwrap uvs, automatic uvs", 'cmds.polyAutoProjection("box.f[*]")'
    ),
    "cmds.polyEvaluate": Said(
        "count faces, count vertices, polycount", 'cmds.polyEvaluate("box", face=True)'
    ),
    "cmds.curve": Said(
        "curve, spline, nurbs curve, draw a curve",
        "cmds.curve(degree=1, point=[(0, 0, 0), (1, 0, 0), (1, 1, 0)])",
    ),
    "cmds.xform": Said(
        "set the pivot, world position, move the pivot, centre the pivot",
        'cmds.xform("box", query=True, worldSpace=True, translation=True)',
    ),
    "cmds.exactWorldBoundingBox": Said(
        "bounding box, size of an object", 'cmds.exactWorldBoundingBox("box")'
    ),
    "cmds.aimConstraint": Said(
        "look at, aim at an object, aim constraint, point a camera at",
        'cmds.aimConstraint("target", "shot", aimVector=(0, 0, -1))',
    ),
    "cmds.parentConstraint": Said(
        "parent constraint, follow an object, constrain",
        'cmds.parentConstraint("lead", "follower", maintainOffset=True)',
    ),
    "cmds.pointConstraint": Said(
        "point constraint, follow a position",
        'cmds.pointConstraint("lead", "follower", maintainOffset=True)',
    ),
    "cmds.skinCluster": Said(
        "bind skin, skin a mesh to joints, skinning", 'cmds.skinCluster("joint1", "body")'
    ),
    "cmds.ikHandle": Said(
        "ik, inverse kinematics", 'cmds.ikHandle(startJoint="hip", endEffector="ankle")'
    ),
    "cmds.blendShape": Said(
        "blend shape, morph target, shape key", 'cmds.blendShape("smile", "face")'
    ),
    "cmds.bakeResults": Said(
        "bake animation, bake keys, bake a simulation",
        'cmds.bakeResults("box", time=(1, 120), simulation=True)',
    ),
    "cmds.setDrivenKeyframe": Said(
        "driven key, set driven key",
        'cmds.setDrivenKeyframe("door.rotateY", currentDriver="handle.translateX")',
    ),
    "cmds.addAttr": Said(
        "custom attribute, add an attribute",
        'cmds.addAttr("box", longName="mass", attributeType="double", keyable=True)',
    ),
    "cmds.listRelatives": Said(
        "children of a node, parent of a node", 'cmds.listRelatives("box", children=True)'
    ),
    "cmds.playblast": Said(
        "playblast, preview movie", 'cmds.playblast(filename="/tmp/shot", format="image")'
    ),
}
