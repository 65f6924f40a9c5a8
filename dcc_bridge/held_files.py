"""Files that another program may hold open: replaced, moved, deleted. Any thread.

Windows refuses this while a program has the file open. A virus scanner, or a reader of a record, is
usually done in a moment, so each call is tried again for half a second. Other systems refuse no
file for that reason, and nothing is tried again there.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

NEW_SUFFIX: Final = ".new"
"""The end of the name of a file that `replacing` has not put into its place yet."""
_RETRIES: Final = 100
_INTERVAL_S: Final = 0.005
# Windows' errors for a file that is open or locked, or is being deleted: ERROR_ACCESS_DENIED,
# ERROR_SHARING_VIOLATION and ERROR_LOCK_VIOLATION. The error of `os.open` has None there. An error
# of another system has no such attribute.
_HELD_ERRORS: Final = (None, 5, 32, 33)
T = TypeVar("T")


def retry_while_held(fn: Callable[[], T]) -> T:
    """Call a function until Windows no longer refuses a file because a program has it open.

    It blocks for about half a second at most.

    Args:
        fn: The function.

    Returns:
        The result of the function.

    Raises:
        PermissionError: The file is held for longer. Any other error is raised at once.
    """
    for _ in range(_RETRIES):
        try:
            return fn()
        except PermissionError as error:
            if getattr(error, "winerror", 0) not in _HELD_ERRORS:
                raise
        time.sleep(_INTERVAL_S)
    return fn()


def replace(source: Path, target: Path) -> None:
    """Move a file or a folder atomically.

    Args:
        source: The file or folder.
        target: Its new path, on the same disk; a file that is there is replaced.

    Raises:
        PermissionError: Another program has one of the files open, and for longer than a moment.
        OSError: The file or folder cannot be moved.
    """
    retry_while_held(lambda: os.replace(source, target))


def delete(file: Path) -> None:
    """Delete a file, if it is there.

    Args:
        file: The path of the file.

    Raises:
        PermissionError: Another program has the file open, and for longer than a moment.
        OSError: The file cannot be deleted.
    """
    retry_while_held(lambda: file.unlink(missing_ok=True))


def delete_folder(folder: Path) -> None:
    """Delete a folder with its content, as far as that is possible. This raises nothing.

    Args:
        folder: The folder.
    """
    with suppress(OSError):
        retry_while_held(lambda: shutil.rmtree(folder))
    shutil.rmtree(folder, ignore_errors=True)  # what is beside a file that cannot be deleted


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Replace a file as a whole by the file that the ``with`` block makes.

    After an error the file is as it was, and nothing is left of the new one.

    Args:
        file: The file, which need not exist.

    Yields:
        The path of the new file, in the same folder. The block makes the file, and closes it.

    Raises:
        PermissionError: Another program has the file open, and for longer than a moment.
        OSError: The file cannot be replaced.
    """
    new = file.with_name(f"{file.name}.{secrets.token_hex(4)}{NEW_SUFFIX}")
    try:
        yield new
        replace(new, file)
    except BaseException:
        with suppress(OSError):
            delete(new)
        raise
