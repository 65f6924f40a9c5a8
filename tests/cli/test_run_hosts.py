"""``dcc-bridge run`` and ``serve`` in mayapy and hython, of which stand-ins are here."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.cli.interpreter import is_python
from tests.blender import bpy_module
from tests.cli import commands
from tests.cli.commands import Done
from tests.hosts import freecad
from tests.hosts.application import until
from tests.hosts.fakes import interpreter
from tests.hosts.fakes.houdini.scene import Scene as Hip
from tests.hosts.fakes.maya.scene import Scene as Maya
from tests.tiers import sampled

HOSTS = ("maya", "houdini")
CAMERAS = {
    "maya": {"pattern": "shot_*", "type": "camera"},
    "houdini": {"pattern": "shot_*", "type": "cam", "under": "/obj"},
}
NOWHERE = {
    "maya": {"names": {"|nowhere": "x"}},
    "houdini": {"names": {"/obj/nowhere": "x"}},
}


class Farm:
    """A folder with a scene in it, and a host's batch interpreter on PATH."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder, self.host, self.bin = folder, host, folder / "bin"
        self.scene = folder / ("shot.ma" if host == "maya" else "shot.hip")
        self.out = folder / f"out{self.scene.suffix}"
        (_maya if host == "maya" else _hip)(self.scene)
        self.program = interpreter.put(self.bin, host)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.bin), os.environ["PATH"]))
        return {"PATH": path, "DCC_BRIDGE_AUDIT": str(self.folder / "audit")}

    def run(self, *words: str | Path) -> Done:
        there = ("--host", self.host, "--scene", self.scene)
        return commands.run(self.folder / "runtime", *words, *there, **self.environment)

    def delete(self, *words: str | Path) -> Done:
        given = ("--args", json.dumps(CAMERAS[self.host]), "--save-as", self.out)
        return self.run("run", "delete", *given, *words)


def _maya(file: Path) -> None:
    scene = Maya()
    for name in ("shot_010", "shot_020", "key"):
        node = scene.add(name, "transform", values={"translateX": 0.0})
        scene.add(f"{name}Shape", "camera", node, values={"focalLength": 35.0})
    scene.write(file)


def _hip(file: Path) -> None:
    scene = Hip()
    for name in ("shot_010", "shot_020", "key"):
        scene.add(f"/obj/{name}", "cam", parms={"tx": 0.0})
    scene.write(file)


@pytest.fixture
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Farm:
    return Farm(tmp_path, request.param)


@pytest.mark.parametrize("farm", sampled(["maya"], HOSTS), indirect=True)
def test_a_refusal_and_what_a_list_allows_have_codes_of_their_own(farm: Farm) -> None:
    """The scene is written in the second case alone. Maya is told of its end."""
    (farm.folder / "list").write_text("delete")

    refused = farm.delete()
    was_written = farm.out.exists()
    asked, ran, *ended = interpreter.notes(farm.bin)
    done = farm.delete("--unattended", f"allow:{farm.folder / 'list'}")

    assert (refused.code, was_written, refused.out) == (3, False, ""), refused.err
    assert (
        refused.err.lower().count("nothing was changed") == 3
    )  # twice in the record, and in a sentence
    assert "another way" not in refused.err
    programs = [[Path(word).name for word in note["words"]] for note in (asked, ran)]
    assert programs == [["probe.py"], ["start.py"]]
    assert Path(ran["job"]).name == "job.json"
    assert ended == ([{"ended": True}] if farm.host == "maya" else [])
    assert (done.code, json.loads(done.out)["found"]) == (0, 2), done.err
    assert "shot_" not in farm.out.read_text()
    assert "key" in farm.out.read_text()


def _lose(farm: Farm) -> None:
    farm.scene.write_text("no scene")


def _crash(farm: Farm) -> None:
    interpreter.put(farm.bin, farm.host, instead="echo Segmentation fault >&2; exit 139")


def _age(farm: Farm) -> None:
    told: dict[str, Any] = {"version": "19.5", "python": "3.9"}
    farm.program.write_text(f"#!/bin/sh\necho '{json.dumps(told)}' > \"$DCC_BRIDGE_TELL\"\n")


@pytest.mark.parametrize(
    ("farm", "before", "code", "said"),
    [
        ("maya", lambda farm: None, 1, "nowhere"),
        pytest.param("houdini", lambda farm: None, 1, "nowhere", marks=pytest.mark.long),
        ("houdini", _lose, 2, "shot"),
        ("maya", _crash, 4, "ended with 139"),
        ("maya", lambda farm: farm.program.unlink(), 2, "was not found; use --interpreter PATH"),
        ("houdini", _age, 2, "dcc-bridge install houdini"),
    ],
    ids=["a skill fails", "in hython", "no scene", "a crash", "no program", "another Python"],
    indirect=["farm"],
)
def test_what_goes_wrong_is_said_in_a_sentence(
    farm: Farm, before: Callable[[Farm], None], code: int, said: str
) -> None:
    """With the mend, where there is one."""
    before(farm)

    done = farm.run("run", "rename", "--args", json.dumps(NOWHERE[farm.host]))

    assert (done.code, said in done.err, "Traceback" in done.err) == (code, True, False), done.err


@pytest.mark.parametrize("farm", sampled(["houdini"], HOSTS), indirect=True)
def test_it_serves_until_it_is_told_to_stop(farm: Farm) -> None:
    """A client that can ask nobody is refused; what was edited is there for the next call."""
    there = ("--host", farm.host, "--scene", farm.scene)
    with commands.serve(farm.folder / "runtime", *there, **farm.environment) as served:
        assert served.ready.startswith(f"Ready: {farm.host.title()} ")
        refused = served.run("call", "delete", "--args", json.dumps(CAMERAS[farm.host]))
        listed = served.run("call", "list_items")
        done = served.end()

    assert (refused.code, listed.code) == (3, 0), refused.err + listed.err
    assert "shot_010" in listed.out
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    assert not list((farm.folder / "runtime").glob("*.json"))


@pytest.mark.parametrize(
    ("before", "code", "said"),
    [(_lose, 2, "maya cannot open "), (_crash, 4, "ended by itself, with 139")],
    ids=["no scene", "a crash"],
)
def test_what_keeps_it_from_serving_is_said_in_a_sentence(
    before: Callable[[Farm], None], code: int, said: str, tmp_path: Path
) -> None:
    farm = Farm(tmp_path, "maya")
    before(farm)

    done = farm.run("serve")

    assert (done.code, done.out, said in done.err) == (code, "", True), done.err
    assert "Traceback" not in done.err


def test_it_ends_with_whoever_started_it_however_that_one_ends(tmp_path: Path) -> None:
    """A host that goes on alone would keep its licence."""
    farm = Farm(tmp_path, "houdini")
    runtime = tmp_path / "runtime"
    with commands.serve(runtime, "--host", "houdini", **farm.environment) as served:
        there = [*runtime.glob("*.json")]
        served.process.kill()
        served.process.wait()

    until(lambda: not [*runtime.glob("*.json")], "it went on")
    assert there


@pytest.mark.real
@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("host", "number", "things"),
    [("blender", signal.SIGINT, {"type": "MESH"}), ("freecad", signal.SIGTERM, {})],
)
def test_a_real_host_is_served_by_its_own_interpreter(
    host: str, number: int, things: dict[str, str], tmp_path: Path
) -> None:
    """The client is asked; a client that asks nobody is refused, unless the list says otherwise."""
    program = {"blender": "blender", "freecad": "freecadcmd"}[host]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    if host == "freecad":
        make = "import FreeCAD; d = FreeCAD.newDocument(); d.addObject('Part::Box', 'Cube'); "
        freecad.in_console(f"{make} d.saveAs({str(tmp_path / 'a.FCStd')!r})", tmp_path)
    scene = ["--scene", str(tmp_path / "a.FCStd")] if host == "freecad" else []
    (tmp_path / "list").write_text("rename")
    audit = {"DCC_BRIDGE_AUDIT": str(tmp_path / "audit"), "HOME": str(tmp_path)}
    delete = ("call", "delete", "--args", json.dumps({"pattern": "Cube", **things}))
    words = ["--host", host, *scene, "--unattended", f"allow:{tmp_path / 'list'}"]
    with commands.serve(tmp_path / "rt", *words, **audit) as served:
        unlisted = served.run(*delete)
        agreed = served.run(*delete, "--answer", "accept")
        left = served.run("call", "list_items")
        done = served.end(number)

    assert (unlisted.code, agreed.code, left.code) == (3, 0, 0), unlisted.err + agreed.err
    assert "Cube" not in left.out
    code = 130 if number == signal.SIGINT else 0
    assert (done.code, "Traceback" in done.err) == (code, False), done.err


@pytest.mark.real
@pytest.mark.timeout(600)
def test_a_python_that_has_blender_as_a_module_is_one_of_its_interpreters(tmp_path: Path) -> None:
    python = bpy_module.python("4.5.15")
    if python is None or not sys.version.startswith(bpy_module.VERSIONS["4.5.15"]):
        pytest.skip("There is no Python for that Blender, or it is not this one.")
    audit = {"DCC_BRIDGE_AUDIT": str(tmp_path / "audit"), "HOME": str(tmp_path)}
    words = ("run", "list_items", "--host", "blender", "--interpreter", str(python))

    done = commands.run(tmp_path / "rt", *words, **audit)

    assert (done.code, "Cube" in done.out) == (0, True), done.err


@pytest.mark.parametrize("name", ["python", "python3.11", "Python.exe", "blender", "mayapy"])
def test_a_python_is_told_from_an_application_by_its_name(name: str, tmp_path: Path) -> None:
    """Blender's own words are not for a Python."""
    assert is_python(tmp_path / name) is name.lower().startswith("python")


def test_a_window_is_not_for_a_host_that_is_served_in_batch(tmp_path: Path) -> None:
    """The mend is to install the plug-in."""
    done = commands.run(tmp_path, "serve", "--host", "blender", "--window")

    assert (done.code, "dcc-bridge install blender" in done.err) == (2, True), done.err
