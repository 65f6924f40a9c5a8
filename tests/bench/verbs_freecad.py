"""A large FreeCAD document, and what FreeCAD's own API does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, Final

import FreeCAD

from dcc_bridge.verbs.operations import HostOperations
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import operations
from tests.bench.verbs import Job, silence
from tests.bench.verbs_cases import Terms

IN_A_GROUP: Final = 100
_DIGESTED: Final = "what is agreed to is digested at one moment: a fact for each property (ours)"
_CAUSES: Final = {
    "": "recompute computes each object that was touched, and commits the transaction",
    "check": "the forms of all properties, in one look for files (ours)",
    "transform": _DIGESTED,
    "group": "addObject",
    "delete": _DIGESTED,
    "save": "saveCopy, and saveAs",
}


class Large:
    """A document of groups with boxes, and one expression."""

    causes = _CAUSES

    def __init__(self, folder: Path, items: int) -> None:
        silence()  # FreeCAD tells of each computation
        self._own = str(folder / "own.FCStd")
        _build(items)
        FreeCAD.ActiveDocument.saveAs(str(folder / "many.FCStd"))
        self.host = FreeCADHost()
        self.jobs: Mapping[str, Job] = {**_JOBS, "save": ("saveCopy", self._save)}
        self.terms = Terms(
            boxes=[f"Box_{it:05}" for it in range(items)],
            type="Part::Box",
            pattern="Box_*",
            new_names="Crate_*",
            new_type="Part::Box",
            move=[0, 0, 1],
            values={"Length": 12},
            new_values={"Length": 12},
            group="Set_000",
            heroes="group",
            links=False,
        )

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

    def _save(self, document: Any, count: int) -> None:
        document.saveCopy(self._own)


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


def _those(document: Any, count: int) -> list[Any]:
    return [document.getObject(f"Box_{number:05}") for number in range(count)]


def _walk(document: Any, count: int) -> None:
    for thing in document.Objects:
        thing.Name  # noqa: B018 - it is read


def _create(document: Any, count: int) -> None:
    for _ in range(count):
        document.addObject("Part::Box", "Box")


def _move(document: Any, count: int) -> None:
    for thing in _those(document, count):
        thing.Placement.Base = thing.Placement.Base + FreeCAD.Vector(0, 0, 1)


def _collect(document: Any, count: int) -> None:
    heroes = document.addObject("App::DocumentObjectGroup", "Heroes")
    for thing in _those(document, count):
        thing.getParentGroup().removeObject(thing)
        heroes.addObject(thing)


def _rename(document: Any, count: int) -> None:
    for thing in _those(document, count):
        thing.Label = thing.Label.replace("Box", "Crate")


def _set(document: Any, count: int) -> None:
    for thing in _those(document, count):
        thing.Length = 12


def _delete(document: Any, count: int) -> None:
    for number in range(count):
        document.removeObject(f"Box_{number:05}")


_JOBS: Final[Mapping[str, Job]] = {
    "walk": ("for it in Objects", _walk),
    "create": ("addObject", _create),
    "move": ("Placement", _move),
    "collect": ("removeObject, addObject", _collect),
    "rename": ("Label", _rename),
    "set": ("Length", _set),
    "delete": ("removeObject", _delete),
}
