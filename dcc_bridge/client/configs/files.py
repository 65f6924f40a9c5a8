"""A file is changed as a whole or not at all, and what it held before is kept. Any thread."""

from __future__ import annotations

import codecs
import os
import secrets
import shutil
from pathlib import Path
from typing import Final

BACKUP: Final = ".before-dcc-bridge"
"""What the name of the copy ends in."""


def read(file: Path) -> str:
    """Give a file's text, line ends as they are; "" where there is none.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not text in UTF-8.
    """
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""


def write(file: Path, text: str) -> Path | None:
    """Put another text in a file, whose mode stays; a link leads to the same file as before.

    Returns:
        The copy of what it held, or None where there was no file.

    Raises:
        OSError: It cannot be written; then it is as it was.
    """
    file = Path(os.path.realpath(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = _keep(file) if file.exists() else None
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.new")
    try:
        opened = os.open(
            new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
        )
        with open(opened, "wb") as out:
            out.write(text.encode("utf-8"))
            out.flush()
            os.fsync(out.fileno())
        if kept is not None:
            shutil.copymode(file, new)
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)
    return kept


def bare(text: str) -> tuple[str, str]:
    """Part the mark with which some editors begin a file from the rest."""
    mark = codecs.BOM_UTF8.decode("utf-8")
    return (mark, text[len(mark) :]) if text.startswith(mark) else ("", text)


def _keep(file: Path) -> Path:
    """Copy what a file holds; others can read the copy no more than the file."""
    copy = file.with_name(file.name + BACKUP)
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    shutil.copyfile(file, copy)
    shutil.copymode(file, copy)
    return copy
