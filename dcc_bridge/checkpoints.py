"""Checkpoints: copies that are kept before something is done that undo does not bring back.

They lie beside the scene, in a folder of its name: ``shot.usda`` has ``shot.usda.checkpoints``.
Each is a folder of its own that appears whole or not at all, ``0007-20260131T140509Z``; the last
ten are kept. A scene without a file has them in the user's state folder. What an older version kept
in ``shot.checkpoints`` may be of ``shot.usd`` too: it is left alone, and not counted.

`FolderCopies` adds to a checkpoint while code runs: one file at a time, each whole. Main thread.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge.errors import LostAnyway, NoCheckpoint
from dcc_bridge.host import Host

MOST: Final = 10
SUFFIX: Final = ".checkpoints"  # of a scene's own folder of them, after the name of its file
_SPARE: Final = 16 * 2**20  # bytes that stay free after the copy and the work that it was taken for
_OURS: Final = re.compile(r"\d{4,}-\d{8}T\d{6}Z")
# What a folder may hold so that copies of all its files can be promised; counting stops there.
MAX_COPIED_BYTES: Final = 1_000_000_000
MAX_COPIED_FILES: Final = 10_000
FileState = tuple[int, int]  # the size in bytes and the time of the last change in nanoseconds


def checkpoint_folder(host: Host) -> Path:
    """Give the folder in which the checkpoints of a host's scene are."""
    if (scene := host.file()) is not None:
        return folder_beside(scene)
    return untitled_folder() / (re.sub(r"\W+", "_", host.name) or "host")


def folder_beside(file: Path) -> Path:
    """Give the folder in which the checkpoints of a scene's file are."""
    return file.with_name(file.name + SUFFIX)


def untitled_folder() -> Path:
    """Give the folder that has a folder for each host, for its scenes without a file."""
    return platformdirs.user_state_path("dcc_bridge") / "checkpoints"


def keep(
    host: Host, files: Iterable[Path] | None = None, spared: Collection[Path] = ()
) -> Path | None:
    """Keep a copy of what is about to be lost, since undo will not bring it back.

    Args:
        host: Whose scene it is.
        files: Those that will be written over or deleted. None for the scene as a whole: its
            files as they are on disk, and itself as it is in the application.
        spared: Older ones that stay, also where they are more than ten.

    Returns:
        The folder with the copies, or None where there was nothing to keep.

    Raises:
        NoCheckpoint: It cannot be kept; then what it was for must not be done.
    """
    if files is not None:
        return take(checkpoint_folder(host), files, spared=spared)
    file = host.file()
    name = f"{file.stem}.unsaved{file.suffix}" if file else f"untitled{host.suffix}"
    scene = (name, host.save_copy) if host.modified else None
    return take(checkpoint_folder(host), host.files(), scene, spared=spared)


def keep_anyway(host: Host, what: str, files: Sequence[Path] = ()) -> LostAnyway:
    """Keep a copy where the host is about to lose something and lets nobody refuse it. Main thread.

    It raises nothing.

    Args:
        host: The application.
        what: What it is about to do, for a sentence: "open another scene".
        files: The files that it writes over; without them it is about the scene as a whole.

    Returns:
        What is to be raised as soon as it can be; it says where the copy is.
    """
    try:
        copy = keep(host, files or None)
    except NoCheckpoint as error:
        return LostAnyway(host.name, what, f"No copy could be kept: {error.why}.")
    kept = f"A copy of what was lost is in {copy}." if copy else "There was nothing to copy."
    return LostAnyway(host.name, what, kept)


def take(
    where: Path,  # the folder of this scene's checkpoints; made if need be
    files: Iterable[Path],  # those that are to be kept; one that is not there has nothing to lose
    # The name of the scene's copy and what writes it, or None to keep the files alone.
    scene: tuple[str, Callable[[Path], None]] | None = None,
    *,
    spared: Collection[Path] = (),  # older ones that stay, also where they are more than ten
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> Path | None:
    """Keep copies of files as they are on disk, and of the scene as it is in the application.

    Returns:
        The new folder, or None where there was nothing to keep.

    Raises:
        NoCheckpoint: The disk is short, or something cannot be read or written. Nothing is left
            of the attempt, and the older checkpoints are as they were.
    """
    existing = [file for file in dict.fromkeys(files) if file.is_file()]
    if not existing and scene is None:
        return None
    try:
        _make_folder(where)
        _check_room(sum(file.stat().st_size for file in existing), free(where))
        checkpoint = _copy(where, existing, scene)
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise NoCheckpoint(where, why or str(error)) from error
    _drop_old(where, spared)
    return checkpoint


def taken(where: Path) -> list[Path]:
    """List the checkpoints in a folder, the oldest first."""
    if not where.is_dir():
        return []
    return sorted((path for path in where.iterdir() if _OURS.fullmatch(path.name)), key=_number)


@dataclass(frozen=True, slots=True)
class FolderSize:
    """How much is below a folder.

    Attributes:
        files: How many files, in all folders below it too.
        bytes: Their size.
    """

    files: int
    bytes: int


def measure(folder: Path, without: Path) -> FolderSize | None:
    """Count the files below a folder, but for those below the folder `without`. Any thread.

    Returns:
        None where they are more than `MAX_COPIED_FILES` or `MAX_COPIED_BYTES`.

    Raises:
        OSError: A folder in it cannot be read.
    """
    count = 0
    size = 0
    for entry in _files_below(folder, without):
        count += 1
        size += entry.stat(follow_symlinks=False).st_size
        if count > MAX_COPIED_FILES or size > MAX_COPIED_BYTES:
            return None
    return FolderSize(count, size)


def file_state(path: Path | str) -> FileState | None:
    """Return what tells whether a file or folder was changed; None for one that is not there."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def is_inside(path: str, folder: Path | str) -> bool:
    """Whether a path is a folder or below it; both without links, the path in normal case."""
    top = os.path.normcase(folder)
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


class FolderCopies:
    """Copies of the files below folders, each kept just before the file is first changed.

    Attributes:
        checkpoint: The folder with the copies; None until the first.
    """

    def __init__(
        self,
        where: Path,
        folders: Iterable[Path],
        kept: Iterable[Path] = (),
        checkpoint: Path | None = None,
    ) -> None:
        """Keep no copy yet.

        Args:
            where: The folder of the scene's checkpoints.
            folders: Without links; a file is one with itself in it.
            kept: Files of which a copy was kept before.
            checkpoint: The checkpoint with those copies, to which others are added.
        """
        self.where = Path(os.path.realpath(where))
        self.checkpoint = checkpoint
        self._folders = tuple(folders)
        # The state of each path when it was first changed, or of one kept before.
        self._before = {os.path.normcase(path): file_state(path) for path in kept}
        self._copies: dict[Path, Path] = {}  # of each folder, where its copies are

    def before_change(self, path: str, *, with_all_below: bool = False) -> None:
        """Keep a copy of a file that is about to be changed for the first time.

        Args:
            path: The file, without links and in normal case; a new one or a folder has no copy.
            with_all_below: Of a folder, do so with every file below it.

        Raises:
            NoCheckpoint: No copy can be kept, so the file must not be changed.
        """
        folder = next((it for it in self._folders if is_inside(path, it)), None)
        try:
            if folder is not None and with_all_below and _is_folder(path):
                for entry in _files_below(Path(path), self.where):
                    self._note(os.path.normcase(entry.path), folder)
            self._note(path, folder)
        except OSError as error:
            raise NoCheckpoint(self.where, error.strerror or str(error)) from error

    def has_changed(self, folder: Path) -> bool:
        """Whether anything that was to be changed in a folder is other than it was."""
        inside = [path for path in self._before if is_inside(path, folder)]
        return any(file_state(path) != self._before[path] for path in inside)

    def _note(self, path: str, folder: Path | None) -> None:
        if path in self._before:
            return
        if folder is not None and os.path.lexists(path) and not _is_folder(path):
            self._keep(Path(path), folder)
        self._before[path] = file_state(path)

    def _keep(self, file: Path, folder: Path) -> None:
        _make_folder(self.where)
        size = os.stat(file, follow_symlinks=False).st_size
        _check_room(size, shutil.disk_usage(self.where).free)
        if self.checkpoint is None:
            self.checkpoint = self.where / _next_name(self.where)
            self.checkpoint.mkdir()
            _drop_old(self.where)
        if folder not in self._copies:
            self._copies[folder] = _unused(self.checkpoint, folder.name)
        copy = self._copies[folder] / os.path.relpath(file, folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        part = self.checkpoint / ".part"
        with ExitStack() as on_failure:
            on_failure.callback(part.unlink, missing_ok=True)
            _copy_file(file, part)
            part.rename(copy)
            on_failure.pop_all()


def _files_below(folder: Path, without: Path) -> Iterator[os.DirEntry[str]]:
    """Yield each file below a folder, a link as itself; OSError: a folder cannot be read."""
    pending = [str(folder)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif not is_inside(os.path.normcase(entry.path), without):
                    pending.append(entry.path)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _make_folder(where: Path) -> None:
    if where.is_symlink():  # what it points to is not ours to tidy up
        raise OSError(f"{where.name} is a link")
    where.mkdir(parents=True, exist_ok=True)


def _check_room(size: int, left: int) -> None:
    """Raise OSError unless the disk has room for a copy, for what is done next, and some more."""
    needed = 2 * size + _SPARE
    if left < needed:
        needs = f"{left / 1e6:,.0f} MB left, and {needed / 1e6:,.0f} are needed"
        raise OSError(f"the disk has {needs}")


def _drop_old(where: Path, spared: Collection[Path] = ()) -> None:
    for old in taken(where)[:-MOST]:
        if old not in spared:
            shutil.rmtree(old, ignore_errors=True)


def _next_name(where: Path) -> str:
    number = max(map(_number, taken(where)), default=0) + 1
    return f"{number:04d}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def _copy_file(file: Path, copy: Path) -> None:
    """Copy a file to the disk, a link as itself."""
    shutil.copyfile(file, copy, follow_symlinks=False)
    if not copy.is_symlink():
        _sync(copy)
    shutil.copystat(file, copy, follow_symlinks=False)  # last: it may be a file to read only


def _sync(file: Path) -> None:
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def checkpoint_of(file: Path) -> Path | None:
    """Return the checkpoint in which a copy is; None for a file that is no copy."""
    return next((folder for folder in file.parents if _OURS.fullmatch(folder.name)), None)


def _copy(
    where: Path, files: Sequence[Path], scene: tuple[str, Callable[[Path], None]] | None
) -> Path:
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=where))
    with ExitStack() as on_failure:  # half a checkpoint is none, whatever ended it
        on_failure.callback(shutil.rmtree, part, ignore_errors=True)
        for file in files:
            _copy_file(file.resolve(), _unused(part, file.name))
        copied = set(part.iterdir())
        if scene is not None:
            scene[1](_unused(part, scene[0]))
        for file in set(part.iterdir()) - copied:  # a host may write more than one
            _sync(file)
        checkpoint = part.rename(where / _next_name(where))
        on_failure.pop_all()
    return checkpoint


def _unused(folder: Path, name: str) -> Path:
    """Two layers of a scene may have the same name in different folders."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem} ({number}){Path(name).suffix}"
    return path


def _number(path: Path) -> int:
    return int(path.name.partition("-")[0])
