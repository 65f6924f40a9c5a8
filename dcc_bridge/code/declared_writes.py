"""The files and folders that an agent says its code writes: which are refused, what is in each.

A path is what it leads to, so that a link cannot be agreed to under another name. Any thread.
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

MAX_WRITES: Final = 20  # that one run may declare
_INSTEAD: Final = "Name only the subfolder that the code writes to."


@dataclass(frozen=True, slots=True)
class DeclaredWrite:
    """A file or folder that code may write to.

    Attributes:
        path: Where it is, without links.
        is_folder: It is a folder that is there.
        size: What is in that folder; None for more than is copied, and where it is no folder.
    """

    path: Path
    is_folder: bool = False
    size: FolderSize | None = None

    @property
    def is_copied(self) -> bool:
        """Whether a copy is kept of each file in this folder before the file is changed."""
        return self.size is not None

    def __str__(self) -> str:
        """Return a line of the question."""
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
    """Refuse paths that no question can name; BadArguments says which."""
    for path in writes:
        if safe_line(path, len(path)) != path:
            raise BadArguments(
                f"writes: {safe_line(path)} has characters that are not allowed in a path."
            )
        if os.pardir in PurePath(path).parts:
            raise BadArguments(f"writes: {path} contains '..'. Give the path without it.")


def declared_write(path: Path, checkpoints: Path) -> DeclaredWrite:
    """Look at what a whole path leads to. It may take a second in a large folder.

    Args:
        path: As it was declared.
        checkpoints: The folder of the scene's checkpoints, of which no copy is kept.

    Raises:
        BadArguments: Code may not have all that is below it.
    """
    target = Path(os.path.realpath(path))
    if safe_line(str(target), len(str(target))) != str(target):
        raise BadArguments(f"writes: {path} leads to a path with characters that are not allowed.")
    if os.path.ismount(target):
        raise BadArguments(f"writes: {target} is a whole drive or share. {_INSTEAD}")
    if not target.is_dir():
        return DeclaredWrite(target)
    home = Path.home()
    if any(above.exists() and target.samefile(above) for above in (home, *home.parents)):
        raise BadArguments(f"writes: {target} holds the person's home folder. {_INSTEAD}")
    try:
        size = measure(target, checkpoints)
    except OSError as error:
        raise BadArguments(f"writes: {target} cannot be read: {error}.") from None
    return DeclaredWrite(target, is_folder=True, size=size)


def _in_words(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.0f} GB"
