"""A file that its process holds for as long as it lives, as anybody can see. Any thread.

The system lets go of the lock when the process ends, however it ends: there is no number that a
later process could have too, nothing to clean up, and no moment between looking and believing. A
process's number and start time would say the same only where its namespace is the reader's, and in
three ways for three systems.

``flock`` on POSIX, because a lock of ``lockf`` is lost as soon as its process opens and closes the
file once more; a region of the file on Windows, where a lock shuts out every other handle.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from dcc_bridge import private_files

_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)

if sys.platform == "win32":
    import msvcrt

    def _lock(opened: int, *, shared: bool = False) -> None:
        os.lseek(opened, 0, os.SEEK_SET)
        msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(opened: int, *, shared: bool = False) -> None:
        fcntl.flock(opened, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class Held:
    """A lock file that this process holds."""

    def __init__(self, file: Path) -> None:
        """Make the file and hold it.

        Raises:
            FileExistsError: There is one of that name.
            OSError: It cannot be made or locked.
        """
        self._file = file
        self._opened: int | None = private_files.create(file)
        _lock(self._opened)
        if hasattr(os, "register_at_fork"):  # else a child would hold it when we are gone
            os.register_at_fork(after_in_child=self._close)

    def release(self) -> None:
        """Let go of it and take it away; harmless the second time."""
        if self._opened is not None:
            self._close()
            self._file.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._opened is not None:
            os.close(self._opened)
            self._opened = None


def is_held(file: Path) -> bool:
    """Tell whether a process holds a lock file."""
    try:
        opened = os.open(file, _READ)
    except OSError:
        return False
    try:
        _lock(opened, shared=True)  # so that two who ask do not take each other for the holder
    except OSError:
        return True
    finally:
        os.close(opened)
    return False
