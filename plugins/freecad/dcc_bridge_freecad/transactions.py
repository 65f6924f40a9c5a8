"""The transactions that can be undone, as FreeCAD tells of them. Main thread.

FreeCAD tells of every commit, undo and redo, but lists only the newest 20 names. So the entries are
numbered here as they come, over all documents: a skill may edit another one than the active one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import FreeCAD

from dcc_bridge.spi import Losses, NotUndoable, UndoMark

from .document import gui
from .losses import StepLosses

_CLOSED: Final = ""  # the name of the stack of what no undo brings back; no document has it


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
        self._why = ""
        self._new_documents: set[str] = set()
        self._openings: dict[str, int] = {}  # the number of each document, in the order they came
        self._opened = 0
        self._taken = StepLosses()
        self._losses: Losses | None = None
        self._own: set[int] = set()  # entries that the body has closed itself in the open step
        self._unwanted: set[int] = set()  # of those and of ours, what nobody is to redo
        self.ended: set[str] = set()  # documents that were closed or read again in the step
        self.stale: set[str] = set()  # documents that have to be computed before a step ends
        self._listener = SimpleNamespace(
            slotBeforeChangeObject=self._in_step(self._changing),
            slotCommitTransaction=self._committed,
            slotCloseTransaction=self._closed,
            slotUndoDocument=self._undid,
            slotRedoDocument=self._redid,
            slotCreatedDocument=self._document_came,
            slotDeletedDocument=self._document_goes,
            slotStartSaveDocument=self._saving,
            slotCreatedObject=self._in_step(self._taken.note_new),
            slotDeletedObject=self._in_step(self._object_goes),
            slotRemoveDynamicProperty=self._in_step(self._taken.note_removed),
            slotBeforeChangeDocument=self._in_step(self._taken.note_document),
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
        self._taken.begin()
        self.ended.clear()
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
            self._unwanted |= self._own
            self._own = set()
            self.drop_unwanted()

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

    def opening(self, document: str) -> int:
        """Return a number that an open document has alone; 0 for those before we listened."""
        return self._openings.get(document, 0)

    def undo(self) -> None:
        """Undo the newest transaction in every document that it changed."""
        top = self._top()
        while top is not None and self._top() == top:
            self._undo_one()

    def take_back(self) -> None:
        """Undo one document's newest entry, which is the bridge's own, and leave no redo of it.

        NotUndoable: one was closed since.
        """
        top = self._top()
        self._undo_one()
        if top is not None:
            self._unwanted.add(top.number)
            self.drop_unwanted()

    def drop_unwanted(self) -> None:
        """Drop what can be redone where all of it is what a step did and took back itself.

        FreeCAD drops that at the first change of a transaction, and all of it. So what the body
        undid of others below has to be redone first. A step that stands is no more looked for.
        """
        if FreeCAD.getActiveTransaction() is not None:
            return  # the person is in a task
        for name, stack in self._stacks.items():
            self._unwanted -= {entry.number for entry in stack.done}
            doc = FreeCAD.listDocuments().get(name)
            numbers = {entry.number for entry in stack.undone}
            is_known = doc is not None and doc.RedoCount == len(stack.undone)
            if numbers and is_known and numbers <= self._unwanted:
                _change_nothing(doc)
                stack.undone.clear()
                self._unwanted -= numbers

    def _undo_one(self) -> None:
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
        """List what the newest step took away beside what was agreed to."""
        return self._taken.lost(agreed)

    def is_made(self, obj: Any) -> bool:
        """Return whether an object was made in the newest step."""
        return self._taken.is_made(obj)

    def is_pending(self) -> bool:
        """Return whether the open step would leave an entry, or has changed what no entry holds."""
        documents = FreeCAD.listDocuments().values()
        return self._taken.is_noted() or any(doc.HasPendingTransaction for doc in documents)

    def abort(self, afterwards: Callable[[], None]) -> list[str]:
        """Take back what was changed in the open step, which then goes on as if it were new.

        FreeCAD computes nothing then: what had used a changed object stays as it is, or invalid.

        Args:
            afterwards: Has it computed. What is changed there is recorded by nobody.

        Returns:
            What did not come back.
        """
        label, self._label = self._label, None  # else `_closed` opens it again at once
        self.stale.clear()
        try:
            FreeCAD.closeActiveTransaction(True)
            self._taken.put_notes_back()
            afterwards()
            return self._taken.lost(())
        finally:
            self.stale.clear()
            for name, doc in FreeCAD.listDocuments().items():
                if name in self._stacks and not doc.RedoCount:
                    self._stacks[name].undone.clear()  # at the first change FreeCAD drops them
            self._taken.begin()
            if label is not None:
                FreeCAD.setActiveTransaction(label)
            self._label = label

    def _top(self) -> _Entry | None:
        return max((stack.done[-1] for stack in self._stacks.values() if stack.done), default=None)

    def _stack_of(self, doc: Any) -> _Stack:
        return self._stacks.setdefault(doc.Name, _Stack())

    def _settle(self, doc: Any) -> _Stack:
        """Leave out what FreeCAD has dropped, and add what was there before we listened."""
        stack = self._stack_of(doc)
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

    def _in_step(self, told: Callable[..., None]) -> Callable[..., None]:
        """Have a function told of what happens in an open step, and of nothing else."""

        def call(*what: Any) -> None:
            if self._label is not None:
                told(*what)

        return call

    def _changing(self, obj: Any, prop: str) -> None:
        """Have a change recorded that alone opens no transaction: whether an object is seen."""
        self._taken.note_change(obj, prop)
        if prop == "Visibility":
            obj.Label2 = (text := obj.Label2) + " "
            obj.Label2 = text

    def _committed(self, doc: Any) -> None:
        stack = self._stack_of(doc)
        if stack.done and stack.done[-1].number == self._number:
            self._number += 1
        stack.done.append(_Entry(self._number, _plain(doc.UndoNames[0])))
        stack.undone.clear()
        if self._label is not None:
            self._own.add(self._number)
        self._settle(doc)

    def _closed(self, _: bool) -> None:
        self._number += 1
        if self._label is not None and FreeCAD.getActiveTransaction() is None:
            # A skill has closed ours: what it changes now would be in no entry.
            FreeCAD.setActiveTransaction(self._label)

    def _undid(self, doc: Any) -> None:
        stack = self._stack_of(doc)
        if stack.done:
            stack.undone.append(stack.done.pop())

    def _redid(self, doc: Any) -> None:
        stack = self._stack_of(doc)
        label = _plain(doc.UndoNames[0])
        stack.done.append(stack.undone.pop() if stack.undone else self._entry(label))

    def _document_came(self, doc: Any) -> None:
        self._opened += 1
        self._openings[doc.Name] = self._opened
        self._stacks.pop(doc.Name, None)
        if self._losses is not None:
            self._new_documents.add(doc.Name)
        if self._label is not None:
            doc.UndoMode = 1

    def _document_goes(self, doc: Any) -> None:
        is_lost = self._losses is not None and not self.is_new(doc.Name) and _is_modified(doc)
        stack = self._stacks.pop(doc.Name, _Stack())
        self._openings.pop(doc.Name, None)
        self.ended.add(doc.Name)
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

    def _object_goes(self, obj: Any) -> None:
        if not self.is_new(obj.Document.Name):
            self._taken.note_deleted(obj)


transactions: Final = cache(Transactions)
"""Gives the one that listens in this FreeCAD."""


def _plain(label: str) -> str:
    """Take off what FreeCAD marks a transaction with that began in another document."""
    return str(label).removeprefix("-> ")


def _change_nothing(doc: Any) -> None:
    """Begin a transaction, and abort it."""
    FreeCAD.setActiveTransaction("Drop what can be redone")
    doc.addObject("App::FeaturePython", "Nothing")
    FreeCAD.closeActiveTransaction(True)


def _is_modified(doc: Any) -> bool:
    if not FreeCAD.GuiUp:
        return True
    shown = gui().getDocument(doc.Name)
    return shown is None or bool(shown.Modified)
