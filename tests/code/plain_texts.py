"""Texts of real use that are plain, and plain-looking texts that reach beyond the scene."""

from __future__ import annotations

from typing import Final

PLAIN: Final = {
    "blender": {
        "scatter cubes": """
import bpy, random
from mathutils import Vector
random.seed(4)
for i in range(40):
    at = Vector((random.uniform(-8, 8), random.uniform(-8, 8), 0))
    bpy.ops.mesh.primitive_cube_add(size=random.uniform(0.2, 1), location=at)
    cube = bpy.context.active_object
    cube.name = f"Scatter_{i:02}"
    cube.rotation_euler.z = random.random() * 3.14
result = [it.name for it in bpy.data.objects if it.name.startswith("Scatter")]
""",
        "three-point light": """
import bpy
from math import radians
LIGHTS = {"Key": (4, -4, 5, 800), "Fill": (-5, -3, 3, 250), "Rim": (0, 5, 4, 500)}
for name, (x, y, z, watts) in LIGHTS.items():
    data = bpy.data.lights.new(name, "AREA")
    data.energy, data.size = watts, 2.0
    lamp = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(lamp)
    lamp.location = (x, y, z)
    track = lamp.constraints.new("TRACK_TO")
    track.target = bpy.data.objects["Hero"]
    track.track_axis, track.up_axis = "TRACK_NEGATIVE_Z", "UP_Y"
bpy.context.scene.world.color = (0.02, 0.02, 0.03)
""",
        "a bounce": """
import bpy
scene, ball = bpy.context.scene, bpy.data.objects["Ball"]
scene.frame_start, scene.frame_end = 1, 60
height = 5.0
for n, frame in enumerate(range(1, 61, 10)):
    ball.location.z = height if n % 2 == 0 else 0.0
    ball.keyframe_insert(data_path="location", index=2, frame=frame)
    height *= 0.8
for curve in ball.animation_data.action.fcurves:
    for key in curve.keyframe_points:
        key.interpolation = "BEZIER"
        key.handle_left_type = key.handle_right_type = "AUTO"
""",
        "rename by pattern": """
import re
import bpy
for n, obj in enumerate(sorted(bpy.context.selected_objects, key=lambda it: it.name), 1):
    base = re.sub(r"[.]\\d+$", "", obj.name).lower().replace(" ", "_")
    obj.name = "{}_{:03}".format(base, n)
    if obj.data is not None and hasattr(obj, "data"):
        obj.data.name = obj.name
print(f"{len(bpy.context.selected_objects)} renamed")
""",
        "materials by prefix": """
import bpy
COLOURS = {"wood": (0.3, 0.15, 0.05), "metal": (0.6, 0.6, 0.65)}
def material(name, colour):
    mat = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    mat.use_nodes = True
    shader = mat.node_tree.nodes.get("Principled BSDF")
    shader.inputs["Base Color"].default_value = (*colour, 1)
    shader.inputs["Roughness"].default_value = 0.4
    return mat
for obj in [it for it in bpy.data.objects if isinstance(it.data, bpy.types.Mesh)]:
    for prefix, colour in COLOURS.items():
        if obj.name.startswith(prefix):
            obj.data.materials.clear()
            obj.data.materials.append(material(prefix.title(), colour))
""",
        "a shader network": """
import bpy
mat = bpy.data.materials.new("Rust")
mat.use_nodes = True
nodes = mat.node_tree.nodes
links = mat.node_tree.links
noise = nodes.new("ShaderNodeTexNoise")
noise.inputs["Scale"].default_value = 12
ramp = nodes.new(type="ShaderNodeValToRGB")
ramp.color_ramp.elements[0].position = 0.45
ramp.location = (-300, 0)
links.new(noise.outputs["Fac"], ramp.inputs["Fac"])
mat.node_tree.links.new(ramp.outputs[0], nodes["Principled BSDF"].inputs[0])
""",
        "mirror and bevel": """
import bpy
obj = bpy.context.object
mirror = obj.modifiers.new("Mirror", "MIRROR")
mirror.use_axis[0], mirror.use_clip = True, True
bevel = obj.modifiers.new(name="Bevel", type="BEVEL")
bevel.width, bevel.segments, bevel.limit_method = 0.02, 3, "ANGLE"
bpy.ops.object.shade_smooth()
""",
        "an array along a curve": """
import bpy, math
points = [(math.cos(a / 8) * 3, math.sin(a / 8) * 3, a / 20) for a in range(50)]
curve = bpy.data.curves.new("Path", "CURVE")
curve.dimensions = "3D"
spline = curve.splines.new("POLY")
spline.points.add(len(points) - 1)
for point, (x, y, z) in zip(spline.points, points):
    point.co = (x, y, z, 1)
path = bpy.data.objects.new("Path", curve)
bpy.context.scene.collection.objects.link(path)
array = bpy.data.objects["Link"].modifiers.new("Array", "ARRAY")
array.fit_type, array.curve = "FIT_CURVE", path
""",
        "a mesh by hand": """
import bpy, bmesh
from mathutils import Matrix
mesh = bpy.data.meshes.new("Stairs")
bm = bmesh.new()
for step in range(12):
    made = bmesh.ops.create_cube(bm, size=1)
    bmesh.ops.scale(bm, vec=(2, 0.3, 0.2), verts=made["verts"])
    bmesh.ops.translate(bm, vec=(0, step * 0.3, step * 0.2), verts=made["verts"])
apex = bm.verts.new((0, 0, 5))
bm.verts.ensure_lookup_table()
bm.normal_update()
bm.to_mesh(mesh)
bm.free()
stairs = bpy.data.objects.new("Stairs", mesh)
stairs.matrix_world = Matrix.Translation((0, 0, 1)) @ Matrix.Rotation(0.5, 4, "Z")
bpy.context.collection.objects.link(stairs)
""",
        "sort into collections": """
import bpy
from collections import defaultdict
by_type = defaultdict(list)
for obj in bpy.context.scene.objects:
    by_type[obj.type].append(obj)
for kind, objs in by_type.items():
    name = kind.title()
    target = bpy.data.collections.get(name) or bpy.data.collections.new(name)
    if name not in bpy.context.scene.collection.children:
        bpy.context.scene.collection.children.link(target)
    for obj in objs:
        for old in list(obj.users_collection):
            old.objects.unlink(obj)
        target.objects.link(obj)
""",
        "clear what is empty": """
import bpy
empty = [it for it in bpy.data.objects if it.type == "MESH" and not it.data.polygons]
for obj in empty:
    bpy.data.objects.remove(obj, do_unlink=True)
memory["removed"] = len(empty)
""",
        "a spiral without overlaps": """
import bpy, json, math, random
sizes = json.loads('{"small": 0.2, "large": 0.6}')
ranks = dict(zip(sizes, range(len(sizes))))
placed = []
angle = 0
while True:
    angle += 0.3
    x, y = angle * math.cos(angle), angle * math.sin(angle)
    if all((x - a) ** 2 + (y - b) ** 2 > 0.5 for a, b in placed):
        placed.append((x, y))
    if len(placed) == 40:
        break
def place(name, at):
    obj = bpy.data.objects.new(name, None)
    obj.location = (*at, 0.9 ** len(name))
    bpy.context.collection.objects.link(obj)
heights = [0.0] * len(placed)
for n, (at, height) in enumerate(zip(placed, heights)):
    place(f"Spot_{n:03}_{random.choice(list(sizes))}", at)
far = max(placed, key=lambda it: math.hypot(*it))
first = next((it for it in bpy.data.objects if it.name == "Spot"), None)
print("-" * 40, ", ".join(it.name for it in bpy.data.objects), 10 ** 3, first)
result = {"mean": sum(math.hypot(*it) for it in placed) / len(placed), "far": far}
""",
        "subdivide": """
import bpy
mod = bpy.context.object.modifiers.new("Smooth", "SUBSURF")
mod.levels, mod.render_levels = 2, 3
""",
        "camera and render settings": """
import bpy
scene = bpy.context.scene
camera = bpy.data.objects.new("Shot", bpy.data.cameras.new("Shot"))
scene.collection.objects.link(camera)
camera.location, camera.data.lens = (7, -7, 5), 50
camera.data.dof.use_dof = True
scene.camera = camera
scene.render.engine = "CYCLES"
scene.render.resolution_x, scene.render.resolution_y = 1920, 1080
scene.cycles.samples = 128
try:
    scene.view_settings.view_transform = "AgX"
except TypeError as error:
    print(error)
""",
    },
    "freecad": {
        "a parametric box": """
import FreeCAD as App
box = App.ActiveDocument.addObject("Part::Box", "Plate")
box.Length, box.Width, box.Height = 120, 80, 6
box.Label = "Base plate"
lid = doc.addObject("Part::Box", "Lid")
lid.setExpression("Length", "Plate.Length + 2 mm")
lid.Placement.Base = App.Vector(0, 0, 20)
doc.recompute()
""",
        "holes in a grid": """
from FreeCAD import Vector, Placement, Rotation
plate = doc.getObject("Plate")
holes = []
for x in range(4):
    for y in range(3):
        hole = doc.addObject("Part::Cylinder", f"Hole_{x}_{y}")
        hole.Radius, hole.Height = 2.5, 10
        hole.Placement = Placement(Vector(15 + 30 * x, 15 + 25 * y, -1), Rotation())
        holes.append(hole)
tool = doc.addObject("Part::MultiFuse", "Holes")
tool.Shapes = holes
cut = doc.addObject("Part::Cut", "Drilled")
cut.Base, cut.Tool = plate, tool
doc.recompute()
result = round(cut.Shape.Volume, 2)
""",
        "a bolt circle": """
import math, Part, FreeCAD
for i in range(8):
    angle = math.tau * i / 8
    at = FreeCAD.Vector(40 * math.cos(angle), 40 * math.sin(angle), 0)
    Part.show(Part.makeCylinder(3, 12, at))
doc.recompute()
""",
        "a sketch": """
import FreeCAD as App
import Part, Sketcher
sketch = doc.addObject("Sketcher::SketchObject", "Profile")
corners = [App.Vector(0, 0), App.Vector(40, 0), App.Vector(40, 20), App.Vector(0, 20)]
for first, last in zip(corners, [*corners[1:], corners[0]]):
    sketch.addGeometry(Part.LineSegment(first, last), False)
for line in range(4):
    sketch.addConstraint(Sketcher.Constraint("Coincident", line, 2, (line + 1) % 4, 1))
doc.recompute()
""",
        "colour by volume": """
for obj in doc.Objects:
    if obj.isDerivedFrom("Part::Feature") and not obj.Shape.isNull():
        heavy = obj.Shape.Volume > 1000
        obj.ViewObject.ShapeColor = (0.8, 0.2, 0.2) if heavy else (0.2, 0.6, 0.8)
        obj.ViewObject.Transparency = 20
        print(obj.Label, type(obj).__name__, obj.Shape.BoundBox.XLength)
""",
    },
    "usd": {
        "a grid of cubes": """
from pxr import Gf, UsdGeom
for x in range(5):
    for y in range(5):
        cube = UsdGeom.Cube.Define(stage, f"/World/Grid/c_{x}_{y}")
        cube.GetSizeAttr().Set(0.5)
        UsdGeom.XformCommonAPI(cube).SetTranslate(Gf.Vec3d(x * 2, 0, y * 2))
        cube.CreateDisplayColorAttr([Gf.Vec3f(x / 5, y / 5, 1)])
""",
        "move props up": """
from pxr import Gf, Usd, UsdGeom
cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default"])
for prim in stage.GetPrimAtPath("/World/Props").GetChildren():
    if not prim.IsA(UsdGeom.Xformable):
        continue
    low = cache.ComputeWorldBound(prim).ComputeAlignedRange().GetMin()[2]
    api = UsdGeom.XformCommonAPI(prim)
    at, *_ = api.GetXformVectors(Usd.TimeCode.Default())
    api.SetTranslate(at + Gf.Vec3d(0, 0, -low))
""",
        "a material": """
from pxr import Gf, Sdf, UsdGeom, UsdShade
material = UsdShade.Material.Define(stage, "/Looks/Red")
shader = UsdShade.Shader.Define(stage, "/Looks/Red/Surface")
shader.CreateIdAttr("UsdPreviewSurface")
shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(0.8, 0.1, 0.1))
shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.4)
surface = shader.CreateOutput("surface", Sdf.ValueTypeNames.Token)
material.CreateSurfaceOutput().ConnectToSource(surface)
for prim in stage.Traverse():
    if prim.IsA(UsdGeom.Mesh) and "chair" in prim.GetName().lower():
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)
""",
        "a turntable": """
from pxr import UsdGeom
stage.SetStartTimeCode(1)
stage.SetEndTimeCode(48)
spin = UsdGeom.Xformable(stage.GetPrimAtPath("/World/Hero")).AddRotateYOp()
for frame in range(1, 49):
    spin.Set(360.0 * (frame - 1) / 48, frame)
""",
        "rename by pattern": """
import re
from pxr import Usd
editor = Usd.NamespaceEditor(stage)
for prim in [it for it in stage.Traverse() if re.fullmatch(r"Cube_?\\d+", it.GetName())]:
    number = int(re.search(r"\\d+", prim.GetName()).group())
    editor.RenamePrim(prim, f"crate_{number:03}")
    editor.ApplyEdits()
""",
        "lights": """
from pxr import Gf, UsdGeom, UsdLux
for name, at, power in [("key", (4, 5, 4), 900.0), ("fill", (-5, 3, 4), 300.0)]:
    light = UsdLux.RectLight.Define(stage, f"/Lights/{name}")
    light.CreateIntensityAttr(power)
    light.CreateColorAttr(Gf.Vec3f(1, 0.95, 0.9))
    UsdGeom.XformCommonAPI(light).SetTranslate(at)
""",
        "count what there is": """
from collections import Counter
from pxr import UsdGeom
kinds = Counter(prim.GetTypeName() for prim in stage.TraverseAll())
faces = 0
for prim in stage.Traverse():
    if prim.IsA(UsdGeom.Mesh):
        faces += len(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get() or [])
result = {"kinds": dict(kinds.most_common(10)), "faces": faces}
""",
    },
    "maya": {
        "scatter": """
from maya import cmds
import random
group = cmds.group(empty=True, name="scatter")
for i in range(30):
    name, shape = cmds.polyCube(name=f"box_{i}")
    cmds.move(random.uniform(-9, 9), 0, random.uniform(-9, 9), name)
    cmds.rotate(0, random.uniform(0, 360), 0, name)
    cmds.parent(name, group)
""",
        "a bounce": """
for n, frame in enumerate(range(1, 61, 10)):
    cmds.setKeyframe("ball", attribute="translateY", time=frame, value=5 * 0.8 ** n * (n % 2))
cmds.keyTangent("ball", attribute="translateY", inTangentType="auto")
""",
        "rename by pattern": """
import re
for n, node in enumerate(cmds.ls(selection=True, long=True) or [], 1):
    short = node.rpartition("|")[2]
    cmds.rename(node, re.sub(r"\\d+$", "", short) + f"_{n:03}")
""",
        "materials": """
shader = cmds.shadingNode("lambert", asShader=True, name="red")
cmds.setAttr(shader + ".color", 0.8, 0.1, 0.1, type="double3")
group = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name="redSG")
cmds.connectAttr(f"{shader}.outColor", f"{group}.surfaceShader")
for shape in cmds.ls(type="mesh"):
    if "crate" in shape:
        cmds.sets(shape, edit=True, forceElement=group)
""",
        "mirror joints": """
for joint in cmds.ls("L_*", type="joint"):
    x, y, z = cmds.xform(joint, query=True, worldSpace=True, translation=True)
    other = joint.replace("L_", "R_", 1)
    if cmds.objExists(other):
        cmds.xform(other, worldSpace=True, translation=(-x, y, z))
""",
    },
    "houdini": {
        "a row of boxes": """
import hou
geo = hou.node("/obj").createNode("geo", "row")
merge = geo.createNode("merge")
for i in range(6):
    box = geo.createNode("box", f"box_{i}")
    box.parm("tx").set(i * 2)
    box.parmTuple("size").set((1, 1 + i / 2, 1))
    merge.setInput(i, box)
merge.setDisplayFlag(True)
geo.layoutChildren()
""",
        "a bounce": """
ball = hou.node("/obj/ball")
for n, frame in enumerate(range(1, 61, 10)):
    key = hou.Keyframe()
    key.setFrame(frame)
    key.setValue(5 * 0.8 ** n * (n % 2))
    ball.parm("ty").setKeyframe(key)
""",
        "rename by pattern": """
import re
for n, node in enumerate(hou.selectedNodes()):
    node.setName(re.sub(r"\\d+$", "", node.name()) + str(n), unique_name=True)
    node.setColor(hou.Color((1, 0.5, 0)))
    print(node.path(), node.type().name())
""",
    },
}

REACHES: Final = {
    "python": [
        "open('/etc/passwd').read()",
        "print(open)",
        "f = open\nf('x', 'w')",
        "import os",
        "import os.path",
        "from os import environ",
        "import sys\nsys.modules['os'].remove('x')",
        "from json import codecs\ncodecs.open('x')",
        "import json\njson.codecs.open('x')",
        "import random\nrandom._os.remove('x')",
        "from random import _os",
        "from random import SystemRandom",
        "import json\nprint(json)",
        "import json\nj = json\nj.dumps = print",
        "import math\nmath.pi = 3",
        "import math as m\nm.pi = 3",
        "import math\nmath = {}",
        "from math import *",
        "from . import host",
        "import dcc_bridge",
        "import time\ntime.sleep(9)",
        "import typing\ntyping.get_type_hints(f)",
        "import functools\nfunctools.update_wrapper(f, g, ['__globals__'])",
        "from functools import singledispatch",
        "import operator\noperator.attrgetter('a.b')(x)",
        "from operator import methodcaller",
        "import collections\ncollections.namedtuple('A', 'b')",
        "import string\nstring.Formatter().format('{0.a}', x)",
        "import numpy as np\nnp.save('x', np.zeros(3))",
        "import numpy as np\nnp.loadtxt('x')",
        "import numpy as np\nnp.zeros(3).tofile('x')",
        "import numpy as np\nnp.ctypeslib.as_array(x)",
        "import numpy as np\nnp.memmap('x')",
        "import decimal as d\nd.sys",
        "import datetime\ndatetime.sys.path",
        "().__class__.__base__.__subclasses__()",
        "(lambda: 0).__globals__['os']",
        "f'{().__class__}'",
        "'{0.__class__}'.format(x)",
        "'{0[a].b}'.format(x)",
        "'{:{0.a}}'.format(1, x)",
        "t = '{0.a}'\nt.format(x)",
        "str.format('{0.a}', x)",
        "list(map('{0.a}'.format, [x]))",
        "'{a.b}'.format_map(x)",
        "getattr(x, 'na' + 'me')",
        "getattr(x, '__class__')",
        "getattr(x, 'func_globals')",
        "g = getattr\ng(x, 'name')",
        "getattr(*things)",
        "def getattr(a, b): return a",
        "from functools import partial as isinstance",
        "setattr(x, 'run', f)",
        "setattr(x, name, 1)",
        "delattr(x, 'name')",
        "del x.name",
        "eval('1')",
        "exec('1')",
        "compile('1', 'x', 'eval')",
        "__import__('os')",
        "__builtins__['open']('x')",
        "globals()['x']",
        "locals()",
        "vars(x)",
        "dir(x)",
        "input()",
        "breakpoint()",
        "memoryview(x)",
        "type('A', (), {})",
        "type(x).mro()",
        "kind = type(x)",
        "super()",
        "object.__setattr__(x, 'a', 1)",
        "class A: pass",
        "class A:\n    def __del__(self): pass",
        "async def f(): pass",
        "async def f():\n    await g()",
        "async def f():\n    return [x async for x in y]",
        "@eval\ndef f(): pass",
        "@f\ndef g(): pass",
        "try: f()\nexcept: pass",
        "try: f()\nexcept BaseException: pass",
        "try: f()\nexcept Exception as e: e.__traceback__",
        "raise SystemExit",
        "match x:\n    case object(__class__=c): c()",
        "match x:\n    case int(gi_frame=f): f",
        "print('x', file=x)",
        "print('x', **{'file': x})",
        "exit()",
        "x.cr_frame",
        "x.f_back.f_globals",
        "x.tb_frame",
        "x.func.args",
        "_x = 1",
        "gr\u00f6\u00dfe = 1",
        "\uff4fpen('x')",
        "x = y\nx.z.format(f)",
        "import math\nmath.pi.format(f)",
        "def f(**more): return more\nf = print\nf(**{'file': x})",
        "def f(*rows): return rows\nf = print\nf(*rows)",
        "def f(f, **more): f(**{'file': x})\nf(print)",
        "import numpy",
        "import numpy as np\nnp.array([None], dtype='O').data = bytearray(8)",
        "import numpy as np\nnp.empty(8, dtype='S8').tolist()",
        "from numpy.random import rand",
        "rows.tolist()",
        "hash(x)",
    ],
    "blender": [
        "import bpy\nbpy.ops.wm.save_as_mainfile(filepath='x')",
        "bpy.ops.wm.open_mainfile(filepath='x')",
        "ops = bpy.ops\nops.wm.quit_blender()",
        "from bpy import ops\nops.wm.read_homefile()",
        "getattr(bpy.ops.wm, 'save_mainfile')()",
        "bpy.ops.export_scene.gltf(filepath='x')",
        "bpy.ops.import_scene.fbx(filepath='x')",
        "bpy.ops.render.render(write_still=True)",
        "bpy.ops.script.python_file_run(filepath='x')",
        "bpy.ops.text.run_script()",
        "bpy.ops.preferences.addon_enable(module='x')",
        "bpy.ops.object.load_background_image(filepath='x')",
        "bpy.ops.mesh.primitive_cube_add('INVOKE_DEFAULT')",
        "add = bpy.ops.mesh.primitive_cube_add\nadd('INVOKE_DEFAULT')",
        "bpy.ops._op_call('WM_OT_save_mainfile', {})",
        "bpy.app.handlers.load_post.append(f)",
        "from bpy.app.handlers import persistent",
        "bpy.app.timers.register(f)",
        "bpy.app.driver_namespace['f'] = f",
        "bpy.msgbus.subscribe_rna(key=1)",
        "obj.driver_add('location').driver.expression = '1'",
        "for d in obj.animation_data.drivers: d.driver.expression = 'x'",
        "bpy.data.texts.new('x').write('import os')",
        "bpy.data.texts['x'].as_module()",
        "bpy.data.libraries.load('x')",
        "bpy.data.images.load('/etc/x')",
        "bpy.data.images['a'].filepath = '/x'",
        "bpy.data.images['a'].save()",
        "bpy.data.images['a'].pixels[:] = [0]",
        "bpy.data.images['a'].scale(1, 1)",
        "bpy.context.scene.render.filepath = '/x'",
        "setattr(bpy.context.scene.render, 'filepath', '/x')",
        "bpy.context.preferences.edit.use_global_undo = False",
        "bpy.context.window_manager.clipboard",
        "bpy.context.copy()['preferences']",
        "context = bpy.context",
        "bpy.context.area.type = 'CONSOLE'",
        "with bpy.context.temp_override(window=w): pass",
        "bpy.utils.register_class(A)",
        "bpy.types.Object.tool = f",
        "kind = bpy.types.Object\nkind.location = 1",
        "isinstance(1, bpy.types.Object._x)",
        "isinstance(bpy.types.Object, int)",
        "bpy.path.abspath('//')",
        "bpy.data.filepath",
        "nodes.new('ShaderNodeScript')",
        "nodes.new('GeometryNodeImportOBJ')",
        "nodes.new(kind)",
        "nodes.new(*['GeometryNodeImportOBJ'])",
        "make = nodes.new\nmake('GeometryNodeImportOBJ')",
        "getattr(nodes, 'new')('GeometryNodeImportOBJ')",
        "links = tree.nodes\nlinks.new(kind)\nlinks = tree.links",
        "for materials in [tree.nodes]: materials.new(kind)",
        "mod.filepath = '/x'",
        "obj.modifiers['f'].domain_settings.cache_directory = '/x'",
        "bpy.context.scene.sequence_editor.sequences.new_sound('x', '/x', 1, 1)",
        "bpy.data.sounds.load('/x')",
        "bpy.data.fonts.load('/x')",
        "import bl_ui",
        "import addon_utils",
        "import imbuf\nimbuf.load('/x')",
        "import aud",
        "import gpu",
        "bpy = {}",
        "import bpy\nbpy.context.scene.name.format(f)",
        "import bpy\nbpy.context.object.name.format(bpy.data.objects[0])",
        "bpy.ops.object.select_all('EXEC_DEFAULT', True, action='TOGGLE')",
        "bpy.ops.object.select_all(True)",
        "bpy.ops.object.select_all(1)",
        "bpy.ops.object.select_all(('EXEC_DEFAULT',), 1)",
        "obj.data.scale(1, 1)",
        "obj['picture'].scale(2, 2)",
        "f = obj.data.scale\nf(1, 1)",
        "print(obj.data.scale)",
        "getattr(obj.data, 'scale')(1, 1)",
        "obj.location()",
        "f = obj.location\nf()",
        "bpy.context.scene.frame_set(3)",
        "bpy.context.scene.frame_current = 2",
        "bpy.context.evaluated_depsgraph_get()",
        "obj.evaluated_get(graph)",
        "node.inputs[0].default_value = '/etc/hostname'",
        "node.inputs[0].default_value = 'secret'",
        "node.inputs[0].default_value = name",
        "node.inputs[0].default_value += name",
        "node.inputs[0].default_value = name * 2",
        "node.inputs[0].default_value = f'{name}'",
        "a.default_value, b = rows",
        "a.default_value, b = 'x', 1",
        "v = [1]\nv[0] = name\nnode.inputs[0].default_value = v[0]",
        "x = x\nnode.inputs[0].default_value = x",
        "def range(n): return names\nfor n in range(3): node.inputs[0].default_value = n",
        "for node.inputs[0].default_value in names: pass",
        "for a, node['x'] in names: pass",
        "[0 for obj.name in names]",
        "setattr(node.inputs[0], 'default_value', name)",
        "obj.name = '/etc/hostname'",
        "obj.name = 'a' + '\\\\b'",
        "obj.name = 'wood.png'",
        "mod['Socket_1'] = '/etc/hostname'",
        "mod['Socket_1'] = name",
        "bpy.context.scene['export_path'] = 'x'",
        "bpy.context.scene['ScriptName'] = 'x'",
        "bpy.context.scene[key] = 1",
        "bpy.context.scene['a'] = {'file': 'x'}",
        "bpy.context.scene['a'].update({'file': 'x'})",
        "rows = [bpy.context.scene]\nrows[0][key] = 1",
        "memory = bpy.context.scene\nmemory[key] = 1",
        "bpy.context.scene.cursor.location = (7, 7, 7)",
        "mat.use_fake_user = False",
        "obj.data.clear_geometry()",
        "def float(n): return n\nnode.inputs[0].default_value = float(name)",
    ],
    "freecad": [
        "App.openDocument('x')",
        "App.newDocument()",
        "App.closeDocument('x')",
        "App.loadFile('x')",
        "App.ParamGet('User parameter:x').SetBool('a', True)",
        "App.addDocumentObserver(o)",
        "App.getUserAppDataDir()",
        "doc.saveAs('x')",
        "doc.saveCopy('x')",
        "save = doc.save\nsave()",
        "doc.exportGraphviz('x')",
        "doc.UndoMode = 0",
        "doc.undo()",
        "box.Shape.exportStep('x')",
        "box.Shape.importBrep('x')",
        "import Part\nPart.read('x')",
        "import Part\nPart.Shape().read('x')",
        "import Part\nPart.export([doc.Box], 'x')",
        "import Mesh\nMesh.open('x')",
        "import Import\nImport.insert('x', doc.Name)",
        "import FreeCADGui as Gui\nGui.runCommand('Std_Delete')",
        "Gui.doCommand('x')",
        "App.Gui.doCommand('x')",
        "box.Proxy = f",
        "box.ViewObject.Proxy = 0",
        "doc.addObject('Part::FeaturePython', 'x')",
        "doc.addObject('Image::ImagePlane', 'x')",
        "doc.addObject(kind, 'x')",
        "doc.addObject('App::' + 'Link', 'x')",
        "make = doc.addObject\nmake('Part::ImportStep', 'x')",
        "box.addProperty('App::PropertyFileIncluded', 'x')",
        "box.addProperty('App::PropertyPythonObject', 'x')",
        "box.setExpression('Length', '<<other>>#Box.Length')",
        "box.setExpression('Length', text)",
        "box.setExpression(*['Length', '<<other>>#Box.Length'])",
        "sheet.importFile('x')",
        "step.FileName = 'x'",
        "FreeCAD.ActiveDocument.Label.format(f)",
        "box.setExpression('Label', 'str(Box._app.ActiveDocument.FileName)')",
        "box.setExpression('Label', '_self')",
        "box.setExpression('Label', 'Box .\\n_self')",
        "link.Document",
        "link.OutList[0]",
        "link.InList",
        "link.InListRecursive",
        "box.setEditorMode('Length', 2)",
        "doc.Label = 'x'",
        "App.ActiveDocument.Label = 'x'",
        "d = doc\nd.Label = 'x'",
        "setattr(doc, 'Label', 'x')",
        "doc.addObject('Part::Feature', 'x', f, f, True)",
        "doc.addObject('Part::Feature', 'x', viewType='PartGui::ViewProviderPython')",
        "body.newObject('Part::FeaturePython', 'x')",
    ],
    "usd": [
        "stage.Save()",
        "stage.Export('x')",
        "save = stage.Save\nsave()",
        "stage.Reload()",
        "stage.GetRootLayer().Export('x')",
        "stage.GetRootLayer().ImportFromString('x')",
        "stage.GetRootLayer().subLayerPaths.append('x')",
        "from pxr import Usd\nUsd.Stage.Open('x')",
        "from pxr import Usd as U\nU.Stage.CreateNew('x')",
        "from pxr.Usd import Stage\nStage.Open('x')",
        "import pxr.Usd\npxr.Usd.Stage.Open('x')",
        "from pxr import Sdf\nSdf.Layer.FindOrOpen('x')",
        "from pxr import Sdf\nSdf.AssetPath('x')",
        "from pxr import Sdf\nSdf.ValueTypeNames.Asset",
        "from pxr import Sdf\nSdf.Reference('x')",
        "from pxr import Sdf\nS = Sdf\nS.Layer.Find('x')",
        "prim.GetReferences().AddReference('x')",
        "prim.GetPayloads().AddPayload('x')",
        "prim.SetMetadata('references', x)",
        "prim.SetAssetInfoByKey('identifier', 'x')",
        "prim.GetAttribute('inputs:texture:file').Set('x')",
        "prim.GetAttribute('inputs:' + 'file').Set('x')",
        "prim.CreateAttribute('filePath', t)",
        "for a in prim.GetAttributes(): a.Set('x')",
        "shader.GetInput('file').Set('x')",
        "read = prim.GetAttribute\nread('file').Set('x')",
        "light.CreateTextureFileAttr('x')",
        "shader.SetSourceAsset('x')",
        "stage.SetEditTarget(t)",
        "stage.Load('/a')",
        "from pxr import Tf\nTf.Notice.RegisterGlobally(1, f)",
        "from pxr import Plug\nPlug.Registry().RegisterPlugins('x')",
        "from pxr import Ar\nAr.GetResolver().Resolve('x')",
        "from pxr import UsdUtils\nUsdUtils.CreateNewUsdzPackage('x', 'y')",
        "from pxr import UsdGeom\nUsdGeom.Cube.Define = f",
        "from pxr import UsdGeom\nC = UsdGeom.Cube\nC.Define = f",
        "from pxr import Gf\nGf._DumpRefs()",
        "stage.ExportToString()",
        "attr.Set('/etc/passwd')",
        "attr.Set('x.png')",
        "attr.Set('`id`')",
        "attr.Set('$HOME')",
        "attr.Set(f'./{n}.png', n)",
        "attr.Set(value='../x')",
        "attr.Set(name)",
        "attr.Set([name])",
        "put = attr.Set",
        "attr.Add('/x')",
        "attr.Append('/x')",
        "prim.GetAttribute('inputs:diffuse_texture')",
        "prim.GetAttribute('Ui:ICON')",
        "shader.GetInput('diffuse_texture')",
        "from pxr import Sdf\nprim.CreateAttribute('productName', Sdf.ValueTypeNames.Token)",
        "from pxr import Sdf\nprim.CreateAttribute('info:sourceCode', Sdf.ValueTypeNames.String)",
        "from pxr import Sdf\nprim.CreateAttribute('inputs:script', Sdf.ValueTypeNames.String)",
        "from pxr import Sdf\nprim.CreateAttribute('arnold:ass', Sdf.ValueTypeNames.String)",
        "from pxr import Sdf\nprim.CreateAttribute('a', Sdf.ValueTypeNames.AssetArray)",
        "prim.CreateAttribute('a', attr.GetTypeName())",
        "shader.CreateInput('a', kind)",
        "kind = attr.GetTypeName()\napi.CreatePrimvar('a', kind)",
        "attr.SetTypeName(kind)",
        "stage.DefinePrim('/a', 'RenderProduct')",
        "stage.DefinePrim('/a', 'ArnoldProcedural')",
        "stage.DefinePrim('/a', 'OmniGraphNode')",
        "stage.DefinePrim('/a', typeName=kind)",
        "from pxr import Sdf\nshader.CreateInput('file', Sdf.ValueTypeNames.String)",
        "from pxr import Sdf\nshader.CreateOutput('file', Sdf.ValueTypeNames.String)",
        "shader.CreateOutput('a', kind)",
        "from pxr import Sdf\napi.CreatePrimvar('file', Sdf.ValueTypeNames.String)",
        "stage.GetAttributeAtPath('/a.file')",
        "stage.GetObjectAtPath('/a.file')",
        "shader.GetOutput('file')",
        "api.GetPrimvar('file')",
    ],
    "maya": [
        "cmds.file(new=True, force=True)",
        "cmds.file('x', save=True)",
        "do = cmds.file",
        "getattr(cmds, 'file')(new=True)",
        "c = cmds\nc.file(new=True)",
        "from maya.cmds import file",
        "import maya.mel as mel\nmel.eval('x')",
        "import maya.OpenMaya",
        "cmds.evalDeferred('x')",
        "cmds.python('x')",
        "cmds.expression(string='x')",
        "cmds.scriptNode(beforeScript='x')",
        "cmds.scriptJob(event=['SceneSaved', f])",
        "cmds.createNode('script')",
        "cmds.createNode('expression')",
        "cmds.createNode(kind)",
        "make = cmds.createNode\nmake('script')",
        "cmds.shadingNode('file', asTexture=True)",
        "cmds.setAttr('a.b', 'x', type='string')",
        "cmds.setAttr('a.b', 'x', typ='string')",
        "cmds.setAttr('a.b', 'x', type=kind)",
        "cmds.setAttr('a.b', 'x', **{'type': 'string'})",
        "put = cmds.setAttr",
        "cmds.optionVar(intValue=('a', 1))",
        "cmds.loadPlugin('x')",
        "cmds.playblast(filename='x')",
        "cmds.sysFile('x', delete=True)",
        "cmds.undoInfo(state=False)",
        "cmds.delete = print",
        "om.MSceneMessage.addCallback(1, f)",
        "om.MGlobal.executeCommand('x')",
        "cmds.setAttr('a.b', 'x', type=['string'])",
        "cmds.setAttr('a.b', 'x', type=('string',))",
        "cmds.setAttr('a.b', '/x')",
        "cmds.setAttr('a.b', ['x'])",
        "cmds.setAttr('a.b', (name,))",
        "cmds.setAttr('a.fileTextureName', 1)",
        "cmds.setAttr('a.ftn', 1)",
        "cmds.setAttr(name, 1)",
        "cmds.createNode(['script'])",
        "cmds.addAttr('a', longName='b', usedAsFilename=True)",
        "cmds.connectAttr('a.b', 'file1.fileTextureName')",
        "cmds.connectAttr('a.b', 'file1.ftn')",
        "cmds.connectAttr('a.b', 'defaultRenderGlobals.preMel')",
        "cmds.connectAttr('a.b', name)",
        "cmds.connectAttr('time1.outTime', 'expression1.time')",
        "def f(**more): return more\nf = cmds.camera\nf(**{'file': 'x'})",
        "cmds.setAttr('a.b', type='string')",
        "cmds.setAttr('a.b', 1, 2, '/x')",
    ],
    "houdini": [
        "hou.hipFile.save('x')",
        "hou.hipFile.clear()",
        "hou.hscript('x')",
        "hou.session.tool = f",
        "hou.exit()",
        "hou.getenv('HOME')",
        "hou.readFile('x')",
        "hou.ui.addEventLoopCallback(f)",
        "with hou.undos.disabler(): pass",
        "node.createNode('python')",
        "node.createNode('file')",
        "node.createNode('rop_geometry')",
        "node.createNode(kind)",
        "make = node.createNode",
        "node.parm('file').set('x')",
        "node.parm('sn' + 'ippet').set('x')",
        "node.parm('execute').pressButton()",
        "node.parm('tx').setExpression('x')",
        "node.setParms({'file': 'x'})",
        "for p in node.parms(): p.set('x')",
        "hou.parm('/obj/a/file').set('x')",
        "node.render()",
        "node.geometry().saveToFile('x')",
        "node.hdaModule().f()",
        "node.addEventCallback((), f)",
        "h = hou",
        "node.parm('scale').set('`id`')",
        "node.parm('scale').set('1')",
        "node.parm('tx').set(name)",
        "node.parm('tx').set(other.parm('ty'))",
        "node.parmTuple('t').set(('`x`', 1, 2))",
        "node.parmTuple('t').set((name, 1, 2))",
        "node.parm('tx').set(value=name)",
        "node.parm('tx').set(*[name])",
        "put = node.parm('tx').set",
        "node.createNode(('file',))",
        "node.parm('file').set(1)",
        "node.parmTuple('file').set(1)",
        "node.createInputNode(0, 'file')",
    ],
}
