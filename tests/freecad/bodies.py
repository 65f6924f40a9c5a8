"""FreeCAD with documents in which each object has a mark; and what bodies do to them.

`tests.freecad.launch` starts it, without its window. Left out of the table (measured in 0.20.2; see
`dcc_bridge_freecad.host`):

======================  =========================================================================
``undo``, ``redo``      what the person had done is undone by then: it is told
``UndoMode = 0``,       the undo lists are emptied, and nothing in FreeCAD tells of it: as what the
``clearUndos``          person had done is on none then, that is told
``clearAll`` of a       no undo of FreeCAD's holds it: that a call has done it is told
sheet
======================  =========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import FreeCAD

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge_freecad.host import FreeCADHost
from dcc_bridge_freecad.operations import FreeCADOperations
from tests.hosts.bodies import JUDGES, judge
from tests.hosts.bodies.port import MARK, Edit, MarkedPort, Scene, in_files

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


TRIED: Final[dict[str, Edit]] = {
    "out_of_group": lambda *_: one("Group").removeObject(one("Inner")),
    "empty_cell": lambda *_: one("Sheet").clear("A1"),
    "empty_text": lambda *_: setattr(one("Note"), "Text", ""),
    "drop_expression": lambda *_: one("Box").setExpression("Length", None),
    "drop_property": lambda *_: one("A").removeProperty("Own"),
    "drop_shape": lambda *_: document().removeObject("Box"),
    "recompute": lambda *_: document().recompute(),
}


class FreeCADPort(MarkedPort):
    """FreeCAD, with two documents that have files."""

    items: ClassVar[Sequence[str]] = (
        *("A", "B", "Group", "Inner", "C", "First", "Far#Thing", "Top"),
        *("Sheet", "Box", "Note"),
    )
    edits = EDITS
    own = OWN
    tried_edits = TRIED
    pushing = frozenset({"commit", "begin", "abort"})
    export_name = "other.FCStd"
    is_told_late = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._theirs = 0
        far = FreeCAD.newDocument("Far", hidden=True)
        far.addObject("App::FeaturePython", "Thing")
        far.saveAs(str(folder / "far.FCStd"))
        scene = FreeCAD.newDocument("Scene", hidden=True)
        for name in ("A", "B", "C", "Inner", "Top"):
            scene.addObject("App::FeaturePython", name)
        scene.addObject("App::DocumentObjectGroup", "Group").addObject(scene.Inner)
        scene.addObject("Spreadsheet::Sheet", "Sheet").set("A1", "10")
        scene.Sheet.setAlias("A1", "len")
        scene.addObject("Part::Box", "Box").setExpression("Length", "Sheet.len")
        scene.addObject("App::TextDocument", "Note").Text = "Noted"
        scene.A.addProperty("App::PropertyString", "Own").Own = "mine"
        scene.saveCopy(str(folder / "other.FCStd"))
        scene.addObject("App::FeaturePython", "Last")
        for each in self._open():
            for it in each.Objects:
                _mark(it, item_of(it))
            each.recompute()
        scene.saveAs(str(folder / "scene.FCStd"))
        far.save()
        for each in (far, scene):
            each.UndoMode = 1
            each.clearUndos()
        FreeCAD.setActiveDocument("Scene")
        self.host: FreeCADHost = FreeCADHost()
        for name in ("First", "Second"):
            self._person(name)
        self.host.undo()
        self.look()  # the first look makes FreeCAD note that it was asked

    def at(self, name: str) -> str:
        return str(self.folder / name)

    def _person(self, name: str, mark: str = "") -> None:
        scene = FreeCAD.getDocument("Scene")
        scene.openTransaction(f"The person's {name}")
        each = scene.addObject("App::FeaturePython", name)
        if mark:
            _mark(each, mark)
        scene.commitTransaction()

    @staticmethod
    def _open() -> list[Any]:
        """Give those of the person's documents that are open."""
        documents = FreeCAD.listDocuments()
        return [documents[name] for name in ("Far", "Scene") if name in documents]

    @property
    def which(self) -> tuple[str, ...]:
        return tuple(each.Name for each in self._open())

    def things(self) -> Mapping[str, str]:
        found = dict[str, str]()
        for doc in self._open():
            for each in doc.Objects:
                mark = getattr(each, MARK, "")
                if mark:
                    self._add(each, mark, found)
        return found

    def _add(self, each: object, mark: str, found: dict[str, str]) -> None:
        item = item_of(each)
        found[mark] = item
        if getattr(each, "Own", ""):
            found[f"{mark}|Own"] = item
        if getattr(each, "Text", ""):
            found[f"{mark}|Text"] = item
        for child in getattr(each, "Group", ()):
            if inner := getattr(child, MARK, ""):
                found[f"{mark} {inner}|{inner}"] = item
        for expression in getattr(each, "ExpressionEngine", ()):
            found[f"{mark} {expression[0]}|expression"] = item
        if mark == "Sheet" and each.getContents("A1"):  # type: ignore[attr-defined]  # a sheet
            found["Sheet|A1"] = item

    def above(self, item: str) -> Iterable[str]:
        for doc in self._open():
            for each in doc.Objects:
                if item_of(each) == item:
                    yield from (item_of(it) for it in each.InList if hasattr(it, "Group"))

    def is_called(self, item: str, name: str) -> bool:
        for doc in self._open():
            for each in doc.Objects:
                if item_of(each) == item:
                    return name in (item, each.Label, each.Name)
        return False

    def covered(self, items: Sequence[str]) -> set[str]:
        """With an object goes that it is in a group."""
        found = super().covered(items)
        return found | {mark for mark in self.things() if mark.rpartition("|")[2] in found}

    def export(self) -> None:
        document().saveCopy(self.at(self.export_name))

    def writers(self) -> Sequence[Writer]:
        return FreeCADOperations(self.host).writers()

    def state(self) -> tuple[str, ...]:
        """Look at all objects, but not at what FreeCAD notes of a property that was set."""
        things = [it for doc in self._open() for it in doc.Objects]
        facts = sorted(f"{item_of(it)} {it.TypeId} {it.Content}" for it in things)
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
            name = f"Theirs{self._theirs}"
            self._person(name, mark=name)
        self._theirs += 1

    def close(self) -> None:
        if FreeCAD.getActiveTransaction() is not None:
            FreeCAD.closeActiveTransaction()
        for name in list(FreeCAD.listDocuments()):
            FreeCAD.closeDocument(name)


def _mark(each: Any, mark: str) -> None:
    each.addProperty("App::PropertyString", MARK)
    setattr(each, MARK, mark)


def item_of(thing: Any) -> str:
    """Name an object as `Host.lost` does."""
    is_far = thing.Document.Name == "Far"
    return f"Far#{thing.Name}" if is_far else str(thing.Name)


def run(kind: str, place: str, *seeds: str) -> None:
    """Run bodies, in a FreeCAD that ends with an error where this raises one."""
    folder = Path(place)
    wrong = judge.run(JUDGES[kind](FreeCADPort, folder), folder, seeds)
    assert not wrong, wrong
