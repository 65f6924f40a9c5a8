"""A file is changed as a whole or not at all, and what it held before us is kept. Any thread.

The copy is made once, before the first change, and no later one writes over it: it would hold our
own entry. Once the file is back to that byte there is nothing to keep any more.
"""

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


def write(file: Path, text: str) -> None:
    """Put another text in a file, whose mode stays; a link leads to the same file as before.

    Raises:
        OSError: It cannot be written; then it is as it was.
    """
    file = Path(os.path.realpath(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.new")
    try:
        opened = os.open(
            new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
        )
        with open(opened, "wb") as out:
            out.write(text.encode("utf-8"))
            out.flush()
            os.fsync(out.fileno())
        if file.exists():
            shutil.copymode(file, new)
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)


def keep(file: Path) -> Path | None:
    """Copy what a file holds; others can read the copy no more than the file.

    Returns:
        The copy; None where there is no file, or was a copy before.

    Raises:
        OSError: It cannot be made.
    """
    file, copy = Path(os.path.realpath(file)), copy_of(file)
    if not file.exists() or os.path.lexists(copy):
        return None
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        shutil.copyfile(file, copy)
        shutil.copymode(file, copy)
    except BaseException:  # half a copy would be taken for what the file held
        copy.unlink(missing_ok=True)
        raise
    return copy


def copy_of(file: Path) -> Path:
    """Say where the copy of a file is, or would be."""
    real = Path(os.path.realpath(file))
    return real.with_name(real.name + BACKUP)


def bare(text: str) -> tuple[str, str]:
    """Part the mark with which some editors begin a file from the rest."""
    mark = codecs.BOM_UTF8.decode("utf-8")
    return (mark, text[len(mark) :]) if text.startswith(mark) else ("", text)
