"""The words that people say for things of Blender, for `find_api`, and code. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dcc_bridge.spi import Said


def _code(*lines: str) -> str:
    return "\n".join(lines)


_BOX: Final = 'obj = bpy.data.objects.new("Box", bpy.data.meshes.new("Box"))'
_CUBE: Final = _code(
    "import bmesh",
    'mesh = bpy.data.meshes.new("Box")',
    "bm = bmesh.new()",
    "bmesh.ops.create_cube(bm, size=2, calc_uvs=True)",
    "bm.to_mesh(mesh)",
    'obj = bpy.data.objects.new("Box", mesh)',
    "bpy.context.collection.objects.link(obj)",
)
_ACTIVE: Final = _code(_CUBE, "bpy.context.view_layer.objects.active = obj", "obj.select_set(True)")
_TEMP: Final = "import os, tempfile"
_PAINT: Final = (
    'assign_material {"material": "Paint", "values": {"base_color": [0.8, 0.1, 0.1],'
    ' "metallic": 0.0, "roughness": 0.4}}'
)
_KEYED_MODIFIER: Final = (
    'batch {"steps": [{"do": "create", "with": {"things": [{"type": "EMPTY", "name": "Fan"}]}},'
    ' {"do": "set_keys", "with": {"item": "Fan", "prop": "location",'
    ' "keys": [[1, [0, 0, 0]], [9, [0, 0, 2]]]}}, {"do": "create", "with": {"things":'
    ' [{"type": "CYCLES_CURVE_MODIFIER", "under": "Fan/curve:location[2]"}]}}]}'
)


def _scene(prop: str, value: str) -> str:
    """Return the call that sets a value of the scene."""
    change = f'{{"item": "@scene", "prop": "{prop}", "value": {value}}}'
    return f'set_values {{"changes": [{change}]}}'


def _modifier(kind: str) -> str:
    return (
        'create {"things": [{"type": "CUBE", "name": "Box"},'
        f' {{"type": "{kind}_MODIFIER", "under": "Box"}}]}}'
    )


def _constraint(kind: str) -> str:
    return (
        'create {"things": [{"type": "CUBE", "name": "Box"}, {"type": "EMPTY", "name": "Target"},'
        f' {{"type": "{kind}_CONSTRAINT", "under": "Box", "values": {{"target": "Target"}}}}]}}'
    )


def _to_file(operator: str, file: str, arguments: str = "") -> str:
    path = f'os.path.join(tempfile.gettempdir(), "{file}")'
    return _code(_TEMP, f"bpy.ops.{operator}(filepath={path}{arguments})")


def _in_edit_mode(*lines: str) -> str:
    return _code(
        _ACTIVE,
        'bpy.ops.object.mode_set(mode="EDIT")',
        'bpy.ops.mesh.select_all(action="SELECT")',
        *lines,
        'bpy.ops.object.mode_set(mode="OBJECT")',
    )


SAID: Final[Mapping[str, Said]] = {
    # What verbs do.
    "set_keys": Said(
        "",
        'set_keys {"item": "<item>", "prop": "location", "keys": [[1, [0, 0, 0]], [9, [0, 0, 2]]]}',
    ),
    # Objects that can be created.
    "create type CUBE": Said("cube, box, add a cube, mesh cube"),
    "create type PLANE": Said("plane, ground, floor, quad"),
    "create type SPHERE": Said("sphere, uv sphere, ball"),
    "create type CYLINDER": Said("cylinder, tube, rod"),
    "create type EMPTY": Said("empty, null, locator, group, helper object"),
    "create type CAMERA": Said("camera, new camera, add a camera"),
    "create type AREA_LIGHT": Said("area light, softbox, panel light, rectangle light"),
    "create type SUN_LIGHT": Said("sun, sun light, directional light, sunlight"),
    "create type POINT_LIGHT": Said("point light, bulb, lamp, add a light, omni light"),
    "create type SPOT_LIGHT": Said("spot light, spotlight"),
    "create type TEXT_OBJECT": Said("text object, 3d text, add text, font object"),
    "create type CURVE": Said("curve, bezier curve, spline, path, new curve"),
    "create type ARMATURE": Said("armature, rig, skeleton, bones"),
    "create type MESH": Said("empty mesh object, mesh object"),
    "create type COLLECTION": Said("collection, new collection, layer, create a collection"),
    "create type MATERIAL": Said("material, new material, create a material", _PAINT),
    "Mesh.from_pydata()": Said(
        "mesh from vertices, create mesh from scratch, mesh from points and faces, from_pydata",
        _code(
            'mesh = bpy.data.meshes.new("Triangle")',
            "mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])",
            'bpy.context.collection.objects.link(bpy.data.objects.new("Triangle", mesh))',
        ),
    ),
    # Modifiers and constraints.
    "create type BEVEL_MODIFIER": Said("bevel modifier, round edges, bevel"),
    "create type BOOLEAN_MODIFIER": Said(
        "boolean, boolean difference, boolean modifier, subtract, cut one object with another,"
        " union, intersect objects",
        _code(
            _CUBE,
            'tool = bpy.data.objects.new("Tool", obj.data)',
            'modifier = obj.modifiers.new("Boolean", "BOOLEAN")',
            'modifier.operation = "DIFFERENCE"',
            "modifier.object = tool",
        ),
    ),
    "create type SUBSURF_MODIFIER": Said("subdivision surface, subsurf, smooth a mesh, subdivide"),
    "create type ARRAY_MODIFIER": Said("array, repeat an object, copies in a row"),
    "create type MIRROR_MODIFIER": Said("mirror, symmetry, mirror modifier"),
    "create type SOLIDIFY_MODIFIER": Said("solidify, thickness, thicken, shell"),
    "create type DECIMATE_MODIFIER": Said("decimate, reduce polygons, fewer faces, simplify mesh"),
    "create type DISPLACE_MODIFIER": Said("displace, displacement modifier"),
    "create type REMESH_MODIFIER": Said("remesh, voxel remesh"),
    "create type CLOTH_MODIFIER": Said("cloth, cloth simulation"),
    "create type NODES_MODIFIER": Said("geometry nodes, geometry nodes modifier"),
    "create type ARMATURE_MODIFIER": Said("armature modifier, skinning"),
    "create type SHRINKWRAP_MODIFIER": Said("shrinkwrap, project onto a surface"),
    "create type TRIANGULATE_MODIFIER": Said("triangulate, convert quads to triangles"),
    "create type CURVE_MODIFIER": Said("deform along a curve, curve modifier"),
    "bpy.ops.object.modifier_apply": Said(
        "apply modifier, apply all modifiers, bake modifier",
        _code(
            _ACTIVE,
            'obj.modifiers.new("Bevel", "BEVEL")',
            'bpy.ops.object.modifier_apply(modifier="Bevel")',
        ),
    ),
    "ObjectModifiers.remove()": Said(
        "remove a modifier, delete modifier",
        _code(_CUBE, 'obj.modifiers.remove(obj.modifiers.new("Bevel", "BEVEL"))'),
    ),
    "create type COPY_LOCATION_CONSTRAINT": Said("add a constraint, constraint, copy location"),
    "create type LIMIT_ROTATION_CONSTRAINT": Said("limit rotation"),
    "create type IK_CONSTRAINT": Said("inverse kinematics, ik constraint, ik chain"),
    "create type TRACK_TO_CONSTRAINT": Said(
        "track to, look at, point camera at object, aim at, camera look at object",
        _constraint("TRACK_TO"),
    ),
    "create type FOLLOW_PATH_CONSTRAINT": Said(
        "follow path, object along a curve", _constraint("FOLLOW_PATH")
    ),
    # Places of objects.
    "Object.location": Said("move an object, position, set location, translate object"),
    "Object.rotation_euler": Said("rotate an object, rotation, set rotation, euler angles"),
    "Object.scale": Said("scale an object, resize an object"),
    "Object.dimensions": Said("size of an object, dimensions, width and height of an object"),
    "Object.matrix_world": Said(
        "world position, world matrix, global coordinates, world space, global location",
        _code(_CUBE, "bpy.context.view_layer.update()", "obj.matrix_world.translation[:]"),
    ),
    "Object.bound_box": Said(
        "bounding box, bounds of an object", _code(_CUBE, "[corner[:] for corner in obj.bound_box]")
    ),
    "Object.parent": Said(
        "parent an object, set parent, parent one object to another, child of, hierarchy",
        _code(_CUBE, 'obj.parent = bpy.data.objects.new("Parent", None)'),
    ),
    "Object.children": Said(
        "children of an object, child objects", _code(_BOX, "list(obj.children)")
    ),
    "bpy.ops.object.transform_apply": Said(
        "apply scale, apply rotation, apply transforms, freeze transforms",
        _code(_ACTIVE, "bpy.ops.object.transform_apply(location=False, rotation=True, scale=True)"),
    ),
    "bpy.ops.object.origin_set": Said(
        "align the origin, move the origin, origin to geometry, set origin, pivot point, center of"
        " an object",
        _code(_ACTIVE, 'bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")'),
    ),
    # Which objects there are, shown and selected.
    "BlendData.objects": Said(
        "all objects, get object by name, loop over objects, list objects, find object",
        "[obj.name for obj in bpy.data.objects]",
    ),
    "Scene.objects": Said(
        "objects of the scene", "[obj.name for obj in bpy.context.scene.objects]"
    ),
    "BlendDataObjects.remove()": Said(
        "delete an object, remove an object",
        _code(_BOX, "bpy.data.objects.remove(obj)"),
    ),
    "BlendDataObjects.new()": Said(
        "create an object from data, new object, instance of a mesh, linked duplicate",
        _code(_BOX, "bpy.context.collection.objects.link(obj)"),
    ),
    "ID.copy()": Said(
        "copy data, duplicate an object, copy an object, copy a material",
        _code(_CUBE, "bpy.context.collection.objects.link(obj.copy())"),
    ),
    "CollectionObjects.link()": Said(
        "link object to collection, move object to collection, add object to scene",
        _code(_BOX, "bpy.context.collection.objects.link(obj)"),
    ),
    "Object.select_set()": Said(
        "select an object, select object by name", _code(_CUBE, "obj.select_set(True)")
    ),
    "LayerObjects.active": Said(
        "active object, set active object, make active",
        _code(_CUBE, "bpy.context.view_layer.objects.active = obj"),
    ),
    "bpy.ops.object.select_all": Said(
        "deselect all, deselect all objects, select all objects, clear selection",
        'bpy.ops.object.select_all(action="DESELECT")',
    ),
    "Object.hide_render": Said("hide in render, invisible in render, exclude from render"),
    "Object.hide_viewport": Said(
        "hide, hide an object, hide object, make an object invisible, hide in viewport,"
        " disable in viewport"
    ),
    "Object.hide_set()": Said("eye icon", _code(_CUBE, "obj.hide_set(True)")),
    "Object.visible_shadow": Said("no shadow, object casts no shadow"),
    "ID.name": Said(
        "rename an object, name of an object, rename", _code(_CUBE, 'obj.name = "Crate"')
    ),
    "bpy.ops.object.join": Said(
        "join objects, merge objects, combine objects into one, join meshes",
        _code(
            _ACTIVE,
            'other = bpy.data.objects.new("Other", obj.data.copy())',
            "bpy.context.collection.objects.link(other)",
            "other.select_set(True)",
            "bpy.ops.object.join()",
        ),
    ),
    "bpy.ops.object.duplicate": Said(
        "duplicate selected", _code(_ACTIVE, "bpy.ops.object.duplicate()")
    ),
    "bpy.ops.object.convert": Said(
        "convert curve to mesh, convert text to mesh, convert to mesh",
        _code(_ACTIVE, 'bpy.ops.object.convert(target="MESH")'),
    ),
    "bpy.ops.object.mode_set": Said(
        "edit mode, object mode, switch mode, change mode",
        _code(
            _ACTIVE,
            'bpy.ops.object.mode_set(mode="EDIT")',
            'bpy.ops.object.mode_set(mode="OBJECT")',
        ),
    ),
    "bpy.ops.object.shade_smooth": Said(
        "shade smooth, smooth shading, smooth normals",
        _code(_ACTIVE, "bpy.ops.object.shade_smooth()"),
    ),
    "bpy.ops.object.shade_flat": Said(
        "shade flat, flat shading", _code(_ACTIVE, "bpy.ops.object.shade_flat()")
    ),
    # Meshes.
    "Mesh.vertices": Said(
        "vertices of a mesh, vertex coordinates, vertex positions, vertex count, loop over"
        " vertices",
        _code(_CUBE, "[vertex.co[:] for vertex in obj.data.vertices]"),
    ),
    "MeshVertex.co": Said(
        "vertex coordinate, move a vertex", _code(_CUBE, "obj.data.vertices[0].co.z += 1")
    ),
    "Mesh.polygons": Said(
        "faces of a mesh, polygons, face count, loop over faces",
        _code(_CUBE, "[face.vertices[:] for face in obj.data.polygons]"),
    ),
    "Mesh.edges": Said("edges of a mesh", _code(_CUBE, "len(obj.data.edges)")),
    "MeshPolygon.normal": Said("face normal", _code(_CUBE, "obj.data.polygons[0].normal[:]")),
    "MeshPolygon.material_index": Said(
        "material to faces, assign materials to faces, different materials on faces, material of a"
        " face, material per face",
        _code(
            _CUBE,
            'obj.data.materials.append(bpy.data.materials.new("Paint"))',
            "obj.data.polygons[0].material_index = 0",
        ),
    ),
    "Mesh.uv_layers": Said(
        "uv map, uv layer, uv coordinates",
        _code(_CUBE, 'obj.data.uv_layers.new(name="UVMap").name'),
    ),
    "Mesh.color_attributes": Said(
        "vertex color, vertex paint, color attribute",
        _code(_CUBE, 'obj.data.color_attributes.new("Color", "BYTE_COLOR", "CORNER").name'),
    ),
    "create type VERTEX_GROUP": Said("vertex group, vertex weights, weight paint, skin weights"),
    "create type SHAPE_KEY": Said("shape key, add a shape key, morph target, blend shape"),
    "bpy.ops.mesh.extrude_region_move": Said(
        "extrude, extrude faces",
        _in_edit_mode(
            'bpy.ops.mesh.extrude_region_move(TRANSFORM_OT_translate={"value": (0, 0, 1)})'
        ),
    ),
    "bpy.ops.mesh.subdivide": Said(
        "subdivide a mesh, more faces", _in_edit_mode("bpy.ops.mesh.subdivide(number_cuts=1)")
    ),
    "bpy.ops.mesh.remove_doubles": Said(
        "merge by distance, remove doubles, weld vertices, duplicate vertices",
        _in_edit_mode("bpy.ops.mesh.remove_doubles(threshold=0.001)"),
    ),
    "bpy.ops.mesh.normals_make_consistent": Said(
        "recalculate normals, flip normals, normals outside, fix normals",
        _in_edit_mode("bpy.ops.mesh.normals_make_consistent(inside=False)"),
    ),
    "bpy.ops.mesh.separate": Said(
        "separate by loose parts, split a mesh, separate",
        _in_edit_mode('bpy.ops.mesh.separate(type="LOOSE")'),
    ),
    "bpy.ops.mesh.bevel": Said(
        "bevel edges in edit mode", _in_edit_mode("bpy.ops.mesh.bevel(offset=0.1)")
    ),
    "bpy.ops.uv.unwrap": Said(
        "unwrap, uv unwrap, unwrap a mesh", _in_edit_mode("bpy.ops.uv.unwrap()")
    ),
    "bpy.ops.uv.smart_project": Said(
        "smart uv project, automatic unwrap", _in_edit_mode("bpy.ops.uv.smart_project()")
    ),
    # Materials and nodes.
    "Object.active_material": Said(
        "set material, assign material to object, material of an object",
        _code(_CUBE, 'obj.active_material = bpy.data.materials.new("Paint")'),
    ),
    "IDMaterials.append()": Said(
        "material slot, add material slot, several materials",
        _code(_CUBE, 'obj.data.materials.append(bpy.data.materials.new("Paint"))'),
    ),
    "create type ShaderNodeBsdfPrincipled": Said(
        "principled bsdf, principled shader, pbr shader, roughness, metallic, base color", _PAINT
    ),
    "create type ShaderNodeTexImage": Said(
        "image texture, image texture node, load texture, texture from file"
    ),
    "create type ShaderNodeTexEnvironment": Said("environment texture, hdri, hdr background"),
    "create type ShaderNodeMix": Said("mix color, mix node"),
    "create type ShaderNodeMixRGB": Said("mix color, mix rgb"),
    "create type ShaderNodeMapping": Said(
        "texture mapping location, texture location, texture offset, texture mapping, scale a"
        " texture, tile a texture"
    ),
    "create type ShaderNodeValToRGB": Said("color ramp, gradient ramp"),
    "create type ShaderNodeEmission": Said("emission, glow, emissive material, glowing"),
    "create type ShaderNodeBsdfGlass": Said("glass"),
    "create type ShaderNodeNormalMap": Said("normal map"),
    "create type ShaderNodeBump": Said("bump map"),
    "create type CompositorNodeGlare": Said("bloom, glow in the compositor"),
    "NodeLinks.new()": Said(
        "connect nodes, link nodes, node link, link two sockets",
        _code(
            'tree = bpy.data.node_groups.new("Nodes", "ShaderNodeTree")',
            'noise = tree.nodes.new("ShaderNodeTexNoise")',
            'ramp = tree.nodes.new("ShaderNodeValToRGB")',
            "tree.links.new(noise.outputs[0], ramp.inputs[0])",
        ),
    ),
    "Material.node_tree": Said(
        "nodes of a material, material nodes, shader nodes",
        _code(
            'material = bpy.data.materials.new("Paint")',
            "material.use_nodes = True",
            "[node.name for node in material.node_tree.nodes]",
        ),
    ),
    "World.node_tree": Said(
        "world nodes, background nodes",
        _code(
            'world = bpy.data.worlds.new("Sky")',
            "world.use_nodes = True",
            "[node.name for node in world.node_tree.nodes]",
        ),
    ),
    "Scene.world": Said(
        "background, world, sky", _code('bpy.context.scene.world = bpy.data.worlds.new("Sky")')
    ),
    "World.color": Said("background color, world color"),
    "BlendDataImages.load()": Said("load an image, open an image"),
    "Image.pixels": Said(
        "pixels of an image, read pixels, set pixel color",
        _code('image = bpy.data.images.new("Picture", 4, 4)', "image.pixels[:4]"),
    ),
    "PointLight.energy": Said("light power, brightness of a light, intensity of a light"),
    "Light.energy": Said(
        "light power, brightness of a light, light strength, intensity of a light"
    ),
    # Animation.
    "bpy_struct.keyframe_insert()": Said(
        "animation key, add a key, set a key, insert keyframe, add a keyframe, set keyframe,"
        " animate, key a property, keyframe location",
        _code(_CUBE, 'obj.keyframe_insert("location", frame=10)'),
    ),
    "bpy_struct.keyframe_delete()": Said(
        "delete keyframe, remove a keyframe",
        _code(
            _CUBE,
            'obj.keyframe_insert("location", frame=10)',
            'obj.keyframe_delete("location", frame=10)',
        ),
    ),
    "bpy_struct.driver_add()": Said(
        "scripted expression, driver expression, driver, add a driver, drive a property",
        _code(_CUBE, 'obj.driver_add("location", 2)'),
    ),
    "ID.animation_data_clear()": Said(
        "remove animation, clear all keyframes, delete animation",
        _code(_CUBE, "obj.animation_data_clear()"),
    ),
    "Scene.frame_set()": Said(
        "go to a frame, current frame, change frame, set frame", "bpy.context.scene.frame_set(10)"
    ),
    "Scene.frame_start": Said("start frame, first frame, frame range, animation length"),
    "Scene.frame_end": Said("end frame, last frame, frame range, length of the animation"),
    "Keyframe.interpolation": Said("linear interpolation, bezier interpolation, easing"),
    "RenderSettings.fps": Said("frame rate, fps, frames per second"),
    # Rendering.
    "bpy.ops.render.render": Said(
        "render by code, render operator, write still",
        _code(
            _TEMP,
            "render = bpy.context.scene.render",
            'render.filepath = os.path.join(tempfile.gettempdir(), "picture.png")',
            "bpy.ops.render.render(write_still=True)",
        ),
    ),
    "RenderSettings.filepath": Said(
        "output path, render output folder, output file",
        _code(
            _TEMP,
            "bpy.context.scene.render.filepath = os.path.join(tempfile.gettempdir(),"
            ' "picture.png")',
        ),
    ),
    "RenderSettings.engine": Said(
        "render engine, switch to cycles, use cycles, eevee, change render engine",
        _scene("render.engine", '"CYCLES"'),
    ),
    "RenderSettings.resolution_x": Said(
        "render resolution, image size, output resolution, render size, render width",
        _scene("render.resolution_x", "1920"),
    ),
    "RenderSettings.film_transparent": Said("transparent background, alpha background"),
    "ImageFormatSettings.file_format": Said(
        "output format, png, jpeg, exr, file format of renders"
    ),
    "CyclesRenderSettings.samples": Said(
        "samples, render samples, noise in cycles", _scene("cycles.samples", "64")
    ),
    "CyclesRenderSettings.device": Said("gpu rendering, render on gpu, cuda, optix"),
    "Scene.camera": Said(
        "active camera, scene camera, set active camera, render camera, switch camera",
        _code(
            'camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))',
            "bpy.context.collection.objects.link(camera)",
            "bpy.context.scene.camera = camera",
        ),
    ),
    "Camera.lens": Said("focal length, focal length of the camera, camera zoom, lens"),
    "Camera.type": Said("orthographic camera, perspective, panoramic camera"),
    "Camera.clip_end": Said("clipping, far clip, objects cut off in the distance"),
    "CameraDOFSettings.use_dof": Said(
        "depth of field, blurred background, focus",
        'create {"things": [{"type": "CAMERA", "values": {"data.dof.use_dof": true}}]}',
    ),
    "ColorManagedViewSettings.view_transform": Said("filmic, agx, color management"),
    "bpy.ops.object.bake": Said("bake texture, bake normals, bake ambient occlusion"),
    # Files.
    "bpy.ops.export_scene.fbx": Said(
        "export fbx, save as fbx", _to_file("export_scene.fbx", "set.fbx")
    ),
    "bpy.ops.export_scene.gltf": Said(
        "export gltf, export glb", _to_file("export_scene.gltf", "set.glb")
    ),
    "bpy.ops.import_scene.gltf": Said("import gltf, import glb"),
    "bpy.ops.import_scene.fbx": Said("import fbx"),
    "bpy.ops.wm.obj_export": Said("export obj", _to_file("wm.obj_export", "set.obj")),
    "bpy.ops.export_scene.obj": Said("export obj", _to_file("export_scene.obj", "set.obj")),
    "bpy.ops.wm.obj_import": Said(
        "import an obj file, obj import, import obj, load an obj file",
        _code(
            _to_file("wm.obj_export", "set.obj"),
            'bpy.ops.wm.obj_import(filepath=os.path.join(tempfile.gettempdir(), "set.obj"))',
        ),
    ),
    "bpy.ops.import_scene.obj": Said(
        "import obj, load an obj file",
        _code(
            _to_file("export_scene.obj", "set.obj"),
            'bpy.ops.import_scene.obj(filepath=os.path.join(tempfile.gettempdir(), "set.obj"))',
        ),
    ),
    "bpy.ops.wm.stl_export": Said("export stl, 3d print", _to_file("wm.stl_export", "set.stl")),
    "bpy.ops.export_mesh.stl": Said("export stl, 3d print", _to_file("export_mesh.stl", "set.stl")),
    "bpy.ops.wm.usd_export": Said("export usd, usdz", _to_file("wm.usd_export", "set.usdc")),
    "bpy.ops.wm.alembic_export": Said("export alembic, abc"),
    "bpy.ops.wm.append": Said(
        "append from another file, append an object, library",
        _code(
            _TEMP,
            'path = os.path.join(tempfile.gettempdir(), "copy.blend")',
            'bpy.data.objects.new("Part", None).use_fake_user = True',
            "bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)",
            'bpy.ops.wm.append(directory=os.path.join(path, "Object", ""), filename="Part")',
        ),
    ),
    "BlendDataLibraries.load()": Said(
        "append from a blend file, link from a blend file, library",
        _code(
            _TEMP,
            'path = os.path.join(tempfile.gettempdir(), "copy.blend")',
            "bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)",
            "with bpy.data.libraries.load(path) as (there, wanted):",
            "    wanted.objects = there.objects[:1]",
        ),
    ),
    "bpy.ops.wm.save_as_mainfile": Said(
        "save file, save as, save blend file",
        _to_file("wm.save_as_mainfile", "copy.blend", ", copy=True"),
    ),
    "bpy.ops.outliner.orphans_purge": Said(
        "purge unused data, orphan data, clean up file", "bpy.ops.outliner.orphans_purge()"
    ),
    # The rest.
    "UnitSettings.scale_length": Said("unit scale, scene units, metric units"),
    "UnitSettings.system": Said("metric, imperial, units"),
    "bpy.ops.rigidbody.object_add": Said(
        "rigid body, physics, falling object", _code(_ACTIVE, "bpy.ops.rigidbody.object_add()")
    ),
    "bpy.ops.object.particle_system_add": Said(
        "particle system, hair, particles", _code(_ACTIVE, "bpy.ops.object.particle_system_add()")
    ),
    "create type BONE": Said("edit bone, add a bone, bone head and tail, joint"),
    "create type VIEW_LAYER": Said("view layer, render layer, add a view layer"),
    "create type GeometryNodeTree": Said("node group, add a node group"),
    "create type FLOAT_INPUT": Said("input of a node group, group input, socket of a node group"),
    "create type BEZIER_SPLINE": Said("spline, points of a curve, curve through points"),
    "create type ACTION": Said("action, add an action"),
    "create type CYCLES_CURVE_MODIFIER": Said(
        "loop an animation, repeat keys, cycles modifier, curve modifier", _KEYED_MODIFIER
    ),
    "PoseBone.rotation_quaternion": Said("rotate a bone, pose a bone, pose bone rotation"),
    "TextCurve.body": Said(
        "text of a text object, change text, text content",
        'create {"things": [{"type": "TEXT_OBJECT", "values": {"data.body": "Hello"}}]}',
    ),
    "TextCurve.font": Said("font of a text object"),
    "Curve.bevel_depth": Said("thickness of a curve, curve to tube"),
    "Object.instance_type": Said("instance faces, instance on vertices, dupli"),
    "bpy_struct.id_properties_ui()": Said(
        "custom property, add a custom property, custom property limits",
        _code(
            _BOX, 'obj["height"] = 1.0', 'obj.id_properties_ui("height").update(min=0.0, max=2.0)'
        ),
    ),
    "Object.modifiers": Said(
        "modifiers of an object, list modifiers",
        _code(_CUBE, "[modifier.name for modifier in obj.modifiers]"),
    ),
    "Material.diffuse_color": Said("viewport color of a material"),
    "ShapeKey.value": Said(
        "value of a shape key, change a shape key",
        'create {"things": [{"type": "CUBE", "name": "Box"}, {"type": "SHAPE_KEY", "name": "Wide",'
        ' "under": "Box", "values": {"value": 0.5}}]}',
    ),
    "ViewLayer.use_pass_z": Said(
        "render passes, depth pass, z pass, enable a render pass",
        "bpy.context.view_layer.use_pass_z = True",
    ),
    "bpy.context.selected_objects": Said(
        "selected objects, current selection, selection, get the selected objects",
        "[obj.name for obj in bpy.context.selected_objects]",
    ),
    "BezierSplinePoint.co": Said(
        "control point of a curve, curve points, point of a spline",
        _code(
            'curve = bpy.data.curves.new("Path", "CURVE")',
            'point = curve.splines.new("BEZIER").bezier_points[0]',
            "point.co = (0, 0, 1)",
        ),
    ),
}
