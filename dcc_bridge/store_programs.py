"""Tells programs from the Microsoft Store, and where Windows redirects what they write. Any thread.

By Microsoft's documentation, "Understanding how packaged desktop apps run on Windows": what such a
program writes below ``AppData`` goes into a folder of its own, and only the program itself sees it
in its place. The Blender manual, "Blender's Directory Layout", names that folder for Blender.
"""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Final

_PROGRAMS: Final = "windowsapps"  # below Program Files, or on another disk; and for aliases
_REDIRECTED: Final = "appdata"
ANOTHER_PYTHON: Final = (
    "Use a Python from python.org: winget install Python.Python.3.13, then py -3.13 -m venv .venv"
)
"""The advice about a Python from the Microsoft Store."""


def is_from_store(program: PurePath) -> bool:
    """Return whether a program comes from the Microsoft Store, by its place.

    Args:
        program: The program or its folder.
    """
    return _PROGRAMS in _parts(program)


def redirection(file: PurePath, python: PurePath | None = None) -> str:
    """Return why a file would be written to another place than its own; "" if it would not.

    Args:
        file: The file or folder.
        python: The folder of the Python that writes; None for the one that runs this.

    Returns:
        The reason and what to do, in two sentences without the last full stop.
    """
    if python is None:
        python = PurePath(sys.base_prefix)
    if not is_from_store(python) or _REDIRECTED not in _parts(file):
        return ""
    return (
        f"This Python is from the Microsoft Store: Windows would put {file} into a folder that no "
        f"other program looks into. {ANOTHER_PYTHON}"
    )


def _parts(path: PurePath) -> list[str]:
    return [part.lower() for part in path.parts]
