"""The open undo step of FreeCAD, as long as it can be taken back without a trace. Main thread.

Aborting a transaction brings back neither computed values, nor which documents are open and active,
nor the selection; all that is put back here. Two traces are left. `Document.Objects` has another
order: the objects that came back stand last, as they do after FreeCAD's own undo. And the document
counts as modified, which Python cannot set. Measured in 0.20.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import Account, NotUndoable, Trial

from .document import fault_of, label_of
from .parts import ObjectKey, key_of
from .transactions import Transactions

_ENDED: Final = "What was edited had closed the bridge's own transaction, so part of it is left."


class FreeCADTrial(Trial):
    """The step that the transactions have just opened, and the documents at that moment."""

    def __init__(
        self, transactions: Transactions, select: Callable[[], Callable[[], None]]
    ) -> None:
        """Note what an aborted transaction does not bring back.

        Args:
            transactions: The transactions whose step is open.
            select: Notes what is selected, and returns a function that selects it again.
        """
        self._transactions = transactions
        self._mark = transactions.mark()
        self._documents = dict(FreeCAD.listDocuments())
        documents = self._documents.values()
        # FreeCAD drops the redo list at the first change of a transaction.
        self.keeps_redo = not any(doc.RedoCount for doc in documents)
        self._active = FreeCAD.ActiveDocument
        self._select = select()
        self._invalid = set[ObjectKey]()
        for doc in documents:
            self._invalid.update(key_of(obj) for obj in _invalid(doc))
        self._touched = {name: _touched(doc) for name, doc in self._documents.items()}

    def is_edited(self) -> bool:
        """Return whether there is a change, a new entry, or a new document."""
        if self._transactions.mark() != self._mark:
            return True
        if self._new_documents():
            return True
        return self._transactions.is_pending()

    def broken(self) -> list[str]:
        """Return the objects that cannot be computed any more, by their labels.

        The documents are computed now, as a part of the step.
        """
        self._transactions.compute()
        documents = FreeCAD.listDocuments()
        for name in self._documents.keys() & documents.keys():
            doc = documents[name]
            if doc.HasPendingTransaction and doc.isTouched():
                doc.recompute()
        made = self._transactions.is_made
        return [words for obj, words in self._broken(documents) if not made(obj)]

    def account(self) -> Account:
        """Return what is different since the step began, once verbs' edits are computed.

        What is broken is told with the reason, also of objects that the step made.
        """
        self._transactions.compute()
        broken = []
        for obj, words in self._broken(FreeCAD.listDocuments()):
            broken.append(f"{words} ({fault_of(obj)})")
        return replace(self._transactions.account(), broken=broken)

    def _broken(self, documents: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
        """Yield the objects that cannot be computed, and could or were not there, with labels."""
        for name, doc in documents.items():
            for obj in _invalid(doc):
                was_invalid = key_of(obj) in self._invalid
                if name not in self._documents or was_invalid:
                    continue
                label = label_of(obj)
                if doc != self._active:
                    label = f"{name}#{label}"
                yield obj, label

    def revert(self) -> list[str]:
        """Abort the transaction, close new documents, and put back computed values and selection.

        Returns:
            No sentence: all of the step is gone.

        Raises:
            NotUndoable: A document was closed, an object did not come back, or a part of the edit
                stands in a transaction of its own.
        """
        documents = FreeCAD.listDocuments()
        changed = [name for name, doc in documents.items() if doc.HasPendingTransaction]
        is_whole = self._transactions.mark() == self._mark

        def tidy() -> None:
            self._tidy(changed)

        lost = self._transactions.abort(tidy)
        self._select()
        closed = [name for name in self._documents if name in self._transactions.ended]
        if closed:
            raise NotUndoable(f"{', '.join(closed)} was closed, and undo cannot reopen it.")
        if lost:
            raise NotUndoable(f"FreeCAD did not restore: {', '.join(lost)}.")
        if not is_whole:
            raise NotUndoable(_ENDED)
        return []

    def _tidy(self, changed: Sequence[str]) -> None:
        """Close new documents, compute the changed ones, and put back which one is active."""
        for name in self._new_documents():
            FreeCAD.closeDocument(name)
        documents = FreeCAD.listDocuments()
        for name in changed:
            if name in documents:
                self._compute(documents[name])
        is_open = self._active in documents.values()
        if is_open and FreeCAD.ActiveDocument is not self._active:
            FreeCAD.setActiveDocument(self._active.Name)

    def _compute(self, doc: Any) -> None:
        """Compute the objects that the step touched; those that the person left touched stay so."""
        before = self._touched[doc.Name]
        if not before:
            doc.recompute()
            return
        last: list[Any] = []
        while True:
            touched = [obj for obj in _touched_in(doc) if key_of(obj) not in before]
            if not touched or touched == last:
                return  # those that are left could not be computed before either
            doc.recompute(touched)  # which touches the objects that use these
            last = touched

    def _new_documents(self) -> list[str]:
        return [str(name) for name in FreeCAD.listDocuments() if name not in self._documents]


def _invalid(doc: Any) -> list[Any]:
    return [obj for obj in doc.Objects if not obj.isValid()]


def _touched(doc: Any) -> set[ObjectKey]:
    if not doc.isTouched():
        return set()
    return {key_of(obj) for obj in _touched_in(doc)}


def _touched_in(doc: Any) -> list[Any]:
    return [obj for obj in doc.Objects if "Touched" in obj.State]
