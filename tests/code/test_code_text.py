"""Code is read before anybody is asked: what is refused, and what a person is told of."""

from __future__ import annotations

import ast
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcc_bridge.code import code_tables as tables
from dcc_bridge.code.code_text import MOST_BYTES, MOST_LINES, classes_named, read_code
from dcc_bridge.errors import BadArguments
from tests.house import ROOT


def kinds(code: str, host: str) -> set[str]:
    return {finding.kind for finding in read_code(code, host).findings}


REFUSED = [
    ("x = 1\nfor y in (:\n    pass", "Line 2 is not valid Python: .*for y in"),
    ("x = 1\nreturn x", "Line 2 .*'return' outside function"),
    ("yield 1", "Line 1 .*'yield' outside function"),
    ("import asyncio\nawait asyncio.sleep(1)", "Line 2 .*'await' outside function"),
    ("nonlocal x", "Line 1 .*nonlocal"),
    ("a = 1\nb = '\u202e'", r"Line 2: the character U\+202E"),
    ("a = 1\n\nb\u200b = 1", r"Line 3: the character U\+200B"),
    ("\ufeffa = 1", r"Line 1: the character U\+FEFF"),
    ("a = 'x\0'", r"Line 1: the character U\+0000"),
    ("a = 1\rimport os", r"Line 1: the character U\+000D"),
    ("a = 1\x0cimport os", r"Line 1: the character U\+000C"),
    ("a = '\ud800'", r"Line 1: the character U\+D800"),
    ("a = '\U000e0041'", r"Line 1: the character U\+E0041"),
    ("# -*- coding: utf-7 -*-\na = 1", "Line 1: leave the encoding utf-7 out"),
    ("x = 1\n" * (MOST_LINES + 1), "at most 16,384 bytes and 400 lines"),
    ("x = '" + "\u00e9" * (MOST_BYTES // 2) + "'", "Line 1 is the last of 16,390 bytes"),
    ("x = " + "-" * 16_000 + "1", "nested"),
    ("x = " + "not " * 4_000 + "1", "nested"),
    ("a = 1\nx = a" + ".a" * 7_000, "nested"),
    ("x = a" + "()" * 7_000, "nested"),
    ("x = " + "lambda:" * 2_000 + "1", "nested"),
    ("x = " + "(" * 150 + "1" + "+1)" * 150, "nested"),
    ("x = " + "(" * 250 + ")" * 250, "Line 1 .*nested parentheses"),
    ("a" + "**a" * 5_000, "nested"),
]


@pytest.mark.parametrize(("code", "why"), REFUSED, ids=range(len(REFUSED)))
def test_code_that_cannot_be_asked_about_is_refused_with_its_line(code: str, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        read_code(code, "Blender")


def test_what_is_agreed_to_is_the_text_with_its_digest_and_lines() -> None:
    read = read_code("# -*- coding: utf-8 -*-\r\nx = '⚠️ é'\r\n", "Maya")

    assert read.text == "# -*- coding: utf-8 -*-\nx = '⚠️ é'\n"
    assert (read.sha256, read.lines) == (sha256(read.text.encode()).hexdigest(), 2)
    assert compile(read.tree, "x", "exec")


ORDINARY = [
    (
        "blender",
        "import bpy, math\nfrom mathutils import Vector\n"
        "cubes = []\n"
        "for x in range(5):\n"
        "    for y in range(5):\n"
        "        bpy.ops.mesh.primitive_cube_add(size=1, location=(x * 2, y * 2, 0))\n"
        "        cube = bpy.context.active_object\n"
        "        cube.name = f'Cube_{x}_{y}'\n"
        "        cube.select_set(True)\n"
        "        cubes.append(cube)\n"
        "cubes.remove(cubes[0])\n"
        "result = [c.name for c in cubes]\n",
    ),
    (
        "blender",
        "def material(name, colour):\n"
        "    mat = bpy.data.materials.get(name) or bpy.data.materials.new(name)\n"
        "    mat.use_nodes = True\n"
        "    bsdf = mat.node_tree.nodes.get('Principled BSDF')\n"
        "    bsdf.inputs['Base Color'].default_value = (*colour, 1)\n"
        "    return mat\n"
        "for obj in [o for o in bpy.data.objects if o.type == 'MESH']:\n"
        "    obj.data.materials.append(material('Red', (1, 0, 0)))\n",
    ),
    (
        "blender",
        "mat = bpy.data.materials.new('Sky')\nmat.use_nodes = True\n"
        "nodes = mat.node_tree.nodes\nnodes.clear()\n"
        "out = nodes.new('ShaderNodeOutputMaterial')\n"
        "mat.node_tree.links.new(nodes.new('ShaderNodeEmission').outputs[0], out.inputs[0])\n",
    ),
    (
        "blender",
        "scene = bpy.context.scene\nobj = bpy.data.objects['Cube']\n"
        "for frame in range(1, 100, 10):\n"
        "    scene.frame_set(frame)\n"
        "    obj.location.z = frame / 10\n"
        "    obj.keyframe_insert(data_path='location', frame=frame)\n"
        "for axis in ('x', 'y'):\n"
        "    setattr(obj.location, axis, getattr(obj.location, axis) + 1)\n",
    ),
    (
        "blender",
        "import bmesh\nfrom collections import defaultdict\n"
        "by_name = defaultdict(list)\n"
        "for i, obj in enumerate(sorted(bpy.context.selected_objects, key=lambda o: o.name)):\n"
        "    obj.name = obj.name.replace('.', '_').strip()\n"
        "    by_name[obj.type].append(obj)\n"
        "bm = bmesh.new()\nbm.from_mesh(obj.data)\n"
        "bmesh.ops.recalc_face_normals(bm, faces=bm.faces)\nbm.to_mesh(obj.data)\nbm.free()\n"
        "coll = bpy.data.collections.new('Props')\n"
        "bpy.context.scene.collection.children.link(coll)\n"
        "coll.objects.link(obj)\nbpy.context.scene.collection.objects.unlink(obj)\n"
        "obj.modifiers.new('Bevel', 'BEVEL').width = 0.02\n",
    ),
    (
        "maya",
        "from maya import cmds\nimport random\n"
        "group = cmds.group(empty=True, name='grid')\n"
        "for x in range(10):\n"
        "    name, shape = cmds.polyCube(name=f'box_{x}')\n"
        "    cmds.move(x * 2, 0, random.random(), name)\n"
        "    cmds.parent(name, group)\n"
        "print(cmds.file(query=True, sceneName=True), cmds.undoInfo(q=True, state=True))\n",
    ),
    (
        "maya",
        "for node in cmds.ls(selection=True, long=True) or []:\n"
        "    short = node.rpartition('|')[2]\n"
        "    cmds.rename(node, 'left_' + short)\n"
        "    for attr in ('tx', 'ty'):\n"
        "        cmds.setAttr(f'{node}.{attr}', lock=False)\n"
        "    cmds.setKeyframe(node, attribute='tx', time=1, value=0)\n"
        "shader = cmds.shadingNode('lambert', asShader=True)\n"
        "cmds.sets(cmds.ls(type='mesh'), edit=True, forceElement='initialShadingGroup')\n",
    ),
    (
        "maya",
        "import maya.api.OpenMaya as om\nimport pymel.core as pm\n"
        "sel = om.MGlobal.getActiveSelectionList()\n"
        "fn = om.MFnMesh(sel.getDagPath(0))\nresult = fn.numVertices, fn.getPoints()[0].x\n"
        "for node in pm.ls(type='transform'):\n    node.translateX.set(1)\n",
    ),
    (
        "houdini",
        "import hou\nobj = hou.node('/obj')\ngeo = obj.createNode('geo', 'grid')\n"
        "with hou.undos.group('grid'):\n"
        "    for i in range(4):\n"
        "        box = geo.createNode('box')\n"
        "        box.parm('tx').set(i * 2)\n"
        "        box.setName(f'box_{i}', unique_name=True)\n"
        "merge = geo.createNode('merge')\n"
        "for i, child in enumerate(c for c in geo.children() if c.type().name() == 'box'):\n"
        "    merge.setInput(i, child)\n"
        "merge.setDisplayFlag(True)\ngeo.layoutChildren()\nprint(hou.hipFile.path())\n",
    ),
    (
        "houdini",
        "for node in hou.selectedNodes():\n"
        "    key = hou.Keyframe()\n    key.setFrame(1)\n    key.setValue(0)\n"
        "    node.parm('tx').setKeyframe(key)\n"
        "    node.setColor(hou.Color((1, 0, 0)))\n"
        "    node.parm('ty').setExpression('$F / 24')\n",
    ),
    (
        "freecad",
        "import FreeCAD as App\nimport Part\nfrom FreeCAD import Vector\n"
        "for i in range(6):\n"
        "    box = doc.addObject('Part::Box', f'Box{i}')\n"
        "    box.Length = 10\n    box.Placement.Base = Vector(i * 20, 0, 0)\n"
        "    box.ViewObject.ShapeColor = (1.0, 0.0, 0.0)\n"
        "shape = Part.makeCylinder(2, 10)\nPart.show(shape)\n"
        "doc.getObject('Box0').Label = 'Base'\ndoc.recompute()\n",
    ),
    (
        "freecad",
        "names = dict[str, list]()\nfor obj in App.ActiveDocument.Objects:\n"
        "    names.setdefault(obj.TypeId, []).append(obj)\n"
        "for kind, objs in names.items():\n"
        "    for n, obj in enumerate(objs, 1):\n        obj.Label = f'{kind}_{n:03}'\n"
        "App.Console.PrintMessage(str(len(names)))\n",
    ),
    (
        "usd",
        "from pxr import Gf, Sdf, Usd, UsdGeom\n"
        "for x in range(5):\n"
        "    cube = UsdGeom.Cube.Define(stage, f'/World/Cube_{x}')\n"
        "    UsdGeom.XformCommonAPI(cube).SetTranslate((x * 3, 0, 0))\n"
        "    cube.GetDisplayColorAttr().Set([Gf.Vec3f(1, 0, 0)])\n"
        "for prim in stage.Traverse():\n"
        "    if prim.IsA(UsdGeom.Mesh):\n"
        "        prim.CreateAttribute('note', Sdf.ValueTypeNames.String).Set('seen')\n",
    ),
    (
        "usd",
        "from pxr import UsdShade, UsdGeom, Usd\nimport json, os.path\n"
        "mat = UsdShade.Material.Define(stage, '/Looks/Red')\n"
        "prims = [p for p in Usd.PrimRange(stage.GetPseudoRoot()) if p.GetName().startswith('a')]\n"
        "todo = list(prims)\nwhile todo:\n    prim = todo.pop()\n"
        "    UsdShade.MaterialBindingAPI.Apply(prim).Bind(mat)\n"
        "attr = UsdGeom.Xformable(prim).AddTranslateOp()\n"
        "for time in range(24):\n    attr.Set((0, time, 0), Usd.TimeCode(time))\n"
        "memory['names'] = json.dumps([os.path.basename(str(p.GetPath())) for p in prims])\n",
    ),
    (
        "usd",
        "import time\nfrom functools import partial, reduce\nstart = time.perf_counter()\n"
        "double = partial(max, 2)\nprint('{0.name} größe'.format(stage), reduce(max, [1, 2]))\n"
        "def cubes(names):\n    for name in names:\n        yield name\n"
        "match list(cubes(['a'])):\n"
        "    case [str(first), *rest]:\n        print(first.upper(), rest)\n"
        "    case {'a': value, **others} | {'b': value, **others}:\n        print(value, others)\n"
        "for prim in stage.Traverse():\n    match prim:\n"
        "        case object(name='Cube'):\n            prim.SetInstanceable(False)\n",
    ),
    (
        "usd",
        "class Grid:\n    def __init__(self, rows):\n        self.rows, self.made = rows, []\n"
        "    def build(self, make):\n        for row in range(self.rows):\n"
        "            self.made.append(make(row))\n        self.made.clear()\n"
        "def prim(row):\n    return stage.DefinePrim(f'/Row_{row}', 'Xform')\n"
        "steps = [prim, lambda row: None]\nfor step in steps:\n    step(1)\n"
        "Grid(3).build(prim)\nwith open('/shots/list.txt') as file:\n    rows = file.read()\n",
    ),
]


@pytest.mark.parametrize(("host", "code"), ORDINARY, ids=range(len(ORDINARY)))
def test_ordinary_code_has_no_finding(host: str, code: str) -> None:
    read = read_code(code, host)

    assert read.findings == ()
    assert classes_named(read.findings) == "only the scene's own interface"


REACHES = [
    ("blender", "files", "open(path, 'w').write('x')"),
    ("blender", "files", "bpy.ops.render.render()"),  # by a File Output of the compositor
    ("blender", "beyond", "bpy.ops._op_call('WM_OT_save_mainfile', {})"),
    ("freecad", "files", "App.saveParameter()"),
    ("freecad", "files", "App.ParamGet('User parameter:BaseApp').Export('x')"),
    ("freecad", "files", "import Mesh\nMesh.createBox(1, 1, 1).write('x')"),
    ("blender", "beyond", "with bpy.context.temp_override(window=w): bpy.ops.mesh.select_all()"),
    ("blender", "files", "f = open\nwith f('x', mode='ab') as out: pass"),
    ("blender", "files", "import io\nio.open('x', mode)"),
    ("blender", "files", "open(*what)"),
    ("blender", "files", "list(map(open, ['x'], ['w']))"),
    ("blender", "files", "from os import remove as r\nr('x')"),
    ("blender", "files", "import shutil\nshutil.rmtree('/x')"),
    ("blender", "files", "import shutil\nshutil.os.remove('x')"),
    ("blender", "files", "from os.path import os as o\no.remove('x')"),
    ("blender", "files", "from random import _os\n_os.remove('x')"),
    ("blender", "files", "import os\nlist(map(os.remove, ['x']))"),
    ("blender", "files", "import os\nfor do in (print, os.rename): do('a', 'b')"),
    ("blender", "beyond", "import os\ndef get(): return os\nget().remove('x')"),
    ("blender", "beyond", "import os\ndef go(m): m.remove('x')\ngo(os)"),
    ("blender", "beyond", "import os\ndef go(m): m.remove('x')\nlist(map(go, [os]))"),
    ("blender", "files", "import os\nclass A:\n    do = os.remove\nA.do('x')"),
    ("blender", "files", "import os\nb = a\na = os\nb.remove('x')"),
    ("blender", "beyond", "import os\n{'a': os}['a'].remove('x')"),
    ("blender", "files", "import os\n(m := os).remove('x')"),
    ("blender", "files", "import os\ngetattr(os, 'remove')('x')"),
    ("blender", "files", "from pathlib import Path\n(Path('x') / 'y').unlink()"),
    ("blender", "files", "from pathlib import Path\nfor p in Path('x').iterdir(): p.rename('z')"),
    ("blender", "files", "def save(p): p.write_text('x')"),
    ("blender", "files", "from pathlib import Path\nwith Path('x').open('w') as f: pass"),
    ("blender", "files", "bpy.ops.wm.save_as_mainfile(filepath='x')"),
    ("blender", "files", "bpy.ops.render.render(write_still=True)"),
    ("blender", "files", "bpy.ops.wm.obj_export(filepath='x')"),
    ("blender", "files", "import numpy as np\nnp.save('x', [1])"),
    ("maya", "files", "cmds.file(save=True)"),
    ("maya", "files", "cmds.file('x', exportSelected=True, type='mayaAscii')"),
    ("maya", "files", "options = {}\ncmds.file(**options)"),
    ("houdini", "files", "hou.hipFile.save()"),
    ("houdini", "files", "hou.node('/out/mantra1').render()"),
    ("freecad", "files", "import Mesh\nMesh.export([a], 'x.stl')"),
    ("freecad", "files", "doc.saveAs('x')"),
    ("usd", "files", "stage.GetRootLayer().Export('x.usda')"),
    ("usd", "files", "from pxr import Usd\nUsd.Stage.CreateNew('x.usda')"),
    ("blender", "scene", "bpy.ops.wm.read_homefile()"),
    ("blender", "scene", "w = bpy.ops.wm\nw.open_mainfile(filepath='x')"),
    ("blender", "scene", "bpy.ops.ed.undo()"),
    ("blender", "scene", "bpy.context.preferences.edit.use_global_undo = False"),
    ("blender", "scene", "p = bpy.context.preferences\np.edit.undo_steps = 0"),
    ("maya", "scene", "cmds.file(new=True, force=True)"),
    ("maya", "scene", "cmds.undoInfo(state=False)"),
    ("maya", "scene", "cmds.undoInfo(state=False, q=False)"),
    ("maya", "scene", "import pymel.core as pm\npm.openFile('x')"),
    ("houdini", "scene", "hou.hipFile.clear(suppress_save_prompt=True)"),
    ("houdini", "scene", "with hou.undos.disabler(): pass"),
    ("freecad", "scene", "doc.UndoMode = 0"),
    ("freecad", "scene", "App.closeDocument(doc.Name)"),
    ("usd", "scene", "stage.GetRootLayer().Reload()"),
    ("usd", "scene", "from pxr import Usd\nUsd.Stage.Open('x')"),
    ("blender", "loses", "d = bpy.data\nd.objects.remove(x)"),
    ("blender", "loses", "for c in (bpy.data.meshes, bpy.data.images):\n    c.remove(c[0])"),
    ("blender", "loses", "for o in list(bpy.data.objects): o.modifiers.clear()"),
    ("blender", "loses", "objs = []\ndef wipe(objs): objs.modifiers.clear()"),
    ("blender", "loses", "list(map(bpy.data.objects.remove, old))"),
    ("blender", "loses", "getattr(bpy.data, 'objects').remove(o)"),
    ("blender", "loses", "for n in ('objects', 'meshes'): getattr(bpy.data, n).remove(o)"),
    ("blender", "loses", "bpy.ops.object.delete()"),
    ("blender", "loses", "bpy.data.objects.remove.__call__(o)"),
    ("blender", "loses", "bpy.ops.outliner.orphans_purge(do_recursive=True)"),
    ("blender", "loses", "bpy.data.images['a'].pixels[:] = [0]"),
    ("blender", "loses", "del bpy.data.objects['a']['rig']"),
    ("maya", "loses", "cmds.delete('a')"),
    ("maya", "loses", "from maya.cmds import delete as d\nd('a')"),
    ("maya", "loses", "cmds.namespace(removeNamespace='a', deleteNamespaceContent=True)"),
    ("houdini", "loses", "for n in hou.node('/obj').children(): n.destroy()"),
    ("freecad", "loses", "doc.removeObject('Box')"),
    ("usd", "loses", "stage.RemovePrim('/a')"),
    ("usd", "loses", "del stage.GetRootLayer().rootPrims['a']"),
    ("usd", "loses", "stage.GetRootLayer().Clear()"),
    ("blender", "stays", "bpy.app.handlers.load_post.append(f)"),
    ("blender", "stays", "bpy.app.timers.register(f)"),
    ("blender", "stays", "bpy.utils.register_class(A)"),
    ("blender", "stays", "bpy.types.Object.note = bpy.props.StringProperty()"),
    ("blender", "stays", "bpy.types.SpaceView3D.draw_handler_add(f, (), 'WINDOW', 'POST_VIEW')"),
    ("blender", "stays", "import threading\nthreading.Thread(target=f).start()"),
    ("blender", "stays", "import builtins\nbuiltins.open = f"),
    ("blender", "stays", "import json\nsetattr(json, 'dumps', f)"),
    ("blender", "stays", "import sys\nsys.stdout = f"),
    ("blender", "stays", "import os\nos.environ['A'] = 'b'"),
    ("blender", "stays", "import atexit\natexit.register(f)"),
    ("blender", "stays", "class A:\n    def __del__(self): pass"),
    ("maya", "stays", "cmds.scriptJob(event=['SceneSaved', f])"),
    ("maya", "stays", "cmds.delete = print"),
    ("maya", "stays", "import maya.api.OpenMaya as om\nom.MSceneMessage.addCallback(1, f)"),
    ("houdini", "stays", "hou.ui.addEventLoopCallback(f)"),
    ("houdini", "stays", "hou.session.tool = f"),
    ("freecad", "stays", "App.addDocumentObserver(o)"),
    ("freecad", "stays", "p = App.ParamGet('User:x')\np.SetBool('a', True)"),
    ("freecad", "stays", "doc.Box.Proxy = Tool()"),
    ("usd", "stays", "from pxr import Tf\nTf.Notice.RegisterGlobally(1, f)"),
    ("maya", "beyond", "import maya.mel as mel\nmel.eval('delete a')"),
    ("maya", "beyond", "cmds.evalDeferred('x')"),
    ("houdini", "beyond", "hou.hscript('opsave')"),
    ("houdini", "beyond", "hou.node('/out').parm('execute').pressButton()"),
    ("freecad", "beyond", "import FreeCADGui as Gui\nGui.runCommand('Std_Delete')"),
    ("blender", "files", "bpy.ops.render.preset_add(name='x')"),
    ("blender", "beyond", "bpy.ops.script.python_file_run(filepath='x')"),
    ("blender", "beyond", "import subprocess\nsubprocess.run(['ls'])"),
    ("blender", "beyond", "from os import system as s\ns('ls')"),
    ("blender", "beyond", "import socket"),
    ("blender", "beyond", "from urllib import request\nrequest.urlopen('x')"),
    ("blender", "beyond", "import ctypes as c"),
    ("blender", "beyond", "import pickle"),
    ("blender", "beyond", "from os import *"),
    ("blender", "beyond", "import studio_tools"),
    ("blender", "beyond", "eval('1')"),
    ("blender", "beyond", "e = exec\ne('1')"),
    ("blender", "beyond", "print(max(['1'], key=eval))"),
    ("blender", "beyond", "@eval\ndef f(): pass"),
    ("blender", "beyond", "__import__('os')"),
    ("blender", "beyond", "__builtins__['open']('x', 'w')"),
    ("blender", "beyond", "import sys\nsys.modules['os'].remove('x')"),
    ("blender", "beyond", "import sys\nsys._getframe(1)"),
    ("blender", "beyond", "getattr(bpy.ops.wm, name)()"),
    ("blender", "beyond", "import os\ngetattr(os, 're' + 'move')('x')"),
    ("blender", "beyond", "import os\nn = 're'\nn += 'move'\ngetattr(os, n)('x')"),
    ("blender", "beyond", "import os\ngetattr(os, 'xremove'[1:])('x')"),
    ("blender", "beyond", "setattr(o, name, 1)"),
    ("blender", "beyond", "fns[i]()"),
    ("blender", "beyond", "find('x')()"),
    ("blender", "beyond", "import os\nuse.anything(os)"),
    ("blender", "beyond", "import os\nclass A:\n    m = os\nA.m.remove('x')"),
    ("blender", "beyond", "import os\nd = {}\nd['m'] = os\nd['m'].remove('x')"),
    ("blender", "beyond", "import os\nmatch os:\n    case m: m.remove('x')"),
    ("blender", "beyond", "def go(o): o.read_homefile()\ngo(bpy.ops.wm)"),
    ("blender", "beyond", "breakpoint()"),
    ("blender", "beyond", "().__class__.__base__.__subclasses__()"),
    ("blender", "beyond", "f.__globals__['os']"),
    ("blender", "beyond", "globals()['open']('x', 'w')"),
    ("blender", "beyond", "from operator import methodcaller\nmethodcaller('remove', 'x')(o)"),
    ("blender", "beyond", "import gc\ngc.get_objects()"),
    ("usd", "files", "match stage.GetRootLayer():\n    case object(Export=e): e('x')"),
    ("usd", "files", "match [stage]:\n    case [object(Save=s), *_] | s: s()"),
    ("blender", "files", "import os\nmatch os:\n    case object(remove=r): r('x')"),
    ("blender", "files", "import os\nmatch 1:\n    case int(real=x) as y if os.remove(y): pass"),
    ("blender", "beyond", "match f:\n    case object(__globals__={'os': o}): o.remove('x')"),
    ("blender", "beyond", "match o:\n    case Found(do): do('x')"),
    ("blender", "beyond", "import string\nstring.Formatter().get_field('0.x', (o,), {})"),
    ("blender", "beyond", "import typing\ntyping.get_type_hints(f)"),
    ("blender", "beyond", "from typing import ForwardRef\nForwardRef('f()')._evaluate({}, {})"),
    ("blender", "beyond", "import functools\n@functools.singledispatch\ndef f(x): pass"),
    ("blender", "beyond", "import traceback\nfor f, n in traceback.walk_stack(None): pass"),
    ("blender", "beyond", "import operator\noperator.attrgetter('a.b')(o)"),
    ("blender", "beyond", "import functools\nfunctools.reduce(getattr, ['a', 'b'], o)('x')"),
    ("blender", "files", "import functools, os\nfunctools.partial(os.remove, 'x')()"),
    ("blender", "beyond", "import dataclasses\ndataclasses.inspect.currentframe()"),
    ("blender", "beyond", "import types\ntypes.FunctionType(c, {})()"),
    ("blender", "beyond", "import logging.config\nlogging.config.dictConfig(d)"),
    ("blender", "beyond", "import weakref"),
    ("blender", "beyond", "import copyreg"),
    ("blender", "beyond", "import copy\ncopy.copyreg.pickle(A, f)"),
    ("blender", "beyond", "import time\ntime.sleep(60)"),
    ("blender", "beyond", "gr\u00f6\u00dfe = 1"),
    ("blender", "beyond", "print(f'{\uff4f.name}')"),
    ("blender", "stays", "def f():\n    try:\n        yield\n    finally:\n        g()"),
    ("blender", "stays", "def f():\n    with g:\n        for x in y: yield x"),
    ("blender", "stays", "async def f():\n    with g: await h"),
    ("blender", "stays", "class A:\n    __del__ = f"),
    ("blender", "stays", "A.__del__ = f"),
    ("blender", "stays", "setattr(A, '__del__', f)"),
    ("blender", "stays", "type('X', (), {'__del__': f})()"),
    ("freecad", "beyond", "Gui.runCommand('Std_Delete')"),
    ("freecad", "beyond", "App.Gui.doCommand('x')"),
    ("freecad", "beyond", "Gui.SendMsgToActiveView('Save')"),
    ("usd", "loses", "stage.GetRootLayer().rootPrims[:] = []"),
    ("usd", "loses", "stage.GetRootLayer().subLayerPaths = []"),
    ("usd", "loses", "def wipe(spec): del spec.nameChildren['a']"),
    ("usd", "loses", "stage.GetRootLayer().GetPrimAtPath('/a').properties.clear()"),
    ("usd", "loses", "stage.GetRootLayer().subLayerPaths.remove('a.usda')"),
    ("usd", "loses", "stage.MuteLayer('a.usda')"),
    ("usd", "stays", "stage.SetEditTarget(stage.GetSessionLayer())"),
    ("usd", "loses", "stage.Unload('/a')"),
    ("usd", "loses", "for prim in stage.Traverse(): prim.SetActive(False)"),
    (
        "usd",
        "loses",
        "from pxr import Usd\nUsd.NamespaceEditor(stage).DeletePrimAtPath('/a')",
    ),
    ("usd", "loses", "from pxr import Sdf\nSdf.CopySpec(a, '/a', b, '/b')"),
    ("usd", "loses", "stage.GetPrimAtPath('/a').GetReferences().ClearReferences()"),
    ("usd", "loses", "stage.GetPrimAtPath('/a').GetReferences().RemoveReference(r)"),
    ("usd", "loses", "stage.GetAttributeAtPath('/a.b').Block()"),
    ("usd", "loses", "stage.GetAttributeAtPath('/a.b').ClearAtTime(1)"),
    ("usd", "loses", "stage.GetAttributeAtPath('/a.b').ClearDefault()"),
    ("usd", "loses", "stage.GetPrimAtPath('/a').RemoveProperty('b')"),
    ("blender", "beyond", "import dcc_bridge.bridge"),
    ("blender", "beyond", "import dcc_bridge_blender.host"),
    ("blender", "beyond", "from bl_ext.user_default.dcc_bridge import host"),
    ("blender", "beyond", "bpy.ops.dcc_bridge.press('INVOKE_DEFAULT', answer='accept')"),
]
# What the text does not tell: the trip wire, the host's vetoes and the count of what changed do.
NOT_READ = [
    ("blender", "loses", "def wipe(c, o): c.remove(o)\nwipe(bpy.data.objects, o)"),
    ("blender", "loses", "def get(): return bpy.data.objects\nget().remove(o)"),
    ("blender", "beyond", "(lambda f: f())(g.tools[0])"),
    ("blender", "beyond", "for f in g.tools: f()"),
    ("blender", "beyond", "match o:\n    case Found(do): list(map(do, 'x'))"),
    ("blender", "beyond", "'{0.name}'.format(o)"),
    ("blender", "files", "def save(image): image.write()"),
    ("houdini", "beyond", "hou.node('/obj/tool').setParms({'run': 1})"),
    ("usd", "loses", "class Mine(dict): pass\nm = Mine(a=stage)\nm['a'].x.Remove('/a')"),
]


@pytest.mark.parametrize(("host", "kind", "code"), REACHES)
def test_what_code_reaches_is_told_with_its_class(host: str, kind: str, code: str) -> None:
    assert kind in kinds(code, host)


@pytest.mark.parametrize(("host", "kind", "code"), NOT_READ)
def test_what_is_not_found_is_known_by_name(host: str, kind: str, code: str) -> None:
    assert kind not in kinds(code, host)


@pytest.mark.parametrize("host", tables.GIVEN)
def test_the_names_that_a_host_gives_are_those_that_are_read(host: str) -> None:
    folder = ROOT / "plugins" / host
    files = folder.glob("*/operations/*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    defs = [it for it in nodes if isinstance(it, ast.FunctionDef) and it.name == "namespace"]
    dicts = [it for node in defs for it in ast.walk(node) if isinstance(it, ast.Dict)]

    names = {key.value for it in dicts for key in it.keys if isinstance(key, ast.Constant)}

    assert names == {*tables.GIVEN[host]}


DELETES = ("os.remove", "os.unlink", "shutil.rmtree", "pathlib.Path.unlink")
TOLD = [
    *(
        ("Maya", f"import {it.partition('.')[0]}\n{it}('x')", f"removes a file or folder: {it}")
        for it in DELETES
    ),
    ("usd", "s = stage\ns.Save()", "writes a file: stage.Save"),
    # what the text does not resolve
    ("Blender", "for o in f('x'):\n    o[0].modifiers.clear()",
     "removes objects or data: o[0].modifiers.clear"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "code", "reason"), TOLD, ids=range(len(TOLD)))
def test_what_is_found_is_told_with_its_line_as_it_is_written(
    host: str, code: str, reason: str
) -> None:
    (finding,) = read_code(code, host).findings

    assert (finding.line, finding.reason) == (2, reason)


@pytest.mark.parametrize("name", ["gr\u00f6\u00dfe", "\uff4fs", "cafe\u0301", "a\ufe4db"])
def test_a_name_with_other_letters_is_told_with_its_line(name: str) -> None:
    findings = read_code(f"# {name}, of a comment\nf'{{{name}}}'\n" * 2, "Maya").findings

    assert {it.line for it in findings} >= {2, 4}
    assert f"has letters that may only look like others: {name}" in {it.reason for it in findings}


def test_a_finding_is_a_sentence_with_its_line_and_the_name_behind_the_alias() -> None:
    code = "d = bpy.data\nopen(p, 'w')\nd.objects.remove(x)\nbpy.app.handlers.load_post.append(f)"

    findings = read_code(code, "Blender").findings

    assert [(it.line, it.reason) for it in findings] == [
        (2, "writes a file: open(p, 'w')"),
        (3, "removes objects or data: bpy.data.objects.remove"),
        (4, "leaves a handler, a timer or a callback behind: bpy.app.handlers.load_post.append"),
    ]
    assert classes_named(findings) == (
        "writes or removes files, removes things, leaves behind what undo does not take back"
    )


BRANCHING = "import os\na0 = os\n" + "".join(
    f"a{n} = a{n - 1}.p if x else (a{n - 1}.q, a{n - 1})[y]\n" for n in range(1, 300)
)


def test_names_that_branch_without_end_are_read() -> None:
    """Each way through them was followed, and that never ended."""
    assert read_code(BRANCHING, "Maya").findings


def test_a_name_that_stands_for_too_much_is_a_finding() -> None:
    crowded = "".join(f"m = b.x{n}\n" for n in range(100)) + "import os\nm = os\nm.remove('x')\n"

    (finding,) = read_code(crowded, "Maya").findings

    assert finding.reason == "stands for too much to be read: m"


PIECES = [
    "\n",
    "    ",
    "(",
    ")",
    "[",
    "]",
    ":",
    ".",
    "=",
    "lambda x: ",
    "del ",
    "*",
    "'",
    "\0",
    "é",
]
PIECES += ["\u202e", "await ", "yield ", "for a in b: ", "import os\n", "getattr(a, b)", "\ud800"]
TEXTS = [code for _, code in ORDINARY] + [code for _, _, code in REACHES]


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(TEXTS))
def test_no_text_makes_the_reader_fail(random: Random, text: str) -> None:
    """Ten mutations of a text in each example."""
    for _ in range(10):
        start, end = sorted(random.choices(range(len(text) + 1), k=2))
        piece = random.choice([*PIECES, text[start:end], random.choice(TEXTS)])
        text = (text[:start] + piece + text[min(end, start + random.randrange(9)) :])[:20_000]
        try:
            read_code(text, "Blender")
        except BadArguments:
            continue
