"""The files and folders that an agent declares for its code: the refused ones, and their content.

Each path is resolved, so that a person cannot agree to a link under another name. Any thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from dcc_bridge.checkpoints import MAX_COPIED_BYTES, MAX_COPIED_FILES, FolderSize, measure
from dcc_bridge.elicitation.text import plural, safe_line
from dcc_bridge.errors import BadArguments

MAX_WRITES: Final = 20  # paths that one run may declare
_INSTEAD: Final = "Name only the subfolder that the code writes to."


@dataclass(frozen=True, slots=True)
class DeclaredWrite:
    """A file or folder that code may write to.

    Attributes:
        path: The path, without links.
        is_folder: Whether the path is an existing folder.
        size: The files in the folder; None where they are too many to be copied, and for a file.
    """

    path: Path
    is_folder: bool = False
    size: FolderSize | None = None

    @property
    def is_copied(self) -> bool:
        """Whether each file in the folder is copied before the code changes the file."""
        return self.size is not None

    def __str__(self) -> str:
        """Return the line of the question that names the path."""
        if not self.is_folder:
            return str(self.path)
        if self.size is None:
            most = f"{_in_words(MAX_COPIED_BYTES)} or {MAX_COPIED_FILES:,} files"
            return f"{self.path}, a folder with more than {most}: NO copy is kept of them"
        if not self.size.files:
            return f"{self.path}, an empty folder"
        count = plural(self.size.files, "file")
        size = _in_words(self.size.bytes)
        return f"{self.path}, a folder with {count} ({size}): each is copied before it is changed"


def check_writes(writes: Iterable[str]) -> None:
    """Refuse paths that a question cannot name as they are.

    Args:
        writes: The paths, as the agent declared them.

    Raises:
        BadArguments: A path has a hidden character or "..".
    """
    for path in writes:
        if safe_line(path, len(path)) != path:
            raise BadArguments(
                f"writes: {safe_line(path)} has characters that are not allowed in a path."
            )
        if os.pardir in PurePath(path).parts:
            raise BadArguments(f"writes: {path} contains '..'. Give the path without it.")


def declared_write(path: Path, checkpoints: Path) -> DeclaredWrite:
    """Return the file or folder that a declared path leads to. A large folder may take a second.

    Args:
        path: The declared path, absolute.
        checkpoints: The folder of the scene's checkpoints, of which no copy is kept.

    Raises:
        BadArguments: The path leads to a drive or a home folder, or the folder cannot be read.
    """
    target = Path(os.path.realpath(path))
    if safe_line(str(target), len(str(target))) != str(target):
        raise BadArguments(f"writes: {path} leads to a path with characters that are not allowed.")
    if os.path.ismount(target):
        raise BadArguments(f"writes: {target} is a whole drive or share. {_INSTEAD}")
    if not target.is_dir():
        return DeclaredWrite(target)
    if _holds_home(target):
        raise BadArguments(f"writes: {target} holds the person's home folder. {_INSTEAD}")
    try:
        size = measure(target, checkpoints)
    except OSError as error:
        raise BadArguments(f"writes: {target} cannot be read: {error}.") from None
    return DeclaredWrite(target, is_folder=True, size=size)


def _holds_home(folder: Path) -> bool:
    """Return whether a folder is the person's home folder, or above that."""
    home = Path.home()
    return any(above.exists() and folder.samefile(above) for above in (home, *home.parents))


def _in_words(size: float) -> str:
    """Return a size in bytes as a person reads it: "12 MB"."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.0f} GB"
