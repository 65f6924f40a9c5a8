"""Folders and files that only their user can reach, for tokens and the audit log. Any thread.

Another user may have put a link of the same name into a folder. So `create` makes a new file or
fails, in a folder that was checked and stays open, and no link is followed. Windows has no flags
for this; there the folder is in the user's own profile, to which others cannot write.

Descriptors are those of `os`, and the caller closes them.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dcc_bridge import held_files

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_NEW_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | _NO_LINK
_BINARY: Final = getattr(os, "O_BINARY", 0)


def folder(path: Path) -> Path:
    """Make a folder that nobody else can reach, and the folders above it.

    Args:
        path: The folder. A folder of the user's that is there already is closed to others.

    Returns:
        The same path.

    Raises:
        PermissionError: The folder belongs to another user, or is a link.
        OSError: The folder cannot be made; a file has that name, for example.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        with _open_folder(path) as descriptor:
            os.fchmod(descriptor, 0o700)
    return path


def create(file: Path) -> int:
    """Make a file that is not there yet, in a folder of the user's own.

    Args:
        file: The path of the file; its folder is there already.

    Returns:
        A descriptor, with which the file is appended to.

    Raises:
        FileExistsError: There is a file of that name, or a link.
        PermissionError: The folder belongs to another user, is a link, or is not there.
        OSError: The file cannot be made.
    """
    if sys.platform == "win32":
        return os.open(file, _NEW_FILE_FLAGS | _BINARY, 0o600)
    with _open_folder(file.parent) as parent:
        descriptor = os.open(file.name, _NEW_FILE_FLAGS, 0o600, dir_fd=parent)
        os.fsync(parent)  # else a power cut may take the file's name away
        return descriptor


def reopen(file: Path) -> int:
    """Open a file of the user's own, to read and to append. Others may be able to read the file.

    Args:
        file: The path of the file.

    Returns:
        A descriptor.

    Raises:
        PermissionError: The file is another user's, or no plain file.
        OSError: The file is a link, or cannot be opened.
    """
    return open_own(file, os.O_RDWR | os.O_APPEND, forbidden=0)


def open_own(file: Path, flags: int = os.O_RDONLY, forbidden: int = 0o077) -> int:
    """Open a plain file of the user's own that others cannot use.

    Args:
        file: The path of the file.
        flags: The flags of `os.open`.
        forbidden: The bits of the file's mode that may not be set. Windows has no such bits; there
            neither they nor the file's owner are checked.

    Returns:
        A descriptor.

    Raises:
        PermissionError: The file is another user's, no plain file, or has a forbidden bit.
        OSError: The file is a link, or cannot be opened.
    """
    if sys.platform == "win32":
        # The file may be replaced now.
        return held_files.retry_while_held(lambda: os.open(file, flags | _BINARY))
    descriptor = os.open(file, flags | os.O_NONBLOCK | _NO_LINK)
    status = os.fstat(descriptor)
    is_own = status.st_uid == os.getuid()
    is_plain = stat.S_ISREG(status.st_mode)
    is_closed = not status.st_mode & forbidden
    if not (is_own and is_plain and is_closed):
        os.close(descriptor)
        raise PermissionError(f"{file} must be a plain file that only you can use.")
    return descriptor


@contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    """Keep a folder open in the block, so that nobody can put another folder in its place."""
    try:
        descriptor = os.open(path, _FOLDER_FLAGS)
    except OSError as error:
        raise PermissionError(f"The folder {path} cannot be used: {error.strerror}.") from error
    try:
        if sys.platform != "win32" and os.fstat(descriptor).st_uid != os.getuid():
            raise PermissionError(f"The folder {path} is not yours.")
        yield descriptor
    finally:
        os.close(descriptor)
