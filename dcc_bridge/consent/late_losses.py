"""Losses that an application reports too late to refuse them, and the copies kept of them.

A *loss* is a file that is written over, or unsaved work in a scene that is closed. The *body* is a
skill's code; a *stretch* is a part of it between two questions. A *grant* is a person's consent to
a loss (`Host.losing`), without which a skill may cause none.

Blender and FreeCAD call Python before they write, open or close a file, and go on whatever Python
raises there. So a copy is kept at once, and a file that was written over is put back where that is
safe. The stretch of the skill's body ends with an error. Acts of the person pass. Main thread.
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
_MAX_AGREED: Final = 100_000  # items whose ids are remembered
SceneCopy = tuple[str, Callable[[Path], None]]  # the name of a scene's copy, and its writer
_Stamp = tuple[int, int, int]  # inode, time in ns and size, which tell whether a file was written
_Loss = tuple[str, str]  # the act, "write over shot.blend", and what is left, in a sentence


@dataclass(frozen=True, slots=True)
class _Written:
    """A file that was about to be written over.

    Attributes:
        file: The path.
        stamp: The file's stamp before.
        copy: The folder with the copy; None where no copy could be kept.
        was_modified: Whether the scene had unsaved changes then.
    """

    file: Path
    stamp: _Stamp
    copy: Path | None
    was_modified: bool


class AgreedIds:
    """The ids of items and of all below them, as they were when a person was asked about the items.

    By these an item is told from one that takes the same name later, or that is moved below it:
    nobody has agreed to lose the latter.
    """

    def __init__(self) -> None:
        self._ids: dict[str, frozenset[Hashable]] = {}

    def note(self, item: str, ids: Iterable[Hashable]) -> None:
        """Remember the ids of an item and of all below it. Raises nothing.

        Args:
            item: The item that the person is asked about.
            ids: The ids, which stay the same when an item is renamed; empty for an item that is
                gone.
        """
        if len(self._ids) > _MAX_AGREED:
            self._ids.clear()
        self._ids[item] = frozenset(ids)

    def of(self, items: Sequence[str]) -> set[Any]:
        """Return the ids that were noted for items. Raises nothing.

        Args:
            items: The items that the person agreed to.

        Returns:
            The ids; the item itself where none were noted for it.
        """
        ids = set[Any]()
        for item in items:
            ids.update(self._ids.get(item, (item,)))
        return ids


class Losses:
    """The losses without a grant of the skill that runs, in a host that cannot refuse them."""

    def __init__(self, host: Host, mark_modified: Callable[[], bool]) -> None:
        """Begin with nothing lost.

        Args:
            host: The host whose files are lost.
            mark_modified: Marks the scene as not saved, and returns whether that worked.
        """
        self._host = host
        self._mark_modified = mark_modified
        self._written: dict[Path, _Written] = {}
        self._new: set[Path] = set()
        self._lost: list[_Loss] = []
        self._is_keeping = False

    def writing(self, file: Path) -> None:
        """Note that a file is about to be written, and keep a copy of an existing one.

        A new file is noted too, as the scene may go on in it. This raises nothing; `judged` raises,
        once the stretch is over.

        Args:
            file: The path.
        """
        if file in self._written:
            return
        if not file.is_file():
            if self._is_refused(_GO_ON + file.name, [file]):
                self._new.add(file)
            return
        if not self._is_refused(f"write over {file.name}", [file]):
            return
        was_modified = self._host.modified
        stamp = _stamp(file)
        copy = self._keep_copy([file], None)
        self._written[file] = _Written(file, stamp, copy, was_modified)

    def ending(self, what: str, scene: SceneCopy | None) -> Callable[[], LostAnyway] | None:
        """Note that a scene is about to be closed, and keep a copy of an unsaved one.

        This raises nothing; `judged` raises, once the stretch is over.

        Args:
            what: The act: "open another file in place of shot.blend".
            scene: The name of the copy and its writer; None where all is saved.

        Returns:
            A function to call once the scene is closed, which notes the loss and returns the error;
            None where the scene may be closed.
        """
        if not self._is_refused(what):
            return None
        left = "It had no unsaved changes."
        if scene is not None:
            copy = self._keep_copy([], scene)
            left = _NO_COPY
            if copy is not None:
                left = f"Its unsaved changes are in {copy}."

        def note_loss() -> LostAnyway:
            self._lost.append((what, left))
            return LostAnyway(self._host.name, what, left)

        return note_loss

    @contextmanager
    def judged(self) -> Iterator[None]:
        """End a stretch of a skill's body with an error if it lost anything without a grant.

        The files that it wrote over are put back where that is safe. The error names all losses,
        and takes the place of an error of the body itself. Stretches may be nested: each has its
        own losses.

        Yields:
            Once, around the stretch.

        Raises:
            LostAnyway: At its end; it says where the copies are.
        """
        outer = (self._written, self._new, self._lost)
        self._written = {}
        self._new = set()
        self._lost = []
        file = self._host.file()
        try:
            yield
        finally:
            written = self._written
            new = self._new
            lost = self._lost
            self._written, self._new, self._lost = outer
            now = self._host.file()
            if file is not None and now in new and now != file:
                lost.append((f"{_GO_ON}{now}", f"Save as {file}."))
            for each in written.values():
                if _was_written(each):
                    lost.append(self._put_back(each, file))
            if lost:
                raise self._error(lost)

    def _error(self, lost: Sequence[_Loss]) -> LostAnyway:
        """Return one error that names all losses."""
        acts = " and ".join(act for act, _ in lost)
        if len(lost) == 1:
            return LostAnyway(self._host.name, acts, lost[0][1])
        left = [f"{act[0].upper()}{act[1:]}: {sentence}" for act, sentence in lost]
        return LostAnyway(self._host.name, acts, " ".join(left))

    def _is_refused(self, what: str, files: Sequence[Path] = ()) -> bool:
        if self._is_keeping:  # the copy is being written
            return False
        try:
            self._host.losing(what, files)
        except BridgeError:  # no error can leave the application's callback
            return True
        return False

    def _keep_copy(self, files: Sequence[Path], scene: SceneCopy | None) -> Path | None:
        self._is_keeping = True
        try:
            return checkpoints.take(checkpoints.checkpoint_folder(self._host), files, scene)
        except NoCheckpoint:
            return None
        finally:
            self._is_keeping = False

    def _put_back(self, written: _Written, scene: Path | None) -> _Loss:
        """Put the copy of a file back, unless the person may lose unsaved changes by that.

        Args:
            written: The file.
            scene: The scene's file before the stretch.

        Returns:
            The loss, which says where the copy is.
        """
        file = written.file
        copy = written.copy
        now = self._host.file()
        # The write may have saved changes of the person. With the old file back, the scene has to
        # count as not saved, so that the changes are not lost when the scene is closed.
        is_safe = file != now or not written.was_modified or self._mark_modified()
        left = _NO_COPY
        if copy is not None:
            left = f"The previous version of the file is in {copy}."
        if copy is not None and is_safe:
            with suppress(OSError):
                shutil.copy2(copy / file.name, file)
                left = f"The previous version of the file was restored. A copy is in {copy}."
        if now != scene and now == file:
            left += f" It is now the file of the scene in {self._host.name}: save as {scene}."
        return f"write over {file}", left


def _was_written(written: _Written) -> bool:
    """Return whether a file was really written: a save may fail."""
    try:
        return _stamp(written.file) != written.stamp
    except OSError:
        return True


def _stamp(file: Path) -> _Stamp:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
