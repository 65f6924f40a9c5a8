"""Reads files that nobody else can change: skill files and instructions. Any thread.

A skill runs with the person's own rights, and an agent does what an instruction says. So a file is
read only if it belongs to the person, to the system, or to the user who installed this bridge; if
not everybody may write to the file or its folder; and if no link leads out of the folder. On
Windows only links are checked: the rights there are in lists, which are not read.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO, Final

from dcc_bridge.errors import SkillError

MAX_FILE_BYTES: Final = 2_000_000  # a longer file was not written by hand


def check_folder(folder: Path) -> Path:
    """Return the real path of a folder that is trusted.

    Args:
        folder: The folder; a link is followed.

    Raises:
        SkillError: Others may write to the folder.
        OSError: The folder does not exist.
    """
    real = folder.resolve(strict=True)
    _check(real, real.stat())
    for above in real.parents:
        mode = above.stat().st_mode
        if sys.platform != "win32" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise SkillError(f"{folder}: everybody may write to {above}, so it is not trusted.")
    return real


def read_trusted(file: Path, root: Path) -> bytes:
    """Read a file that is trusted.

    Args:
        file: The file.
        root: The real path of its folder, from `check_folder`.

    Raises:
        SkillError: The file is not trusted, is no plain file, or is too long.
        OSError: The file cannot be read.
    """
    with open_trusted(file, root) as stream:
        return stream.read(MAX_FILE_BYTES)


@contextmanager
def open_trusted(file: Path, root: Path) -> Iterator[BinaryIO]:
    """Open a file that is trusted, for the length of a ``with`` block.

    Args:
        file: The file.
        root: The real path of its folder, from `check_folder`.

    Raises:
        SkillError: The file is not trusted, is no plain file, or is too long.
        OSError: The file cannot be opened.
    """
    real = file.resolve(strict=True)
    if not real.is_relative_to(root):
        raise SkillError(f"{file}: it is a link that points outside its folder, to {real}.")
    for folder in real.parents:
        if folder.is_relative_to(root):
            _check(folder, folder.stat())
    # Without O_NONBLOCK a pipe to which nobody writes would be waited for.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(real, flags)
    # The open file is checked, and not the path, which may lead to another file by now.
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise SkillError(f"{file}: it is not a plain file.")
        _check(file, about)
        if about.st_size > MAX_FILE_BYTES:
            raise SkillError(f"{file}: it is longer than {MAX_FILE_BYTES:,} bytes.")
        yield stream


def _check(path: Path, about: os.stat_result) -> None:
    """Raise SkillError where others may change a file or a folder."""
    if sys.platform == "win32":
        return
    if about.st_mode & stat.S_IWOTH:
        raise SkillError(f"{path}: everybody may write to it, so it is not trusted: chmod o-w.")
    if about.st_uid not in _trusted():
        raise SkillError(f"{path}: it belongs to another user, so it is not trusted.")


@cache
def _trusted() -> frozenset[int]:
    """Return the ids of the trusted users: the current one, root, and who installed the bridge."""
    if sys.platform == "win32":
        return frozenset()
    return frozenset({os.geteuid(), 0, Path(__file__).stat().st_uid})
