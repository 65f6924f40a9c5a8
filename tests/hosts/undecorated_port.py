"""What undecorated bodies need of a host: things with an identity of their own, and their files."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol

from dcc_bridge.consent.audit_hook import Writer
from tests.hosts.bad_port import Port

OTHERS: Final = ("notes.txt", "spare.txt")
"""Files beside the scene's own, of somebody's."""
MARK: Final = "mark"
"""The name of what tells a thing from all others: in a question it stands for the thing."""
_OWN: Final = re.compile(r"^bridge\b|checkpoints\b|\.FCStd\d$")
_OF: Final = " of "


class Field(Port, Protocol):
    """A host with a scene in which each thing has a mark that no edit of a name takes away."""

    # The edits that make or drop entries of the undo stack by themselves.
    pushing: ClassVar[frozenset[str]] = frozenset()
    export_name: ClassVar[str]  # the file that `export` writes over

    @abstractmethod
    def things(self) -> Mapping[str, str]:
        """Return each thing that is there by its mark, and the item that it is or belongs to.

        A part of an item has the mark of the item, a "|", and the word by which it is named.
        """

    @abstractmethod
    def above(self, item: str) -> Iterable[str]:
        """Yield the items that an item goes with, as a person sees them now."""

    @abstractmethod
    def export(self) -> None:
        """Write over `export_name` by the host's own code."""

    @abstractmethod
    def writers(self) -> Sequence[Writer]:
        """Return what writes files in the host without Python's knowing."""

    def covered(self, items: Sequence[str]) -> set[str]:
        """Return the marks of what goes with items, as a person sees them now."""
        parts = [item.rpartition(_OF)[::2] for item in items if _OF in item]
        marks = set()
        for mark, item in self.things().items():
            words = MARK, mark.rpartition("|")[2]
            told = [what for what, owner in parts if self.is_called(item, owner)]
            is_named = any(word.lower() in what.lower() for what in told for word in words)
            is_below = any(each in items for each in (item, *self.above(item)))
            if is_named or is_below:
                marks.add(mark)
        return marks

    def is_called(self, item: str, name: str) -> bool:
        """Return whether an item is what a name in a question means."""
        return item == name


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what is in each file of a program's folder, but for the bridge's own.

    FreeCAD leaves a backup of a file that it wrote over, also where that was put back.
    """
    files = [it for it in sorted(folder.rglob("*")) if it.is_file()]
    named = {str(it.relative_to(folder)): it for it in files}
    return {name: it.read_bytes() for name, it in named.items() if not _OWN.search(name)}
