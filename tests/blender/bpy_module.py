"""Interpreters in which Blender is the module ``bpy``: real, without a window, made once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs
import pytest

ROOT: Final = Path(__file__).parents[2]
VERSIONS: Final = {"4.5.15": "3.11", "5.2.3": "3.13", "5.3.0": "3.13"}
"""Blender's two that are kept for long and the newest, each with the only Python of its wheel."""
PATHS: Final = (str(ROOT), str(ROOT / "plugins" / "blender"))
"""Where each of them finds the bridge, the adapter and the tests."""
IN_BACKGROUND: Final = "installed"
"""The Blender that is installed, without its window: 3.4 of Debian 12."""
PROGRAM: Final = shutil.which("blender")
_IN_BLENDER: Final = Path(__file__).parent / "pytest_in_blender.py"
_TESTING: Final = ("pytest>=8.4",)


def python(version: str) -> Path | None:
    """Give an interpreter with that Blender in it, or None where its Python is missing.

    The first time that installs 800 MB, in 20 s.
    """
    base = _base(VERSIONS[version])
    return None if base is None else _made(version, base) / "bin" / "python"


def installed(version: str) -> Path:
    """Give it, or skip the test where its Python is missing."""
    found = python(version)
    if found is None:
        pytest.skip(f"Python {VERSIONS[version]} is not installed")
    return found


def environment() -> dict[str, str]:
    """Return the environment in which one finds the bridge, the adapter and the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}


def run_tests(version: str, file: Path, folder: Path) -> None:
    """Run a file of tests inside of a Blender; AssertionError with what was printed if one fails.

    Args:
        version: One of `VERSIONS`, or `IN_BACKGROUND` for the Blender that is installed.
        file: The tests.
        folder: Where they run.
    """
    words: list[str | Path]
    quiet = [
        "-q",
        "-c",
        os.devnull,
        "--noconftest",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(ROOT),
    ]
    if version == IN_BACKGROUND:
        if PROGRAM is None:
            pytest.skip("Blender is not installed")
        words = [PROGRAM, "-b", "--factory-startup", "--python", _IN_BLENDER, "--"]
        paths = [*PATHS, *(it for it in sys.path if it.endswith("site-packages"))]
    else:
        words = [installed(version), "-m", "pytest"]
        paths = [*PATHS]

    done = subprocess.run(
        [*words, *quiet, file],
        env={**environment(), "BLENDER_PATH": os.pathsep.join(paths)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def _base(minor: str) -> str | None:
    if minor == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    built = sorted(map(str, Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}")))
    found = [*reversed(built), shutil.which(f"python{minor}")]
    return next((one for one in found if one is not None and _runs(one)), None)


def _runs(python: str) -> bool:
    """Whether it is one: pyenv puts a file on the path that only says that there is none."""
    return not subprocess.run([python, "-c", ""], capture_output=True, timeout=60).returncode


def _made(version: str, base: str) -> Path:
    """Make the environment, unless that was done before; another test run may do the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [f"bpy=={version}", *_TESTING, *project["dependencies"]]
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"bpy-{version}-{sha256(repr(wanted).encode()).hexdigest()[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            subprocess.run([base, "-m", "venv", f"{new}/it"], check=True, timeout=60)
            pip = [f"{new}/it/bin/python", "-m", "pip", "install", "--quiet", *wanted]
            subprocess.run(pip, check=True, timeout=500)
            with suppress(OSError):
                os.rename(f"{new}/it", folder)
    return folder
