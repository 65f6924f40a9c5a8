"""Packages of other people for tests, from npm and pip: installed once, as their lock files say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

from dcc_bridge import file_locks


def from_npm(npm: str, locked: Path, name: str) -> Path:
    """Give the folder in which packages of npm are installed.

    Args:
        npm: The command.
        locked: A folder with a package.json and its lock file.
        name: Of the folder, before a digest of the lock file.
    """

    def install(folder: Path) -> None:
        folder.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(locked / file, folder)
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run([npm, "ci", *quiet], cwd=folder, check=True, timeout=240)

    return _cached(name, (locked / "package-lock.json").read_bytes(), install)


def from_pip(lock: Path) -> Path:
    """Give the folder in which the packages of a requirements file are installed."""

    def install(folder: Path) -> None:
        quiet = ("--quiet", "--quiet", "--disable-pip-version-check", "--no-deps")
        command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder)]
        subprocess.run([*command, "-r", str(lock)], check=True, timeout=240)

    return _cached(lock.stem, lock.read_bytes() + sys.version.encode(), install)


def _cached(name: str, contents: bytes, install: Callable[[Path], None]) -> Path:
    """Give a folder of the user's cache, made at first use; who wants it meanwhile waits for it."""
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"{name}-{sha256(contents).hexdigest()[:12]}"
    if folder.exists():
        return folder
    with open(f"{folder}.lock", "wb") as lock:
        file_locks.claim(lock.fileno(), wait=True)  # where there is no such lock, each makes it
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
                install(Path(new) / "it")
                with suppress(OSError):
                    os.rename(Path(new) / "it", folder)
    return folder


def put_beside(packages: Path, script: Path) -> Path:
    """Put a script where a module of JavaScript finds its packages; another run may do the same."""
    source = script.read_bytes()
    copy = packages / f"{script.stem}-{sha256(source).hexdigest()[:12]}{script.suffix}"
    if not copy.exists():
        whole = copy.with_suffix(f".{os.getpid()}")
        whole.write_bytes(source)
        whole.replace(copy)
    return copy
