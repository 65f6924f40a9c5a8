"""FreeCAD as a host: 0.20 and newer, in its window and in ``freecadcmd``.

The scene is the active document, and an item is an object's internal name, which stays when the
person changes its label. Measured in 0.20.2. Main thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
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
    called,
    document,
    facts,
    find,
    gui,
    look_up,
    noting_changes,
    reach,
)
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
        self.version = ".".join(FreeCAD.Version()[:3])
        self.has_ui = bool(FreeCAD.GuiUp)
        # Calls a function from the event loop, in some milliseconds; a timer of the Qt that FreeCAD
        # brings. Needed where it has a window.
        self._later = later
        self._selected: list[str] = []  # where there is no window FreeCAD keeps none
        self._watchers = Callbacks()
        self._transactions = transactions()
        self._losses = Losses(self, self._mark_modified)
        self._reach = AgreedIds()

    def file(self) -> Path | None:
        """Return the document's file."""
        name = document().FileName if FreeCAD.ActiveDocument else ""
        return Path(name) if name else None

    def scene(self) -> str:
        """Name the document as its tab does."""
        return str(document().Label) if FreeCAD.ActiveDocument else "no document"

    def scene_id(self) -> Hashable:
        """Return the active document's name, and how many were opened before it."""
        if not FreeCAD.ActiveDocument:
            return None
        name = str(document().Name)
        return name, self._transactions.opening(name)

    @property
    def modified(self) -> bool:
        """Whether FreeCAD would ask before it closes the document. Without a window: perhaps."""
        if not (self.has_ui and FreeCAD.ActiveDocument):
            return FreeCAD.ActiveDocument is not None
        return bool(gui().getDocument(document().Name).Modified)

    def save_copy(self, path: Path) -> None:
        """Write the document to another file; OSError where it fails, as FreeCAD does not tell."""
        document().saveCopy(str(path))
        if not path.is_file():
            raise OSError(f"FreeCAD did not write {path}.")

    def summary(self) -> dict[str, Any]:
        """Describe the document: how many objects of each type, and what is on top."""
        objects = document().Objects if FreeCAD.ActiveDocument else []
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

        Busy: the person is in a task, which keeps a transaction open: ours would end it.
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
        """Mark the newest transaction of all documents that are open."""
        return self._transactions.mark()

    def undo(self) -> None:
        """Undo the newest transaction, and compute what depends on it."""
        self._transactions.undo()

    def trial(self) -> Trial:
        """Return what can abort the open transaction."""
        return FreeCADTrial(self._transactions, self._noted_selection)

    def take_back(self) -> None:
        """Undo the newest transaction in its newest document; NotUndoable: one was closed since."""
        self._transactions.take_back()

    def redo(self) -> None:
        """Redo the transaction undone last in the active document."""
        document().redo()
        document().recompute()
        self._transactions.drop_unwanted()

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """List what the newest step took away, but for items agreed to and what was in them."""
        return self._transactions.lost(self._reach.of(agreed))

    def changes(self) -> AbstractContextManager[CountChanges]:
        """Note what becomes of objects; FreeCAD tells of each."""
        return noting_changes()

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        """Put back which document is active and that undo is on; record what a read edits."""
        active = FreeCAD.ActiveDocument.Name if FreeCAD.ActiveDocument else ""
        undoable = [doc.Name for doc in FreeCAD.listDocuments().values() if doc.UndoMode]
        is_free = read and FreeCAD.getActiveTransaction() is None
        step = self._transactions.step("A read") if is_free else nullcontext()
        with self._losses.judged(), self._transactions.watched(self._losses):
            try:
                with step:
                    yield
            finally:
                put_back += self._put_back(active, undoable)

    def _put_back(self, active: str, undoable: Sequence[str]) -> list[str]:
        documents, changed = FreeCAD.listDocuments(), list[str]()
        for name in undoable:
            if name in documents and not documents[name].UndoMode:
                documents[name].UndoMode = 1
                changed.append(f"the undo of {documents[name].Label}")
        now = FreeCAD.ActiveDocument.Name if FreeCAD.ActiveDocument else ""
        if now != active and active in documents and not self._transactions.is_new(now):
            FreeCAD.setActiveDocument(active)
            changed.append("which document is active")
        return changed

    def _mark_modified(self) -> bool:
        """Return whether FreeCAD takes the document as not saved; in 0.20 nothing else sets that.

        Without a window nobody is asked whether to save.
        """
        return not self.has_ui or self.modified

    @property
    def selection(self) -> list[str]:
        """The selected objects, without their faces and edges."""
        if not FreeCAD.ActiveDocument:
            return []
        if not self.has_ui:
            return [name for name in self._selected if document().getObject(name)]
        return [obj.Name for obj in gui().Selection.getSelection(document().Name)]

    def select(self, items: Sequence[str]) -> None:
        """Select objects."""
        names = [name for name in items if document().getObject(name)]
        if not self.has_ui:
            self._selected = names
            self._watchers.call()
            return
        gui().Selection.clearSelection()
        for name in names:
            gui().Selection.addSelection(document().Name, name)

    def _noted_selection(self) -> Callable[[], None]:
        """Note what is selected, faces and edges too, and return what selects it again."""
        if not self.has_ui:
            names = list(self._selected)
            return lambda: setattr(self, "_selected", names)
        selected = _selected()

        def select() -> None:
            if _selected() == selected:
                return
            gui().Selection.clearSelection()
            for document_name, item, parts in selected:
                for part in parts or [""]:
                    gui().Selection.addSelection(document_name, item, part)

        return select

    def frame(self, items: Sequence[str]) -> None:
        """Fit the view to objects; what is selected stays so."""
        if not (self.has_ui and items and gui().ActiveDocument):
            return
        before = self.selection
        self.select(items)
        gui().SendMsgToActiveView("ViewSelection")
        self.select(before)

    def describe(self, item: str) -> dict[str, Any]:
        """Describe an object; LookupError where there is none of that name."""
        obj = find(item)
        return {
            "type": obj.TypeId,
            "label": obj.Label,
            "used_by": [user.Name for user in obj.InList][:MOST_TOLD],
            "uses": [used.Name for used in obj.OutList][:MOST_TOLD],
        }

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Name the types, without a look for what is called alike."""
        things = [look_up(item) if FreeCAD.ActiveDocument else None for item in items]
        return [thing.TypeId if thing is not None else "gone" for thing in things]

    def nouns(self, items: Sequence[str]) -> list[str]:
        """Return "cylinder", "sketch", "wall": not what the class in C++ is called."""
        things = [look_up(item) if FreeCAD.ActiveDocument else None for item in items]
        return [noun_of(thing) if thing is not None else self.item_noun for thing in things]

    def display_names(self, items: Sequence[str]) -> list[str]:
        """Return the labels, as the tree shows them, with the inner names behind them."""
        things = [look_up(item) if FreeCAD.ActiveDocument else None for item in items]
        pairs = zip(items, things, strict=True)
        return [item if thing is None else called(thing) for item, thing in pairs]

    def fingerprint(self, items: Sequence[str]) -> str:
        """Digest ids, types, labels, what uses the objects and all that they use."""
        for item in items:
            self._reach.note(item, reach(item))
        return digest([str(self.file()), [facts(item) for item in sorted(set(items))]])

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call after edits, undo, redo, and when the document or selection is another one."""
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
        window: object = gui().getMainWindow() if self.has_ui else None
        return window

    def when_ready(self, start: Callable[[], None]) -> Undo:
        """Call once the window is there and has a workbench."""
        if not self.has_ui or self._later is None:
            return super().when_ready(start)
        # `InitGui.py` runs before there is a workbench, and FreeCAD serves timers while it starts.
        # Its signal that a workbench came is sent before the window is shown.
        return start_once(start, self._later, _is_up)

    def when_leaving(self, stop: Callable[[], None]) -> Undo:
        """Call when the window closes, and when the interpreter ends."""
        if not self.has_ui:
            return super().when_leaving(stop)
        # Before it ends Python, FreeCAD deletes its window and its application, which stand on its
        # stack. PySide2's wrappers of them still seem valid, and whatever touches them crashes.
        window: Any = self.main_window()
        state = {"connected"}

        def leave() -> None:
            # A connection that is cut while it calls is freed under PySide2's feet.
            state.clear()
            stop()

        undo = super().when_leaving(leave)

        def disconnect() -> None:
            undo()
            if state:
                state.clear()
                window.mainWindowClosed.disconnect(leave)

        window.mainWindowClosed.connect(leave)
        return disconnect


def _selected() -> list[tuple[str, str, tuple[str, ...]]]:
    """Return what is selected in all documents: a document, an object, and parts of it each."""
    every = gui().Selection.getSelectionEx("*")
    return [(it.DocumentName, it.ObjectName, tuple(it.SubElementNames)) for it in every]


def _observer(names: Sequence[str], changed: Callable[[], None]) -> SimpleNamespace:
    """Make what FreeCAD calls: it looks for methods by their names."""
    return SimpleNamespace(**dict.fromkeys(names, lambda *_: changed()))


def _is_up() -> bool:
    window = gui().getMainWindow()
    try:
        gui().activeWorkbench()
    except (AssertionError, AttributeError):  # none yet, or one that is being loaded
        return False
    return window is not None and bool(window.isVisible())
