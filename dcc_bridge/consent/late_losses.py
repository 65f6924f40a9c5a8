"""Losses that an application reports too late to refuse them, and the copies kept of them.

A *loss* is a file that is written over, or unsaved work in a scene that is closed. The *body* is a
skill's code; a *stretch* is a part of it between two questions. A *grant* is a person's consent
to a loss (`Host.losing`), without which a skill may cause none.

Blender and FreeCAD call Python before they write, open or close a file, and then go on even if
Python raises an error. So the loss cannot be prevented. Instead a copy is kept at once, the file is
put back at the end of the stretch where that is safe, and the stretch ends with `LostAnyway`.
Losses that the person causes are let pass. Everything runs on the main thread.
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

_GO_ON: Final = "make the scene go on in another file, "
_NO_COPY: Final = "No copy could be kept."
_MOST_AGREED: Final = 100_000
SceneCopy = tuple[str, Callable[[Path], None]]  # the name of a scene's copy, and its writer


@dataclass(frozen=True, slots=True)
class _Written:
    """A file that was about to be written over."""

    file: Path
    stamp: tuple[int, int, int]  # `_stamp` before the write; another one tells that it was written
    copy: Path | None  # the folder with its copy, or None where none could be kept
    was_modified: bool  # whether the scene had unsaved changes before the write


class AgreedIds:
    """The ids of the items that a person was asked about, and of all items below them.

    They are those of the moment of the question: an item that takes the name of another one later,
    or is moved below it, was not agreed to.
    """

    def __init__(self) -> None:
        self._ids: dict[str, frozenset[Hashable]] = {}

    def note(self, item: str, ids: Iterable[Hashable]) -> None:
        """Remember the ids of an item and of all items below it.

        It raises nothing.

        Args:
            item: The item that the person is asked about.
            ids: The ids, which stay when an item is renamed; none for an item that is gone.
        """
        if len(self._ids) > _MOST_AGREED:
            self._ids.clear()
        self._ids[item] = frozenset(ids)

    def of(self, items: Sequence[str]) -> set[Any]:
        """Return the ids that were noted for items. It raises nothing.

        Args:
            items: The items that the person agreed to.

        Returns:
            The ids of all of them; an item without a note stands for itself.
        """
        return {thing for item in items for thing in self._ids.get(item, (item,))}


class Losses:
    """The losses without a grant of the skill that runs, in a host that cannot refuse them."""

    def __init__(self, host: Host, mark_modified: Callable[[], bool]) -> None:
        """Begin with nothing lost.

        Args:
            host: The host of the skill.
            mark_modified: Marks the scene as not saved, and returns whether that was possible.
        """
        self._host = host
        self._mark_modified = mark_modified
        self._written: dict[Path, _Written] = {}
        self._new: set[Path] = set()
        self._lost: list[LostAnyway] = []
        self._is_keeping = False  # `_keep` is writing a copy

    def writing(self, file: Path) -> None:
        """Note that a file is about to be written: an existing one, or a new one for the scene.

        A copy of what is there is kept. It raises nothing; `judged` does, once the stretch is over.

        Args:
            file: The file.
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
        """Note that a scene is about to be closed, and keep a copy of it if it has unsaved changes.

        It raises nothing; `judged` does, once the stretch is over.

        Args:
            what: The act that closes it: "open another file in place of shot.blend".
            scene: The name of the copy and its writer; None where all is saved.

        Returns:
            A function to call once the scene is closed, which adds the loss; None if the scene may
            be closed.
        """
        if not self._is_refused(what):
            return None
        copy = self._keep([], scene) if scene is not None else None
        kept = f"What was not saved of it is in {copy}." if copy else _NO_COPY
        left = kept if scene is not None else "All of it was saved."

        def tell() -> LostAnyway:
            self._lost.append(LostAnyway(self._host.name, what, left))
            return self._lost[-1]

        return tell

    @contextmanager
    def judged(self) -> Iterator[None]:
        """End a stretch of a skill's body with an error if it lost anything without a grant.

        The files that it wrote over are put back where that is safe. If there are several losses,
        the error is about the first one; it also takes the place of an error of the body itself.
        Stretches may be nested: each has its own losses.

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
        """Return whether the skill that runs has no grant for a loss. It raises nothing."""
        if self._is_keeping:  # the copy is being written
            return False
        try:
            self._host.losing(what, files)
        except BridgeError:  # an error must not leave the application's callback
            return True
        return False

    def _keep(self, files: Sequence[Path], scene: SceneCopy | None) -> Path | None:
        """Copy files, or a scene, into a checkpoint's folder; return it, or None without a copy.

        A scene's writer makes the application report a write, which `_is_refused` lets pass then.
        """
        self._is_keeping = True
        try:
            return checkpoints.take(checkpoints.checkpoint_folder(self._host), files, scene)
        except NoCheckpoint:
            return None
        finally:
            self._is_keeping = False

    def _put_back(self, written: _Written, scene: Path | None) -> LostAnyway:
        """Put the copy in a file's place, unless the person could lose unsaved changes by that."""
        file, copy = written.file, written.copy
        now = self._host.file()
        # Putting the copy back changes the file under the open scene, so that unsaved changes must
        # not be taken for saved. `_mark_modified` is called only if the other two do not hold.
        is_another_file = file != now
        is_safe = is_another_file or not written.was_modified or self._mark_modified()
        left = _NO_COPY if copy is None else f"The file as it was is in {copy}."
        if copy is not None and is_safe:
            with suppress(OSError):
                shutil.copy2(copy / file.name, file)
                left = f"The file was put back as it was; a copy is in {copy}."
        if now != scene and now == file:
            left += f" {self._host.name} takes it for the file of the scene now: save as {scene}."
        return LostAnyway(self._host.name, f"write over {file}", left)


def _is_other(written: _Written) -> bool:
    """Return whether a file was written after it was noted: the write may have failed."""
    try:
        return _stamp(written.file) != written.stamp
    except OSError:
        return True


def _stamp(file: Path) -> tuple[int, int, int]:
    """Return a file's inode, time and size, which differ once it is written."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
