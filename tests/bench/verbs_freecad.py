"""A large FreeCAD document, and the calls of verbs that are measured in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Final

import FreeCAD

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations
from tests.bench.verbs import MANY, Case, asks, silence

IN_A_GROUP: Final = 100
_CAUSES: Final = {
    "": "recompute computes each object that was touched, and commits the transaction",
    "check": "the forms of all properties, in one look for files (ours)",
    "transform": "what is agreed to is digested at one moment: a fact for each property (ours)",
    "group": "addObject",
    "delete": "what is agreed to is digested at one moment: a fact for each property (ours)",
    "save": "saveCopy, and saveAs",
}


class Large:
    """A document of groups with boxes, and one expression."""

    causes = _CAUSES

    def __init__(self, folder: Path, items: int) -> None:
        silence()  # FreeCAD tells of each computation
        self._folder, self._items = folder, items
        _build(items)
        FreeCAD.ActiveDocument.saveAs(str(folder / "many.FCStd"))
        self.host = FreeCADHost()

    def operations(self) -> HostOperations:
        """Return what the host does for the verbs."""
        return operations(self.host)

    def own(self, run: Callable[[Any], object]) -> float:
        """Work as a macro does: in a transaction, computed, and undone."""
        document = FreeCAD.ActiveDocument
        began = process_time()
        FreeCAD.setActiveTransaction("Own")
        run(document)
        document.recompute()
        FreeCAD.closeActiveTransaction()
        took = process_time() - began
        document.undo()
        document.recompute()
        return 1000 * took

    def cases(self) -> list[Case]:
        """Give the calls."""
        return [*self._reads(), *self._edits(), *self._losses()]

    def _boxes(self, count: int) -> list[str]:
        return [f"Box_{it:05}" for it in range(min(count, self._items))]

    def _reads(self) -> list[Case]:
        (box,) = self._boxes(1)
        return [
            Case("summary", {}, "", "for it in Objects", _walk),
            Case("list_items", {}, "", "for it in Objects", _walk),
            Case("list_items", {"type": "Part::Box", "limit": 1000}, "type=Part::Box, limit=1000"),
            Case("list_items", {"name": "Box_*7"}, "name=Box_*7", "for it in Objects", _walk),
            Case("list_items", {"where": {"Length": ">10"}}, "where Length > 10"),
            Case("inspect", {"items": ["Set_000", box, "@scene"]}, "3 items, one a group"),
            Case("check", {}, "all rules"),
        ]

    def _edits(self) -> list[Case]:
        (box,), many, more = self._boxes(1), self._boxes(MANY), self._boxes(MANY + 1)
        most = len(many)
        things, moved = [{"type": "Part::Box"} for _ in range(MANY)], {"move": [0, 0, 1]}
        names = {it: it.replace("Box", "Crate") for it in many}
        return [
            Case("select", {"items": [box]}, "1"),
            Case("create", {"things": things[:1]}, "1", "addObject", partial(_create, 1)),
            Case("create", {"things": things}, f"{MANY}", "addObject", partial(_create, MANY)),
            Case("duplicate", {"items": [box], "linked": False}, "1, whole", "copyObject", _copy),
            Case("transform", {"items": [box], **moved}, "move 1", "Placement", partial(_move, 1)),
            Case("transform", {"items": many, **moved}, f"move {most}", "Placement",
                 partial(_move, most)),
            Case("transform", {"items": more, **moved}, f"move {len(more)}{asks(more)}",
                 "Placement", partial(_move, len(more))),
            Case("group", {"items": many, "into": "Heroes", "kind": "group"},
                 f"{most} into a group", "removeObject, addObject", partial(_collect, most)),
            Case("rename", {"names": {box: "Crate"}}, "1", "Label", partial(_rename, 1)),
            Case("rename", {"names": names}, f"{most}", "Label", partial(_rename, most)),
        ]  # fmt: skip

    def _losses(self) -> list[Case]:
        (box,), many, more = self._boxes(1), self._boxes(MANY), self._boxes(MANY + 1)
        most = len(many)
        longer, moved = {"Length": 12}, {"move": [0, 0, 1]}
        own = partial(_save, str(self._folder / "own.FCStd"))
        return [
            Case("set_values", {"items": [box], "values": longer}, "1", "Length", partial(_set, 1)),
            Case("set_values", {"items": many, "values": longer}, f"{most}", "Length",
                 partial(_set, most)),
            Case("set_values", {"items": more, "values": longer}, f"{len(more)}{asks(more)}",
                 "Length", partial(_set, len(more))),
            Case("delete", {"items": [box]}, "1", "removeObject", partial(_delete, 1)),
            Case("delete", {"items": many}, f"{most}", "removeObject", partial(_delete, most)),
            Case("delete", {"pattern": "Box_*"}, "all", "removeObject",
                 partial(_delete, self._items)),
            Case("save", {}, "over the file", "saveCopy", own),
            Case("transform", {"items": many, **moved}, f"move {most}, once more", stands=True),
            Case("undo_last", {}, f"move {most}"),
        ]  # fmt: skip


def _build(items: int) -> None:
    document = FreeCAD.newDocument("Many")
    for number in range(items):
        if number % IN_A_GROUP == 0:
            name = f"Set_{number // IN_A_GROUP:03}"
            group = document.addObject("App::DocumentObjectGroup", name)
        box = document.addObject("Part::Box", f"Box_{number:05}")
        box.Placement.Base = FreeCAD.Vector(number % 100 * 15, number // 100 * 15, 0)
        group.addObject(box)
    document.getObject("Box_00001").setExpression("Height", "Box_00000.Length")
    document.recompute()
    document.UndoMode = 1


# ---- what FreeCAD's own API takes for the same


def _those(document: Any, count: int) -> list[Any]:
    return [document.getObject(f"Box_{number:05}") for number in range(count)]


def _walk(document: Any) -> None:
    for thing in document.Objects:
        thing.Name  # noqa: B018 - it is read


def _create(count: int, document: Any) -> None:
    for _number in range(count):
        document.addObject("Part::Box", "Box")


def _copy(document: Any) -> None:
    document.copyObject(_those(document, 1), False)


def _move(count: int, document: Any) -> None:
    for thing in _those(document, count):
        thing.Placement.Base = thing.Placement.Base + FreeCAD.Vector(0, 0, 1)


def _collect(count: int, document: Any) -> None:
    heroes = document.addObject("App::DocumentObjectGroup", "Heroes")
    for thing in _those(document, count):
        thing.getParentGroup().removeObject(thing)
        heroes.addObject(thing)


def _rename(count: int, document: Any) -> None:
    for thing in _those(document, count):
        thing.Label = thing.Label.replace("Box", "Crate")


def _set(count: int, document: Any) -> None:
    for thing in _those(document, count):
        thing.Length = 12


def _delete(count: int, document: Any) -> None:
    for number in range(count):
        document.removeObject(f"Box_{number:05}")


def _save(file: str, document: Any) -> None:
    document.saveCopy(file)
