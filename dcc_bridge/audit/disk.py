"""The few things that are done with a file of the record; a test puts a failing one here.

Any thread.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from dcc_bridge import private

_SYNC: Final = getattr(os, "fdatasync", os.fsync)


class Disk:
    """A disk that works."""

    def create(self, file: Path) -> int:
        """Make a new file, in a folder that only its user can reach; gives its descriptor."""
        private.folder(file.parent)
        return private.create(file)

    def write(self, opened: int, data: bytes) -> None:
        """Append all of it."""
        while data:
            data = data[os.write(opened, data) :]

    def sync(self, opened: int) -> None:
        """Wait until all that was written would outlive a power cut."""
        _SYNC(opened)

    def cut(self, opened: int, size: int) -> None:
        """Take away what stands behind a place."""
        os.ftruncate(opened, size)


def claim(opened: int, *, wait: bool = False) -> bool:
    """Hold a file for as long as this process lives or keeps it open.

    Args:
        opened: Its descriptor.
        wait: Others look at it for a moment only; wait until they have.

    Returns:
        Whether it is held now. Windows, and some network folders, have no such thing: False.
    """
    try:
        import fcntl  # not there on Windows
    except ImportError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
