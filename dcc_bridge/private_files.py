"""Folders and files that only their user can reach. Any thread.

Descriptors are those of `os`: whoever is given one closes it.

A name in a folder may have been put there by somebody else, as a link to a place of theirs: a file
is made new or not at all, in the folder that was looked at, and no link is followed. Windows has no
such flags; there the folder is the user's own profile, which others cannot write to.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | _NO_LINK
_BINARY: Final = getattr(os, "O_BINARY", 0)
_HELD_FOR_S: Final = 0.5
"""For how long Windows is asked again for a file that another program has open: one that reads it,
or scans it for viruses, is done in a moment."""
_AGAIN_S: Final = 0.005
T = TypeVar("T")
_AT_ONCE: Final = 1  # LOCKFILE_FAIL_IMMEDIATELY of Windows
_EXCLUSIVE: Final = 2  # LOCKFILE_EXCLUSIVE_LOCK
_BEHIND_THE_END: Final = 0x4000_0000  # the upper half of an offset of 64 bits


def folder(path: Path) -> Path:
    """Make a folder that nobody else can reach, with those above it.

    Args:
        path: Where; a folder of the user's that is there already is closed to others.

    Returns:
        The same path.

    Raises:
        PermissionError: It belongs to another user, or is a link.
        OSError: It cannot be made; a file has that name, say.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        with _opened(path) as opened:
            os.fchmod(opened, 0o700)
    return path


def create(file: Path) -> int:
    """Make a file that is not there yet, in a folder of the user's own.

    Args:
        file: Where; its folder is there already.

    Returns:
        A descriptor, with which the file is appended to.

    Raises:
        FileExistsError: There is a file of that name, or a link.
        PermissionError: The folder belongs to another user, or is a link or not there.
        OSError: It cannot be made.
    """
    if sys.platform == "win32":
        return os.open(file, _NEW | _BINARY, 0o600)
    with _opened(file.parent) as parent:
        opened = os.open(file.name, _NEW, 0o600, dir_fd=parent)
        os.fsync(parent)  # else a power cut may take the file's name away
        return opened


def reopen(file: Path) -> int:
    """Open a file of the user's own to read it and to append to it; others may read it.

    Args:
        file: Which.

    Returns:
        A descriptor.

    Raises:
        PermissionError: It is another user's, or no plain file.
        OSError: It is a link, or cannot be opened.
    """
    return open_own(file, os.O_RDWR | os.O_APPEND, forbidden=0)


def open_own(file: Path, flags: int = os.O_RDONLY, forbidden: int = 0o077) -> int:
    """Open a plain file of the user's own that others cannot use.

    Args:
        file: Which.
        flags: How, as `os.open` takes it.
        forbidden: The bits of its mode that may not be set. Windows has none, and is not asked
            whose the file is.

    Returns:
        A descriptor.

    Raises:
        PermissionError: It is another user's, no plain file, or a forbidden bit is set.
        OSError: It is a link, or cannot be opened.
    """
    if sys.platform == "win32":
        return os.open(file, flags | _BINARY)
    opened = os.open(file, flags | os.O_NONBLOCK | _NO_LINK)
    found = os.fstat(opened)
    is_plain = stat.S_ISREG(found.st_mode) and not found.st_mode & forbidden
    if found.st_uid != os.getuid() or not is_plain:
        os.close(opened)
        raise PermissionError(f"{file} must be a plain file that only you can use.")
    return opened


def replace(source: Path, target: Path) -> None:
    """Put a file, or a folder, in another place; as a whole or not at all.

    Args:
        source: What is moved.
        target: Its new path, on the same disk; a file that is there is replaced.

    Raises:
        PermissionError: Another program has what is there open, and for longer than a moment.
        OSError: It cannot be moved.
    """
    retry_while_held(lambda: os.replace(source, target))


def delete(file: Path) -> None:
    """Delete a file, if it is there.

    Args:
        file: Which.

    Raises:
        PermissionError: Another program has it open, and for longer than a moment.
        OSError: It cannot be deleted.
    """
    retry_while_held(lambda: file.unlink(missing_ok=True))


def retry_while_held(fn: Callable[[], T]) -> T:
    """Call what Windows refuses while another program has a file open, until it succeeds.

    It blocks for half a second at most.

    Args:
        fn: What is called, again and again while it raises PermissionError.

    Returns:
        What the function returned.

    Raises:
        PermissionError: The function still raises it. What else it raises is raised at once.
    """
    end = time.monotonic() + _HELD_FOR_S
    while True:
        try:
            return fn()
        except PermissionError:
            if time.monotonic() >= end:
                raise
        time.sleep(_AGAIN_S)


def claim(descriptor: int, *, wait: bool = False) -> bool:
    """Lock a file for as long as this process lives or keeps it open. It raises nothing.

    Not by `filelock`: the lock has to be on the audit log itself, which is moved and copied without
    a lock file beside it, and the process that died must not leave one. Some network folders have
    no such lock.

    Args:
        descriptor: The file, open to write.
        wait: Whether to wait while another process has the lock: others that only look whether
            it is taken have it for a moment.

    Returns:
        Whether the file is locked now.
    """
    if sys.platform == "win32":
        return _claim_byte(descriptor, wait)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _claim_byte(descriptor: int, wait: bool) -> bool:
    """Lock a byte that lies behind the end of every file: on Windows a locked one is not read.

    Not by `msvcrt.locking`, which gives up after ten seconds and locks where the file is written.
    """
    if sys.platform != "win32":
        raise NotImplementedError
    import ctypes  # in no host on other systems
    import msvcrt

    handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
    flags = _EXCLUSIVE
    if not wait:
        flags |= _AT_ONCE
    where = struct.pack("PPIIP", 0, 0, 0, _BEHIND_THE_END, 0)
    overlapped = ctypes.create_string_buffer(where)
    return bool(ctypes.windll.kernel32.LockFileEx(handle, flags, 0, 1, 0, overlapped))


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Hold on to a folder, so that nobody can put another one in its place meanwhile."""
    try:
        opened = os.open(path, _FOLDER)
    except OSError as error:
        raise PermissionError(f"The folder {path} cannot be used: {error.strerror}.") from error
    try:
        if sys.platform != "win32" and os.fstat(opened).st_uid != os.getuid():
            raise PermissionError(f"The folder {path} is not yours.")
        yield opened
    finally:
        os.close(opened)
