"""Locks on open files, by which a process shows that it is alive. Any thread.

The system releases a lock however its process ends, and nothing is left behind. A process id would
not do: a later process may get the same one.

The library `filelock` is not used, because importing it leaves more in a host than one lock: hooks
at each fork, which may end the child, and from Python 3.12 on an audit hook that cannot be removed
(`filelock/_api.py` of 3.32 and 4.2). Up to 3.29 it lets a child that outlives its host hold the
lock.
"""

from __future__ import annotations

import struct
import sys
from typing import Final

# Windows' names for the arguments of LockFileEx.
_LOCKFILE_FAIL_IMMEDIATELY: Final = 1
_LOCKFILE_EXCLUSIVE_LOCK: Final = 2
_OFFSET_HIGH: Final = 0x4000_0000  # the upper half of an offset behind the end of every file


def claim(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock a file until this process closes it or ends. This raises nothing.

    Args:
        descriptor: The file: open to read for a shared lock, and to write for an exclusive one.
        shared: Whether other processes may have a shared lock at the same time. By such a lock a
            process finds out whether there is an exclusive one, and no two that look at the same
            time take each other for the owner.
        wait: Whether to wait while another process has the lock. A process that only looks has it
            for a moment.

    Returns:
        Whether the file is locked now. Some network folders have no locks.
    """
    if sys.platform == "win32":
        return _claim_byte(descriptor, shared, wait)
    import fcntl

    # Not `lockf`, whose lock is lost once its process opens and closes the file another time.
    flags = fcntl.LOCK_EX
    if shared:
        flags = fcntl.LOCK_SH
    if not wait:
        flags |= fcntl.LOCK_NB
    try:
        fcntl.flock(descriptor, flags)
    except OSError:
        return False
    return True


def _claim_byte(descriptor: int, shared: bool, wait: bool) -> bool:
    """Lock a byte after the end of the file, because on Windows a locked byte cannot be read.

    Not by `msvcrt.locking`, which has no shared locks, gives up after ten seconds, and locks at the
    current position.
    """
    if sys.platform != "win32":
        raise NotImplementedError
    import ctypes  # here, so that no host on another system imports it
    import msvcrt

    handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
    flags = 0
    if not shared:
        flags |= _LOCKFILE_EXCLUSIVE_LOCK
    if not wait:
        flags |= _LOCKFILE_FAIL_IMMEDIATELY
    overlapped = struct.pack("PPIIP", 0, 0, 0, _OFFSET_HIGH, 0)
    buffer = ctypes.create_string_buffer(overlapped)
    return bool(ctypes.windll.kernel32.LockFileEx(handle, flags, 0, 1, 0, buffer))
