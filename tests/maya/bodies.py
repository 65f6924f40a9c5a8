"""What marked bodies do in the stand-in of Maya, and what its scene is at a moment.

Left out of the table, by Autodesk's reference (see `dcc_bridge_maya.scene`):

=====================  ===========================================================================
an edit by the API     is on no undo queue, and no message tells of it
``file -import``       whether undo takes it out again is nowhere said
``undo``, ``redo``     what the person had done is undone by then: it is told, and they can redo it
``undoInfo -state``,   the undo list is emptied, or something destroyed that is not on it, and no
``flushUndo``          message comes before: it is told
``parent``             the stand-in has no such command
=====================  ===========================================================================
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from tests.hosts.bodies.port import Edit, Port, Scene, in_files
from tests.hosts.fakes.maya import Maya

FILES: Final = ("scene.ma", "other.ma")


def value(maya: MayaPort, at: str, other: str) -> None:
    plug = f"{maya.one(at)}.translateX"
    maya.cmds.setAttr(plug, maya.cmds.getAttr(plug) + 1)


def take_name(maya: MayaPort, at: str, other: str) -> None:
    """Give a node the name of another one, which may have been agreed to."""
    second = maya.one(other)
    maya.cmds.rename(at, "away")
    maya.cmds.rename(second, at.rpartition("|")[2])


def make_anew(maya: MayaPort, at: str, other: str) -> None:
    maya.cmds.delete(at)
    maya.cmds.createNode("transform", at.rpartition("|")[2])


def save_under(maya: MayaPort, name: str) -> None:
    maya.cmds.file(rename=maya.at(name))
    maya.cmds.file(save=True)


EDITS: Final[dict[str, Edit]] = {
    "create": lambda it, *_: it.cmds.createNode("transform", "new"),
    "value": value,
    "delete": lambda it, at, _: it.cmds.delete(at),
    "wipe": lambda it, *_: it.cmds.delete(it.cmds.ls(long=True)),
    "call_it": lambda it, at, _: it.cmds.rename(at, "named"),
    "take_name": take_name,
    "make_anew": make_anew,
}
OWN: Final[dict[str, Edit]] = {
    "namespace": lambda it, *_: it.cmds.namespace(set=":shot"),
    "autokey": lambda it, *_: it.cmds.autoKeyframe(state=True),
    "new": lambda it, *_: it.cmds.file(new=True, force=True),
    "open_other": lambda it, *_: it.cmds.file(it.at("other.ma"), open=True, force=True),
    "open_again": lambda it, *_: it.cmds.file(it.at("scene.ma"), open=True, force=True),
    "save": lambda it, *_: it.cmds.file(save=True),
    "save_over": lambda it, *_: save_under(it, "other.ma"),
    "save_as": lambda it, *_: save_under(it, "new.ma"),
    "export_over": lambda it, *_: it.cmds.file(
        it.at("other.ma"), exportAll=True, preserveReferences=True, force=True
    ),
    "remove_reference": lambda it, *_: it.cmds.file("ref.ma", removeReference=True),
}


class MayaPort(Port):
    """The stand-in, on a scene with files."""

    items = ("|a", "|b", "|b|below", "|c", "|d", "material", "|first", "|top")
    edits = EDITS
    own = OWN

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._patch = pytest.MonkeyPatch()
        self._maya = Maya(self._patch)
        self._opened = 0
        scene = self._maya.scene
        read = scene.read

        def count(path: Path) -> None:
            self._opened += 1
            read(path)

        self._patch.setattr(scene, "read", count)
        for name in ("a", "b", "c", "d", "top"):
            scene.add(name, "transform", values={"translateX": 0.0}, uuid=name)
        scene.add("below", "transform", scene.nodes["b"], values={"translateX": 0.0}, uuid="below")
        scene.add("material", "lambert", values={"translateX": 0.0}, uuid="material")
        scene.add("curve", "animCurveTL", uuid="curve", drives="a")
        scene.write(folder / "other.ma")
        scene.add("last", "transform", values={"translateX": 0.0}, uuid="last")
        scene.write(folder / "scene.ma")
        scene.name = (folder / "scene.ma").as_posix()
        self.cmds: Any = sys.modules["maya.cmds"]
        self.host = import_module("dcc_bridge_maya.host").MayaHost()
        for name in ("first", "second"):
            self.cmds.createNode("transform", name)
        self.cmds.undo()

    def at(self, name: str) -> str:
        return (self.folder / name).as_posix()

    def one(self, item: str) -> str:
        return str(self.cmds.ls(item, uuid=True)[0])

    @property
    def which(self) -> tuple[int, str]:
        return self._opened, self._maya.scene.name

    def objects(self) -> frozenset[str]:
        """List UUIDs: a node keeps its own under another name."""
        return frozenset(self._maya.scene.nodes)

    def reach(self, items: Sequence[str]) -> Callable[[str], bool]:
        """What is below a node, and what drives it, which Maya deletes by itself."""
        scene = self._maya.scene
        nodes = [node for item in items for node in scene.find(item)]
        uuids = {it.uuid for node in nodes for it in (node, *scene.below(node))}
        uuids |= {node.uuid for node in scene.nodes.values() if node.drives in uuids}
        return uuids.__contains__

    def state(self) -> Sequence[object]:
        nodes = self._maya.scene.nodes.values()
        return sorted((it.uuid, it.name, it.parent, repr(it.values)) for it in nodes)

    def look(self) -> Scene:
        scene = self._maya.scene
        undo = self._maya.undo
        return Scene(
            self.which,
            self.host.file(),
            self.state(),
            (scene.namespace, scene.autokey, undo.on, undo.depth),
            self.objects(),
            tuple(label for label, _, _ in undo.done),
            files=in_files(self.folder, FILES),
        )

    def work(self) -> None:
        self.cmds.createNode("transform", "theirs")

    def close(self) -> None:
        self._patch.undo()
