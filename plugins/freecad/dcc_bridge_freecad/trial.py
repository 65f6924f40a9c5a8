"""The open undo step of FreeCAD, as long as it can be taken back without a trace. Main thread.

An aborted transaction leaves what was computed, which documents are open and active, and what is
selected as they are; that is put back here. `Document.Objects` has another order then: what came
back stands last, as it does after FreeCAD's own undo. And the document counts as modified, which
Python cannot set. Measured in 0.20.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import NotUndoable, Trial

from .document import called
from .parts import ObjectKey, key_of
from .transactions import Transactions

_ENDED: Final = "What was edited had closed the bridge's own transaction, so part of it is left."


class FreeCADTrial(Trial):
    """The step that the transactions have just opened, and the documents as they were then."""

    def __init__(
        self, transactions: Transactions, select: Callable[[], Callable[[], None]]
    ) -> None:
        """Note what an aborted transaction does not bring back.

        Args:
            transactions: In whose open step it is.
            select: Notes what is selected, and returns what selects it again.
        """
        self._transactions = transactions
        self._mark = transactions.mark()
        self._documents = dict(FreeCAD.listDocuments())
        every = self._documents.values()
        # FreeCAD drops what could be redone at the first change of a transaction.
        self.keeps_redo = not any(doc.RedoCount for doc in every)
        self._active = FreeCAD.ActiveDocument
        self._select = select()
        self._invalid = {key_of(obj) for doc in every for obj in _invalid(doc)}
        self._touched = {name: _touched(doc) for name, doc in self._documents.items()}

    def is_edited(self) -> bool:
        """Return whether there is a change, another entry, or another document."""
        is_other = self._transactions.mark() != self._mark or [*self._new()] != []
        return is_other or self._transactions.is_pending()

    def broken(self) -> list[str]:
        """Name what cannot be computed any more; it is computed now, as a part of the step."""
        self._transactions.compute()
        documents = FreeCAD.listDocuments()
        for name in self._documents.keys() & documents.keys():
            doc = documents[name]
            if doc.HasPendingTransaction and doc.isTouched():
                doc.recompute()
        return list(self._broken(documents))

    def _broken(self, documents: Mapping[str, Any]) -> Iterator[str]:
        for name, doc in documents.items():
            for obj in _invalid(doc):
                is_known = key_of(obj) in self._invalid or self._transactions.is_made(obj)
                if name in self._documents and not is_known:
                    yield called(obj) if doc == self._active else f"{name}#{called(obj)}"

    def revert(self) -> list[str]:
        """Abort the transaction, close new documents, and put back what is computed and selected.

        NotUndoable: a document was closed, or a part stands in a transaction of its own.
        """
        documents = FreeCAD.listDocuments()
        changed = [name for name, doc in documents.items() if doc.HasPendingTransaction]
        is_whole = self._transactions.mark() == self._mark
        lost = self._transactions.abort(lambda: self._tidy(changed))
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
        for name in [*self._new()]:
            FreeCAD.closeDocument(name)
        documents = FreeCAD.listDocuments()
        for name in changed:
            if name in documents:
                self._compute(documents[name])
        active = self._active.Name if self._active in documents.values() else ""
        if active and FreeCAD.ActiveDocument is not self._active:
            FreeCAD.setActiveDocument(active)

    def _compute(self, doc: Any) -> None:
        """Compute what is touched now and was not then: what the person has left stays so."""
        before = self._touched[doc.Name]
        if not before:
            doc.recompute()
            return
        last: list[Any] = []
        while touched := [obj for obj in _touched_in(doc) if key_of(obj) not in before]:
            if touched == last:
                return  # they cannot be computed, as it was before
            doc.recompute(touched)  # what uses them is touched by that
            last = touched

    def _new(self) -> Iterator[str]:
        """Yield the documents that were not there."""
        for name in FreeCAD.listDocuments():
            if name not in self._documents:
                yield str(name)


def _invalid(doc: Any) -> list[Any]:
    return [obj for obj in doc.Objects if not obj.isValid()]


def _touched(doc: Any) -> set[ObjectKey]:
    if not doc.isTouched():
        return set()
    return {key_of(obj) for obj in _touched_in(doc)}


def _touched_in(doc: Any) -> list[Any]:
    return [obj for obj in doc.Objects if "Touched" in obj.State]
