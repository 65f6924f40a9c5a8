"""The losses of an undo step: objects, and parts of objects that remain. Main thread.

A *loss* is something that a person would miss after the step: a deleted object, or a *part* of an
object, such as a cell or a link (`parts`). An *item* is the name by which agents and people speak
of an object. A loss is *agreed to* if a person was asked about it before and said yes.

FreeCAD calls before a property changes. So the parts of each property are noted once, before its
first change in the step. `StepLosses.lost` compares them with the parts of now; properties that did
not change are never read.
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

_DOCUMENT_TEXTS: Final = (
    *("Comment", "Company", "CreatedBy", "License", "LicenseURL"),
    *("Material", "Meta", "ShowHidden"),
)
"""The properties of a document itself that a person writes, such as the author's name.

FreeCAD keeps them out of its transactions, so no undo brings them back.
"""


class StepLosses:
    """Notes what the newest step may take away, and tells what it took away.

    FreeCAD's events call the `note_*` methods during the step, all but `note_new` before the change
    takes place. `lost` may be called at any time.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget the step before, and begin to note a new one."""
        active = FreeCAD.ActiveDocument
        # The active document, whose objects are named without their document.
        self._home = str(active.Name) if active else ""
        # The objects that the step made, by the names of their document and their own.
        self._new: set[tuple[str, str]] = set()
        # The objects that were deleted; they may have come back. The dict is an ordered set.
        self._deleted: dict[ObjectKey, None] = {}
        # The parts of each property before its first change, by object and property.
        self._parts: dict[tuple[ObjectKey, str], list[HeldPart]] = {}
        # The added properties that were removed, by object and property.
        self._removed: dict[tuple[ObjectKey, str], None] = {}
        # The cells whose computed value was removed, by object and address. FreeCAD may report no
        # change of the cell itself.
        self._cells: dict[tuple[ObjectKey, str], None] = {}
        # The texts of documents before their first change, by document and property.
        self._texts: dict[tuple[str, str], Any] = {}

    def note_new(self, obj: Any) -> None:
        """Note an object that was made in the step: none of its changes can be a loss."""
        key = key_of(obj)
        if key not in self._deleted:  # a deleted object comes back by an undo: it is not new
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
        """Note one of the document's own texts, before it changes for the first time."""
        if prop in _DOCUMENT_TEXTS:
            self._texts.setdefault((str(document.Name), prop), getattr(document, prop))

    def lost(self, agreed: Collection[str]) -> list[str]:
        """Return the losses of the step that no person agreed to.

        Args:
            agreed: The items that a person agreed to lose, each with all of its parts; and texts
                that this method returned before.

        Returns:
            The item of each deleted object, and for each other loss words such as
            "cell A1 of Sizes (Spreadsheet)".
        """
        losses = list[str]()
        for key in self._deleted:
            item = self._deleted_item(key, agreed)
            if item is not None:
                losses.append(item)
        for key, prop in self._removed:
            obj = self._find_unagreed(key, agreed)
            if obj is not None and prop not in obj.PropertiesList:
                losses.append(f"property {prop} of {self._label(obj)}")
        losses += self._lost_parts(agreed)
        losses += self._cleared_cells(agreed)
        losses += self._emptied_texts()
        return [text for text in dict.fromkeys(losses) if text not in agreed]

    def restore_texts(self) -> None:
        """Set the documents' own texts to their values before the step, which no undo does."""
        for (name, prop), value in self._texts.items():
            document = FreeCAD.listDocuments().get(name)
            if document is not None and getattr(document, prop) != value:
                setattr(document, prop, value)

    def has_changed_texts(self) -> bool:
        """Return whether any of the documents' own texts differs from before the step."""
        documents = FreeCAD.listDocuments()
        return any(
            name in documents and getattr(documents[name], prop) != value
            for (name, prop), value in self._texts.items()
        )

    def _deleted_item(self, key: ObjectKey, agreed: Collection[str]) -> str | None:
        """Return the item of a deleted object; None if it came back, or was agreed to."""
        if key[0] not in FreeCAD.listDocuments():
            return None  # the document was closed, which `Transactions` reports
        item = self._item(key)
        if item in agreed or find_by_key(key) is not None:
            return None
        return item

    def _find_unagreed(self, key: ObjectKey, agreed: Collection[str]) -> Any:
        """Return an object whose lost parts count; None if it is gone, or was agreed to itself."""
        if self._item(key) in agreed:
            return None
        return find_by_key(key)

    def _item(self, key: ObjectKey | None) -> str:
        """Return the item of a key, with its document unless that was active; "" for None."""
        if key is None:
            return ""
        document, name, _ = key
        if document == self._home:
            return name
        return f"{document}#{name}"

    def _label(self, obj: Any) -> str:
        """Return an object's label for a person, with its document unless that was active."""
        label = label_of(obj)
        if obj.Document.Name == self._home:
            return label
        return f"{obj.Document.Name}#{label}"

    def _lost_parts(self, agreed: Collection[str]) -> Iterator[str]:
        """Yield the parts that changed properties do not hold any more.

        A removed property is reported as a whole, and a member that was agreed to is no loss of the
        group that held it.
        """
        for (key, prop), before in self._parts.items():
            if not before or (key, prop) in self._removed:
                continue
            obj = self._find_unagreed(key, agreed)
            if obj is None:
                continue
            for part in missing_parts(before, parts_of(obj, prop)):
                is_agreed_member = part.is_member and self._item(part.target) in agreed
                if is_agreed_member:
                    continue
                yield f"{part.text()} of {self._label(obj)}"

    def _cleared_cells(self, agreed: Collection[str]) -> Iterator[str]:
        """Yield the cells that are empty although FreeCAD reported no change of them."""
        for key, address in self._cells:
            if (key, CELLS) in self._parts:
                continue  # FreeCAD reported the change, so `_lost_parts` has the cell
            obj = self._find_unagreed(key, agreed)
            if obj is not None and not obj.getContents(address):
                yield f"cell {address} of {self._label(obj)}"

    def _emptied_texts(self) -> Iterator[str]:
        """Yield the documents' own texts that the step emptied; a new text is no loss."""
        documents = FreeCAD.listDocuments()
        for (name, prop), value in self._texts.items():
            if value and name in documents and not getattr(documents[name], prop):
                yield f"{prop} of {documents[name].Label}"
