"""Builds the C++ application, once for each state of its source, and says how it is started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs

SOURCE: Final = Path(__file__).parent / "main.cpp"
ROOT: Final = Path(__file__).parents[3]
_PYTHON: Final = "/usr/bin/python3"
_TOOLS: Final = ("g++", "pkg-config", "python3-config")


def missing() -> str | None:
    """Say what keeps it from being built here, or None."""
    lacking = [tool for tool in _TOOLS if shutil.which(tool, path="/usr/bin:/bin") is None]
    if lacking:
        return f"{', '.join(lacking)} are not there"
    if subprocess.run(["pkg-config", "--exists", "Qt6Widgets"], check=False).returncode:
        return "Qt 6 cannot be built against here"
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    theirs = _said(_PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    return None if ours == theirs else f"it embeds Python {theirs}, and this is {ours}"


def built() -> Path:
    """Build it, unless that was done before."""
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    target = cache / f"qt_host-{sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    if not target.exists():
        flags = " ".join(
            [
                _said("/usr/bin/python3-config", "--includes"),
                _said("pkg-config", "--cflags", "--libs", "Qt6Widgets"),
                _said("/usr/bin/python3-config", "--embed", "--ldflags"),
            ]
        )
        with tempfile.TemporaryDirectory(dir=cache) as new:
            words = ["g++", "-O1", "-fPIC", "-std=c++17", str(SOURCE), "-o", f"{new}/it"]
            subprocess.run([*words, *flags.split()], check=True, timeout=120)
            os.replace(f"{new}/it", target)
    return target


def qt(version: str | None) -> Path:
    """Give the folder in which a PySide6 is: of a certain version, or the one of this Python."""
    ours = Path(sysconfig.get_path("purelib"))
    if version is None:
        return ours
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"pyside-{version}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            wanted = f"PySide6-Essentials=={version}"
            command = [sys.executable, "-m", "pip", "install", "-q", "--target", f"{new}/it"]
            subprocess.run([*command, wanted], check=True, timeout=240)
            os.rename(f"{new}/it", folder)
    return folder


def environment(version: str | None) -> dict[str, str]:
    """Give what it has to know: where Qt is, which the plug-in and it share, and Python's path."""
    folder = qt(version)
    path = [ROOT, folder, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return {
        "LD_LIBRARY_PATH": str(folder / "PySide6" / "Qt" / "lib"),
        "PATH": "/usr/bin:/bin",  # the first python3 there is where it takes its library from
        "QT_HOST_PATH": os.pathsep.join(map(str, path)),
        "QT_QPA_PLATFORM": "offscreen",
    }


def _said(*words: str) -> str:
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()
