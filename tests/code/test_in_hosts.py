"""An agent's code in Maya's and Houdini's stand-ins, in Blender and in FreeCAD, over HTTP."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from anyio import move_on_after
from mcp_types import ElicitRequestParams, ElicitResult

from dcc_bridge.audit import reader
from dcc_bridge.headless import Pump
from dcc_bridge.threads.main_thread import MainThread
from tests.blender import bpy_module
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import furnish
from tests.live import live
from tests.verbs.tasks import Agent, Words
from tests.verbs.words import BLENDER, FREECAD, HOUDINI, MAYA, blender, freecad_console, leaf

WHY = "The test wants it."


class Lines(NamedTuple):
    """Lines of code in a host's own API."""

    make: str  # with {n} for a number
    edit: str  # changes the first one
    miss: str  # names what is not there
    near: str  # what is said of what there is of that name
    lose: str  # deletes the second one
    warn: str  # makes the application warn
    warning: str  # what it says then
    names: str = "Grid{n}"  # what it is called then
    reaches: tuple[str, ...] = ()  # each loses the scene or writes out.* in {folder}
    off: str = ""  # switches undo off
    noticed: tuple[str, ...] = ()  # the same, where the application only tells, or not even that
    leaves: str = ""  # has the application call `note` later
    calls: str = ""  # has it called
    undoes: str = ""  # goes back one step
    saves: str = ""  # writes {folder}/kept.*
    opens: str = ""  # opens that
    opened: str = ""  # what is said then
    left: str = "The undo step was reverted"  # what is said of the scene after that
    # What undo does not hold: what is run before, what is done to it, and what is said of that.
    beside: tuple[tuple[str, str, str], ...] = ()


# A compositor that writes what is rendered, in the interface of 4.5 and of 5.2.
_RENDERS = """s = bpy.context.scene
s.render.resolution_percentage = 1
s.use_nodes = True
t = getattr(s, "node_tree", None) or bpy.data.node_groups.new("c", "CompositorNodeTree")
if hasattr(s, "compositing_node_group"): s.compositing_node_group = t
n = t.nodes.new("CompositorNodeOutputFile")
if hasattr(n, "directory"): n.directory = "{folder}"
else: n.base_path = "{folder}"
"""
LINES = {
    "Maya": Lines(
        'cmds.createNode("transform", name=f"Grid{n}")',
        'cmds.setAttr("Grid0.translateX", 5.0)',
        "cmds.createNodes()",
        "find_api knows: ",
        'cmds.delete("Grid1")',
        'cmds.warning("That is no mesh.")',
        "That is no mesh.",
        "|Grid{n}",
        (
            'do = getattr(cmds, "fi" + "le")\ndo(rename="{folder}/out.ma")\ndo(save=True)',
            'cmds.file("{folder}/out.ma", exportAll=True, force=True, type="mayaAscii",'
            " preserveReferences=True)",
            'getattr(cmds, "fi" + "le")(new=True, force=True)',
            'getattr(cmds, "fi" + "le")("{folder}/kept.ma", open=True, force=True)',
            'cmds.playblast(filename="{folder}/out.mov")',
        ),
        "cmds.undoInfo(stateWithoutFlush=False)",
        leaves='om.MDGMessage.addNodeAddedCallback(note, "dependNode")',
        calls='cmds.createNode("transform", name="Later")',
        undoes='getattr(cmds, "un" + "do")()',
        saves='cmds.file("{folder}/kept.ma", exportAll=True, type="mayaAscii",'
        " preserveReferences=True)",
        opens='getattr(cmds, "fi" + "le")("{folder}/kept.ma", open=True, force=True)',
        opened="open kept.ma",
    ),
    "Houdini": Lines(
        'hou.node("/obj").createNode("null", f"Grid{n}")',
        'hou.node("/obj/Grid0").parm("tx").set(5.0)',
        "hou.nodes()",
        "It has: node",
        'hou.node("/obj/Grid1").destroy()',
        'geo = hou.node("/obj").createNode("geo", "Bad")\n'
        'geo.createNode("file", "in").parm("file").set("/no")',
        "/obj/Bad/in: Unable to read file",
        "/obj/Grid{n}",
        (
            'hou.hipFile.save("{folder}/out.hip")',
            'getattr(hou.hipFile, "sa" + "ve")("{folder}/out.hip")',
        ),
        "hou.undos.disabler().__enter__()",
        leaves="hou.hipFile.addEventCallback(note)",
        undoes='getattr(hou.undos, "perform" + "Undo")()',
        saves='hou.hipFile.save("{folder}/kept.hip")',
        opens='getattr(hou.hipFile, "lo" + "ad")("{folder}/kept.hip")',
        opened="A copy of what was lost is in ",
    ),
    "Blender": Lines(
        'bpy.context.scene.collection.objects.link(bpy.data.objects.new(f"Grid{n}", None))',
        'bpy.data.objects["Grid0"].location.x = 5.0',
        "bpy.data.objekts",
        "find_api knows: ",
        'bpy.data.objects.remove(bpy.data.objects["Grid1"])',
        "[it.select_set(False) for it in bpy.data.objects]\nbpy.ops.object.transform_apply()",
        "bpy.ops.object.transform_apply returned CANCELLED, so it may have done nothing.",
        reaches=(
            'bpy.ops.wm.save_as_mainfile(filepath="{folder}/out.blend")',
            'bpy.ops.wm.save_as_mainfile(filepath="{folder}/out.blend", copy=True)',
            'getattr(bpy.ops.wm, "open_" + "mainfile")(filepath="{folder}/kept.blend")',
            'getattr(bpy.ops.wm, "read_" + "homefile")(use_empty=True)',
            'getattr(bpy.ops.ed, "un" + "do")()',
            'bpy.context.scene.render.filepath = "{folder}/out.png"\n'
            "bpy.context.scene.render.resolution_percentage = 1\n"
            "bpy.ops.render.render(write_still=True)",
            '(getattr(bpy.ops.wm, "obj_export", None) or bpy.ops.export_scene.obj)'
            '(filepath="{folder}/out.obj")',
            'bpy.ops.script.python_file_run(filepath="{folder}/../starts.py")',
            'bpy.ops.render.preset_add(name="out")',
            f"{_RENDERS}bpy.ops.render.render()",
            f'{_RENDERS}getattr(bpy.ops.render, "ren" + "der")()',
            'bpy.data.libraries.write("{folder}/out.blend", {bpy.context.scene})',
            "exec('bpy.data.libraries.write(\"{folder}/out.blend\", {bpy.context.scene})')",
            'import imbuf\nimbuf.write(imbuf.new((4, 4)), filepath="{folder}/out.png")',
            'import aud\naud.Sound.sine(440).limit(0, 0.1).write("{folder}/out.wav")',
        ),
        off="bpy.context.preferences.edit.use_global_undo = False",
        noticed=('bpy.data.images.new("i", 4, 4).save_render("{folder}/out.png")',),
        beside=(
            (
                'bpy.data.images.new("px", 4, 4)',
                'bpy.data.images["px"].pixels[0] += 0.25',
                "but not the pixels of px",
            ),
            ("1", "bpy.context.preferences.view.ui_scale += 0.1", "but not the preferences"),
            ("bpy.context.scene.frame_set(1)", "bpy.context.scene.frame_set(42)", "reverted"),
            ("assert bpy.context.scene.frame_current == 1", "1", "reverted"),
        ),
        leaves="bpy.app.handlers.depsgraph_update_post.append(note)",
        calls='bpy.data.objects["Grid0"].location.y = 7.0',
    ),
    "FreeCAD": Lines(
        'doc.addObject("Part::Box", f"Grid{n}")',
        "doc.Grid0.Length = 5.0",
        "doc.makeObject",
        "find_api knows: ",
        'doc.removeObject("Grid1")',
        'doc.addObject("Part::Cut", "Bad")\ndoc.recompute()',
        "Bad cannot be computed: ",
        reaches=(
            'import Part\nPart.export([doc.Grid0], "{folder}/out.step")',
            'import Mesh\nMesh.export([doc.Grid0], "{folder}/out.stl")',
            'doc.Grid0.Shape.exportStep("{folder}/out.step")',
            "exec('doc.Grid0.Shape.exportStep(\"{folder}/out.step\")')",
            'getattr(doc.Grid0.Shape, "export" + "Brep")("{folder}/out.brep")',
            'save = doc.saveCopy\nsave("{folder}/out.FCStd")',
            'doc.saveAs("{folder}/out.FCStd")',
            'doc.exportGraphviz("{folder}/out.dot")',
            'import Mesh\nMesh.createBox(1, 1, 1).write("{folder}/out.stl")',
        ),
        off="doc.UndoMode = 0",
        noticed=('App.ParamGet("User parameter:BaseApp").Export("{folder}/out.xml")',),
        undoes='getattr(doc, "un" + "do")()',
        saves='doc.saveCopy("{folder}/kept.FCStd")',
        opens='App.openDocument("{folder}/kept.FCStd")\n1 / 0',
        opened="uses FreeCAD.openDocument",  # which is closed again
        left="Nothing was changed",
        beside=(),  # documents that are new are closed with the rest
        leaves="class Left: slotCreatedObject = staticmethod(note)\n"
        "sys.left = Left()\nApp.addDocumentObserver(sys.left)",
        calls='doc.addObject("Part::Box", "Later")',
    ),
}


class Window(Pump):
    """A main loop that counts how often it paints in the middle of a job."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = 0
        self.main = MainThread(self.wake, self.spin, repaint=self.paint)

    def paint(self, serves_stop: bool) -> bool:
        """Count it; nobody presses Esc."""
        self.frames += 1
        return False


class Coder(Agent):
    """An agent that sends code; the person agrees to a loss or does not."""

    agrees_to_loss = False
    window: Window | None = None  # the one that is painted meanwhile

    async def ran(self, code: str, **more: Any) -> dict[str, Any]:
        """Send code that has to be done."""
        told: dict[str, Any] = await self.call("run_python", code=code, why=WHY, **more)
        return told

    async def failed(self, code: str, **more: Any) -> str:
        """Send code that has to fail; gives what is said of that."""
        return str(await self.fails("run_python", code=code, why=WHY, **more))

    async def undo_to(self, depth: int) -> None:
        """Undo until the stack is as deep as it was."""
        while (await self.state())["depth"] > depth:
            await self.call("undo_last")

    async def asked(self, params: ElicitRequestParams) -> ElicitResult:
        self.answers = "accept"
        if params.message.startswith("The code deletes"):
            self.answers = "accept" if self.agrees_to_loss else "decline"
        return await super().asked(params)


async def work(agent: Coder) -> None:
    """Make, fail, reach out, lose and go on, each time with a look at the scene."""
    lines = LINES[agent.words.host]
    make = f"for n in range(100):\n    {lines.make}"
    before = await agent.state()

    made = await agent.ran(make)
    there = await agent.state()
    assert made["changed"]["created"]["count"] == 100
    assert {lines.names.format(n=n) for n in range(2)} <= {*made["changed"]["created"]["items"]}
    assert there["depth"] == before["depth"] + 1
    check_record(agent.folder, make)

    warned = await agent.ran(lines.warn)
    assert [it for it in warned["warnings"] if it.startswith(lines.warning)]
    await agent.undo_to(there["depth"])
    assert await agent.state() == there

    edits = f"for _ in range(50):\n    {lines.edit}"
    failed = await agent.failed(f"{edits}\n{lines.miss}")
    assert f"line 3: {lines.miss}" in failed
    assert lines.near in failed
    assert f"{lines.left}." in failed
    assert await agent.state() == there

    told = await agent.ran(f"print('seen')\n{lines.edit}\n7")
    assert (told["result"], told["stdout"]) == (7, "seen\n")
    assert told["changed"]["changed"]["items"] == [lines.names.format(n=0)]
    await agent.call("undo_last")
    assert await agent.state() == there

    await reach_out(agent, lines)
    assert await agent.state() == there

    looked = await agent.ran(f"{lines.edit}\n7", read_only=True)
    assert (looked["result"], looked["undo"]) == (7, None)
    await see(agent, lines)
    await end_the_endless(agent, lines)
    await leave_behind(agent, lines)

    await agent.failed(f"{lines.edit}\n{lines.lose}")
    assert agent.questions[-1].startswith("The code deletes")
    assert await agent.state() == there

    agent.agrees_to_loss = True
    lost = await agent.ran(f"{lines.edit}\n{lines.lose}")
    assert lost["changed"]["deleted"]["items"][0] == lines.names.format(n=1)
    assert (await agent.state())["depth"] == there["depth"] + 1

    for _ in range(2):
        await agent.call("undo_last")
    assert await agent.state() == before
    await look_beside(agent, lines)

    off_and_on = f"{lines.off}\n{lines.make.replace('{n}', '')}"
    await agent.send("run_python", {"code": off_and_on, "why": WHY})
    assert "may reach beyond this scene" in agent.questions[-1]
    off = await agent.state()
    await agent.ran(lines.make.replace("{n}", "On"))
    await agent.call("undo_last")
    assert await agent.state() == off  # undo is on again
    if lines.opens:
        await open_another(agent, lines)


def check_record(folder: Path, code: str) -> None:
    """Find the digest of code that ran in the audit log, and its text beside it."""
    digest = sha256(code.encode()).hexdigest()
    (file,) = folder.glob(f"*/audit/code/{digest}.py")
    (log,) = reader.logs(file.parents[1])
    lines = [line.fields for line in reader.AuditFile(log).lines()]
    ran = [line for line in lines if line["event"] == "code" and line["digest"] == digest]
    assert [line["outcome"] for line in ran] == ["agreed", "done"]
    assert ran[1]["created"] == 100
    assert file.read_text() == code


async def see(agent: Coder, lines: Lines) -> None:
    """Have a picture drawn once the code has run."""
    there, look = await agent.state(), {"view": "three_quarter", "size": 128}
    if agent.words.draws:
        told, picture = await agent.picture("run_python", code=lines.edit, look=look, why=WHY)
        assert told["changed"]["changed"]["count"] == 1
        assert max(picture.size) == 128
        await agent.call("undo_last")
    else:
        asked = len(agent.questions)
        said = await agent.failed(lines.edit, look=look)
        assert "draws no pictures here" in said
        assert len(agent.questions) == asked
    assert await agent.state() == there


async def end_the_endless(agent: Coder, lines: Lines) -> None:
    """Let a time limit and a client end code; the window is drawn meanwhile."""
    there = await agent.state()
    endless = f"{lines.edit}\nwhile True: pass"
    window = agent.window  # those with windows of their own have tests of their own
    before = window.frames if window else 0
    assert "0.3 s" in await agent.failed(endless, timeout=0.3)
    assert window is None or window.frames > before
    assert await agent.state() == there
    with move_on_after(1) as patience:
        await agent.send("run_python", {"code": endless, "timeout": 100, "why": WHY})
    assert patience.cancelled_caught
    assert await agent.state() == there  # which waits until it has ended
    assert (await agent.call("recent_calls"))["calls"][1]["state"] == "cancelled"


async def leave_behind(agent: Coder, lines: Lines) -> None:
    """Leave a thread, a function for the end, and one that the application calls."""
    there = await agent.state()
    thread = "import threading\nthreading.Thread(target=print).start()"
    refused = await agent.failed(f"{lines.edit}\n{thread}")
    assert lines.left in refused

    end = "import atexit\natexit.register(int)"
    told = await agent.ran(end)
    assert "where nothing is undone" in agent.questions[-1]
    assert "Still registered: 1 to be called when the host quits." in told["stderr"]
    marked = "Undo may not restore what these lines did, if they ran: "
    assert told["warnings"][-1].startswith(f"{marked}line 1: imports atexit")

    note = "import sys\nsys.calls = []\ndef note(*_, **__): sys.calls.append(1)\n"
    told = await agent.ran(note + lines.leaves)
    assert told["warnings"][-1].startswith(f"{marked}line 1: imports sys")
    if lines.calls:
        await agent.ran(lines.calls)
        again = await agent.ran("import sys\nlen(sys.calls)")
        assert again["result"] > 0
    if agent.words.host not in ("Blender", "FreeCAD"):  # those quit with all that is left in them
        await agent.ran("import atexit\natexit.unregister(int)")
    await agent.undo_to(there["depth"])
    assert (await agent.state())["digest"] == there["digest"]


async def look_beside(agent: Coder, lines: Lines) -> None:
    """Change what undo does not hold, and fail; or only look."""
    there = await agent.state()
    for before, code, said in lines.beside:
        await agent.ran(before)
        depth = (await agent.state())["depth"]
        failed = await agent.failed(f"{code}\n1 / 0")
        assert said in failed
        looked = await agent.ran(code, read_only=True)
        assert said in looked["warnings"][0]
        assert not looked["changed"]["is_exact"]
        assert (await agent.state())["depth"] == depth
    await agent.undo_to(there["depth"])


async def open_another(agent: Coder, lines: Lines) -> None:
    """Save a copy and open it: that is refused, or told of."""
    (folder := agent.folder / "opened").mkdir()
    saves, opens = (it.replace("{folder}", str(folder)) for it in (lines.saves, lines.opens))
    await agent.ran(saves, writes=[str(folder)])
    there = await agent.state()
    said = await agent.failed(opens)
    assert lines.opened in said
    assert (await agent.state())["digest"] == there["digest"]


async def reach_out(agent: Coder, lines: Lines) -> None:
    """Save, export and open in the application's own way, without having said so."""
    there = await agent.state()
    folder = agent.folder / "reached"
    folder.mkdir()
    (agent.folder / "starts.py").write_text("import subprocess; subprocess.run(['true'])")
    for code in lines.reaches:
        said = await agent.failed(f"{lines.edit}\n" + code.replace("{folder}", str(folder)))
        assert lines.left in said, said
        assert "AttributeError" not in said, said  # it was refused, and did not fail before that
        assert ([*folder.iterdir()], await agent.state()) == ([], there), said
    if lines.undoes:
        said = await agent.failed(lines.undoes)
        assert "undid edits of others" in said
        assert "Those edits were redone." in said
        assert await agent.state() == there
    for code in lines.noticed:
        await agent.ran(code.replace("{folder}", str(folder)))
        assert len([*folder.iterdir()]) == 1
        await agent.undo_to(there["depth"])


@pytest.mark.long
def test_in_the_stand_in_of_maya(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    maya = Maya(monkeypatch)
    furnish(maya)
    maya.scene.name = (tmp_path / "shot.ma").as_posix()
    host = import_module("dcc_bridge_maya.host").MayaHost()
    _run_live(host, leaf("maya"), MAYA, tmp_path)


@pytest.mark.long
def test_in_the_stand_in_of_houdini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    houdini = Houdini(monkeypatch, batch=True)
    houdini.scene.path, houdini.scene.is_new = (tmp_path / "shot.hip").as_posix(), False
    host = import_module("dcc_bridge_houdini.host").HoudiniHost()
    words = replace(HOUDINI, draws=False)  # hython has no view
    _run_live(host, leaf("houdini"), words, tmp_path)


@pytest.mark.real
@pytest.mark.timeout(400)
@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_in_blender(version: str, tmp_path: Path) -> None:
    _run_started(BLENDER, lambda folder: blender(version, folder), tmp_path)


_LEAVES = """
import ast
from dcc_bridge.code.execution import execute
from dcc_bridge.batch_job import import_scenes, opened
import bpy
code = "def note(*_, **__): bpy\\nbpy.app.handlers.depsgraph_update_post.append(note)"
with opened("blender", import_scenes("dcc_bridge_blender.scenes"), None):
    execute(ast.parse(code), code, {"bpy": bpy}, timeout=60)
"""


@pytest.mark.real
@pytest.mark.timeout(300)
@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_blender_as_a_module_ends_where_code_has_left_a_handler(version: str) -> None:
    """4.5 would wait for ever for a thread of its own: the handler keeps `bpy` alive."""
    python = bpy_module.python(version)
    assert python is not None

    done = subprocess.run(
        [python, "-c", _LEAVES], env=bpy_module.environment(), capture_output=True, timeout=120
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.real
@pytest.mark.timeout(400)
def test_in_freecad(tmp_path: Path) -> None:
    _run_started(FREECAD, freecad_console, tmp_path)


def _run_live(host: Any, own: dict[str, Any], words: Words, folder: Path) -> None:
    agent = Coder(words, folder)
    agent.window = Window()
    with live(folder / "run", host=host, **own, pump=agent.window) as running:

        async def connected() -> None:
            async with running.client(asked=agent.asked) as client:
                agent.client = client
                await work(agent)

        running.run(connected, limit=50)


def _run_started(
    words: Words, start: Callable[[Path], AbstractContextManager[Any]], folder: Path
) -> None:
    agent = Coder(words, folder)
    (folder / "home").mkdir()
    with start(folder / "home") as running:

        async def connected() -> None:
            async with running.client(asked=agent.asked) as client:
                agent.client = client
                await work(agent)

        running.run(connected, limit=240)
        running.order("close")
        assert running.end() == 0, running.output
