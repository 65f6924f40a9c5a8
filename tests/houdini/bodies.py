"""What marked bodies do in the stand-in of Houdini, and what its scene is at a moment.

Left out of the table, by SideFX's reference (see `dcc_bridge_houdini.host`):

========================  ========================================================================
``hou.undos.disabler()``  what is done while nothing is recorded is on no stack, and not told of
``performUndo``, `Redo`   what the person had done is undone by then: it is told, and they can redo
a save over another file  before a save nobody tells which file it will be
``hou.setFrame``          the current frame stays where a skill went
``createNode``            the stand-in has no such method: it records what the scene is given
========================  ========================================================================
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from tests.hosts.bodies.port import Edit, Port, Scene, in_files
from tests.hosts.fakes.houdini import Houdini

FILES: Final = ("scene.hip", "other.hip")


def value(houdini: HoudiniPort, at: str, other: str) -> None:
    parm = houdini.node(at).parm("tx")
    parm.set(parm.eval() + 1)


def wipe(houdini: HoudiniPort, at: str, other: str) -> None:
    for node in houdini.node("/obj").children():
        node.destroy()


def take_name(houdini: HoudiniPort, at: str, other: str) -> None:
    """Give a node the name of another one, which may have been agreed to."""
    first = houdini.node(at)
    second = houdini.node(other)
    first.setName("away")
    second.setName(at.rpartition("/")[2])


def make_anew(houdini: HoudiniPort, at: str, other: str) -> None:
    houdini.node(at).destroy()
    houdini.add(at)


def in_group(houdini: HoudiniPort, at: str, other: str) -> None:
    with houdini.hou.undos.group("Its own"):
        value(houdini, at, other)


EDITS: Final[dict[str, Edit]] = {
    "create": lambda it, *_: it.add("/obj/new"),
    "value": value,
    "delete": lambda it, at, _: it.node(at).destroy(),
    "wipe": wipe,
    "call_it": lambda it, at, _: it.node(at).setName("named"),
    "take_name": take_name,
    "make_anew": make_anew,
    "in_group": in_group,
}
OWN: Final[dict[str, Edit]] = {
    "update_mode": lambda it, *_: it.hou.setUpdateMode("Manual"),
    "new": lambda it, *_: it.hou.hipFile.clear(suppress_save_prompt=True),
    "open_other": lambda it, *_: it.hou.hipFile.load(it.at("other.hip")),
    "open_again": lambda it, *_: it.hou.hipFile.load(it.at("scene.hip")),
    "merge": lambda it, *_: it.hou.hipFile.merge(it.at("other.hip")),
    "save": lambda it, *_: it.hou.hipFile.save(),
    "save_as": lambda it, *_: it.hou.hipFile.save(it.at("new.hip")),
}


class HoudiniPort(Port):
    """The stand-in, on a scene with files."""

    items = ("/obj/a", "/obj/b", "/obj/b/below", "/obj/c", "/obj/d", "/obj/first", "/obj/top")
    edits = EDITS
    own = OWN
    is_told_late = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._patch = pytest.MonkeyPatch()
        self._houdini = Houdini(self._patch)
        self.hou: Any = sys.modules["hou"]
        scene = self._houdini.scene
        for item in self.items:
            if item != "/obj/first":
                scene.add(item, "geo", parms={"tx": 0.0})
        scene.write(folder / "other.hip")
        scene.add("/obj/last", "geo", parms={"tx": 0.0})
        scene.write(folder / "scene.hip")
        scene.path, scene.is_new = (folder / "scene.hip").as_posix(), False
        self.host = import_module("dcc_bridge_houdini.host").HoudiniHost()
        for name in ("first", "second"):
            self.add(f"/obj/{name}")
        self._houdini.undos.performUndo()
        self._opened: list[object] = []
        self.hou.hipFile.addEventCallback(self._note_file)
        self._names = {node.id: node.path for node in scene.nodes.values()}

    def _note_file(self, event: object) -> None:
        if event in ("AfterLoad", "AfterClear"):
            self._opened.append(event)

    def at(self, name: str) -> str:
        return (self.folder / name).as_posix()

    def node(self, path: str) -> Any:
        node = self._houdini.node(path)
        if node is None:
            raise ValueError(f"There is no {path}.")
        return node

    def add(self, path: str) -> None:
        made = lambda: self._houdini.scene.add(path, "geo", parms={"tx": 0.0})  # noqa: E731
        self._houdini.undos.record("Create", made)

    @property
    def which(self) -> int:
        return len(self._opened)

    def objects(self) -> frozenset[str]:
        """List nodes by what they were called first: a node is the same under another name."""
        nodes = self._houdini.scene.nodes.values()
        return frozenset(self._names.get(node.id, f"new {node.id}") for node in nodes)

    def reach(self, items: Sequence[str]) -> Callable[[str], bool]:
        scene = self._houdini.scene
        nodes = [scene.at(item) for item in items]
        within = [it.id for node in nodes if node for it in (node, *scene.below(node.path))]
        return {self._names.get(key, f"new {key}") for key in within}.__contains__

    def state(self) -> Sequence[object]:
        nodes = self._houdini.scene.nodes.values()
        return sorted((node.id, node.path, repr(node.parms)) for node in nodes)

    def look(self) -> Scene:
        undos = self._houdini.undos
        return Scene(
            self.which,
            self.host.file(),
            self.state(),
            (self._houdini.update_mode, undos.enabled, undos._depth),
            self.objects(),
            tuple(entry[0] for entry in undos.done),
            files=in_files(self.folder, FILES),
        )

    def work(self) -> None:
        self.add("/obj/theirs")

    def close(self) -> None:
        self._patch.undo()
