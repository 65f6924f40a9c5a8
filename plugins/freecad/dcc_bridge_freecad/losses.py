"""What an undo step takes away: objects, and parts of those that stay. Main thread.

FreeCAD calls before a property changes. So of each that is changed in the step its parts are noted
once, as they were, and compared when that is asked for; nothing else is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

import FreeCAD

from .document import called
from .parts import CELLS, HeldPart, ObjectKey, found, gone, is_cell, key_of, parts_of, related

_NOTES: Final = (
    *("Comment", "Company", "CreatedBy", "License", "LicenseURL"),
    *("Material", "Meta", "ShowHidden"),
)
"""The properties of a document that a person writes."""


class StepLosses:
    """What the newest step took away, by identity."""

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
        self._cells: dict[tuple[ObjectKey, str], None] = {}  # of which FreeCAD tells no more
        self._notes: dict[tuple[str, str], Any] = {}

    def note_new(self, obj: Any) -> None:
        """Note an object that was made: what becomes of it is no loss."""
        key = key_of(obj)
        if key not in self._deleted:  # it comes back by an undo
            self._new.add(key[:2])

    def is_made(self, obj: Any) -> bool:
        """Return whether an object was made in the step."""
        return key_of(obj)[:2] in self._new

    def note_deleted(self, obj: Any) -> None:
        """Note an object that is about to go."""
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
        """Note a property that is about to go: one that somebody had added, or a cell's value.

        Of `Sheet.clearAll` 0.20 tells nothing else, and no undo brings it back.
        """
        key = key_of(obj)
        if key[:2] in self._new:
            return
        if is_cell(obj, prop):
            self._cells[key, prop] = None
        elif not obj.Document.Recomputing:
            self._removed[key, prop] = None

    def note_document(self, document: Any, prop: str) -> None:
        """Note what was written of a document as a whole, before it changes."""
        if prop in _NOTES:
            self._notes.setdefault((str(document.Name), prop), getattr(document, prop))

    def lost(self, agreed: Collection[str]) -> list[str]:
        """List what is gone beside the objects agreed to, their parts, and parts by their words."""
        told = [name for key in self._deleted if (name := self._gone(key, agreed))]
        for key, prop in self._removed:
            obj = self._beside(key, agreed)
            if obj is not None and prop not in obj.PropertiesList:
                told.append(f"property {prop} of {self._named(obj)}")
        for (key, prop), before in self._parts.items():
            obj = self._beside(key, agreed) if before else None
            if obj is not None and (key, prop) not in self._removed:
                parts = gone(before, parts_of(obj, prop))
                told += [
                    f"{part.told()} of {self._named(obj)}"
                    for part in parts
                    if not (part.is_member and self._item(part.target) in agreed)
                ]
        told += self._cleared(agreed)
        told += self._emptied()
        return [text for text in dict.fromkeys(told) if text not in agreed]

    def put_notes_back(self) -> None:
        """Put back what was written of documents as a whole, which no undo does."""
        for (name, prop), value in self._notes.items():
            document = FreeCAD.listDocuments().get(name)
            if document is not None and getattr(document, prop) != value:
                setattr(document, prop, value)

    def is_noted(self) -> bool:
        """Return whether what is written of a document as a whole was changed."""
        documents = FreeCAD.listDocuments()
        return any(
            name in documents and getattr(documents[name], prop) != value
            for (name, prop), value in self._notes.items()
        )

    def _gone(self, key: ObjectKey, agreed: Collection[str]) -> str | None:
        """Return the item that an object was, if it is gone, and that was not agreed to."""
        if key[0] not in FreeCAD.listDocuments():
            return None  # it was closed, which is told of otherwise
        item = self._item(key)
        return None if item in agreed or found(key) is not None else item

    def _beside(self, key: ObjectKey, agreed: Collection[str]) -> Any:
        """Return an object that is still there and that nobody agreed to."""
        return None if self._item(key) in agreed else found(key)

    def _item(self, key: ObjectKey | None) -> str:
        if key is None:
            return ""
        return key[1] if key[0] == self._home else f"{key[0]}#{key[1]}"

    def _named(self, obj: Any) -> str:
        name = called(obj)
        return name if obj.Document.Name == self._home else f"{obj.Document.Name}#{name}"

    def _cleared(self, agreed: Collection[str]) -> Iterator[str]:
        """Yield the cells that are empty although nothing was told of a change to them."""
        for key, address in self._cells:
            obj = self._beside(key, agreed) if (key, CELLS) not in self._parts else None
            if obj is not None and not obj.getContents(address):
                yield f"cell {address} of {self._named(obj)}"

    def _emptied(self) -> Iterator[str]:
        documents = FreeCAD.listDocuments()
        for (name, prop), value in self._notes.items():
            if value and name in documents and not getattr(documents[name], prop):
                yield f"{prop} of {documents[name].Label}"
