"""Losses that an application reports too late to refuse them, and the copies kept of them.

A *loss* here is a file that is written over, or unsaved work in a scene that is closed. A *stretch*
is a part of a skill's body between two questions.

Blender and FreeCAD call Python before they write, open or close a file, and go on whatever Python
raises there. If nobody has agreed to the loss (`Host.losing`), a copy is kept at once, and a file
that was written over is put back where that is safe. The stretch then ends with an error. Acts of
the person pass. Main thread.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dcc_bridge import checkpoints
from dcc_bridge.errors import BridgeError, LostAnyway, NoCheckpoint
from dcc_bridge.host import Host

_GO_ON: Final = "switch the scene to another file, "
_NO_COPY: Final = "No copy could be kept."
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


@dataclass(slots=True)
class _StretchLosses:
    """The losses of a stretch.

    Attributes:
        written: The existing files that were about to be written over.
        new: The new files that were about to be written.
        lost: The losses that are certain.
    """

    written: dict[Path, _Written] = field(default_factory=dict)
    new: set[Path] = field(default_factory=set)
    lost: list[_Loss] = field(default_factory=list)


class Losses:
    """The losses that nobody agreed to, in a host that cannot refuse them to the running skill."""

    def __init__(self, host: Host, mark_modified: Callable[[], bool]) -> None:
        """Begin with nothing lost.

        Args:
            host: The host whose files are lost.
            mark_modified: Marks the scene as not saved, and returns whether that worked.
        """
        self._host = host
        self._mark_modified = mark_modified
        self._stretch = _StretchLosses()
        self._is_keeping = False

    def writing(self, file: Path) -> None:
        """Note that a file is about to be written, and keep a copy of an existing one.

        A new file is noted too, as the scene may go on in it. This raises nothing; `judged` raises,
        once the stretch is over.

        Args:
            file: The path.
        """
        if file in self._stretch.written:
            return
        if not file.is_file():
            if self._is_refused(_GO_ON + file.name, [file]):
                self._stretch.new.add(file)
            return
        if not self._is_refused(f"write over {file.name}", [file]):
            return
        was_modified = self._host.modified
        stamp = _stamp(file)
        copy = self._keep_copy([file], None)
        self._stretch.written[file] = _Written(file, stamp, copy, was_modified)

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
            self._stretch.lost.append((what, left))
            return LostAnyway(self._host.name, what, left)

        return note_loss

    @contextmanager
    def judged(self) -> Iterator[None]:
        """End a stretch of a skill's body with an error if it lost anything without a yes.

        The files that it wrote over are put back where that is safe. The error names all losses,
        and takes the place of an error of the body itself. Stretches may be nested: each has its
        own losses.

        Yields:
            Once, around the stretch.

        Raises:
            LostAnyway: At its end; it says where the copies are.
        """
        outer = self._stretch
        stretch = _StretchLosses()
        self._stretch = stretch
        file = self._host.file()
        try:
            yield
        finally:
            self._stretch = outer
            now = self._host.file()
            if file is not None and now in stretch.new and now != file:
                stretch.lost.append((f"{_GO_ON}{now}", f"Save as {file}."))
            for written in stretch.written.values():
                if _was_written(written):
                    stretch.lost.append(self._put_back(written, file))
            if stretch.lost:
                raise self._error(stretch.lost)

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
