"""The transactions that can be undone, as FreeCAD reports them. Main thread.

FreeCAD reports every commit, undo and redo, but lists only the newest 20 names. So the entries are
numbered here as they come, over all documents: a skill may edit another document than the active
one.
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

_CLOSED: Final = ""  # the stack of closed documents, which no undo brings back; no document's name


class _Entry(NamedTuple):
    """A transaction; one that changed several documents has the same number in each."""

    number: int
    label: str


@dataclass(slots=True)
class _Stack:
    """The entries of one document.

    Attributes:
        done: The entries that can be undone, the newest last.
        undone: The entries that can be redone, the next one last.
        dropped: How many older entries FreeCAD no longer keeps.
    """

    done: list[_Entry] = field(default_factory=list)
    undone: list[_Entry] = field(default_factory=list)
    dropped: int = 0


class Transactions:
    """The transactions that can be undone, counted by FreeCAD's own events.

    Attributes:
        ended: The names of documents that were closed or read again in the newest step.
        stale: The names of documents that have to be computed before a step ends.
    """

    def __init__(self) -> None:
        self._stacks: dict[str, _Stack] = {}
        self._number = 0
        self._label: str | None = None  # of the open step
        self._end_sentence = ""  # says which document was closed
        self._new_documents: set[str] = set()
        self._openings: dict[str, int] = {}  # a number for each open document
        self._opened = 0
        self._step_losses = StepLosses()
        self._losses: Losses | None = None
        self._body_numbers: set[int] = set()  # entries that the body itself closed in the open step
        self._unwanted: set[int] = set()  # entries of the body or the bridge that nobody is to redo
        self.ended: set[str] = set()
        self.stale: set[str] = set()
        self._listener = SimpleNamespace(
            slotBeforeChangeObject=self._in_step(self._before_change),
            slotCommitTransaction=self._after_commit,
            slotCloseTransaction=self._after_close,
            slotUndoDocument=self._after_undo,
            slotRedoDocument=self._after_redo,
            slotCreatedDocument=self._after_new_document,
            slotDeletedDocument=self._before_document_ends,
            slotStartSaveDocument=self._before_save,
            slotCreatedObject=self._in_step(self._step_losses.note_new),
            slotDeletedObject=self._in_step(self._before_object_ends),
            slotRemoveDynamicProperty=self._in_step(self._step_losses.note_removed),
            slotBeforeChangeDocument=self._in_step(self._step_losses.note_document),
        )
        FreeCAD.addDocumentObserver(self._listener)

    def mark(self) -> UndoMark:
        """Return a mark of the newest entry; its depth counts the entries of all documents."""
        documents = FreeCAD.listDocuments()
        for closed in self._stacks.keys() - documents.keys() - {_CLOSED}:
            # FreeCAD commits an open transaction after the document is gone.
            del self._stacks[closed]
        for doc in documents.values():
            self._settle(doc)
        depth = sum(len(stack.done) + stack.dropped for stack in self._stacks.values())
        top = self._top()
        if top is None:
            return UndoMark(depth, None, None)
        return UndoMark(depth, top.label, top.number)

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Record all changes during the block in one step, in every document.

        A skill may close the transaction: another one is opened at once.

        Args:
            label: The name of the step in FreeCAD's menu.
        """
        self._step_losses.begin()
        self.ended.clear()
        for doc in FreeCAD.listDocuments().values():
            doc.UndoMode = 1  # freecadcmd begins with undo off
        # The application's transaction and not the document's: a document's transaction stays open
        # if it is empty at its commit, and takes in the person's next edits.
        FreeCAD.setActiveTransaction(label)
        self._label = label
        try:
            yield
            self.compute()
        finally:
            self._label = None
            FreeCAD.closeActiveTransaction()
            self._unwanted |= self._body_numbers
            self._body_numbers = set()
            self.drop_unwanted()

    @contextmanager
    def watched(self, losses: Losses) -> Iterator[None]:
        """Report to `losses` which documents a skill's body closes, and which files it writes."""
        outer_losses = self._losses
        outer_documents = self._new_documents
        self._losses = losses
        self._new_documents = set()
        try:
            yield
        finally:
            self._losses = outer_losses
            self._new_documents = outer_documents

    def is_new(self, document: str) -> bool:
        """Return whether the watched body has opened or made a document of this name."""
        return document in self._new_documents

    def opening(self, document: str) -> int:
        """Return a number that no other open document has; 0 if it was open before we listened."""
        return self._openings.get(document, 0)

    def undo(self) -> None:
        """Undo the newest transaction in every document that it changed."""
        top = self._top()
        while top is not None and self._top() == top:
            self._undo_one()

    def take_back(self) -> None:
        """Undo one document's newest entry, which is the bridge's own, and leave no redo of it.

        Raises:
            NotUndoable: The newest entry is that a document was closed.
        """
        top = self._top()
        self._undo_one()
        if top is not None:
            self._unwanted.add(top.number)
            self.drop_unwanted()

    def drop_unwanted(self) -> None:
        """Drop a document's redo list if all of its entries are what a step took back itself.

        FreeCAD drops the whole list at the first change of a transaction. So the entries of others
        that a body has undone have to be redone first. Entries that stand are forgotten here.
        """
        if FreeCAD.getActiveTransaction() is not None:
            return  # the person is in a task
        for name, stack in self._stacks.items():
            self._unwanted -= {entry.number for entry in stack.done}
            doc = FreeCAD.listDocuments().get(name)
            if doc is None or doc.RedoCount != len(stack.undone):
                continue
            numbers = {entry.number for entry in stack.undone}
            if numbers and numbers <= self._unwanted:
                _change_nothing(doc)
                stack.undone.clear()
                self._unwanted -= numbers

    def _undo_one(self) -> None:
        """Undo one document's newest entry, and recompute; NotUndoable: it closed a document."""
        top = self._top()
        if top is None:
            return
        for name, stack in list(self._stacks.items()):
            if stack.done and stack.done[-1] == top:
                if name == _CLOSED:
                    raise NotUndoable(self._end_sentence)
                doc = FreeCAD.getDocument(name)
                doc.undo()
                doc.recompute()
                return

    def lost(self, agreed: Collection[str]) -> list[str]:
        """Return what the newest step took away, except the items that a person agreed to."""
        return self._step_losses.lost(agreed)

    def is_made(self, obj: Any) -> bool:
        """Return whether an object was made in the newest step."""
        return self._step_losses.is_made(obj)

    def is_pending(self) -> bool:
        """Return whether the open step would leave an entry, or changed a document's own texts.

        FreeCAD keeps those texts, such as the author's name, out of its transactions.
        """
        if self._step_losses.is_noted():
            return True
        documents = FreeCAD.listDocuments().values()
        return any(doc.HasPendingTransaction for doc in documents)

    def abort(self, afterwards: Callable[[], None]) -> list[str]:
        """Take back all changes of the open step, which then goes on as if it were new.

        FreeCAD computes nothing after an abort: the users of a changed object stay as they are, or
        invalid.

        Args:
            afterwards: Computes the documents. No transaction records the changes of this call.

        Returns:
            The objects and parts that did not come back.
        """
        label = self._label
        self._label = None  # else `_after_close` opens the step again at once
        self.stale.clear()
        try:
            FreeCAD.closeActiveTransaction(True)
            self._step_losses.put_notes_back()
            afterwards()
            return self._step_losses.lost(())
        finally:
            self.stale.clear()
            for name, doc in FreeCAD.listDocuments().items():
                if name in self._stacks and not doc.RedoCount:
                    self._stacks[name].undone.clear()  # at the first change FreeCAD drops them
            self._step_losses.begin()
            if label is not None:
                FreeCAD.setActiveTransaction(label)
            self._label = label

    def _top(self) -> _Entry | None:
        """Return the newest entry of all documents."""
        newest = (stack.done[-1] for stack in self._stacks.values() if stack.done)
        return max(newest, default=None)

    def _stack_of(self, doc: Any) -> _Stack:
        return self._stacks.setdefault(doc.Name, _Stack())

    def _settle(self, doc: Any) -> _Stack:
        """Forget the entries that FreeCAD has dropped, and add those from before we listened."""
        stack = self._stack_of(doc)
        # FreeCAD counts the open transaction as well, which is no entry until its commit.
        surplus = len(stack.done) - doc.UndoCount + doc.HasPendingTransaction
        if surplus > 0:
            del stack.done[:surplus]
            stack.dropped += surplus
        elif surplus < 0:
            labels = [_plain(name) for name in reversed(doc.UndoNames[surplus:])]
            stack.done[:0] = [self._new_entry(label) for label in labels]
        return stack

    def _new_entry(self, label: str) -> _Entry:
        self._number += 1
        return _Entry(self._number, label)

    def compute(self) -> None:
        """Compute the documents that are stale."""
        for name in self.stale & FreeCAD.listDocuments().keys():
            FreeCAD.getDocument(name).recompute()
        self.stale.clear()

    # ---- called by FreeCAD

    def _in_step(self, listener: Callable[..., None]) -> Callable[..., None]:
        """Return a listener that passes events on while a step is open, and drops all others."""

        def pass_on(*arguments: Any) -> None:
            if self._label is not None:
                listener(*arguments)

        return pass_on

    def _before_change(self, obj: Any, prop: str) -> None:
        """Note the parts of a property; have a change of visibility recorded.

        A change of visibility alone opens no transaction, so the description is changed and put
        back as well.
        """
        self._step_losses.note_change(obj, prop)
        if prop == "Visibility":
            text = obj.Label2
            obj.Label2 = text + " "
            obj.Label2 = text

    def _after_commit(self, doc: Any) -> None:
        stack = self._stack_of(doc)
        if stack.done and stack.done[-1].number == self._number:
            self._number += 1
        stack.done.append(_Entry(self._number, _plain(doc.UndoNames[0])))
        stack.undone.clear()
        if self._label is not None:
            self._body_numbers.add(self._number)
        self._settle(doc)

    def _after_close(self, _: bool) -> None:
        self._number += 1
        if self._label is not None and FreeCAD.getActiveTransaction() is None:
            # A skill has closed our transaction: its next changes would be in no entry.
            FreeCAD.setActiveTransaction(self._label)

    def _after_undo(self, doc: Any) -> None:
        stack = self._stack_of(doc)
        if stack.done:
            stack.undone.append(stack.done.pop())

    def _after_redo(self, doc: Any) -> None:
        stack = self._stack_of(doc)
        if stack.undone:
            stack.done.append(stack.undone.pop())
        else:
            stack.done.append(self._new_entry(_plain(doc.UndoNames[0])))

    def _after_new_document(self, doc: Any) -> None:
        self._opened += 1
        self._openings[doc.Name] = self._opened
        self._stacks.pop(doc.Name, None)
        if self._losses is not None:
            self._new_documents.add(doc.Name)
        if self._label is not None:
            doc.UndoMode = 1

    def _before_document_ends(self, doc: Any) -> None:
        """Keep a copy of a modified document that a body closes, and note an entry for it."""
        stack = self._stacks.pop(doc.Name, _Stack())
        self._openings.pop(doc.Name, None)
        self.ended.add(doc.Name)
        if self._losses is None or self.is_new(doc.Name) or not _is_modified(doc):
            return

        def save_copy(path: Path) -> None:
            doc.saveCopy(str(path))

        copy = f"{doc.Name}.unsaved.FCStd", save_copy
        make_sentence = self._losses.ending(f"close {doc.Label}", copy)
        if make_sentence is None:
            return
        self._end_sentence = str(make_sentence())
        closed = self._stacks.setdefault(_CLOSED, _Stack())
        closed.done.append(self._new_entry(f"Close {doc.Label}"))
        closed.dropped += len(stack.done) + stack.dropped

    def _before_save(self, _doc: Any, file: str) -> None:
        if self._losses is not None:
            self._losses.writing(Path(file))

    def _before_object_ends(self, obj: Any) -> None:
        if not self.is_new(obj.Document.Name):
            self._step_losses.note_deleted(obj)


transactions: Final = cache(Transactions)
"""Returns the only `Transactions` of this FreeCAD, which listens from the first call on."""


def _plain(label: str) -> str:
    """Return a label without FreeCAD's mark of a transaction that began in another document."""
    return str(label).removeprefix("-> ")


def _change_nothing(doc: Any) -> None:
    """Begin a transaction, change something, and abort: FreeCAD then drops the redo list."""
    FreeCAD.setActiveTransaction("Drop what can be redone")
    doc.addObject("App::FeaturePython", "Nothing")
    FreeCAD.closeActiveTransaction(True)


def _is_modified(doc: Any) -> bool:
    if not FreeCAD.GuiUp:
        return True
    gui_document = gui().getDocument(doc.Name)
    if gui_document is None:
        return True
    return bool(gui_document.Modified)
