"""The losses of an undo step: objects, and parts of objects that stay. Main thread.

FreeCAD calls before a property changes. So the parts of each property are noted once, before its
first change in the step, and compared when somebody asks; no other property is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import FreeCAD

from .document import label_of
from .parts import (
    CELLS,
    HeldPart,
    ObjectKey,
    find_by_key,
    is_cell,
    key_of,
    missing_parts,
    parts_of,
    related,
)

_NOTES: Final = (
    *("Comment", "Company", "CreatedBy", "License", "LicenseURL"),
    *("Material", "Meta", "ShowHidden"),
)
"""The properties of a document that a person writes, such as the author's name."""


class StepLosses:
    """The objects and parts that the newest step took away, recognised by their keys."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget the step before."""
        active = FreeCAD.ActiveDocument
        self._home = str(active.Name) if active else ""
        self._new: set[tuple[str, str]] = set()
        self._deleted: dict[ObjectKey, None] = {}
        self._parts: dict[tuple[ObjectKey, str], list[HeldPart]] = {}
        self._removed: dict[tuple[ObjectKey, str], None] = {}
        self._cells: dict[tuple[ObjectKey, str], None] = {}  # FreeCAD reports no change of these
        self._notes: dict[tuple[str, str], Any] = {}

    def note_new(self, obj: Any) -> None:
        """Note an object that was made in the step, which therefore can lose nothing."""
        key = key_of(obj)
        if key not in self._deleted:  # else an undo has brought it back
            self._new.add(key[:2])

    def is_made(self, obj: Any) -> bool:
        """Return whether an object was made in the step."""
        return key_of(obj)[:2] in self._new

    def note_deleted(self, obj: Any) -> None:
        """Note an object that is about to be deleted."""
        key = key_of(obj)
        if key[:2] not in self._new:
            self._deleted[key] = None

    def note_change(self, obj: Any, prop: str) -> None:
        """Note the parts that a property holds, before it changes for the first time."""
        key = key_of(obj)
        if (key, prop) in self._parts or key[:2] in self._new:
            return
        for each in related(obj, prop):
            self._parts.setdefault((key, each), parts_of(obj, each))

    def note_removed(self, obj: Any, prop: str) -> None:
        """Note a property that is about to be removed: an added property, or a cell's value.

        FreeCAD 0.20 reports nothing else of `Sheet.clearAll`, which no undo brings back.
        """
        key = key_of(obj)
        if key[:2] in self._new:
            return
        if is_cell(obj, prop):
            self._cells[key, prop] = None
        elif not obj.Document.Recomputing:
            self._removed[key, prop] = None

    def note_document(self, document: Any, prop: str) -> None:
        """Note a text of a document as a whole, before the text changes."""
        if prop in _NOTES:
            self._notes.setdefault((str(document.Name), prop), getattr(document, prop))

    def lost(self, agreed: Collection[str]) -> list[str]:
        """Return what the step took away and no person agreed to.

        Args:
            agreed: Items that a person agreed to, which stand for their parts too; and sentences
                of this method.

        Returns:
            A deleted object as its item, all else as words: "cell A1 of Sizes (Spreadsheet)".
        """
        losses = list[str]()
        for key in self._deleted:
            item = self._deleted_item(key, agreed)
            if item is not None:
                losses.append(item)
        for key, prop in self._removed:
            obj = self._object_beside(key, agreed)
            if obj is not None and prop not in obj.PropertiesList:
                losses.append(f"property {prop} of {self._label(obj)}")
        losses += self._lost_parts(agreed)
        losses += self._cleared_cells(agreed)
        losses += self._emptied_notes()
        return [text for text in dict.fromkeys(losses) if text not in agreed]

    def put_notes_back(self) -> None:
        """Put back the texts of documents as a whole, which no undo does."""
        for (name, prop), value in self._notes.items():
            document = FreeCAD.listDocuments().get(name)
            if document is not None and getattr(document, prop) != value:
                setattr(document, prop, value)

    def is_noted(self) -> bool:
        """Return whether a text of a document as a whole was changed."""
        documents = FreeCAD.listDocuments()
        return any(
            name in documents and getattr(documents[name], prop) != value
            for (name, prop), value in self._notes.items()
        )

    def _deleted_item(self, key: ObjectKey, agreed: Collection[str]) -> str | None:
        """Return the item of an object, if the object is gone and nobody agreed to that."""
        if key[0] not in FreeCAD.listDocuments():
            return None  # the document was closed, which is reported elsewhere
        item = self._item(key)
        if item in agreed or find_by_key(key) is not None:
            return None
        return item

    def _object_beside(self, key: ObjectKey, agreed: Collection[str]) -> Any:
        """Return an object that is still there and that nobody agreed to; else None."""
        if self._item(key) in agreed:
            return None
        return find_by_key(key)

    def _item(self, key: ObjectKey | None) -> str:
        if key is None:
            return ""
        document, name, _ = key
        if document == self._home:
            return name
        return f"{document}#{name}"

    def _label(self, obj: Any) -> str:
        label = label_of(obj)
        if obj.Document.Name == self._home:
            return label
        return f"{obj.Document.Name}#{label}"

    def _lost_parts(self, agreed: Collection[str]) -> Iterator[str]:
        for (key, prop), before in self._parts.items():
            if not before or (key, prop) in self._removed:
                continue
            obj = self._object_beside(key, agreed)
            if obj is None:
                continue
            for part in missing_parts(before, parts_of(obj, prop)):
                if part.is_member and self._item(part.target) in agreed:
                    continue
                yield f"{part.text()} of {self._label(obj)}"

    def _cleared_cells(self, agreed: Collection[str]) -> Iterator[str]:
        """Yield the cells that are empty although FreeCAD reported no change of them."""
        for key, address in self._cells:
            if (key, CELLS) in self._parts:
                continue
            obj = self._object_beside(key, agreed)
            if obj is not None and not obj.getContents(address):
                yield f"cell {address} of {self._label(obj)}"

    def _emptied_notes(self) -> Iterator[str]:
        documents = FreeCAD.listDocuments()
        for (name, prop), value in self._notes.items():
            if value and name in documents and not getattr(documents[name], prop):
                yield f"{prop} of {documents[name].Label}"
