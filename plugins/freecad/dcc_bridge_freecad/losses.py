"""The losses of an undo step: objects, and parts of objects that remain. Main thread.

A *loss* is something that a person would miss after the step: a deleted object, or a *part* of an
object, such as a cell or a link (`parts`). An *item* is the name by which agents and people speak
of an object. A loss is *agreed to* if a person was asked about it before and said yes.

FreeCAD calls before a property changes. So the parts of each property are noted once, before its
first change in the step. `StepLosses.lost` compares them with the parts of now; properties that did
not change are never read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import SCENE, Account, value_change

from .account import StepValues
from .document import label_of, plain
from .originals import LostWords, original_of
from .parts import (
    CELLS,
    HeldPart,
    ObjectKey,
    broken_by,
    find_by_key,
    is_cell,
    key_of,
    missing_parts,
    parts_of,
    related,
)

_DOCUMENT_TEXTS: Final = (
    *("Comment", "Company", "CreatedBy", "Label", "License", "LicenseURL"),
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
        # What to ask about the contents before their first change, by object and property.
        self._originals: dict[tuple[ObjectKey, str], LostWords] = {}
        # The added properties that were removed, and their values, by object and property.
        self._removed: dict[tuple[ObjectKey, str], Any] = {}
        # The values that removed properties had when they were added again.
        self._fresh: dict[tuple[ObjectKey, str], Any] = {}
        # The cells whose computed value was removed before FreeCAD reported a change of the sheet,
        # and these values, by object and address.
        self._cells: dict[tuple[ObjectKey, str], Any] = {}
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

    def account(self, values: StepValues) -> Account:
        """Return what is different since the step began.

        Args:
            values: The values that the step changed.
        """
        created = []
        documents = FreeCAD.listDocuments()
        for document, name in sorted(self._new):
            if document in documents and documents[document].getObject(name) is not None:
                created.append(self._item((document, name, 0)))
        deleted = [self._item(key) for key in self._deleted if find_by_key(key) is None]
        changed = list(values.changes(self._new))
        for (document, prop), before in self._texts.items():
            now = getattr(documents.get(document), prop, None)
            if now != before:
                changed.append(value_change(SCENE, prop, plain(before), plain(now)))
        return Account(created, changed, deleted)

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
        if self._parts[key, prop]:
            original = original_of(obj, prop)
            if original is not None:
                self._originals[key, prop] = original

    def note_removed(self, obj: Any, prop: str) -> None:
        """Note a property that is about to be removed: an added property, or a cell's value.

        FreeCAD 0.20 reports nothing else of `Sheet.clearAll`, which no undo brings back.
        """
        key = key_of(obj)
        if key[:2] in self._new:
            return
        if is_cell(obj, prop):
            if (key, CELLS) not in self._parts:
                self._cells.setdefault((key, prop), getattr(obj, prop))
        elif not obj.Document.Recomputing:
            self.note_change(obj, prop)
            self._removed.setdefault((key, prop), getattr(obj, prop))

    def note_added(self, obj: Any, prop: str) -> None:
        """Note the value of a property that was removed, and has just been added again."""
        key = key_of(obj)
        if (key, prop) in self._removed:
            self._fresh[key, prop] = getattr(obj, prop)

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
            if obj is not None and self._is_property_lost(obj, key, prop):
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

    def _is_property_lost(self, obj: Any, key: ObjectKey, prop: str) -> bool:
        """Return whether a removed property is gone, or came back without its value."""
        if prop not in obj.PropertiesList:
            return True
        fresh = self._fresh.get((key, prop))
        now = getattr(obj, prop)
        return _are_equal(now, fresh) and not _are_equal(now, self._removed[key, prop])

    def _is_remade(self, obj: Any, key: ObjectKey, prop: str) -> bool:
        """Return whether a property was removed, so that it is lost as a whole or as it was."""
        if (key, prop) not in self._removed:
            return False
        if self._is_property_lost(obj, key, prop):
            return True
        return _are_equal(getattr(obj, prop), self._removed[key, prop])

    def _lost_parts(self, agreed: Collection[str]) -> Iterator[str]:
        """Yield the parts that changed properties do not hold any more.

        A removed property is reported as a whole. Where no part is missing, the original content
        may be.
        """
        for (key, prop), before in self._parts.items():
            if not before:
                continue
            obj = self._find_unagreed(key, agreed)
            if obj is None:
                continue
            if self._is_remade(obj, key, prop):
                continue
            missing = list(missing_parts(before, parts_of(obj, prop)))
            words = self._words(obj, missing, agreed)
            if not missing and (key, prop) in self._originals:
                words = [self._originals[key, prop](getattr(obj, prop))]
            for each in filter(None, words):
                yield f"{each} of {self._label(obj)}"

    def _words(self, obj: Any, missing: Iterable[HeldPart], agreed: Collection[str]) -> list[str]:
        """Return parts in words, with the expressions that need them.

        A member that was agreed to is no loss of its group.
        """
        words = list[str]()
        for part in missing:
            is_agreed_member = part.is_member and self._item(part.target) in agreed
            if is_agreed_member:
                continue
            text = part.text()
            broken = broken_by(obj, part)
            if broken:
                text += f" (breaks the expression of {', '.join(broken)})"
            words.append(text)
        return words

    def _cleared_cells(self, agreed: Collection[str]) -> Iterator[str]:
        """Yield the cells that were emptied without a report, and those that were written anew.

        No undo brings back what was in them, so another content counts as well.
        """
        for (key, address), value in self._cells.items():
            obj = self._find_unagreed(key, agreed)
            if obj is None:
                continue
            is_there = obj.getContents(address) and address in obj.PropertiesList
            if not is_there or not _are_equal(getattr(obj, address), value):
                yield f"cell {address} of {self._label(obj)}"

    def _emptied_texts(self) -> Iterator[str]:
        """Yield the documents' own texts that the step emptied; a new text is no loss."""
        documents = FreeCAD.listDocuments()
        for (name, prop), value in self._texts.items():
            if value and name in documents and not getattr(documents[name], prop):
                label = self._texts.get((name, "Label"), documents[name].Label)
                yield f"{prop} of {label}"


def _are_equal(first: Any, second: Any) -> bool:
    """Return whether two values of a property are equal; those of two types are not."""
    if type(first) is not type(second):
        return False
    if hasattr(first, "isPartner"):  # FreeCAD compares shapes by their address
        are_empty = first.isNull() and second.isNull()
        return bool(are_empty or (not first.isNull() and first.isSame(second)))
    return bool(first == second)
