"""What bad skills need of a host: a scene to spoil, what can be done to it, and how it looks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from dcc_bridge.host import Host

Edit = Callable[[Any, str, str], object]
"""Does something to a port's scene, at one item, and perhaps with another one."""


@dataclass(frozen=True)
class Scene:
    """A scene and its files at one moment."""

    which: Hashable  # which scene it is: the stage itself, or how often another one was opened
    file: Path | None  # the scene's file
    state: object  # all that is in it and that undo holds
    view: object  # what undo does not hold, and has to be as it was
    objects: frozenset[str]  # what is in it, for somebody who looks
    undo: tuple[str, ...]  # the labels of what can be undone, the oldest first
    # The labels of what can be redone; nothing where a host cannot bring that back.
    redo: tuple[str, ...] = ()
    # Whether each part may be edited and saved.
    locks: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)  # what is in each file

    @property
    def content(self) -> tuple[object, ...]:
        """All of it but the stacks and the files."""
        return self.file, self.state, self.view, self.objects


class Port(Protocol):
    """A host with a scene of its own for one program; the person has done and undone a step."""

    items: ClassVar[Sequence[str]]  # what programs are about
    edits: ClassVar[Mapping[str, Edit]]  # edits of the scene, which undo brings back
    own: ClassVar[Mapping[str, Edit]]  # what undo does not hold, and undo itself
    # The host tells when it cannot refuse any more: what a program has lost unasked is in a copy,
    # and the program is not told that it is done.
    is_told_late: ClassVar[bool] = False
    host: Host  # the adapter

    def __init__(self, folder: Path) -> None:
        """Put a scene that has a file into a folder, and open it."""

    def do(self, kind: str, at: str, other: str) -> None:
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
        """Leave nothing behind for the next program."""
        return


def in_files(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
