"""Tells whether a program of this user runs, by the system's list of processes. Any thread."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PurePath
from typing import Final

_TIMEOUT_S: Final = 20


def is_running(program: Path) -> bool:
    """Return whether a program with the name of this one runs; False if that cannot be found out.

    Args:
        program: The path of the program.
    """
    words = ["ps", "-x", "-o", "comm="]
    if sys.platform == "win32":
        words = ["tasklist", "/FO", "CSV", "/NH"]
    try:
        process = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    wanted = program.name.lower()
    for line in process.stdout.splitlines():
        # Windows prints "blender.exe","4711",...; macOS the whole path; Linux the name.
        first = line.strip().strip('"').partition('"')[0]
        if PurePath(first).name.lower() == wanted:
            return True
    return False
