"""Checkpoints: copies that are kept before an edit that cannot be undone. Main thread.

The checkpoints of a scene are in a folder beside it: ``shot.usda`` has ``shot.usda.checkpoints``.
Each checkpoint is a folder such as ``0007-20260131T140509Z``, which appears whole or not at all;
the last ten are kept. The checkpoints of a scene without a file are in the user's state folder. An
older version used ``shot.checkpoints``, also for ``shot.usd``: these copies are left alone, and not
counted.

`keep` makes a checkpoint before an edit. `FolderCopies` adds files to a checkpoint while code runs.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import held_files
from dcc_bridge.errors import LostAnyway, NoCheckpoint
from dcc_bridge.host import Host

MAX_CHECKPOINTS: Final = 10  # of one scene
SUFFIX: Final = ".checkpoints"  # of the folder of a scene's checkpoints, after its file's name
_GONE: Final = ".gone-"  # the start of the name of a checkpoint that is being deleted
_SPARE_BYTES: Final = 16 * 2**20  # that must stay free after the copy and the edit
_CHECKPOINT_NAME: Final = re.compile(r"\d{4,}-\d{8}T\d{6}Z")
# The largest folder whose files are all copied; counting stops there.
MAX_COPIED_BYTES: Final = 1_000_000_000
MAX_COPIED_FILES: Final = 10_000
FileState = tuple[int, int]  # the size in bytes and the time of the last change in nanoseconds
# The name of the copy of a scene as it is in the application, and the function that writes it.
SceneCopy = tuple[str, Callable[[Path], None]]


def checkpoint_folder(host: Host) -> Path:
    """Return the folder of the checkpoints of a host's scene."""
    scene = host.file()
    if scene is not None:
        return folder_beside(scene)
    name = re.sub(r"\W+", "_", host.name) or "host"
    return untitled_folder() / name


def folder_beside(file: Path) -> Path:
    """Return the folder of the checkpoints of a scene's file."""
    return file.with_name(file.name + SUFFIX)


def untitled_folder() -> Path:
    """Return the folder for scenes without a file; each host has a folder in it."""
    return platformdirs.user_state_path("dcc_bridge") / "checkpoints"


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def keep(
    host: Host, files: Iterable[Path] | None = None, spared: Collection[Path] = ()
) -> Path | None:
    """Keep copies of files or of the scene before an edit that cannot be undone.

    Args:
        host: The application with the scene.
        files: The files that will be written over or deleted. None for the scene as a whole: its
            files on the disk, and the scene in the application if it has unsaved changes.
        spared: Older checkpoints that stay, even if there are more than ten.

    Returns:
        The folder with the copies; None if there was nothing to keep.

    Raises:
        NoCheckpoint: No copy can be kept; then the files and the scene must not be touched.
    """
    where = checkpoint_folder(host)
    if files is not None:
        return take(where, files, spared=spared)
    file = host.file()
    name = f"{file.stem}.unsaved{file.suffix}" if file else f"untitled{host.suffix}"
    scene = (name, host.save_copy) if host.modified else None
    return take(where, host.files(), scene, spared=spared)


def keep_anyway(host: Host, what: str, files: Sequence[Path] = ()) -> LostAnyway:
    """Keep a copy before a loss that the host does not let us refuse. Main thread.

    It raises nothing.

    Args:
        host: The application.
        what: What the host is about to do, for a sentence: "open another scene".
        files: The files that the host writes over; without files the whole scene is copied.

    Returns:
        The error that the caller raises as soon as it can; the message says where the copy is.
    """
    try:
        copy = keep(host, files or None)
    except NoCheckpoint as error:
        return LostAnyway(host.name, what, f"No copy could be kept: {error.why}.")
    outcome = "There was nothing to copy."
    if copy is not None:
        outcome = f"A copy of what was lost is in {copy}."
    return LostAnyway(host.name, what, outcome)


def take(
    where: Path,
    files: Iterable[Path],
    scene: SceneCopy | None = None,
    *,
    spared: Collection[Path] = (),
    free: Callable[[Path], int] = _free_bytes,
) -> Path | None:
    """Make a checkpoint: of files on the disk, and of the scene in the application.

    Args:
        where: The folder of the scene's checkpoints; it is made if need be.
        files: The files that are copied; a file that is not there is left out.
        scene: The name of the scene's copy and the function that writes the copy; None to copy the
            files alone.
        spared: Older checkpoints that stay, even if there are more than ten.
        free: Returns the free bytes on the disk of a folder.

    Returns:
        The new folder; None if there was nothing to keep.

    Raises:
        NoCheckpoint: The disk is full, or a file cannot be read or written. Nothing is left of the
            attempt, and the older checkpoints are as they were.
    """
    existing = [file for file in dict.fromkeys(files) if file.is_file()]
    if not existing and scene is None:
        return None
    try:
        _make_folder(where)
        size = sum(file.stat().st_size for file in existing)
        _check_room(size, free(where))
        checkpoint = _make_checkpoint(where, existing, scene)
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise NoCheckpoint(where, why or str(error)) from error
    _drop_old(where, spared)
    return checkpoint


def taken(where: Path) -> list[Path]:
    """List the checkpoints in a folder, the oldest first."""
    if not where.is_dir():
        return []
    checkpoints = [path for path in where.iterdir() if _CHECKPOINT_NAME.fullmatch(path.name)]
    checkpoints.sort(key=_number)
    return checkpoints


@dataclass(frozen=True, slots=True)
class FolderSize:
    """The size of a folder.

    Attributes:
        files: How many files there are in it and in all folders below it.
        bytes: The size of these files.
    """

    files: int
    bytes: int


def measure(folder: Path, without: Path) -> FolderSize | None:
    """Measure a folder. Any thread.

    Args:
        folder: The folder.
        without: A folder below that does not count.

    Returns:
        The size; None for a folder with more than `MAX_COPIED_FILES` or `MAX_COPIED_BYTES`.

    Raises:
        OSError: A folder below cannot be read.
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
    """Return the size and time of a file or folder, which show a change; None if it is gone.

    Any thread. It raises nothing.
    """
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def is_inside(path: str, folder: Path | str) -> bool:
    """Return whether a path is a folder or below it. Any thread.

    Args:
        path: A path without links.
        folder: A folder without links.
    """
    inner = os.path.normcase(path)
    top = os.path.normcase(folder)
    if inner == top:
        return True
    return inner.startswith(top.rstrip(os.sep) + os.sep)


class FolderCopies:
    """Copies of the files below folders, each kept just before the file is first changed.

    Attributes:
        where: The folder of the scene's checkpoints, without links.
        checkpoint: The folder with the copies; None before the first copy.
    """

    def __init__(
        self,
        where: Path,
        folders: Iterable[Path],
        kept: Iterable[Path] = (),
        checkpoint: Path | None = None,
    ) -> None:
        """Prepare; no copy is kept yet.

        Args:
            where: The folder of the scene's checkpoints.
            folders: Folders without links; a file counts as a folder that holds itself.
            kept: Files of which a copy was kept before.
            checkpoint: The checkpoint with those copies, to which others are added.
        """
        self.where = Path(os.path.realpath(where))
        self.checkpoint = checkpoint
        self._folders = tuple(folders)
        # The state of each path before its first change; for those in `kept`, the state now.
        self._before = {os.path.normcase(path): file_state(path) for path in kept}
        self._copies: dict[Path, Path] = {}  # for each folder, the folder with its copies

    def before_change(self, path: str, *, with_all_below: bool = False) -> None:
        """Keep a copy of a file that is about to be changed for the first time.

        Args:
            path: The file, without links. A new file or a folder gets no copy.
            with_all_below: Whether every file below a folder gets a copy.

        Raises:
            NoCheckpoint: No copy can be kept, so the file must not be changed.
        """
        folder = self._folder_of(path)
        try:
            if folder is not None and with_all_below and _is_folder(path):
                for entry in _files_below(Path(path), self.where):
                    self._note(entry.path, folder)
            self._note(path, folder)
        except OSError as error:
            raise NoCheckpoint(self.where, error.strerror or str(error)) from error

    def has_changed(self, folder: Path) -> bool:
        """Return whether any path below a folder differs from its state before `before_change`."""
        for path, state in self._before.items():
            if is_inside(path, folder) and file_state(path) != state:
                return True
        return False

    def _folder_of(self, path: str) -> Path | None:
        for folder in self._folders:
            if is_inside(path, folder):
                return folder
        return None

    def _note(self, path: str, folder: Path | None) -> None:
        """Note the state of a path before its first change, and keep a copy of a file."""
        key = os.path.normcase(path)
        if key in self._before:
            return
        if folder is not None and os.path.lexists(path) and not _is_folder(path):
            self._keep(Path(path), folder)
        self._before[key] = file_state(path)

    def _keep(self, file: Path, folder: Path) -> None:
        _make_folder(self.where)
        size = os.stat(file, follow_symlinks=False).st_size
        _check_room(size, _free_bytes(self.where))
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
            on_failure.callback(held_files.delete, part)
            _copy_file(file, part)
            held_files.replace(part, copy)
            on_failure.pop_all()


def _files_below(folder: Path, without: Path) -> Iterator[os.DirEntry[str]]:
    """Yield each file below a folder, without following links; OSError for a closed folder."""
    pending = [str(folder)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif not is_inside(entry.path, without):
                    pending.append(entry.path)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _make_folder(where: Path) -> None:
    if where.is_symlink():  # old folders are deleted here, and not where a link leads
        raise OSError(f"{where.name} is a link")
    where.mkdir(parents=True, exist_ok=True)


def _check_room(size: int, free: int) -> None:
    """Raise OSError unless the disk has room for the copies, for the edit, and some more."""
    needed = 2 * size + _SPARE_BYTES
    if free < needed:
        free_mb = free / 1e6
        needed_mb = needed / 1e6
        raise OSError(f"the disk has {free_mb:,.0f} MB left, and {needed_mb:,.0f} are needed")


def _drop_old(where: Path, spared: Collection[Path] = ()) -> None:
    for old in taken(where)[:-MAX_CHECKPOINTS]:
        if old not in spared:
            with suppress(OSError):  # a program has a copy open in Windows: the next time
                held_files.replace(old, where / f"{_GONE}{old.name}")
    for gone in where.glob(f"{_GONE}*"):
        held_files.delete_folder(gone)


def _next_name(where: Path) -> str:
    number = 1
    checkpoints = taken(where)
    if checkpoints:
        number = _number(checkpoints[-1]) + 1
    return f"{number:04d}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def _copy_file(file: Path, copy: Path) -> None:
    """Copy a file, or a link as a link, and sync the copy."""
    shutil.copyfile(file, copy, follow_symlinks=False)
    if not copy.is_symlink():
        _sync_file(copy)
    # Last: `_sync_file` cannot open a copy that has the mode of a read-only file.
    shutil.copystat(file, copy, follow_symlinks=False)


def _sync_file(file: Path) -> None:
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def checkpoint_of(file: Path) -> Path | None:
    """Return the checkpoint that has a copy; None for a file that is no copy."""
    for folder in file.parents:
        if _CHECKPOINT_NAME.fullmatch(folder.name):
            return folder
    return None


def _make_checkpoint(where: Path, files: Sequence[Path], scene: SceneCopy | None) -> Path:
    """Copy files and a scene into a new checkpoint, which appears whole or not at all."""
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=where))
    with ExitStack() as on_failure:
        on_failure.callback(held_files.delete_folder, part)
        for file in files:
            _copy_file(file.resolve(), _unused(part, file.name))
        if scene is not None:
            name, save_copy = scene
            copied = set(part.iterdir())
            save_copy(_unused(part, name))
            for file in set(part.iterdir()) - copied:  # a host may write more than one file
                _sync_file(file)
        checkpoint = where / _next_name(where)
        held_files.replace(part, checkpoint)
        on_failure.pop_all()
    return checkpoint


def _unused(folder: Path, name: str) -> Path:
    """Return an unused path: files from different folders may have the same name."""
    path = folder / name
    number = 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem} ({number}){Path(name).suffix}"
    return path


def _number(path: Path) -> int:
    return int(path.name.partition("-")[0])
