"""Counts the transactions that can be undone, as FreeCAD reports them. Main thread.

FreeCAD has an undo list and a redo list for each document. An *entry* is one committed transaction
in the lists of one document. A *step* is the bridge's own: all changes during one `with` block, in
every document, under one label. The *body* is the skill's code that runs in the block; it may
itself commit transactions, undo, or close documents.

FreeCAD reports every commit, undo and redo, but lists only the newest 20 names. So this module
keeps a *stack* of entries for each document, and numbers the entries over all documents in the
order of their commits. An entry is added or moved by the methods under "called by FreeCAD": for
example `doc.undo()` makes FreeCAD call `_after_undo` before it returns.
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

from dcc_bridge.spi import Account, Losses, NotUndoable, UndoMark

from .account import StepValues
from .document import gui
from .edge_references import EdgeReferences
from .losses import StepLosses
from .scripted import Notes, ScriptedNotes

# The key of a stack without a document. It has an entry for each modified document that was closed,
# which no undo can bring back. No document has this name.
_CLOSED: Final = ""


class _Entry(NamedTuple):
    """A committed transaction in one document.

    A transaction that changed several documents has an entry with the same number in each of them.
    Entries are compared by their numbers first, so the greatest is the newest.
    """

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
    """The stacks of all documents, kept up to date by FreeCAD's events.

    Two blocks switch parts of it on; either may be open without the other:

    - inside `step`, `_label` is set. Changes are noted in `_step_losses`, and a transaction that
      the body closes is followed by a new one;
    - inside `watched`, `_losses` is set. Closed documents and written files are reported to it.

    Outside of both only the stacks are kept, for the person's own edits.

    Attributes:
        ended: The names of documents that were closed or read again in the newest step.
        stale: The names of documents that have to be computed before a step ends.
    """

    def __init__(self) -> None:
        self._stacks: dict[str, _Stack] = {}  # by the document's name, and `_CLOSED`
        self._number = 0  # what the next commit is numbered, or one more: see `_after_commit`
        self._label: str | None = None  # the label of the open step; None outside of a step
        self._end_sentence = ""  # why the newest entry of `_CLOSED` cannot be undone
        self._new_documents: set[str] = set()  # documents that the watched body opened or made
        self._step_losses = StepLosses()
        self._step_values = StepValues()
        self._edges = EdgeReferences()
        self._scripted_notes = ScriptedNotes()
        self._undo_notes = ScriptedNotes()  # of before the undo or redo that FreeCAD is doing
        # What an undo or redo may leave wrong, by the document's name and the number of the entry.
        self._scripted: dict[tuple[str, int], Notes] = {}
        self._losses: Losses | None = None  # the receiver inside `watched`; None outside of it
        self._body_numbers: set[int] = set()  # entries that were committed inside the open step
        self._unwanted: set[int] = set()  # entries that must not be redone once they are undone
        self.ended: set[str] = set()
        self.stale: set[str] = set()
        self._listener = SimpleNamespace(
            slotBeforeChangeObject=self._before_change,
            slotCommitTransaction=self._after_commit,
            slotCloseTransaction=self._after_close,
            slotAbortTransaction=self._after_abort,
            slotUndoDocument=self._after_undo,
            slotRedoDocument=self._after_redo,
            slotCreatedDocument=self._after_new_document,
            slotDeletedDocument=self._before_document_ends,
            slotStartSaveDocument=self._before_save,
            slotCreatedObject=self._in_step(self._step_losses.note_new),
            slotDeletedObject=self._in_step(self._before_object_ends),
            slotAppendDynamicProperty=self._in_step(self._step_losses.note_added),
            slotRemoveDynamicProperty=self._in_step(self._step_losses.note_removed),
            slotBeforeChangeDocument=self._in_step(self._step_losses.note_document),
        )
        FreeCAD.addDocumentObserver(self._listener)

    def mark(self) -> UndoMark:
        """Return a mark of the newest entry.

        The depth of the mark is the number of all entries in all documents, with those that FreeCAD
        no longer keeps.
        """
        documents = FreeCAD.listDocuments()
        for closed in self._stacks.keys() - documents.keys() - {_CLOSED}:
            # FreeCAD commits an open transaction after the document is gone.
            del self._stacks[closed]
        for doc in documents.values():
            self._match_undo_list(doc)
        depth = sum(len(stack.done) + stack.dropped for stack in self._stacks.values())
        top = self._top()
        if top is None:
            return UndoMark(depth, None, None)
        return UndoMark(depth, top.label, top.number)

    def labels(self) -> list[str]:
        """Return the labels of all entries that can be undone, the newest last."""
        entries: list[_Entry] = []
        for stack in self._stacks.values():
            entries.extend(stack.done)
        return [entry.label for entry in sorted(entries)]

    @contextmanager
    def step(self, label: str) -> Iterator[None]:
        """Record all changes during the block in one step, in every document.

        The body may close the transaction. Then `_after_close` opens another one with the same
        label at once, so one step may leave several entries.

        Args:
            label: The name of the step in FreeCAD's menu.
        """
        self._step_losses.begin()
        self._step_values.begin()
        self._edges.begin()
        self._scripted_notes.begin()
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
            self._edges.check()
        finally:
            self._label = None  # first, else `_after_close` opens another transaction
            FreeCAD.closeActiveTransaction()
            self._scripted_notes.begin()  # the next commit is the person's
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

    def undo(self) -> None:
        """Undo the newest transaction in every document that it changed.

        Raises:
            NotUndoable: The newest entry is that a document was closed.
        """
        # Each `_undo_one` has FreeCAD call `_after_undo`, which takes the entry off its stack. So
        # the loop ends when no document has an entry of this number on top.
        top = self._top()
        while top is not None and self._top() == top:
            self._undo_one()

    def take_back(self) -> None:
        """Undo the newest entry of one document, so that nobody can redo it.

        The entry must be the bridge's own.

        Raises:
            NotUndoable: The newest entry is that a document was closed.
        """
        top = self._top()
        self._undo_one()
        if top is not None:
            self._unwanted.add(top.number)
            self.drop_unwanted()

    def drop_unwanted(self) -> None:
        """Drop the redo list of each document in which all entries are unwanted.

        FreeCAD can only drop a redo list as a whole. So a list that also has an entry of somebody
        else stays, until that entry has been redone. An unwanted entry that is on an undo list, so
        that it was redone or never undone, is not unwanted any more.
        """
        if FreeCAD.getActiveTransaction() is not None:
            return  # the person is in the middle of a FreeCAD task, which has a transaction open
        for name, stack in self._stacks.items():
            self._unwanted -= {entry.number for entry in stack.done}
            doc = FreeCAD.listDocuments().get(name)
            if doc is None or doc.RedoCount != len(stack.undone):
                continue  # the stack does not have all entries of FreeCAD's list
            numbers = {entry.number for entry in stack.undone}
            are_all_unwanted = numbers <= self._unwanted
            if numbers and are_all_unwanted:
                _change_nothing(doc)
                stack.undone.clear()
                self._unwanted -= numbers

    def _undo_one(self) -> None:
        """Undo the newest entry in one document that has it, and recompute that document.

        Nothing happens if there is no entry at all.

        Raises:
            NotUndoable: The newest entry is that a document was closed.
        """
        top = self._top()
        if top is None:
            return
        for name, stack in list(self._stacks.items()):
            if stack.done and stack.done[-1] == top:
                if name == _CLOSED:
                    raise NotUndoable(self._end_sentence)
                doc = FreeCAD.getDocument(name)
                doc.undo()  # calls `_after_undo`
                doc.recompute()
                return

    def lost(self, agreed: Collection[str]) -> list[str]:
        """Return the losses of the newest step that no person agreed to: `StepLosses.lost`.

        Raises:
            ValueError: A fillet or a chamfer of the step is on an edge that is not there any more;
                nobody is asked about the rest then.
        """
        self.compute()
        self._edges.check()
        return self._step_losses.lost(agreed)

    def is_made(self, obj: Any) -> bool:
        """Return whether an object was made in the newest step."""
        return self._step_losses.is_made(obj)

    def account(self) -> Account:
        """Return what is different since the newest step began."""
        return self._step_losses.account(self._step_values)

    def is_pending(self) -> bool:
        """Return whether the open step would leave an entry, or has changed a document's own texts.

        FreeCAD keeps those texts, such as the author's name, out of its transactions.
        """
        if self._step_losses.has_changed_texts():
            return True
        documents = FreeCAD.listDocuments().values()
        return any(doc.HasPendingTransaction for doc in documents)

    def abort(self, afterwards: Callable[[], None]) -> list[str]:
        """Take back all changes of the open step, which then goes on as if it were new.

        FreeCAD computes nothing after an abort: the users of a changed object stay as they are, or
        invalid.

        Args:
            afterwards: Called after the abort to compute the documents. Its changes are in no
                transaction.

        Returns:
            The objects and parts that did not come back.
        """
        label = self._label
        self._label = None  # else `_after_close` opens the step again at once
        self.stale.clear()
        try:
            FreeCAD.closeActiveTransaction(True)
            self._scripted_notes.put_back()
            self._step_losses.restore_texts()
            afterwards()
            return self._step_losses.lost(())
        finally:
            self.stale.clear()
            for name, doc in FreeCAD.listDocuments().items():
                if name in self._stacks and not doc.RedoCount:
                    # FreeCAD dropped the redo list at the first change of the transaction.
                    self._stacks[name].undone.clear()
            self._step_losses.begin()
            self._step_values.begin()
            self._edges.begin()
            self._scripted_notes.begin()
            if label is not None:
                FreeCAD.setActiveTransaction(label)
            self._label = label

    def _top(self) -> _Entry | None:
        """Return the newest entry of all stacks; None if all are empty."""
        newest = (stack.done[-1] for stack in self._stacks.values() if stack.done)
        return max(newest, default=None)

    def _stack_of(self, doc: Any) -> _Stack:
        """Return the stack of a document; a new one for a document that has none."""
        return self._stacks.setdefault(doc.Name, _Stack())

    def _match_undo_list(self, doc: Any) -> _Stack:
        """Make a document's stack as long as FreeCAD's undo list, and return the stack.

        The oldest entries are removed if FreeCAD has dropped them. Entries from before this object
        listened are added below the others, with greater numbers than their age suggests.
        """
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
        """Return an entry with the next number."""
        self._number += 1
        return _Entry(self._number, label)

    def compute(self) -> None:
        """Compute the documents that are stale; fillets and chamfers stay on their edges."""
        for name in self.stale & FreeCAD.listDocuments().keys():
            document = FreeCAD.getDocument(name)
            document.recompute()
            self._edges.follow(document, self._step_values.leave_out)
        self.stale.clear()

    def note_new_edges(self, user: Any) -> None:
        """Note that an edit of the step has named other edges in an object."""
        self._edges.forget(user)

    def _mend_scripted(self, document: str, entry: _Entry) -> None:
        """Mend scripted objects after an undo or redo, and note what it did for the next one."""
        place = document, entry.number
        notes = self._scripted.get(place)
        if notes is not None:
            self._undo_notes.mend(notes)
            self._scripted[place] = self._undo_notes.take(document)

    def _forget_scripted(self, name: str) -> None:
        """Forget what belongs to entries of a document that FreeCAD no longer keeps."""
        stack = self._stacks.get(name, _Stack())
        kept = {entry.number for entry in (*stack.done, *stack.undone)}
        for document, number in list(self._scripted):
            if document == name and number not in kept:
                del self._scripted[document, number]

    # ---- called by FreeCAD

    def _in_step(self, listener: Callable[..., None]) -> Callable[..., None]:
        """Return a listener that passes events on while a step is open, and ignores all others."""

        def pass_on(*arguments: Any) -> None:
            if self._label is not None:
                listener(*arguments)

        return pass_on

    def _before_change(self, obj: Any, prop: str) -> None:
        """Note an object that an undo or redo changes, and what an open step changes."""
        is_undo = obj.Document.Transacting
        if is_undo:
            self._undo_notes.note(obj)
        if self._label is None:
            return
        if prop == "Visibility":
            _record_visibility(obj)
        if not is_undo:
            self._edges.note(obj.Document)
        if not is_undo and not self._step_losses.is_made(obj):
            self._scripted_notes.note(obj)
        self._step_losses.note_change(obj, prop)
        self._step_values.note(obj, prop)

    def _after_commit(self, doc: Any) -> None:
        """Add an entry for a transaction that was committed in a document.

        FreeCAD calls this once for each document that the transaction changed, and then
        `_after_close` once. The entries of these calls share one number, so the number goes up in
        `_after_close`. It also goes up here if the document's newest entry has the number already,
        because `_new_entry` has given it or no close was reported since.
        """
        stack = self._stack_of(doc)
        is_number_used = stack.done and stack.done[-1].number == self._number
        if is_number_used:
            self._number += 1
        stack.done.append(_Entry(self._number, _plain(doc.UndoNames[0])))
        stack.undone.clear()  # FreeCAD has dropped the redo list
        notes = self._scripted_notes.take(doc.Name)
        if notes:
            self._scripted[doc.Name, self._number] = notes
        if self._label is not None:
            self._body_numbers.add(self._number)
        self._match_undo_list(doc)
        self._forget_scripted(doc.Name)

    def _after_close(self, _: bool) -> None:
        """Begin a new number, and keep the open step going if the body closed its transaction."""
        self._number += 1
        if self._label is not None and FreeCAD.getActiveTransaction() is None:
            # Without a new transaction the body's next changes would be in no entry.
            FreeCAD.setActiveTransaction(self._label)

    def _after_abort(self, _doc: Any) -> None:
        """Forget what was noted before an abort, which FreeCAD reports like an undo's changes."""
        self._undo_notes.begin()

    def _after_undo(self, doc: Any) -> None:
        """Move a document's newest entry to those that can be redone."""
        stack = self._stack_of(doc)
        if stack.done:
            entry = stack.done.pop()
            stack.undone.append(entry)
            self._mend_scripted(doc.Name, entry)
        self._undo_notes.begin()

    def _after_redo(self, doc: Any) -> None:
        """Move an entry back to those that can be undone; one that is not known gets a number."""
        stack = self._stack_of(doc)
        if stack.undone:
            entry = stack.undone.pop()
            stack.done.append(entry)
            self._mend_scripted(doc.Name, entry)
        else:
            stack.done.append(self._new_entry(_plain(doc.UndoNames[0])))
        self._undo_notes.begin()

    def _after_new_document(self, doc: Any) -> None:
        """Note a document that was opened or made, and forget an earlier one of its name."""
        self._stacks.pop(doc.Name, None)
        self._forget_scripted(doc.Name)
        if self._losses is not None:
            self._new_documents.add(doc.Name)
        if self._label is not None:
            doc.UndoMode = 1

    def _before_document_ends(self, doc: Any) -> None:
        """Forget a document that closes; keep a copy if a watched body loses unsaved work by it.

        For such a loss the stack of closed documents gets an entry, at which undo stops. It also
        takes over the number of the document's entries, so that the depth of a mark does not fall.
        """
        stack = self._stacks.pop(doc.Name, _Stack())
        self._forget_scripted(doc.Name)
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
        """Report a file that a watched body is about to write."""
        if self._losses is not None:
            self._losses.writing(Path(file))

    def _before_object_ends(self, obj: Any) -> None:
        """Note an object that is deleted, unless the watched body opened or made its document."""
        if not self.is_new(obj.Document.Name):
            self._step_losses.note_deleted(obj)


transactions: Final = cache(Transactions)
"""Returns the only `Transactions` of this FreeCAD, which listens from the first call on."""


def _plain(label: str) -> str:
    """Return a label without FreeCAD's mark of a transaction that began in another document."""
    return str(label).removeprefix("-> ")


def _record_visibility(obj: Any) -> None:
    """Change an object's description and restore it, before its visibility changes.

    FreeCAD opens no transaction for a change of visibility alone.
    """
    text = obj.Label2
    obj.Label2 = text + " "
    obj.Label2 = text


def _change_nothing(doc: Any) -> None:
    """Begin a transaction, change something, and abort: FreeCAD then drops the redo list."""
    FreeCAD.setActiveTransaction("Drop what can be redone")
    doc.addObject("App::FeaturePython", "Nothing")
    FreeCAD.closeActiveTransaction(True)


def _is_modified(doc: Any) -> bool:
    """Return whether a document has unsaved changes; True where FreeCAD cannot tell."""
    if not FreeCAD.GuiUp:
        return True
    gui_document = gui().getDocument(doc.Name)
    if gui_document is None:
        return True
    return bool(gui_document.Modified)
