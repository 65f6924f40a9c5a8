"""Documents in FreeCAD in which each object has a mark, for undecorated bodies.

Left out, as no undo of FreeCAD's holds it (0.20.2): ``clearAll`` of a sheet. That a call has done
it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import FreeCAD

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge_freecad.operations import FreeCADOperations
from tests.freecad import bad_skills
from tests.freecad.bad_skills import document, one
from tests.hosts import undecorated_oracle
from tests.hosts.bad_port import Edit
from tests.hosts.undecorated_port import MARK, Field

_EDITS: Final[dict[str, Edit]] = {
    **bad_skills.EDITS,
    "out_of_group": lambda *_: one("Group").removeObject(one("Inner")),
    "empty_cell": lambda *_: one("Sheet").clear("A1"),
    "empty_text": lambda *_: setattr(one("Note"), "Text", ""),
    "drop_expression": lambda *_: one("Box").setExpression("Length", None),
    "drop_property": lambda *_: one("A").removeProperty("Own"),
    "drop_shape": lambda *_: document().removeObject("Box"),
    "recompute": lambda *_: document().recompute(),
}


class FreeCADField(bad_skills.FreeCADPort, Field):
    """FreeCAD, with two documents that have files."""

    items = (*bad_skills.FreeCADPort.items, "Sheet", "Box", "Note")
    edits = _EDITS
    own = {  # noqa: RUF012 - as in `Port`
        name: bad_skills.OWN[name]
        for name in ("activate", "open_other", "new", "close_scene", "close_far",
                     "save", "save_far", "save_as", "save_over", "copy_over")
    }  # fmt: skip
    pushing = frozenset({"commit", "begin", "abort"})
    export_name = "other.FCStd"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._theirs = 0
        FreeCAD.setActiveDocument("Scene")
        scene = document()
        sheet = scene.addObject("Spreadsheet::Sheet", "Sheet")
        sheet.set("A1", "10")
        sheet.setAlias("A1", "len")
        scene.addObject("Part::Box", "Box").setExpression("Length", "Sheet.len")
        scene.addObject("App::TextDocument", "Note").Text = "Noted"
        one("A").addProperty("App::PropertyString", "Own").Own = "mine"
        for doc in self._open():
            for each in doc.Objects:
                each.addProperty("App::PropertyString", MARK)
                setattr(each, MARK, bad_skills._item(each))
            doc.recompute()
            doc.save()
            doc.clearUndos()
        for name in ("Third", "Fourth"):
            self._person(name)
        self.host.undo()
        self.look()  # the first look makes FreeCAD note that it was asked

    def things(self) -> Mapping[str, str]:
        found = dict[str, str]()
        for doc in self._open():
            for each in doc.Objects:
                mark = getattr(each, MARK, "")
                if mark:
                    self._add(each, mark, found)
        return found

    def _add(self, each: object, mark: str, found: dict[str, str]) -> None:
        item = bad_skills._item(each)
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
                if bad_skills._item(each) == item:
                    yield from (bad_skills._item(it) for it in each.InList if hasattr(it, "Group"))

    def is_called(self, item: str, name: str) -> bool:
        for doc in self._open():
            for each in doc.Objects:
                if bad_skills._item(each) == item:
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

    def work(self) -> None:
        name = f"Theirs{self._theirs}"
        scene = FreeCAD.getDocument("Scene")
        scene.openTransaction("The person's edit")
        each = scene.addObject("App::FeaturePython", name)
        each.addProperty("App::PropertyString", MARK)
        setattr(each, MARK, name)
        scene.commitTransaction()
        self._theirs += 1


def run(*words: str) -> None:
    """Run programs, in a FreeCAD that ends with an error where this raises one."""
    wrong = undecorated_oracle.main(FreeCADField, words)
    assert not wrong, wrong
