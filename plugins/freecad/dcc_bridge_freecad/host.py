"""FreeCAD as a host: 0.20 and newer, in its window and in ``freecadcmd``. Main thread.

The scene is the active document. An item is an object's internal name, which stays when the person
changes the label. Measured in 0.20.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import (
    MOST_TOLD,
    AgreedIds,
    Busy,
    Callbacks,
    CountChanges,
    Host,
    Later,
    Losses,
    Trial,
    Undo,
    UndoMark,
    digest,
    start_once,
)

from .document import (
    document,
    edge_parts,
    facts,
    find,
    gui,
    label_of,
    look_up,
    noting_changes,
    reach,
)
from .edges import EDGE, edges_of
from .shape_edges import Edge
from .transactions import transactions
from .trial import FreeCADTrial
from .words import noun_of

_CHANGES: Final = (
    *("slotCreatedObject", "slotDeletedObject", "slotChangedObject", "slotChangedDocument"),
    *("slotUndoDocument", "slotRedoDocument", "slotActivateDocument", "slotDeletedDocument"),
)
_SELECTIONS: Final = ("addSelection", "removeSelection", "setSelection", "clearSelection")


class FreeCADHost(Host):
    """The document that is active in this FreeCAD."""

    name = "FreeCAD"
    item_noun = "object"
    suffix = ".FCStd"

    def __init__(self, later: Later | None = None) -> None:
        """Listen to FreeCAD's transactions.

        Args:
            later: Calls a function from the event loop in some milliseconds, by a timer of the Qt
                that FreeCAD brings; needed if FreeCAD has a window.
        """
        self.version = ".".join(FreeCAD.Version()[:3])
        self.has_ui = bool(FreeCAD.GuiUp)
        self._later = later
        self._selected: list[str] = []  # without a window FreeCAD keeps no selection
        self._watchers = Callbacks()
        self._transactions = transactions()
        self._losses = Losses(self, self._mark_modified)
        self._reach = AgreedIds()

    def file(self) -> Path | None:
        """Return the document's file; None if the document was never saved."""
        if not FreeCAD.ActiveDocument:
            return None
        name = document().FileName
        if not name:
            return None
        return Path(name)

    def scene(self) -> str:
        """Return the document's name as its tab shows it."""
        if not FreeCAD.ActiveDocument:
            return "no document"
        return str(document().Label)

    @property
    def modified(self) -> bool:
        """Return whether FreeCAD would ask before it closes the document.

        Without a window FreeCAD does not know, and every document counts as modified.
        """
        if not FreeCAD.ActiveDocument:
            return False
        if not self.has_ui:
            return True
        return bool(gui().getDocument(document().Name).Modified)

    def save_copy(self, path: Path) -> None:
        """Write the document to another file.

        Raises:
            OSError: The file was not written; FreeCAD itself reports no failure.
        """
        document().saveCopy(str(path))
        if not path.is_file():
            raise OSError(f"FreeCAD did not write {path}.")

    def summary(self) -> dict[str, Any]:
        """Return how many objects of each type the document has, and which ones are on top."""
        objects: Sequence[Any] = ()
        if FreeCAD.ActiveDocument:
            objects = document().Objects
        top = (obj.Name for obj in objects if not obj.InList)
        return {
            **super().summary(),
            "units": "mm",
            "objects": len(objects),
            "types": Counter(obj.TypeId for obj in islice(objects, 10 * MOST_TOLD)),
            "top": list(islice(top, MOST_TOLD)),
            "documents": list(FreeCAD.listDocuments()),
        }

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Open a transaction, and close it whatever happens; an empty one leaves no entry.

        Raises:
            Busy: The person is in a task that keeps a transaction open, which ours would end.
        """
        open_transaction = FreeCAD.getActiveTransaction()
        if open_transaction is not None:
            raise Busy(
                f"The person is in the middle of {open_transaction[0]!r} in FreeCAD, so "
                "nothing was changed. Try again when they have closed that task."
            )
        with self._transactions.step(label):
            yield

    def undo_mark(self) -> UndoMark:
        """Return a mark of the newest transaction of all open documents."""
        return self._transactions.mark()

    @property
    def undo_labels(self) -> list[str]:
        """The transactions of all open documents, the newest last."""
        return self._transactions.labels()

    def undo(self) -> None:
        """Undo the newest transaction, and compute the documents that it changed."""
        self._transactions.undo()

    def trial(self) -> Trial:
        """Return the trial that can abort the open transaction."""
        return FreeCADTrial(self._transactions, self._note_selection)

    def take_back(self) -> None:
        """Undo the newest transaction in its newest document, and leave no redo of it.

        Raises:
            NotUndoable: A document was closed since.
        """
        self._transactions.take_back()

    def redo(self) -> None:
        """Redo the transaction that was undone last in the active document."""
        document().redo()
        document().recompute()
        self._transactions.drop_unwanted()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """Return what the newest step took away, except the agreed items and what was in them."""
        return self._transactions.lost(self._reach.of(agreed))

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note which objects are created, changed and deleted; FreeCAD reports each."""
        return noting_changes()

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Put back the active document and the undo of each; record the edits of a read.

        Args:
            put_back: Takes the names of what was put back.
            read: Whether the block should edit nothing.
        """
        active = _active_name()
        undoable = [doc.Name for doc in FreeCAD.listDocuments().values() if doc.UndoMode]
        step: AbstractContextManager[None] = nullcontext()
        if read and FreeCAD.getActiveTransaction() is None:
            step = self._transactions.step("A read")
        with self._losses.judged(), self._transactions.watched(self._losses):
            try:
                with step:
                    yield
            finally:
                put_back += self._put_back(active, undoable)

    def _put_back(self, active: str, undoable: Sequence[str]) -> list[str]:
        documents = FreeCAD.listDocuments()
        changed = list[str]()
        for name in undoable:
            if name in documents and not documents[name].UndoMode:
                documents[name].UndoMode = 1
                changed.append(f"the undo of {documents[name].Label}")
        now = _active_name()
        if now != active and active in documents and not self._transactions.is_new(now):
            FreeCAD.setActiveDocument(active)
            changed.append("which document is active")
        return changed

    def _mark_modified(self) -> bool:
        """Return whether FreeCAD counts the document as modified; 0.20 has no way to set that.

        Without a window FreeCAD asks nobody whether to save, so the answer is yes.
        """
        if not self.has_ui:
            return True
        return self.modified

    @property
    def selection(self) -> list[str]:
        """Return the selected objects, without their faces and edges."""
        if not FreeCAD.ActiveDocument:
            return []
        if not self.has_ui:
            return [name for name in self._selected if document().getObject(name)]
        return [obj.Name for obj in gui().Selection.getSelection(document().Name)]

    def select(self, items: Sequence[str]) -> None:
        """Select objects; in a window edges too."""
        names = [name for name in items if document().getObject(name)]
        if not self.has_ui:
            self._selected = names
            self._watchers.call()
            return
        gui().Selection.clearSelection()
        for name in names:
            gui().Selection.addSelection(document().Name, name)
        for name, edge in filter(None, map(_edge, items)):
            gui().Selection.addSelection(document().Name, name, f"Edge{edge.number}")

    def _note_selection(self) -> Callable[[], None]:
        """Note the selection, faces and edges too, and return a function that selects it again."""
        if not self.has_ui:
            names = list(self._selected)

            def select_names() -> None:
                self._selected = names

            return select_names
        selection = _whole_selection()

        def select() -> None:
            if _whole_selection() == selection:
                return
            gui().Selection.clearSelection()
            for document_name, item, elements in selection:
                for element in elements or [""]:
                    gui().Selection.addSelection(document_name, item, element)

        return select

    def frame(self, items: Sequence[str]) -> None:
        """Fit the view to objects; the selection stays."""
        if not self.has_ui or not items or not gui().ActiveDocument:
            return
        before = self.selection
        self.select(items)
        gui().SendMsgToActiveView("ViewSelection")
        self.select(before)

    def describe(self, item: str) -> dict[str, Any]:
        """Return an object's type, label and what it uses.

        Raises:
            LookupError: There is no object of that name.
        """
        obj = find(item)
        return {
            "type": obj.TypeId,
            "label": obj.Label,
            "used_by": [user.Name for user in obj.InList][:MOST_TOLD],
            "uses": [used.Name for used in obj.OutList][:MOST_TOLD],
        }

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Return the objects' types; "gone" of those that are not there."""
        kinds = []
        for item in items:
            obj = _look_up(item)
            kind = "gone"
            if obj is not None:
                kind = obj.TypeId
            elif _edge(item) is not None:
                kind = EDGE
            kinds.append(kind)
        return kinds

    def nouns(self, items: Sequence[str]) -> list[str]:
        """Return the nouns of objects for a person: "cylinder", "sketch", "wall"."""
        nouns = []
        for item in items:
            obj = _look_up(item)
            noun = self.item_noun if obj is None else noun_of(obj)
            if edge_parts(item) is not None:
                noun = EDGE.lower()
            nouns.append(noun)
        return nouns

    def display_names(self, items: Sequence[str]) -> list[str]:
        """Return the labels, as the tree shows them, with the internal names behind them."""
        names = []
        for item in items:
            obj = _look_up(item)
            name = item if obj is None else label_of(obj)
            names.append(name)
        return names

    def fingerprint(self, items: Sequence[str]) -> str:
        """Return a digest of the objects' ids, types, labels, users, and all that they use."""
        for item in items:
            self._reach.note(item, reach(item))
        return digest([str(self.file()), [facts(item) for item in sorted(set(items))]])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call `changed` after edits, undo, redo, and a change of document or selection."""
        undo = ExitStack()
        undo.callback(self._watchers.add(changed))
        document_observer = _observer(_CHANGES, changed)
        FreeCAD.addDocumentObserver(document_observer)
        undo.callback(FreeCAD.removeDocumentObserver, document_observer)
        if self.has_ui:
            selection_observer = _observer(_SELECTIONS, changed)
            gui().Selection.addObserver(selection_observer)
            undo.callback(gui().Selection.removeObserver, selection_observer)
        return undo.close

    def main_window(self) -> object | None:
        """Return the main window, wrapped by the Qt binding that FreeCAD has loaded."""
        if not self.has_ui:
            return None
        window: object = gui().getMainWindow()
        return window

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call `start` once the window is there and has a workbench."""
        if not self.has_ui or self._later is None:
            return super().when_ready(start)
        # `InitGui.py` runs before there is a workbench, and FreeCAD serves timers while it starts.
        # FreeCAD signals a new workbench before it shows the window.
        return start_once(start, self._later, _is_up)

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Call `stop` when the window closes, and when the interpreter ends."""
        if not self.has_ui:
            return super().when_leaving(stop)
        # FreeCAD deletes its window and its application, which stand on its stack, before it ends
        # Python. PySide2's wrappers of both still seem valid then, and any use of them crashes.
        window: Any = self.main_window()
        is_connected = True

        def leave() -> None:
            # PySide2 frees a connection that is cut during its own call, and crashes.
            nonlocal is_connected
            is_connected = False
            stop()

        undo = super().when_leaving(leave)

        def disconnect() -> None:
            nonlocal is_connected
            undo()
            if is_connected:
                is_connected = False
                window.mainWindowClosed.disconnect(leave)

        window.mainWindowClosed.connect(leave)
        return disconnect


def _active_name() -> str:
    """Return the active document's name; "" if there is none."""
    if not FreeCAD.ActiveDocument:
        return ""
    return str(FreeCAD.ActiveDocument.Name)


def _look_up(item: str) -> Any:
    """Return an object by name or label; None without it, also if no document is open."""
    if not FreeCAD.ActiveDocument:
        return None
    return look_up(item)


def _edge(item: str) -> tuple[str, Edge] | None:
    """Return the object and the edge that an item names; None for another item, or no such edge."""
    parts = edge_parts(item)
    obj = None if parts is None else _look_up(parts[0])
    if parts is None or obj is None:
        return None
    with suppress(LookupError, ValueError):
        return str(obj.Name), edges_of(obj).one(parts[1])
    return None


def _whole_selection() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the selection in all documents: document, object, and elements of the object."""
    selection = []
    for entry in gui().Selection.getSelectionEx("*"):
        elements = tuple(entry.SubElementNames)
        selection.append((entry.DocumentName, entry.ObjectName, elements))
    return selection


def _observer(names: Sequence[str], changed: Callable[[], None]) -> SimpleNamespace:
    """Return an observer for FreeCAD, which looks for methods of these names."""

    def call_changed(*_arguments: Any) -> None:
        changed()

    return SimpleNamespace(**dict.fromkeys(names, call_changed))


def _is_up() -> bool:
    window = gui().getMainWindow()
    try:
        gui().activeWorkbench()
    except (AssertionError, AttributeError):  # none yet, or one that is being loaded
        return False
    if window is None:
        return False
    return bool(window.isVisible())
