"""The words that people say for things of USD, and code, for `find_api`. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dcc_bridge.spi import Said

_PRIM: Final = 'prim = stage.DefinePrim("/Example", "Xform")'
_CUBE: Final = 'prim = stage.DefinePrim("/Example", "Cube")'
_PAINT: Final = (
    'assign_material {"material": "Paint", "values": {"base_color": [0.8, 0.1, 0.1],'
    ' "metallic": 0.0, "roughness": 0.4}}'
)

_MESH: Final = (
    'create {"things": [{"type": "Mesh", "values": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],'
    ' "faceVertexCounts": [3], "faceVertexIndices": [0, 1, 2]}}]}'
)
_RED: Final = (
    'create {"things": [{"type": "Cube", "values": {"primvars:displayColor": [[1, 0, 0]]}}]}'
)

# Two joints, the second one two units above the first.
_SKELETON: Final = (
    'create {"things": [{"type": "Skeleton", "values": {"joints": ["hip", "hip/knee"],'
    ' "bindTransforms": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],'
    " [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 2, 0, 1]]],"
    ' "restTransforms": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],'
    " [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 2, 0, 1]]]}}]}"
)
_JOINTS_MOVED: Final = (
    'create {"things": [{"type": "SkelAnimation", "values": {"joints": ["hip", "hip/knee"],'
    ' "translations": [[0, 0, 0], [0, 2, 0]], "rotations": [[1, 0, 0, 0], [1, 0, 0, 0]],'
    ' "scales": [[1, 1, 1], [1, 1, 1]]}}]}'
)
_BLEND_SHAPE: Final = (
    'create {"things": [{"type": "BlendShape", "under": "<Mesh>", "values":'
    ' {"offsets": [[0, 1, 0]], "pointIndices": [0]}}]}'
)
# A mesh that one joint moves; a mesh of several joints has an index and a weight for each point.
_BOUND: Final = (
    'create {"things": [{"type": "SkelRoot", "name": "Rig", "under": "/"},'
    ' {"type": "Skeleton", "name": "Bones", "under": "/Rig", "values": {"joints": ["hip"],'
    ' "bindTransforms": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]],'
    ' "restTransforms": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]]}},'
    ' {"type": "Mesh", "name": "Body", "under": "/Rig", "values": {'
    '"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faceVertexCounts": [3],'
    ' "faceVertexIndices": [0, 1, 2], "skel:skeleton": "/Rig/Bones",'
    ' "primvars:skel:jointIndices": [0, 0, 0], "primvars:skel:jointWeights": [1, 1, 1]}}]}'
)

_LOADED: Final = 'set_values {"items": ["@scene"], "values": {"unloaded": []}}'


def _code(module: str, *lines: str) -> str:
    """Return code: the import of what it needs, and its lines."""
    imports = [f"from pxr import {module}"] if module else []
    return "\n".join([*imports, *lines])


SAID: Final[Mapping[str, Said]] = {
    # What verbs do.
    "set_keys": Said(
        "time samples, animation",
        'set_keys {"item": "<Camera>", "prop": "focalLength", "keys": [[1, 35.0], [24, 50.0]],'
        ' "shape": "linear"}',
    ),
    "import_file": Said(
        "payload, add a payload, create a payload, load on demand",
        'import_file {"path": "assets/chair.usda", "how": "payload"}',
    ),
    # Lights and cameras.
    "create type RectLight": Said("area light, softbox, panel light, window light"),
    "create type DistantLight": Said("sun, sun light, directional light, sunlight"),
    "create type DomeLight": Said(
        "environment light, environment lighting, environment map, hdri, hdr, sky light, ibl"
    ),
    "create type SphereLight": Said("point light, bulb, omni light, spot light, spotlight"),
    "create type DiskLight": Said("round area light"),
    "create type CylinderLight": Said("tube light, neon"),
    "ShapingAPI.inputs:shaping:cone:angle": Said(
        "spot light cone angle, spotlight, light cone, ies profile",
    ),
    "inputs:intensity": Said("brightness of a light, light power, energy, strength"),
    "inputs:exposure": Said("exposure of a light, stops"),
    "inputs:color": Said("color of a light"),
    "inputs:enableColorTemperature": Said("kelvin, color temperature of a light"),
    "create type Camera": Said("camera, new camera, viewpoint"),
    "Camera.focalLength": Said("zoom, field of view, lens of a camera, fov"),
    "Camera.focusDistance": Said("depth of field, dof, focus of a camera"),
    "Camera.fStop": Said("aperture of a camera, depth of field blur"),
    "Camera.clippingRange": Said("near and far clip, clipping planes of a camera"),
    # Geometry.
    "create type Xform": Said("group, null, empty, transform node, locator, parent"),
    "create type Scope": Said("folder, group without transform"),
    "create type Mesh": Said("polygon mesh, polygons, geometry from points and faces", _MESH),
    "create type Cube": Said("box"),
    "create type Plane": Said("ground, floor"),
    "create type Sphere": Said("ball"),
    "create type PointInstancer": Said(
        "scatter, point instancing, many copies, thousands of instances, crowd, instancer"
    ),
    "create type BasisCurves": Said("hair, fur, curves, spline, bezier curve, strands, line"),
    "create type Points": Said("point cloud, particles"),
    "create type Volume": Said("vdb, smoke, fog, volume"),
    "create type GeomSubset": Said("face set, material per face, subset of faces"),
    "Mesh.subdivisionScheme": Said(
        "subdivision, catmull clark, turn off subdivision, smooth mesh, faceted, polygonal"
    ),
    "Mesh.faceVertexIndices": Said("topology, faces of a mesh, triangles, face indices", _MESH),
    "points": Said("vertices, vertex positions, vertex coordinates", _MESH),
    "doubleSided": Said("backface culling, two sided, single sided"),
    "orientation": Said("winding order, flip normals, left handed"),
    "primvars:displayColor": Said(
        "vertex color, viewport color, color of a prim without material", _RED
    ),
    "UsdGeom.PrimvarsAPI.CreatePrimvar": Said(
        "uv, texture coordinates, st primvar, uv set, custom primvar, create primvar",
        _code(
            "UsdGeom, Sdf",
            'mesh = UsdGeom.Mesh.Define(stage, "/Example")',
            'st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray,'
            ' "vertex")',
            "st.Set([(0, 0), (1, 0), (1, 1)])",
        ),
    ),
    "visibility": Said(
        "hide a prim, show a prim, invisible, make invisible, hide, unhide, toggle visibility"
    ),
    "purpose": Said("proxy, render purpose, guide geometry, proxy and render"),
    "UsdGeom.BBoxCache.ComputeWorldBound": Said(
        "bounding box, world space bounding box, bounds, extents, size of a prim, dimensions",
        _code(
            "Usd, UsdGeom",
            "cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])",
            "cache.ComputeWorldBound(stage.GetPseudoRoot()).ComputeAlignedRange()",
        ),
    ),
    # Places.
    "UsdGeom.XformCommonAPI.SetTranslate": Said(
        "move a prim, translate, set position, set location, xform translate",
        _code("UsdGeom", _CUBE, "UsdGeom.XformCommonAPI(prim).SetTranslate((0, 1, 0))"),
    ),
    "UsdGeom.XformCommonAPI.SetRotate": Said(
        "rotate a prim, set rotation, rotate xyz",
        _code("UsdGeom", _CUBE, "UsdGeom.XformCommonAPI(prim).SetRotate((0, 90, 0))"),
    ),
    "UsdGeom.XformCommonAPI.SetScale": Said(
        "scale a prim, set scale",
        _code("UsdGeom", _CUBE, "UsdGeom.XformCommonAPI(prim).SetScale((2, 2, 2))"),
    ),
    "UsdGeom.Xformable.AddTransformOp": Said(
        "set transform matrix, matrix4d, local matrix",
        _code("Gf, UsdGeom", _CUBE, "UsdGeom.Xformable(prim).AddTransformOp().Set(Gf.Matrix4d(1))"),
    ),
    "UsdGeom.XformCache.GetLocalToWorldTransform": Said(
        "world transform, world matrix, global position, world space position, world position",
        _code("Usd, UsdGeom", _CUBE, "UsdGeom.XformCache().GetLocalToWorldTransform(prim)"),
    ),
    "UsdGeom.SetStageUpAxis": Said(
        "up axis, z up, y up",
        _code("UsdGeom", "UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)"),
    ),
    "UsdGeom.SetStageMetersPerUnit": Said(
        "units, scene scale, meters per unit, centimeters, linear units",
        _code("UsdGeom", "UsdGeom.SetStageMetersPerUnit(stage, 0.01)"),
    ),
    # Materials.
    "create type UsdPreviewSurface": Said(
        "pbr material, pbr shader, principled, metallic roughness material, surface shader,"
        " metalness",
        _PAINT,
    ),
    "create type Material": Said("material, new material", _PAINT),
    "create type UsdUVTexture": Said(
        "image texture, load an image, texture file, bitmap, texture map, albedo map, png texture"
    ),
    "create type UsdPrimvarReader_float2": Said("uv reader, texture coordinates node, st reader"),
    "create type UsdTransform2d": Said("tile a texture, uv tiling, repeat texture, uv scale"),
    "UsdPreviewSurface.diffuseColor": Said("base color, albedo, color of a material"),
    "UsdPreviewSurface.opacity": Said("transparent material, transparency, alpha, glass"),
    "UsdPreviewSurface.emissiveColor": Said("glow, emission, emissive material"),
    "UsdPreviewSurface.normal": Said("normal map, bump map"),
    "UsdShade.MaterialBindingAPI.Bind": Said(
        "assign material, bind material, material to mesh, apply material, set material",
        _code(
            "UsdShade",
            _CUBE,
            'paint = UsdShade.Material.Define(stage, "/Paint")',
            "UsdShade.MaterialBindingAPI.Apply(prim).Bind(paint)",
        ),
    ),
    "UsdShade.MaterialBindingAPI.ComputeBoundMaterial": Said(
        "get material of a prim, which material is bound, find bound material",
        _code(
            "UsdShade",
            _CUBE,
            "UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0].GetPath()",
        ),
    ),
    "UsdShade.MaterialBindingAPI.UnbindAllBindings": Said(
        "remove material, unassign material, remove a material binding, unbind material",
        _code("UsdShade", _CUBE, "UsdShade.MaterialBindingAPI.Apply(prim).UnbindAllBindings()"),
    ),
    "UsdShade.Input.ConnectToSource": Said(
        "connect shaders, connect texture to shader, link nodes, connect inputs and outputs",
        _code(
            "Sdf, UsdShade",
            'shader = UsdShade.Shader.Define(stage, "/Paint/Surface")',
            'image = UsdShade.Shader.Define(stage, "/Paint/Image")',
            'color = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)',
            'color.ConnectToSource(image.ConnectableAPI(), "rgb")',
        ),
    ),
    # What scenes are put together of.
    "create type VariantSet": Said(
        "variant set, variants, add variant set, create variant set, switch variant"
    ),
    "Usd.VariantSet.SetVariantSelection": Said(
        "select variant, change variant selection, choose variant",
        _code(
            "",
            _PRIM,
            'colors = prim.GetVariantSets().AddVariantSet("color")',
            'colors.AddVariant("red")',
            'colors.SetVariantSelection("red")',
        ),
    ),
    "create type Variant": Said(
        "add variant, author inside a variant, edit in variant, opinions in a variant"
    ),
    "Usd.VariantSet.GetVariantEditContext": Said(
        "nested variants, variant inside a variant, variant selection inside another variant",
        'create {"things": [{"type": "Xform", "name": "Set", "under": "/"},'
        ' {"type": "VariantSet", "name": "look", "under": "/Set",'
        ' "values": {"variants": ["red"], "selection": "red"}},'
        ' {"type": "VariantSet", "name": "size", "under": "/Set{look=red}",'
        ' "values": {"variants": ["small"], "selection": "small"}}]}',
    ),
    "Usd.References.AddReference": Said(
        "reference, add a reference, reference another file, reference usd file, reference asset,"
        " import another usd file, internal reference",
        'create {"things": [{"type": "Xform", "values": {"references": [{"prim": "<Cube>"}]}}]}',
    ),
    "Usd.Inherits.AddInherit": Said(
        "inherit, class prim, inherits arc",
        _code(
            "",
            'stage.CreateClassPrim("/_class")',
            _PRIM,
            'prim.GetInherits().AddInherit("/_class")',
        ),
    ),
    "Usd.Stage.Load": Said("load payloads", _LOADED),
    "Usd.Stage.Unload": Said("unload payloads, unload a payload, loaded", _LOADED),
    "Sdf.Layer.subLayerPaths": Said(
        "sublayer, add sublayer, insert sublayer, layer stack, stack layers",
        'set_values {"items": ["@scene"], "values": {"sublayers": ["./anim.usda"]}}',
    ),
    "Usd.Stage.SetEditTarget": Said(
        "edit target, author to another layer, which layer is edited, session layer edits",
        'set_values {"items": ["@scene"], "values": {"edit_target": "shot.usda"}}',
    ),
    "Usd.Stage.MuteLayer": Said(
        "mute a layer, disable layer, turn off a layer",
        'set_values {"items": ["@scene"], "values": {"muted_layers": []}}',
    ),
    "Usd.Stage.GetLayerStack": Said(
        "list all layers, layers of a stage", _code("", "stage.GetLayerStack()")
    ),
    "Usd.Stage.Flatten": Said(
        "flatten, flatten layers, merge all layers into one file, single file, collapse stage",
        _code("", "text = stage.Flatten().ExportToString()"),
    ),
    "Usd.Stage.ExportToString": Said(
        "print the scene as text, usda text, stage to string, print stage",
        _code("", "stage.ExportToString()"),
    ),
    "Sdf.Layer.ExportToString": Said(
        "print the layer as text", _code("", "stage.GetRootLayer().ExportToString()")
    ),
    "UsdUtils.CreateNewUsdzPackage": Said("usdz, package, zip, ar quick look, export usdz"),
    "Usd.Prim.SetInstanceable": Said(
        "instance, instanceable, make instance, instancing, scenegraph instancing, native instance",
        _code("", _PRIM, "prim.SetInstanceable(True)"),
    ),
    "Usd.Stage.Open": Said(
        "open a usd file, open stage, read usd file, load usd file",
        _code(
            "Usd",
            "other = Usd.Stage.Open(stage.GetRootLayer())",
        ),
    ),
    "Usd.Stage.CreateInMemory": Said(
        "new stage, stage in memory, create new stage",
        _code("Usd", "other = Usd.Stage.CreateInMemory()"),
    ),
    "Usd.Stage.CreateNew": Said(
        "create a new usd file, new file",
        _code(
            "Usd",
            "import os, tempfile",
            'other = Usd.Stage.CreateNew(os.path.join(tempfile.mkdtemp(), "new.usda"))',
        ),
    ),
    "Usd.Stage.Save": Said("", "save {}"),
    "Usd.Stage.Export": Said("", 'export_file {"path": "copy.usda"}'),
    # Prims and attributes.
    "Usd.Stage.Traverse": Said(
        "find prims, find prims by attribute, iterate over prims, all prims, loop over prims,"
        " find prims by type, find all meshes,"
        " list prims, walk the hierarchy, get all prims",
        _code("UsdGeom", "[str(it.GetPath()) for it in stage.Traverse() if it.IsA(UsdGeom.Mesh)]"),
    ),
    "Usd.PrimRange": Said(
        "prims below a prim, descendants, traverse children, subtree, iterate below",
        _code("Usd", "[str(it.GetPath()) for it in Usd.PrimRange(stage.GetPseudoRoot())]"),
    ),
    "Usd.Prim.GetChildren": Said(
        "children of a prim, child prims",
        _code("", "[str(it.GetPath()) for it in stage.GetPseudoRoot().GetChildren()]"),
    ),
    "Usd.Prim.GetParent": Said("parent of a prim", _code("", _PRIM, "prim.GetParent().GetPath()")),
    "Usd.Stage.GetPrimAtPath": Said(
        "get prim by path, find prim by name, prim at path, check if prim exists",
        _code("", 'stage.GetPrimAtPath("/World").IsValid()'),
    ),
    "Usd.Stage.DefinePrim": Said(
        "create a prim, add a prim, define prim, new prim",
        'create {"things": [{"type": "Xform", "name": "Group"}]}',
    ),
    "Usd.Stage.OverridePrim": Said(
        "over, override a prim", _code("", 'stage.OverridePrim("/Example")')
    ),
    "Usd.Stage.RemovePrim": Said(
        "delete a prim, remove a prim",
        _code("", 'stage.DefinePrim("/Example")', 'stage.RemovePrim("/Example")'),
    ),
    "Usd.Prim.SetActive": Said(
        "deactivate a prim, disable a prim, activate, inactive prim",
        _code("", _PRIM, "prim.SetActive(False)"),
    ),
    "Usd.NamespaceEditor": Said(
        "rename a prim, reparent a prim, move prim to another parent, change prim path",
        _code(
            "Usd",
            'stage.DefinePrim("/Example")',
            "editor = Usd.NamespaceEditor(stage)",
            'editor.MovePrimAtPath("/Example", "/Renamed")',
            "editor.ApplyEdits()",
        ),
    ),
    "Usd.Stage.SetDefaultPrim": Said(
        "default prim, set default prim", _code("", _PRIM, "stage.SetDefaultPrim(prim)")
    ),
    "Usd.Prim.GetTypeName": Said("type of a prim", _code("", _CUBE, "prim.GetTypeName()")),
    "Usd.Prim.IsA": Said(
        "check type of a prim, is it a mesh", _code("UsdGeom", _CUBE, "prim.IsA(UsdGeom.Mesh)")
    ),
    "Usd.ModelAPI.SetKind": Said(
        "kind, component, assembly, set kind of a prim",
        _code("Usd", _PRIM, 'Usd.ModelAPI(prim).SetKind("component")'),
    ),
    "Usd.Prim.CreateAttribute": Said(
        "custom attribute, create attribute, add attribute, user property, new attribute",
        _code(
            "Sdf",
            _PRIM,
            'prim.CreateAttribute("userProperties:tag", Sdf.ValueTypeNames.String).Set("a")',
        ),
    ),
    "Usd.Prim.CreateRelationship": Said(
        "relationship, add relationship",
        _code("", _PRIM, 'prim.CreateRelationship("target").AddTarget("/Example")'),
    ),
    "Usd.Prim.GetAttribute": Said(
        "read an attribute, get attribute value, attribute by name",
        _code("", _CUBE, 'prim.GetAttribute("size").Get()'),
    ),
    "Usd.Prim.GetAttributes": Said(
        "list all attributes, attributes of a prim",
        _code("", _CUBE, "[it.GetName() for it in prim.GetAttributes()]"),
    ),
    "Usd.Attribute.Set": Said(
        "set attribute value, change attribute value, time sample, set keyframe, animate attribute,"
        " animation, value at a frame, time samples",
        _code("", _CUBE, 'prim.GetAttribute("size").Set(2.0, 24)'),
    ),
    "Usd.Attribute.GetTimeSamples": Said(
        "read animation, list keyframes, get time samples",
        _code("", _CUBE, 'prim.GetAttribute("size").GetTimeSamples()'),
    ),
    "Usd.Attribute.Block": Said(
        "block an attribute value", _code("", _CUBE, 'prim.GetAttribute("size").Block()')
    ),
    "Usd.Attribute.Clear": Said(
        "remove opinion, reset attribute to default, clear attribute value, remove animation",
        _code("", _CUBE, 'prim.GetAttribute("size").Clear()'),
    ),
    "Usd.Object.SetMetadata": Said(
        "metadata, set metadata", _code("", _PRIM, 'prim.SetMetadata("comment", "mine")')
    ),
    "Usd.Object.SetCustomDataByKey": Said(
        "custom data, user data, store own data",
        'set_values {"items": ["<Xform>"], "values": {"custom_data:take": 3}}',
    ),
    "Usd.Object.SetAssetInfoByKey": Said(
        "asset info, asset version, asset identifier",
        'set_values {"items": ["<Xform>"], "values": {"asset_info:version": "2"}}',
    ),
    "Usd.Object.SetDocumentation": Said(
        "comment, documentation, note",
        'set_values {"items": ["<Xform>"], "values": {"documentation": "The hero\'s chair."}}',
    ),
    "Usd.Prim.HasAPI": Said(
        "check applied schema, has api schema",
        _code("UsdShade", _PRIM, "prim.HasAPI(UsdShade.MaterialBindingAPI)"),
    ),
    "Usd.Prim.GetPrimStack": Said(
        "which layer has the opinion, where does a value come from, prim specs",
        _code("", _CUBE, "[it.layer.identifier for it in prim.GetPrimStack()]"),
    ),
    "Usd.CollectionAPI.Apply": Said(
        "collection, set of prims, light linking",
        _code("Usd", _PRIM, 'Usd.CollectionAPI.Apply(prim, "heroes").IncludePath("/Example")'),
    ),
    "Usd.Stage.SetStartTimeCode": Said(
        "animation start", 'set_values {"items": ["@scene"], "values": {"start": 1}}'
    ),
    "Usd.Stage.SetEndTimeCode": Said(
        "animation end", 'set_values {"items": ["@scene"], "values": {"end": 100}}'
    ),
    "Usd.Stage.SetTimeCodesPerSecond": Said(
        "frame rate, fps, frames per second", _code("", "stage.SetTimeCodesPerSecond(24)")
    ),
    "Sdf.CopySpec": Said(
        "copy a prim, duplicate a prim, clone a prim",
        _code(
            "Sdf",
            'stage.DefinePrim("/Example")',
            "layer = stage.GetEditTarget().GetLayer()",
            'Sdf.CopySpec(layer, "/Example", layer, "/Copy")',
        ),
    ),
    "Sdf.ChangeBlock": Said(
        "make many edits faster, batch edits, slow authoring, performance",
        _code(
            "Sdf",
            "with Sdf.ChangeBlock():",
            '    Sdf.CreatePrimInLayer(stage.GetEditTarget().GetLayer(), "/Example")',
        ),
    ),
    # Rigs, physics, rendering.
    "create type Skeleton": Said("skeleton, bones, joints, rig, armature", _SKELETON),
    "create type SkelRoot": Said("skinned character root"),
    "create type SkelAnimation": Said("skeletal animation, joint animation", _JOINTS_MOVED),
    "SkelBindingAPI.skel:skeleton": Said(
        "skinning, bind skeleton to mesh, bind mesh to skeleton", _BOUND
    ),
    "SkelBindingAPI.skel:animationSource": Said("animation of a skeleton, bind animation", _BOUND),
    "SkelBindingAPI.primvars:skel:jointWeights": Said(
        "joint weights, skin weights, paint weights, vertex weights", _BOUND
    ),
    "create type BlendShape": Said(
        "morph target, shape key, blend shape, facial animation", _BLEND_SHAPE
    ),
    "UsdPhysics.RigidBodyAPI.Apply": Said(
        "rigid body, dynamics, falling object, physics body",
        _code("UsdPhysics", _CUBE, "UsdPhysics.RigidBodyAPI.Apply(prim)"),
    ),
    "UsdPhysics.CollisionAPI.Apply": Said(
        "collider, collision shape, collisions",
        _code("UsdPhysics", _CUBE, "UsdPhysics.CollisionAPI.Apply(prim)"),
    ),
    "UsdPhysics.MassAPI.Apply": Said(
        "mass of a body, density", _code("UsdPhysics", _CUBE, "UsdPhysics.MassAPI.Apply(prim)")
    ),
    "create type PhysicsScene": Said("gravity, physics scene"),
    "create type PhysicsRevoluteJoint": Said("hinge, revolute joint"),
    "create type RenderSettings": Said("render settings, render resolution, output resolution"),
    "create type RenderProduct": Said("render output file, output image"),
    "create type RenderVar": Said("aov, render pass channel, arbitrary output variable"),
    "UsdGeom.Primvar.SetInterpolation": Said(
        "interpolation of a primvar, face varying primvar, per vertex or per face",
        _code(
            "Sdf, UsdGeom",
            _CUBE,
            'tag = UsdGeom.PrimvarsAPI(prim).CreatePrimvar("tag", Sdf.ValueTypeNames.FloatArray)',
            'tag.SetInterpolation("vertex")',
        ),
    ),
}
