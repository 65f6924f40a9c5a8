"""What bad skills do in FreeCAD, without its window, and what its documents are at a moment.

`tests.freecad.launch` starts it. Left out of the table (measured in 0.20.2; see
`dcc_bridge_freecad.host`):

======================  =========================================================================
``undo``, ``redo``      what the person had done is undone by then: it is told
``UndoMode = 0``,       the undo lists are emptied, and nothing in FreeCAD tells of it: as what the
``clearUndos``          person had done is on none then, that is told
======================  =========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import FreeCAD

from dcc_bridge_freecad.host import FreeCADHost
from tests.hosts import bad_oracle
from tests.hosts.bad_port import Edit, Port, Scene, in_files

FILES: Final = ("scene.FCStd", "other.FCStd", "far.FCStd")


def one(item: str) -> Any:
    found = document().getObject(item)
    if found is None:
        raise ValueError(f"There is no {item}.")
    return found


def document() -> Any:
    if FreeCAD.ActiveDocument is None:
        raise ValueError("No document is open.")
    return FreeCAD.ActiveDocument


def value(freecad: FreeCADPort, at: str, other: str) -> None:
    one(at).Label2 += "!"


def wipe(freecad: FreeCADPort, at: str, other: str) -> None:
    for each in document().Objects:
        document().removeObject(each.Name)


def move_and_delete(freecad: FreeCADPort, at: str, other: str) -> None:
    one("Group").addObject(one(at))
    document().removeObject(at)


def make_anew(freecad: FreeCADPort, at: str, other: str) -> None:
    document().removeObject(one(at).Name)
    document().addObject("App::FeaturePython", at)


def commit(freecad: FreeCADPort, at: str, other: str) -> None:
    """Close the transaction that is open, and edit."""
    document().commitTransaction()
    value(freecad, at, other)


def begin(freecad: FreeCADPort, at: str, other: str) -> None:
    """Open a transaction of its own, and leave it open."""
    document().openTransaction("Its own")
    value(freecad, at, other)


def abort(freecad: FreeCADPort, at: str, other: str) -> None:
    document().abortTransaction()
    value(freecad, at, other)


def delete_elsewhere(freecad: FreeCADPort, at: str, other: str) -> None:
    far = FreeCAD.getDocument("Far")
    far.removeObject(far.Objects[0].Name)


EDITS: Final[dict[str, Edit]] = {
    "create": lambda *_: document().addObject("App::DocumentObjectGroup", "New"),
    "value": value,
    "added": lambda _, at, __: setattr(
        one(at).addProperty("App::PropertyString", "Note"), "Note", "new"
    ),
    "delete": lambda _, at, __: document().removeObject(one(at).Name),
    "wipe": wipe,
    "call_it": lambda _, at, __: setattr(one(at), "Label", "named"),
    "move": lambda _, at, __: one("Group").addObject(one(at)),  # which may have been agreed to
    "move_and_delete": move_and_delete,
    "make_anew": make_anew,
    "commit": commit,
    "begin": begin,
    "abort": abort,
    "elsewhere": lambda *_: FreeCAD.getDocument("Far").addObject("App::FeaturePython", "New"),
    "delete_elsewhere": delete_elsewhere,
}
OWN: Final[dict[str, Edit]] = {
    "activate": lambda *_: FreeCAD.setActiveDocument("Far"),
    "open_other": lambda it, *_: FreeCAD.openDocument(it.at("other.FCStd"), hidden=True),
    "new": lambda *_: FreeCAD.newDocument("Fresh", hidden=True).addObject(
        "App::FeaturePython", "New"
    ),
    "close_scene": lambda *_: FreeCAD.closeDocument("Scene"),
    "close_far": lambda *_: FreeCAD.closeDocument("Far"),
    "save": lambda *_: document().save(),
    "save_far": lambda *_: FreeCAD.getDocument("Far").save(),
    "save_as": lambda it, *_: document().saveAs(it.at("new.FCStd")),
    "save_over": lambda it, *_: document().saveAs(it.at("other.FCStd")),
    "copy_over": lambda it, *_: document().saveCopy(it.at("other.FCStd")),
}


class FreeCADPort(Port):
    """FreeCAD, with two documents that have files."""

    items: ClassVar[Sequence[str]] = ("A", "B", "Group", "Inner", "C", "First", "Far#Thing", "Top")
    edits = EDITS
    own = OWN
    is_told_late = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        far = FreeCAD.newDocument("Far", hidden=True)
        far.addObject("App::FeaturePython", "Thing")
        far.saveAs(str(folder / "far.FCStd"))
        self._scene = scene = FreeCAD.newDocument("Scene", hidden=True)
        for name in ("A", "B", "C", "Inner", "Top"):
            scene.addObject("App::FeaturePython", name)
        scene.addObject("App::DocumentObjectGroup", "Group").addObject(scene.Inner)
        scene.saveCopy(str(folder / "other.FCStd"))
        scene.addObject("App::FeaturePython", "Last")
        scene.saveAs(str(folder / "scene.FCStd"))
        for each in (far, scene):
            each.UndoMode = 1
            each.clearUndos()
        FreeCAD.setActiveDocument("Scene")
        self.host: FreeCADHost = FreeCADHost()
        for name in ("First", "Second"):
            self._person(name)
        self.host.undo()

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def _person(self, name: str) -> None:
        scene = FreeCAD.getDocument("Scene")
        scene.openTransaction(f"The person's {name}")
        scene.addObject("App::FeaturePython", name)
        scene.commitTransaction()

    @staticmethod
    def _open() -> list[Any]:
        """Give those of the person's documents that are open."""
        documents = FreeCAD.listDocuments()
        return [documents[name] for name in ("Far", "Scene") if name in documents]

    @property
    def which(self) -> tuple[str, ...]:
        return tuple(each.Name for each in self._open())

    def objects(self) -> frozenset[str]:
        """List objects by their names, which nobody can change."""
        return frozenset(_item(each) for doc in self._open() for each in doc.Objects)

    def reach(self, items: Sequence[str]) -> Callable[[str], bool]:
        found = [each for doc in self._open() for each in doc.Objects if _item(each) in items]
        return {
            _item(it) for each in found for it in (each, *getattr(each, "Group", ()))
        }.__contains__

    def state(self) -> tuple[str, ...]:
        """Look at all objects, but not at what FreeCAD notes of a property that was set."""
        things = [it for doc in self._open() for it in doc.Objects]
        facts = sorted(f"{_item(it)} {it.TypeId} {it.Content}" for it in things)
        return tuple(re.sub(r' status="\d+"', "", fact) for fact in facts)

    def look(self) -> Scene:
        active = FreeCAD.ActiveDocument
        is_own = active is not None and active.Name in self.which
        scene = FreeCAD.listDocuments().get("Scene")
        return Scene(
            self.which,
            Path(scene.FileName) if scene is not None else None,
            self.state(),
            (active.Name if is_own else "Scene", [each.UndoMode for each in self._open()]),
            self.objects(),
            tuple(reversed(scene.UndoNames)) if scene is not None else (),
            files=in_files(self.folder, FILES),
        )

    def work(self) -> None:
        if "Scene" in self.which:
            self._person("Theirs")

    def close(self) -> None:
        if FreeCAD.getActiveTransaction() is not None:
            FreeCAD.closeActiveTransaction()
        for name in list(FreeCAD.listDocuments()):
            FreeCAD.closeDocument(name)


def _item(thing: Any) -> str:
    """Name an object as `Host.lost` does."""
    is_far = thing.Document.Name == "Far"
    return f"Far#{thing.Name}" if is_far else str(thing.Name)


def run(*words: str) -> None:
    """Run programs, in a FreeCAD that ends with an error where this raises one."""
    wrong = bad_oracle.main(FreeCADPort, words)
    assert not wrong, wrong
