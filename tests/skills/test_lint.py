"""The check of skill files finds what is wrong by reading them, each with its file and line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcc_bridge.code.code_text import skill_reader
from dcc_bridge.config import data_folder
from dcc_bridge.errors import SkillError
from dcc_bridge.hosts import batch
from dcc_bridge.skills import lint
from dcc_bridge.skills.skill import HOSTS
from dcc_bridge.skills.source import Source
from tests.skills.shelf import save

HEAD = "import no_such_module\nfrom dcc_bridge import skill, confirm_sync\n"


def said(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    file = save(tmp_path / "x.py", text)
    return [(one.line, one.message) for one in lint.check([file], skill_reader)]


def body(risk: str, imports: str, *lines: str, asynchronous: bool = False) -> str:
    start = "async def" if asynchronous else "def"
    inside = "".join(f"    {line}\n" for line in lines)
    return f'{HEAD}{imports}\n@skill(risk="{risk}")\n{start} x():\n    """Do it."""\n{inside}'


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("def x(:\n", 1, "SyntaxError"),
        ("def x():\n    y = 1\n    +\n", 3, "SyntaxError"),
        ("\n\ndef x(): ...\n", 3, "no docstring"),
        ("def x(a):\n    '''Do it.'''\n", 1, "does not describe 'a'"),
        ("def x():\n    '''Do it.\n\n    Args:\n        b: B.\n    '''\n", 1, "describes 'b'"),
        (f"{HEAD}@skill(risk='raed')\ndef x():\n    '''Do it.'''\n", 4, "risk is read, edit"),
        (f"{HEAD}@skill(rsik='edit')\ndef x():\n    '''Do it.'''\n", 4, "Did you mean 'risk'?"),
        (
            f"{HEAD}@skill(undoable=False)\ndef x():\n    '''Do it.'''\n",
            4,
            "x: undoable=False is called undo=False now.",
        ),
        (f"{HEAD}@skill(name='a b')\ndef x():\n    '''Do it.'''\n", 4, "cannot be a tool's name"),
        ("from . import y\ndef x():\n    '''Do it.'''\n", 1, "not part of a package"),
        ("x = 1\n", 1, "no function that is a skill"),
        (
            f"{HEAD}@skill(confirms=True)\ndef x():\n    '''Do it.'''\n",
            4,
            "confirms=True but asks nothing",
        ),
        (
            f"{HEAD}@skill(risk='read', hosts=['Maya', 'blendr'])\ndef x():\n    '''Do it.'''\n",
            4,
            "no host is called 'blendr'. There are blender, freecad, houdini, maya, standalone.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    text: str, line: int, told: str, tmp_path: Path
) -> None:
    ((where, what),) = said(tmp_path, text)

    assert where == line
    assert told in what


def test_it_knows_every_host_that_comes_with_us() -> None:
    assert list(HOSTS) == sorted(batch.HOSTS)


@pytest.mark.parametrize("host", HOSTS)
def test_in_every_host_a_deletion_has_to_be_told_what_to_delete(host: str) -> None:
    (file,) = (data_folder("plugins") / host / "skills").glob("delete_*.py")
    (declared,) = Source.of(file, file.read_bytes()).skills() or []

    assert declared.shape is not None
    parameters = declared.shape.parameters
    assert {name: parameters[name] for name in ("pattern", "type_name")} == {
        "pattern": (str, ...),
        "type_name": (str, "*"),
    }


CALLS = {
    "destructive": [
        ("from pxr import Usd", "stage.RemovePrim('/a')"),
        ("from maya import cmds", "cmds.delete('a')"),
        ("import maya.cmds as mc", "mc.cutKey('a')"),
        ("import maya.cmds", "maya.cmds.delete('a')"),
        ("import bpy", "bpy.data.objects.remove(o)"),
        ("import bpy", "bpy.ops.object.delete()"),
        ("import hou", "hou.node('/obj').destroy()"),
        ("import FreeCAD", "FreeCAD.ActiveDocument.removeObject('a')"),
        ("import FreeCAD as App", "App.ActiveDocument.removeObject('a')"),
        ("import os", "os.remove('a')"),
        ("from os import unlink", "unlink('a')"),
        ("import shutil", "shutil.rmtree('a')"),
        ("from pathlib import Path", "Path('a').unlink()"),
        ("import bpy", "bpy.ops.wm.open_mainfile(filepath='a')"),
        ("import bpy", "bpy.ops.ed.undo()"),
        ("import bpy", "bpy.context.preferences.edit.use_global_undo = False"),
        ("import bpy as b", "d = b.data.meshes; d.remove(d[0])"),
        ("from maya import cmds", "cmds.file('a', open=True)"),
        ("from maya import mel", "mel.eval('delete a')"),
        ("import hou", "getattr(hou.hipFile, 'clear')()"),
        ("import FreeCAD as App", "App.closeDocument('a')"),
    ],
    "edit": [
        ("from pxr import Usd", "stage.DefinePrim('/a')"),
        ("from maya import cmds", "cmds.setAttr('a.tx', 1)"),
        ("import bpy", "bpy.data.objects.new('a', None)"),
        ("import hou", "node.createNode('geo')"),
        ("import FreeCAD", "doc.addObject('Part::Box', 'a')"),
        ("import bpy", "bpy.app.handlers.load_post.append(f)"),
        ("import bpy", "bpy.utils.register_class(A)"),
        ("from maya import cmds", "cmds.scriptJob(event=['SceneSaved', f])"),
        ("import hou", "hou.ui.addEventLoopCallback(f)"),
        ("import FreeCAD", "FreeCAD.addDocumentObserver(f)"),
        ("from pxr import Tf", "Tf.Notice.RegisterGlobally(1, f)"),
    ],
    "read": [
        ("from maya import cmds", "cmds.xform('a', query=True, translation=True)"),
        ("import json", "stage.RemovePrim('/a')"),
        ("from pxr import Usd", "stage.GetPrimAtPath('/a')"),
        # What code of an agent may not do.
        ("import tempfile", "tempfile.mkdtemp()"),
        ("import subprocess", "subprocess.run(['ls'])"),
        ("import threading", "threading.Thread(target=print).start()"),
        ("import pickle", "pickle.loads(b'')"),
        ("import bpy", "bpy.ops.render.render(write_still=True)"),
        ("from maya import cmds", "cmds.playblast()"),
        ("import os", "eval('1'), os.getcwd(), vars()"),
        ("import dcc_bridge", "dcc_bridge.track([])"),
    ],
}
"""Calls of the hosts and of others, by the least risk of a skill that makes them."""


@pytest.mark.parametrize(
    ("risk", "imports", "call"), [(risk, *call) for risk, calls in CALLS.items() for call in calls]
)
def test_what_edits_stays_or_loses_something_wants_the_risk_that_says_so(
    risk: str, imports: str, call: str, tmp_path: Path
) -> None:
    risks = ["read", "edit", "destructive"]
    for weaker in risks[: risks.index(risk)]:
        ((line, told),) = said(tmp_path, body(weaker, imports, call))

        assert (line, f'say risk="{risk}"' in told) == (7, True)
    assert said(tmp_path, body(risk, imports, call)) == []


def test_what_a_function_of_the_file_does_counts_too(tmp_path: Path) -> None:
    text = body("edit", "from maya import cmds", "_outer()")
    text += "\ndef _outer():\n    return map(_inner, [])\n\ndef _inner(n):\n    cmds.delete(n)\n"

    ((line, told),) = said(tmp_path, text)

    assert (line, "maya.cmds.delete removes" in told) == (13, True)


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import time", "time.sleep(1)"),
        ("from time import sleep", "sleep(1)"),
        ("from dcc_bridge import elicit_form_sync as ask", "ask('Which?', {})"),
        ("import requests", "requests.get('http://localhost')"),
        ("import subprocess as s", "s.run(['ls'])"),
    ],
)
def test_a_coroutine_does_not_wait_for_what_blocks(imports: str, call: str, tmp_path: Path) -> None:
    ((_, told),) = said(tmp_path, body("read", imports, call, asynchronous=True))

    assert "stops the server's loop" in told
    assert said(tmp_path, body("read", imports, call)) == []


HELD = [
    ("import contextlib", "with contextlib.redirect_stdout(out):"),
    ("from contextlib import redirect_stderr", "with open('a') as f, redirect_stderr(f):"),
    ("import warnings", "with warnings.catch_warnings(record=True) as w:"),
    ("from contextlib import chdir", "with chdir('/shots'):"),
    ("from unittest.mock import patch", "with patch.dict(os.environ, A='b'):"),
]


@pytest.mark.parametrize(("imports", "block"), HELD)
def test_what_holds_for_the_whole_application_is_left_before_a_person_is_asked(
    imports: str, block: str, tmp_path: Path
) -> None:
    """The application goes on while they think, in the function itself or in one that it calls."""
    inner = "def ask():\n    for n in range(2):\n        confirm_sync('Well?')\n"
    asks = "    confirm_sync('Now?')", "    ask()"

    texts = [body("edit", f"{imports}\n{inner}", block, line) for line in asks]
    told = [said(tmp_path, text) for text in texts]
    fine = body("edit", f"{imports}\n{inner}", block, "    list('a')", "ask()")

    assert [len(findings) for findings in told] == [1, 1]
    assert all("for the whole application" in findings[0][1] for findings in told)
    assert texts[0].splitlines()[told[0][0][0] - 1].strip() == block
    assert said(tmp_path, fine) == []


LOCKED = [
    ("", "LOCK"),
    ("", "self._scene_lock"),
    ("from studio import MUTEX", "MUTEX"),
    ("import threading\nGUARD = threading.RLock()", "GUARD"),
    ("from threading import Semaphore\nfew: object = Semaphore(3)", "few"),
    ("import threading", "threading.Lock()"),
    ("", "open('x') as file, LOCK"),
]


@pytest.mark.parametrize(("imports", "lock"), LOCKED)
def test_no_question_is_asked_with_a_lock(imports: str, lock: str, tmp_path: Path) -> None:
    text = body("edit", imports, f"with {lock}:", "    confirm_sync('Sure?')")

    ((line, told),) = said(tmp_path, text)

    assert line == len(text.splitlines())
    assert told.startswith("x: dcc_bridge.confirm_sync asks while ")


@pytest.mark.parametrize("asks", ["ask()", "list(map(ask, [1]))"])
def test_no_function_of_the_file_asks_with_a_lock_either(asks: str, tmp_path: Path) -> None:
    text = body("edit", "def ask(*_): confirm_sync('Sure?')", "with LOCK:", f"    {asks}")

    ((_, told),) = said(tmp_path, text)

    assert "while LOCK is held" in told


@pytest.mark.parametrize(
    "lines",
    [
        ("confirm_sync('Sure?')", "with LOCK:", "    print()"),
        ("with LOCK:", "    print()", "confirm_sync('Sure?')"),
        ("with open('block') as clock:", "    confirm_sync('Sure?')"),
        ("with unlock():", "    confirm_sync('Sure?')"),
    ],
)
def test_what_is_asked_without_a_lock_is_fine(lines: tuple[str, ...], tmp_path: Path) -> None:
    assert said(tmp_path, body("edit", "", *lines)) == []


def test_a_name_that_is_taken_is_told_with_both_places(tmp_path: Path) -> None:
    text = "def x():\n    '''Do it.'''\n"
    one, two = save(tmp_path / "one.py", text), save(tmp_path / "two.py", "\n" + text)

    ((found),) = lint.check([one, two], skill_reader)
    ((other),) = lint.check([two], skill_reader, [one])

    assert str(found) == str(other) == f"{two}:2: x: this name is taken, by {one}:1."


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
def test_a_file_that_others_can_write_is_told(tmp_path: Path) -> None:
    file = save(tmp_path / "x.py", "def x():\n    '''Do it.'''\n")
    file.chmod(0o666)

    (found,) = lint.check([file], skill_reader)

    assert "chmod o-w" in found.message


def test_a_path_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="no file or folder"):
        lint.files(tmp_path / "gone")


@pytest.mark.parametrize("folder", sorted(Path(__file__).parents[2].glob("plugins/*/skills")))
def test_our_own_skills_pass(folder: Path) -> None:
    assert lint.check(lint.files(folder), skill_reader) == []
