"""Losses of which an application tells too late to refuse them, and the copies kept of them.

Blender and FreeCAD call Python before they write, open or close a file, and go on whatever is
raised there. So a copy is kept at once, what was written over is put back where that is safe, and
the stretch of the skill's body ends with an error. What the person does passes. Main thread.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dcc_bridge import checkpoints
from dcc_bridge.errors import BridgeError, LostAnyway, NoCheckpoint
from dcc_bridge.host import Host

_GO_ON: Final = "switch the scene to another file, "
_NO_COPY: Final = "No copy could be kept."
_MOST_AGREED: Final = 100_000
SceneCopy = tuple[str, Callable[[Path], None]]  # the name of a scene's copy, and what writes it


@dataclass(frozen=True, slots=True)
class _Written:
    """A file that was about to be written over."""

    file: Path  # which
    stamp: tuple[int, int, int]  # what tells whether it was written
    copy: Path | None  # the folder with its copy, or None where none could be kept
    was_modified: bool  # the scene was not saved then


class AgreedIds:
    """What goes with the items that a person was asked about, as it was when they were.

    What takes the name of an item later, or is moved into it, was not agreed to.
    """

    def __init__(self) -> None:
        self._ids: dict[str, frozenset[Hashable]] = {}

    def note(self, item: str, ids: Iterable[Hashable]) -> None:
        """Remember what goes with an item, itself too: nothing with one that is gone.

        It raises nothing.

        Args:
            item: What the person is asked about.
            ids: What stays of an item when it is renamed, of this one and of all below it.
        """
        if len(self._ids) > _MOST_AGREED:
            self._ids.clear()
        self._ids[item] = frozenset(ids)

    def of(self, items: Sequence[str]) -> set[Any]:
        """Return the ids of what goes with items. It raises nothing.

        Args:
            items: What the person agreed to.

        Returns:
            What `note` was given for them; an item itself where that is not known.
        """
        return {thing for item in items for thing in self._ids.get(item, (item,))}


class Losses:
    """What the skill that runs has lost without a grant, in a host that cannot refuse it."""

    def __init__(self, host: Host, mark_modified: Callable[[], bool]) -> None:
        """Begin with nothing lost.

        Args:
            host: Whose files they are.
            mark_modified: Takes the scene as not saved; tells whether it does.
        """
        self._host = host  # whose files they are
        self._mark_modified = mark_modified  # takes the scene as not saved; tells whether it does
        self._written: dict[Path, _Written] = {}
        self._new: set[Path] = set()
        self._lost: list[LostAnyway] = []
        self._is_keeping = False

    def writing(self, file: Path) -> None:
        """Take note that a file is about to be written: over it, or for a scene to go on in.

        A copy of what is there is kept. It raises nothing; `judged` does, once the stretch is over.

        Args:
            file: Which one.
        """
        if file in self._written:
            return
        if not file.is_file():
            if self._is_refused(_GO_ON + file.name, [file]):
                self._new.add(file)
        elif self._is_refused(f"write over {file.name}", [file]):
            modified = self._host.modified
            self._written[file] = _Written(file, _stamp(file), self._keep([file], None), modified)

    def ending(self, what: str, scene: SceneCopy | None) -> Callable[[], LostAnyway] | None:
        """Take note that a scene is about to go, and keep a copy of what is not saved of it.

        It raises nothing; `judged` does, once the stretch is over.

        Args:
            what: What is about to be done: "open another file in place of shot.blend".
            scene: The name of the copy and what writes it; None where all is saved.

        Returns:
            What says so once it is gone; None where it may go.
        """
        if not self._is_refused(what):
            return None
        copy = self._keep([], scene) if scene is not None else None
        kept = f"Its unsaved changes are in {copy}." if copy else _NO_COPY
        left = kept if scene is not None else "It had no unsaved changes."

        def tell() -> LostAnyway:
            self._lost.append(LostAnyway(self._host.name, what, left))
            return self._lost[-1]

        return tell

    @contextmanager
    def judged(self) -> Iterator[None]:
        """End a stretch of a skill's body with the losses that nobody had agreed to.

        Yields:
            Once, around the stretch.

        Raises:
            LostAnyway: At its end; it says where the copies are.
        """
        outer = self._written, self._new, self._lost
        self._written, self._new, self._lost = {}, set(), []
        file = self._host.file()
        try:
            yield
        finally:
            written, new, lost = self._written, self._new, self._lost
            self._written, self._new, self._lost = outer
            now = self._host.file()
            if file is not None and now in new and now != file:
                lost.append(LostAnyway(self._host.name, f"{_GO_ON}{now}", f"Save as {file}."))
            lost += [self._put_back(each, file) for each in written.values() if _is_other(each)]
            if lost:
                raise lost[0]

    def _is_refused(self, what: str, files: Sequence[Path] = ()) -> bool:
        if self._is_keeping:  # the copy is being written
            return False
        try:
            self._host.losing(what, files)
        except BridgeError:  # what it is cannot leave the application's callback
            return True
        return False

    def _keep(self, files: Sequence[Path], scene: SceneCopy | None) -> Path | None:
        self._is_keeping = True
        try:
            return checkpoints.take(checkpoints.checkpoint_folder(self._host), files, scene)
        except NoCheckpoint:
            return None
        finally:
            self._is_keeping = False

    def _put_back(self, written: _Written, scene: Path | None) -> LostAnyway:
        """Put the copy in a file's place, unless the person may lose by that what was not saved."""
        file, copy = written.file, written.copy
        now = self._host.file()
        is_safe = file != now or not written.was_modified or self._mark_modified()
        left = _NO_COPY if copy is None else f"The previous version of the file is in {copy}."
        if copy is not None and is_safe:
            with suppress(OSError):
                shutil.copy2(copy / file.name, file)
                left = f"The previous version of the file was restored. A copy is in {copy}."
        if now != scene and now == file:
            left += f" It is now the file of the scene in {self._host.name}: save as {scene}."
        return LostAnyway(self._host.name, f"write over {file}", left)


def _is_other(written: _Written) -> bool:
    """Whether a file was written indeed: a save may fail."""
    try:
        return _stamp(written.file) != written.stamp
    except OSError:
        return True


def _stamp(file: Path) -> tuple[int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
