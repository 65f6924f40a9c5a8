"""The file in which an application keeps which plug-ins are enabled, and its copy. Main thread.

Only the application writes its preferences. Before it is run to do that, the file is copied. The
name of the copy then gets the digest of what the application saved, so that `restore` knows later
whether anything else has changed since. An empty copy stands for a file that did not exist.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from dcc_bridge import held_files
from dcc_bridge.install.folders import remove_if_empty

_SUFFIX: Final = ".before-dcc-bridge"


@dataclass(frozen=True, slots=True)
class Preferences:
    """An application's preferences, in which a plug-in must be enabled before it is started.

    Any thread.

    Attributes:
        file: The file, which need not exist.
        mark: The bytes that the file contains once the plug-in is enabled.
        script: A Python file that the application runs without a window, after the words of
            `InstallTarget.start_option`. With the variable ``DCC_BRIDGE_ENABLE`` "yes" it enables
            the plug-in, with "no" it disables it, and saves the preferences. To the file that
            ``DCC_BRIDGE_TELL`` names it writes a JSON object, in which "why" is the reason why it
            could not, as a sentence without its full stop, or "".
    """

    file: Path
    mark: bytes
    script: Path

    @property
    def is_enabled(self) -> bool:
        """Whether the plug-in is enabled in the file."""
        try:
            return self.mark in self.file.read_bytes()
        except OSError:
            return False


def copy_name(file: Path) -> str:
    """Return the beginning of the name of a file's copy."""
    return f"{file.name}{_SUFFIX}"


def back_up(file: Path) -> None:
    """Copy a file, in place of older copies, before the application writes it.

    Raises:
        OSError: It cannot be copied.
    """
    delete_copies(file)
    if file.exists():
        shutil.copy2(file, file.with_name(copy_name(file)))


def seal(file: Path) -> None:
    """Note in the name of the copy what the application has saved.

    Raises:
        OSError: The file cannot be read, or the copy cannot be renamed.
    """
    copy = file.with_name(copy_name(file))
    if not copy.exists():
        copy.touch()
    held_files.replace(copy, _sealed(file))


def put_back(file: Path, mark: bytes) -> bool:
    """Put a file back as it was copied, after a run of the application that may have saved it.

    If it was changed, but not by that run, it stays, and so does its copy.

    Args:
        file: The file.
        mark: The bytes that only that run can have written.

    Returns:
        Whether the file is as it was when it was copied.

    Raises:
        OSError: The file cannot be read or written. The copy stays.
    """
    copy = file.with_name(copy_name(file))
    before = _content(copy)
    now = _content(file)
    if now is not None and now != before and mark not in now:
        return False
    if before is None:
        held_files.delete(file)
    elif now != before:
        held_files.replace(copy, file)
    delete_copies(file)
    return True


def can_restore(file: Path) -> bool:
    """Return whether `restore` would put the copy back."""
    try:
        return _sealed(file).exists()
    except OSError:
        return False


def restore(file: Path) -> bool:
    """Put the copy back, if the file is as the application saved it then.

    Returns:
        Whether the file is as it was before.

    Raises:
        OSError: The file cannot be written.
    """
    if not can_restore(file):
        return False
    copy = _sealed(file)
    if copy.stat().st_size:
        held_files.replace(copy, file)
        return True
    held_files.delete(file)
    held_files.delete(copy)
    remove_if_empty(file.parent)
    return True


def delete_copies(file: Path) -> None:
    """Delete the copies of a file.

    Raises:
        OSError: One cannot be deleted.
    """
    for copy in list(_copies(file)):
        held_files.delete(copy)


def _content(file: Path) -> bytes | None:
    """Return the content of a file; None if there is no file."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _copies(file: Path) -> Iterator[Path]:
    for path in file.parent.glob("*"):
        if path.name.startswith(copy_name(file)):
            yield path


def _sealed(file: Path) -> Path:
    digest = sha256(file.read_bytes()).hexdigest()[:16]
    return file.with_name(f"{copy_name(file)}-{digest}")
