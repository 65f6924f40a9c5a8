"""Packages of npm for tests: installed once into the user's cache, as their lock file says."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs

_QUIET: Final = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def installed(npm: str, locked: Path, name: str) -> Path:
    """Give the folder in which packages are installed.

    Args:
        npm: The command.
        locked: A folder with a package.json and its lock file.
        name: Of the folder, before a digest of the lock file; another run may make it too.
    """
    lock = (locked / "package-lock.json").read_bytes()
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"{name}-{sha256(lock).hexdigest()[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            _install(npm, locked, Path(new) / "it")
            with suppress(OSError):
                os.rename(Path(new) / "it", folder)
    return folder


def _install(npm: str, locked: Path, folder: Path) -> None:
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(locked / name, folder)
    subprocess.run([npm, "ci", *_QUIET], cwd=folder, check=True, timeout=240)
