"""Copies the bridge and its dependencies into a folder, for an application's Python. Main thread.

Native code is built for one minor version of Python and one system, so there is a folder for each.
Qt is never included: the host has its own Qt, and crashes with a second one.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from dcc_bridge.errors import DISTRIBUTION, BridgeError
from dcc_bridge.install.places import Platform

# pip does not also try older tags, so each tag is named. Wheels with newer tags than 2.28 do not
# load on the systems of the VFX Reference Platform CY2024 to CY2026.
_TAGS: Final[dict[Platform, tuple[str, ...]]] = {
    "linux": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "win32": ("win_amd64",),
    "darwin": ("macosx_11_0_arm64", "macosx_10_13_x86_64"),
}
_QT: Final = re.compile(r"(pyside|shiboken|pyqt|qtpy)", re.IGNORECASE)
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_VENDORED: Final = "dcc_bridge.vendored"
"""The group of entry points for packages that are copied together with the bridge."""
_PIP_TIMEOUT_S: Final = 600  # pip may have to download all packages


class NotVendored(BridgeError):
    """A dependency of the bridge cannot be fetched. The message says why."""


def requirements() -> list[str]:
    """Return the requirements of the bridge, as its installation lists them.

    In a checkout they are read from the project file, because the metadata may be older.
    """
    project = _PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        return list(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"])
    requirements = metadata.requires(DISTRIBUTION) or []
    return [requirement for requirement in requirements if "extra ==" not in requirement]


def names() -> list[str]:
    """Return the names of the bridge's dependencies."""
    names = []
    for requirement in requirements():
        match = re.match(r"[\w.-]+", requirement)
        if match is not None:
            names.append(match[0])
    return sorted(names)


def command(into: Path, python: str, platform: Platform) -> list[str]:
    """Return pip's command that installs the bridge's dependencies into a folder.

    Args:
        into: The folder.
        python: The minor version of the host's Python: "3.11".
        platform: The system of the host.
    """
    words = _pip("install", python, platform)
    return [*words, "--no-compile", "--target", str(into), *requirements()]


def _pip(command: str, python: str, platform: Platform) -> list[str]:
    words = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check"]
    words += ["--no-cache-dir"]  # pip writes only the folder
    words += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
    for tag in _TAGS[platform]:
        words += ["--platform", tag]
    return words


def download(into: Path, python: str, platform: Platform) -> None:
    """Download wheels of the bridge's dependencies into a folder, which may have other files.

    Args:
        into: The folder.
        python: The minor version of Python that the wheels are for: "3.11".
        platform: The system that the wheels are for.

    Raises:
        NotVendored: pip could not fetch the wheels, or Qt is among them.
    """
    _run([*_pip("download", python, platform), "--dest", str(into), *requirements()], into)
    _refuse_qt(into)


def fill(into: Path, python: str, platform: Platform) -> None:
    """Install the bridge and its dependencies into a folder, which must not exist yet.

    Args:
        into: The folder.
        python: The minor version of the host's Python: "3.11".
        platform: The system of the host.

    Raises:
        NotVendored: pip could not fetch a package, or Qt is among them.
    """
    _run(command(into, python, platform), into)
    shutil.rmtree(into / "bin", ignore_errors=True)  # commands of this Python, not of the host's
    _refuse_qt(into)
    # From a wheel, which includes the metadata of the bridge's version.
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        wheel = build_own_wheel(Path(temporary))
        zipfile.ZipFile(wheel).extractall(into)


def copy_sources(source: Path, target: Path) -> None:
    """Copy a folder, without compiled Python files, to a folder that may exist."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)


def _run(words: list[str], into: Path) -> None:
    """Run pip, or raise NotVendored."""
    # For its statistics pip asks rustc for its version, and rustup then writes settings.
    rustup_home = into.parent / ".rustup"
    env = {**os.environ, "RUSTUP_HOME": str(rustup_home)}
    try:
        with _python_with_pip(env) as python:
            process = subprocess.run(
                [python, *words[1:]],
                env=env,
                capture_output=True,
                text=True,
                timeout=_PIP_TIMEOUT_S,
                check=False,
            )
    except subprocess.TimeoutExpired:
        minutes = _PIP_TIMEOUT_S // 60
        raise NotVendored(f"pip did not end in {minutes} minutes. Try again.") from None
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines() or ["no reason"]
        raise NotVendored(
            f"pip could not fetch what the bridge depends on: {lines[-1]}. Check that this "
            "computer reaches a package index."
        )
    shutil.rmtree(rustup_home, ignore_errors=True)


@contextmanager
def _python_with_pip(env: Mapping[str, str]) -> Iterator[str]:
    """Yield a Python that has pip: this one, or one in a temporary environment.

    The environments that `uvx` makes have no pip.

    Args:
        env: The variables with which programs are started.

    Raises:
        NotVendored: This Python cannot make an environment with pip.
    """
    if find_spec("pip") is not None:
        yield sys.executable
        return
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        words = [sys.executable, "-m", "venv", folder]
        process = subprocess.run(
            words, env=env, capture_output=True, timeout=_PIP_TIMEOUT_S, check=False
        )
        if process.returncode != 0:
            raise NotVendored(
                f"{sys.executable} has no pip, and cannot make an environment with pip. Use "
                "another Python, or install the package venv of this one."
            )
        if sys.platform == "win32":
            yield str(Path(folder, "Scripts", "python.exe"))
        else:
            yield str(Path(folder, "bin", "python"))


def _refuse_qt(into: Path) -> None:
    names = [path.name for path in into.iterdir() if _QT.match(path.name)]
    if names:
        raise NotVendored(f"Qt ({', '.join(names)}) must not come along: nothing was installed.")


def build_own_wheel(into: Path) -> Path:
    """Make a wheel of the packages that run in an application, and return its path.

    This follows the specification of wheels, because no build tool may be installed.

    Args:
        into: The folder for the wheel.
    """
    version = metadata.version(DISTRIBUTION)
    info = f"dcc_bridge_mcp-{version}.dist-info"
    content: dict[str, bytes] = {}
    for package in _packages():
        for file in files_below(package):
            content[file.relative_to(package.parent).as_posix()] = file.read_bytes()
    content[f"{info}/METADATA"] = _metadata(version).encode()
    tags = "Generator: dcc-bridge\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    content[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\n{tags}".encode()
    content[f"{info}/RECORD"] = _record(content, f"{info}/RECORD").encode()
    wheel = into / f"dcc_bridge_mcp-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return wheel


def _metadata(version: str) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {DISTRIBUTION}",
        f"Version: {version}",
        f"Summary: {own_metadata('Summary')}",
        f"Requires-Python: {own_metadata('Requires-Python')}",
    ]
    for requirement in requirements():
        lines.append(f"Requires-Dist: {requirement}")
    return "\n".join([*lines, ""])


def _record(content: dict[str, bytes], own_name: str) -> str:
    """Return the RECORD of a wheel: its files with their digests, and the RECORD itself."""
    rows = []
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join([*rows, f"{own_name},,\n"])


def _packages() -> list[Path]:
    """Return the packages that run inside an application: our own, and those of leaves."""
    packages = [_PACKAGE]
    for entry in metadata.entry_points(group=_VENDORED):
        packages.append(Path(entry.load().__path__[0]))
    return packages


def own_metadata(name: str) -> str:
    """Return a field of the metadata of our own distribution."""
    return str(metadata.metadata(DISTRIBUTION)[name])


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder in order, without compiled Python files."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield path
