"""The port of random bodies to a host: a scene to spoil, the edits of it, and how it looks."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge.host import Host

Edit = Callable[[Any, str, str], object]
"""Does something to a port's scene, at one item, and perhaps with another one."""
OTHERS: Final = ("notes.txt", "spare.txt")
"""Files beside the scene's own, of somebody's."""
MARK: Final = "mark"
"""The name of what tells a thing from all others: in a question it stands for the thing."""
_OWN: Final = re.compile(r"^bridge\b|checkpoints\b|\.FCStd\d$")
_OF: Final = " of "


@dataclass(frozen=True)
class Scene:
    """A scene and its files at one moment.

    Attributes:
        which: Which scene it is: the stage itself, or how often another one was opened.
        file: The scene's file.
        state: All that is in it and that undo holds.
        view: What undo does not hold, and has to be as it was.
        objects: What is in it, for somebody who looks.
        undo: The labels of what can be undone, the oldest first.
        redo: The labels of what can be redone; nothing where a host cannot bring that back.
        locks: Whether each part may be edited and saved.
        files: What is in each file.
    """

    which: Hashable
    file: Path | None
    state: object
    view: object
    objects: frozenset[str]
    undo: tuple[str, ...]
    redo: tuple[str, ...] = ()
    locks: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def content(self) -> tuple[object, ...]:
        """All of it but the stacks and the files."""
        return self.file, self.state, self.view, self.objects


class Port(Protocol):
    """A host with a scene of its own for one body; the person has done and undone a step.

    Attributes:
        items: What bodies are about.
        edits: Edits of the scene, which undo brings back.
        own: What undo does not hold, and undo itself: acts of marked bodies alone.
        is_told_late: The host tells when it cannot refuse any more: what a body has lost unasked is
            in a copy, and the body is not told that it is done.
        host: The adapter.
    """

    items: ClassVar[Sequence[str]]
    edits: ClassVar[Mapping[str, Edit]]
    own: ClassVar[Mapping[str, Edit]]
    is_told_late: ClassVar[bool] = False
    host: Host

    def __init__(self, folder: Path) -> None:
        """Put a scene that has a file into a folder, and open it."""

    def do(self, kind: str, at: str, other: str) -> None:
        """Do an act, at an item and perhaps with another one."""
        {**self.edits, **self.own}[kind](self, at, other)

    @property
    @abstractmethod
    def which(self) -> Hashable:
        """Which scene is open."""

    @abstractmethod
    def objects(self) -> frozenset[str]:
        """List what there is for somebody who looks, each by what tells it from all others."""

    @abstractmethod
    def reach(self, items: Sequence[str]) -> Callable[[str], bool]:
        """Say what of `objects` goes with items, as a person sees them now."""

    @abstractmethod
    def state(self) -> object:
        """Look at all that is in the scene and that undo holds."""

    @abstractmethod
    def look(self) -> Scene:
        """Look at the scene and its files."""

    @abstractmethod
    def work(self) -> None:
        """Edit as the person does, in a step of their own."""

    def close(self) -> None:
        """Leave nothing behind for the next body."""
        return


class MarkedPort(Port, Protocol):
    """A host that has trials; each thing of its scene has a mark that no edit of a name takes away.

    Attributes:
        tried_edits: What tried bodies do beside `edits`.
        pushing: The edits that make or drop entries of the undo stack by themselves.
        export_name: The file that `export` writes over.
    """

    tried_edits: ClassVar[Mapping[str, Edit]]
    pushing: ClassVar[frozenset[str]] = frozenset()
    export_name: ClassVar[str]

    def do(self, kind: str, at: str, other: str) -> None:
        """Do an act, at an item and perhaps with another one."""
        {**self.edits, **self.own, **self.tried_edits}[kind](self, at, other)

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

    def objects(self) -> frozenset[str]:
        """List the marks of the things that are there."""
        return frozenset(self.things())

    def reach(self, items: Sequence[str]) -> Callable[[str], bool]:
        """Say which marks go with items, as a person sees them now."""
        return self.covered(items).__contains__

    def covered(self, items: Sequence[str]) -> set[str]:
        """Return the marks of what goes with items, as a person sees them now."""
        parts = [item.rpartition(_OF)[::2] for item in items if _OF in item]
        marks = set()
        for mark, item in self.things().items():
            _, is_part, word = mark.rpartition("|")
            words = [MARK, word] if is_part else [MARK]
            told = [what for what, owner in parts if self.is_called(item, owner)]
            is_named = any(word.lower() in what.lower() for what in told for word in words)
            is_below = any(each in items for each in (item, *self.above(item)))
            if is_named or is_below:
                marks.add(mark)
        return marks

    def is_called(self, item: str, name: str) -> bool:
        """Return whether an item is what a name in a question means."""
        return item == name


def in_files(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Return what is in those of the files that are there."""
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what is in each file of a body's folder, but for the bridge's own.

    FreeCAD leaves a backup of a file that it wrote over, also where that was put back.
    """
    files = [it for it in sorted(folder.rglob("*")) if it.is_file()]
    named = {str(it.relative_to(folder)): it for it in files}
    return {name: it.read_bytes() for name, it in named.items() if not _OWN.search(name)}
