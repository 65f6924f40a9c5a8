"""The documents, as adapter and operations look at them, and their transactions. Main thread.

FreeCAD tells of every commit, undo and redo, but lists only the newest 20 names. So the entries are
numbered here as they come, over all documents: a skill may edit another one than the active one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import FreeCAD

from dcc_bridge.spi import Changes, CountChanges, Losses, NotUndoable, UndoMark

_MOST: Final = 200  # parts of a value that an agent is given
_CLOSED: Final = ""  # the name of the stack of what no undo brings back; no document has it
_NO_PICTURE: Final = ("offscreen", "minimal")


def document() -> Any:
    """Return the active document; LookupError where none is open."""
    if FreeCAD.ActiveDocument is None:
        raise LookupError("No document is open in FreeCAD: open one, or make a new one.")
    return FreeCAD.ActiveDocument


def look_up(item: str) -> Any:
    """Return the object of that name, or of the label that it alone has; None if there is none."""
    obj = document().getObject(item)
    labelled = document().getObjectsByLabel(item) if obj is None else [obj]
    return labelled[0] if len(labelled) == 1 else None


def find(item: str) -> Any:
    """Find an object by its name, or the label that it alone has; LookupError if there is none."""
    if (obj := look_up(item)) is not None:
        return obj
    if many := len(document().getObjectsByLabel(item)):
        raise LookupError(f"{many} objects have the label {item!r}: give the name of one.")
    near = ", ".join(get_close_matches(item, (it.Name for it in document().Objects), 3, 0.5))
    told = f"; near: {near}." if near else "."
    raise LookupError(f"There is no object {item!r} in {document().Label}{told}")


def called(obj: Any) -> str:
    """Return what the tree calls an object, and behind it the inner name where that is another."""
    if obj.Label == obj.Name:
        return str(obj.Name)
    return f"{obj.Label} ({obj.Name})"


def facts(item: str) -> list[Any]:
    """Return the facts that tell an object from another one, and that a person agreed to."""
    obj = document().getObject(item) if FreeCAD.ActiveDocument else None
    if obj is None:
        return [item, "gone"]
    used = sorted((other.Name, other.TypeId) for other in obj.OutListRecursive)
    locks = [(name, obj.getEditorMode(name)) for name in obj.PropertiesList]
    return [item, obj.ID, obj.TypeId, obj.Label, sorted(o.Name for o in obj.InList), used, locks]


def reach(item: str) -> set[str]:
    """Name an object, and what is in it where it is a group."""
    found, ahead = {item}, [document().getObject(item)] if FreeCAD.ActiveDocument else []
    for obj in filter(None, ahead):  # the list grows meanwhile
        if obj.hasExtension("App::GroupExtension") or hasattr(obj, "OriginFeatures"):
            ahead += [other for other in obj.OutList if other.Name not in found]
            found.update(other.Name for other in obj.OutList)
    return found


@contextmanager
def noting_changes() -> Iterator[CountChanges]:
    """Note what becomes of objects, in every document; FreeCAD tells of each, if none is closed."""
    home, documents = getattr(FreeCAD.ActiveDocument, "Name", ""), {*FreeCAD.listDocuments()}
    created, changed, deleted = dict[str, None](), dict[str, None](), dict[str, None]()

    def name(obj: Any) -> str:
        document = obj.Document.Name
        return str(obj.Name) if document == home else f"{document}#{obj.Name}"

    def note_end(obj: Any) -> None:
        if created.pop(name(obj), deleted) is deleted:  # else it was made after the beginning
            deleted[name(obj)] = None

    listener = SimpleNamespace(
        slotCreatedObject=lambda obj: created.setdefault(name(obj)),
        slotChangedObject=lambda obj, _: changed.setdefault(name(obj)),
        slotDeletedObject=note_end,
    )
    FreeCAD.addDocumentObserver(listener)
    try:
        yield lambda: Changes(
            [*created],
            [it for it in changed if it not in created and it not in deleted],
            [*deleted],
            is_exact=documents == {*FreeCAD.listDocuments()},
        )
    finally:
        FreeCAD.removeDocumentObserver(listener)


def plain(value: Any) -> Any:
    """Return a property's value as JSON can carry it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "UserString"):  # a length, an angle: the number is in mm or degrees
        return value.Value
    if hasattr(value, "Rotation"):
        rotation = value.Rotation
        return {
            "Base": plain(value.Base),
            "Axis": plain(rotation.Axis),
            "Angle": math.degrees(rotation.Angle),
        }
    if isinstance(value, list | tuple | FreeCAD.Vector):
        return [plain(part) for part in islice(value, _MOST)]
    return str(getattr(value, "Name", None) or value)[:_MOST]


def view_3d() -> Any:
    """Return the 3D view of the active document; ValueError where none can be drawn."""
    if os.environ.get("QT_QPA_PLATFORM") in _NO_PICTURE:
        raise ValueError("This FreeCAD has no screen: what it would draw crashes it.")
    shown = gui().ActiveDocument.ActiveView if gui().ActiveDocument else None
    if not hasattr(shown, "saveImage"):
        raise ValueError("No 3D view is open: bring one to the front in FreeCAD.")
    return shown


def gui() -> Any:
    """Return FreeCAD's window side, which freecadcmd must not load."""
    import FreeCADGui

    return FreeCADGui


class _Entry(NamedTuple):
    """A transaction; one that changed several documents has the same number in each."""

    number: int
    label: str


@dataclass(slots=True)
class _Stack:
    done: list[_Entry] = field(default_factory=list)
    undone: list[_Entry] = field(default_factory=list)
    dropped: int = 0


class Transactions:
    """The transactions that can be undone, counted by FreeCAD's own events."""

    def __init__(self) -> None:
        self._stacks: dict[str, _Stack] = {}
        self._number = 0
        self._label: str | None = None
        self._home = self._why = ""
        self._new: set[tuple[str, str]] = set()
        self._new_documents: set[str] = set()
        self._deleted: dict[tuple[str, str], int] = {}
        self._losses: Losses | None = None
        self.stale: set[str] = set()  # documents that have to be computed before a step ends
        self._listener = SimpleNamespace(
            slotBeforeChangeObject=self._changing,
            slotCommitTransaction=self._committed,
            slotCloseTransaction=self._closed,
            slotUndoDocument=self._undid,
            slotRedoDocument=self._redid,
            slotCreatedDocument=self._document_came,
            slotDeletedDocument=self._document_goes,
            slotStartSaveDocument=self._saving,
            slotCreatedObject=self._object_came,
            slotDeletedObject=self._object_goes,
        )
        FreeCAD.addDocumentObserver(self._listener)

    def mark(self) -> UndoMark:
        """Mark the newest entry of all documents; the depth counts those of each."""
        documents = FreeCAD.listDocuments()
        for closed in self._stacks.keys() - documents.keys() - {_CLOSED}:
            del self._stacks[closed]  # what was open in it was committed after it was gone
        for doc in documents.values():
            self._settle(doc)
        top = self._top()
        depth = sum(len(stack.done) + stack.dropped for stack in self._stacks.values())
        return UndoMark(depth, top.label if top else None, top.number if top else None)

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Have all that is changed recorded, in every document, whatever a skill closes."""
        self._deleted, self._new = {}, set()
        self._home = FreeCAD.ActiveDocument.Name if FreeCAD.ActiveDocument else ""
        for doc in FreeCAD.listDocuments().values():
            doc.UndoMode = 1  # freecadcmd begins with undo off
        # The application's transaction and not the document's: that one stays open if it is empty
        # when it is committed, and takes in what the person does next.
        FreeCAD.setActiveTransaction(label)
        self._label = label
        try:
            yield
            self.compute()
        finally:
            self._label = None
            FreeCAD.closeActiveTransaction()

    @contextmanager
    def watched(self, losses: Losses) -> Iterator[None]:
        """Keep copies of what a skill's body loses."""
        outer, self._losses = self._losses, losses
        new, self._new_documents = self._new_documents, set()
        try:
            yield
        finally:
            self._losses, self._new_documents = outer, new

    def is_new(self, document: str) -> bool:
        """Return whether the body that is watched has opened or made a document."""
        return document in self._new_documents

    def undo(self) -> None:
        """Undo the newest transaction in every document that it changed."""
        top = self._top()
        while top is not None and self._top() == top:
            self.take_back()

    def take_back(self) -> None:
        """Undo one document's newest entry, and recompute; NotUndoable: one was closed since."""
        top = self._top()
        for name, stack in list(self._stacks.items()):
            if top is not None and stack.done and stack.done[-1] == top:
                if name == _CLOSED:
                    raise NotUndoable(self._why)
                doc = FreeCAD.getDocument(name)
                doc.undo()
                doc.recompute()
                return

    def lost(self, agreed: Collection[str]) -> list[str]:
        """List what the newest step deleted beside what was agreed to, by names."""
        gone = [key for key, number in self._deleted.items() if not _is_there(key, number)]
        names = [name if doc == self._home else f"{doc}#{name}" for doc, name in gone]
        return [name for name in names if name not in agreed]

    def _top(self) -> _Entry | None:
        return max((stack.done[-1] for stack in self._stacks.values() if stack.done), default=None)

    def _settle(self, doc: Any) -> _Stack:
        """Leave out what FreeCAD has dropped, and add what was there before we listened."""
        stack = self._stacks.setdefault(doc.Name, _Stack())
        # The open one, which FreeCAD counts as well, is no entry until it is committed.
        surplus = len(stack.done) - doc.UndoCount + doc.HasPendingTransaction
        if surplus > 0:
            del stack.done[:surplus]
            stack.dropped += surplus
        elif surplus < 0:
            stack.done[:0] = [self._entry(_plain(n)) for n in reversed(doc.UndoNames[surplus:])]
        return stack

    def _entry(self, label: str) -> _Entry:
        self._number += 1
        return _Entry(self._number, label)

    def compute(self) -> None:
        """Compute what depends on what was changed."""
        for name in self.stale & FreeCAD.listDocuments().keys():
            FreeCAD.getDocument(name).recompute()
        self.stale.clear()

    # ---- what FreeCAD calls

    def _changing(self, obj: Any, prop: str) -> None:
        """Have a change recorded that alone opens no transaction: whether an object is seen."""
        if self._label is not None and prop == "Visibility":
            obj.Label2 = (text := obj.Label2) + " "
            obj.Label2 = text

    def _committed(self, doc: Any) -> None:
        stack = self._stacks.setdefault(doc.Name, _Stack())
        if stack.done and stack.done[-1].number == self._number:
            self._number += 1
        stack.done.append(_Entry(self._number, _plain(doc.UndoNames[0])))
        stack.undone.clear()
        self._settle(doc)

    def _closed(self, _: bool) -> None:
        self._number += 1
        if self._label is not None and FreeCAD.getActiveTransaction() is None:
            # A skill has closed ours: what it changes now would be in no entry.
            FreeCAD.setActiveTransaction(self._label)

    def _undid(self, doc: Any) -> None:
        stack = self._stacks.setdefault(doc.Name, _Stack())
        if stack.done:
            stack.undone.append(stack.done.pop())

    def _redid(self, doc: Any) -> None:
        stack = self._stacks.setdefault(doc.Name, _Stack())
        label = _plain(doc.UndoNames[0])
        stack.done.append(stack.undone.pop() if stack.undone else self._entry(label))

    def _document_came(self, doc: Any) -> None:
        self._stacks.pop(doc.Name, None)
        if self._losses is not None:
            self._new_documents.add(doc.Name)
        if self._label is not None:
            doc.UndoMode = 1

    def _document_goes(self, doc: Any) -> None:
        is_lost = self._losses is not None and not self.is_new(doc.Name) and _is_modified(doc)
        stack = self._stacks.pop(doc.Name, _Stack())
        if is_lost and self._losses is not None:
            copy = f"{doc.Name}.unsaved.FCStd", lambda path: doc.saveCopy(str(path))
            tell = self._losses.ending(f"close {doc.Label}", copy)
            if tell is not None:
                self._why = str(tell())
                closed = self._stacks.setdefault(_CLOSED, _Stack())
                closed.done.append(self._entry(f"Close {doc.Label}"))
                closed.dropped += len(stack.done) + stack.dropped

    def _saving(self, _doc: Any, file: str) -> None:
        if self._losses is not None:
            self._losses.writing(Path(file))

    def _object_came(self, obj: Any) -> None:
        if self._label is not None:
            key = obj.Document.Name, obj.Name
            if key not in self._deleted:  # it comes back by an undo
                self._new.add(key)

    def _object_goes(self, obj: Any) -> None:
        if self._label is None:
            return
        key = obj.Document.Name, obj.Name
        if key not in self._new and not self.is_new(key[0]):
            self._deleted[key] = obj.ID


transactions: Final = cache(Transactions)
"""Gives the one that listens in this FreeCAD."""


def _plain(label: str) -> str:
    """Take off what FreeCAD marks a transaction with that began in another document."""
    return str(label).removeprefix("-> ")


def _is_there(key: tuple[str, str], number: int) -> bool:
    doc = FreeCAD.listDocuments().get(key[0])
    if doc is None:
        return True  # it was closed, which is told of otherwise
    obj = doc.getObject(key[1])
    return obj is not None and number == obj.ID


def _is_modified(doc: Any) -> bool:
    if not FreeCAD.GuiUp:
        return True
    shown = gui().getDocument(doc.Name)
    return shown is None or bool(shown.Modified)
