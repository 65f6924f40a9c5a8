"""Environments of other people's Python clients: made once, in the user's cache, as locked."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

LOCKS = Path(__file__).with_name("locks")
_QUIET = ("--quiet", "--quiet", "--disable-pip-version-check", "--no-deps")


def environment(name: str) -> Path:
    """Give the folder into which the packages of a lock file are installed.

    Args:
        name: Of the lock file; another run may install the same.
    """
    lock = LOCKS / f"{name}.txt"
    made_of = lock.read_bytes() + sys.version.encode()
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"{name}-{sha256(made_of).hexdigest()[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            command = [sys.executable, "-m", "pip", "install", *_QUIET, "--target", f"{new}/it"]
            subprocess.run([*command, "-r", str(lock)], check=True, timeout=240)
            with suppress(OSError):
                os.rename(f"{new}/it", folder)
    return folder
