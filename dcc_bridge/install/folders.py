"""Folders that change as a whole: staged, put aside, deleted. Main thread."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from dcc_bridge import held_files
from dcc_bridge.errors import BridgeError

NEW: Final = "new"
"""The name of the new folder in a staging folder."""
OLD: Final = "old"
"""The name of the folder that was put aside in a staging folder."""
_STAGING_PREFIX: Final = ".dcc_bridge-"


class InUse(BridgeError):
    """The application holds files of the plug-in open, so nothing was changed."""

    def __init__(self, path: Path, title: str, error: OSError) -> None:
        super().__init__(
            f"{path} cannot be removed: {error.strerror}. Nothing was changed. Close {title}, "
            "and try again."
        )


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """Make an empty folder beside another folder, for the length of a ``with`` block.

    At the end the staging folder is deleted with its content. After an error only `NEW` is deleted:
    a folder that was put aside and could not be put back may be the only copy.

    Args:
        folder: The other folder.

    Yields:
        The staging folder.
    """
    path = Path(tempfile.mkdtemp(prefix=_STAGING_PREFIX, dir=folder.parent))
    try:
        yield path
    except BaseException:
        held_files.delete_folder(path / NEW)
        remove_if_empty(path)
        raise
    held_files.delete_folder(path)


def leftovers(folder: Path) -> list[Path]:
    """Return the staging folders beside a plug-in's folder that could not be deleted."""
    return sorted(folder.parent.glob(f"{_STAGING_PREFIX}*"))


def put_aside(folder: Path, aside: Path, title: str) -> None:
    """Rename a folder in which the application holds no file open.

    Args:
        folder: The folder.
        aside: Its new path.
        title: The name of the application for its users.

    Raises:
        InUse: The application holds a file. The folder is in its old place.
    """
    try:
        held_files.replace(folder, aside)
    except OSError as error:
        raise InUse(folder, title, error) from error
    try:
        _check_deletable(aside)
    except OSError as error:
        held_files.replace(aside, folder)
        raise InUse(folder, title, error) from error


def _check_deletable(folder: Path) -> None:
    """Raise an OSError if Windows could not delete all files of a folder.

    Windows can move a library that a process has loaded, but neither write nor delete it.
    """
    if sys.platform == "win32":
        for file in files_below(folder):
            held_files.retry_while_held(partial(_open_to_write, file))


def _open_to_write(file: Path) -> None:
    os.close(os.open(file, os.O_RDWR))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, and the links to folders, which are not followed."""
    for below, folder_names, file_names in os.walk(folder):
        for name in file_names:
            yield Path(below, name)
        for name in folder_names:
            path = Path(below, name)
            if path.is_symlink():
                yield path


def delete_all(files: Iterable[Path]) -> dict[Path, str]:
    """Delete files, and return the reason for each that cannot be deleted."""
    undeleted = {}
    for file in sorted(files):
        try:
            _delete(file)
        except OSError as error:
            undeleted[file] = f"it cannot be deleted ({error.strerror}); uninstall it again"
    return undeleted


def _delete(file: Path) -> None:
    # A folder with the name of our file is not ours.
    if file.is_symlink() or not file.is_dir():
        held_files.delete(file)


def make_folders(folder: Path) -> list[Path]:
    """Make a folder with its parents, and return the new folders, the outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    missing.reverse()
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def remove_if_empty(folder: Path) -> None:
    """Remove a folder, unless it has content or does not exist."""
    with suppress(OSError):
        folder.rmdir()
