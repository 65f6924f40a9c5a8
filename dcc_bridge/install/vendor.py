"""What the bridge depends on, for another interpreter than this one. Main thread.

Native code is built for one minor version of Python and one system, so there is a folder for each.
Qt is never among it: the host has its own, and a second one ends it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

from dcc_bridge.errors import BridgeError
from dcc_bridge.install.system import Platform

# pip does not go down from a tag to an older one, so each is named. Newer ones than 2.28 do not
# load on the systems of the VFX Reference Platform CY2024 to CY2026.
_TAGS: Final[dict[Platform, tuple[str, ...]]] = {
    "linux": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "win32": ("win_amd64",),
    "darwin": ("macosx_11_0_arm64", "macosx_10_13_x86_64"),
}
_NEVER: Final = re.compile(r"(pyside|shiboken|pyqt|qtpy)", re.IGNORECASE)
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_SKIP: Final = shutil.ignore_patterns("__pycache__", "*.pyc")
_LIMIT: Final = 600


class NotVendored(BridgeError):
    """What the bridge depends on cannot be had; says why."""


def wanted() -> list[str]:
    """List what the bridge depends on, as its own installation says.

    In a checkout its project file does: what is installed of that may be older.
    """
    project = _PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        told = tomllib.loads(project.read_text(encoding="utf-8"))
        return list(told["project"]["dependencies"])
    every = metadata.requires("dcc-bridge") or []
    return [one for one in every if "extra ==" not in one]


def names() -> list[str]:
    """List what the bridge depends on, by name."""
    return sorted(found[0] for one in wanted() if (found := re.match(r"[\w.-]+", one)))


def command(into: Path, python: str, platform: Platform) -> list[str]:
    """Give pip's command.

    Args:
        into: A folder.
        python: The minor version of the host's Python: "3.11".
        platform: The host's.
    """
    words = _pip("install", python, platform)
    return [*words, "--no-compile", "--target", str(into), *wanted()]


def _pip(does: str, python: str, platform: Platform) -> list[str]:
    words = [sys.executable, "-m", "pip", does, "--quiet", "--disable-pip-version-check"]
    words += ["--no-cache-dir"]  # nothing is written elsewhere
    words += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
    for tag in _TAGS[platform]:
        words += ["--platform", tag]
    return words


def download(into: Path, python: str, platform: Platform) -> None:
    """Put the wheels of all that the bridge depends on into a folder; others may be there.

    Raises:
        NotVendored: pip could not; says what it said.
    """
    _run([*_pip("download", python, platform), "--dest", str(into), *wanted()], into)
    _refuse_qt(into)


def fill(into: Path, python: str, platform: Platform) -> None:
    """Put the bridge and all that it depends on into a folder that is not there yet.

    Raises:
        NotVendored: pip could not; says what it said.
    """
    _run(command(into, python, platform), into)
    shutil.rmtree(into / "bin", ignore_errors=True)  # commands of this Python, not of the host's
    _refuse_qt(into)
    shutil.copytree(_PACKAGE, into / "dcc_bridge", ignore=_SKIP)


def _run(words: list[str], into: Path) -> None:
    done = subprocess.run(
        words,
        # pip asks rustc for its version, for its statistics, and rustup then writes settings.
        env={**os.environ, "RUSTUP_HOME": str(into.parent / ".rustup")},
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise NotVendored(
            f"pip could not bring what the bridge depends on: {said[-1] if said else 'no reason'}. "
            "Look whether this computer reaches a package index."
        )
    shutil.rmtree(into.parent / ".rustup", ignore_errors=True)


def _refuse_qt(into: Path) -> None:
    found = [one.name for one in into.iterdir() if _NEVER.match(one.name)]
    if found:
        raise NotVendored(f"Qt came along ({', '.join(found)}), and must not: nothing was put.")
