"""An application of a test, whose scene is a list of names. Main thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dcc_bridge.callbacks import Callbacks
from dcc_bridge.host import CountChanges, Host, Trial, Undo, UndoMark, compared

OUTSIDE: Final = "Edit outside a step"


@dataclass(eq=False, slots=True)
class Entry:
    """One entry of the undo stack.

    Attributes:
        label: The text that the person reads in the Edit menu.
        items: The scene on its other side: before it, or after it once it was undone.
        redo: The entries that could be redone before it.
    """

    label: str
    items: list[str]
    redo: list[Entry]


class PretendedHost(Host):
    """An application whose scene is a list of names, with a real undo stack.

    A skill's own function edits `items` in place of a scene. Whatever is no longer in the list, and
    was not renamed in its place, is lost.

    Attributes:
        items: The scene.
        has_ui: Whether a person sits there.
    """

    name = "pretended"
    version = "1.0"
    suffix = ".json"

    def __init__(
        self, items: Iterable[str] = (), *, has_ui: bool = True, file: Path | None = None
    ) -> None:
        """Open a scene.

        Args:
            items: The names.
            has_ui: Whether a person sits there.
            file: The file of the scene, as JSON; None for a scene without one.
        """
        self.items = list(items)
        self.has_ui = has_ui
        self._file = file
        self._selection: list[str] = []
        self._watchers = Callbacks()
        self._open: str | None = None
        self._known = list(self.items)
        self._undo: list[Entry] = []
        self._redo: list[Entry] = []

    @property
    def labels(self) -> list[str]:
        """The labels of the undo stack, the oldest first."""
        return [entry.label for entry in self._undo]

    def file(self) -> Path | None:
        """Return the file of the scene."""
        return self._file

    def save_copy(self, path: Path) -> None:
        """Write the scene as JSON."""
        path.write_text(json.dumps(self.items), encoding="utf-8")

    @contextmanager
    def undo_step(self, label: str) -> Iterator[None]:
        """Make one entry of all that changes in the block."""
        if self._open is not None:
            raise RuntimeError(f"{label!r} was opened inside {self._open!r}.")
        self._settle(OUTSIDE)
        self._open = label
        try:
            yield
        finally:
            self._open = None
            self._settle(label)

    def undo_mark(self) -> UndoMark:
        """Return the entry on top; what was edited outside a step is one too."""
        if self._open is None:
            self._settle(OUTSIDE)
        if not self._undo:
            return UndoMark(0)
        top = self._undo[-1]
        return UndoMark(len(self._undo), top.label, top)

    def undo(self) -> None:
        """Undo the entry on top."""
        self._move(self._undo, self._redo)

    def redo(self) -> None:
        """Redo the entry that was undone last."""
        self._move(self._redo, self._undo)

    def trial(self) -> Trial | None:
        """Return what reverts the open step."""
        return PretendedTrial(self)

    def take_back(self) -> None:
        """Undo the entry on top, and bring back what could be redone before it."""
        redo = self._undo[-1].redo
        self.undo()
        self._redo = redo

    @contextmanager
    def changes(self) -> Iterator[CountChanges]:
        """Yield a function that returns what changed in the block."""
        before = {item: item for item in self.items}
        yield lambda: compared(before, {item: item for item in self.items})

    def lost(self, agreed: Sequence[str]) -> list[str]:
        """Return the names that the open or newest step took away, but for those agreed to."""
        before: list[str] = []
        if self._open is not None:
            before = self._known
        elif self._undo:
            before = self._undo[-1].items
        gone = []
        for place, item in enumerate(before):
            here = self.items[place : place + 1]
            is_renamed = bool(here) and here[0] not in before
            if item not in self.items and item not in agreed and not is_renamed:
                gone.append(item)
        return gone

    @property
    def selection(self) -> list[str]:
        """The names that are selected."""
        return list(self._selection)

    def select(self, items: Sequence[str]) -> None:
        """Select names."""
        self._selection = list(items)
        self._watchers.call()

    def describe(self, item: str) -> dict[str, Any]:
        """Return the name and the type of an item; LookupError where there is none."""
        if item not in self.items:
            raise LookupError(f"There is no {item!r}.")
        return {"name": item, "type": self.kinds([item])[0]}

    def kinds(self, items: Sequence[str]) -> list[str]:
        """Return the type of each item: its name without the number at the end."""
        return [item.rstrip("0123456789") for item in items]

    def watch(self, changed: Callable[[], None]) -> Undo:
        """Call a function after each change of scene or selection."""
        return self._watchers.add(changed)

    def fingerprint(self, items: Sequence[str]) -> str:
        """Return a text that differs once one of the items came or went."""
        return json.dumps([(item, item in self.items) for item in sorted(set(items))])

    def _settle(self, label: str) -> None:
        if self.items != self._known:
            self._undo.append(Entry(label, self._known, self._redo))
            self._redo = []
            self._known = list(self.items)
            self._watchers.call()

    def _move(self, source: list[Entry], target: list[Entry]) -> None:
        entry = source.pop()
        target.append(entry)
        before = entry.items
        entry.items = list(self.items)
        self.items = list(before)
        self._known = list(self.items)
        self._watchers.call()


class PretendedTrial(Trial):
    """The open step of a `PretendedHost`.

    Attributes:
        before: The scene as the step began.
    """

    keeps_redo = True

    def __init__(self, host: PretendedHost) -> None:
        """Note the scene as it is now."""
        self._host = host
        self.before = list(host.items)
        self._selection = host.selection

    def is_edited(self) -> bool:
        """Return whether the step changed the scene."""
        return self._host.items != self.before

    def broken(self) -> list[str]:
        """Return what no longer works: no name depends on another."""
        return []

    def revert(self) -> list[str]:
        """Take the step back; return what could not be put back, which is nothing."""
        self._host.items = list(self.before)
        self._host.select(self._selection)
        return []
