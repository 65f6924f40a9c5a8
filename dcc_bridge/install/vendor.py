"""Copies the bridge and its dependencies into a folder, for an application's Python. Main thread.

Native code is built for one minor version of Python and one system, so there is a folder for each.
Qt is never included: the host has its own Qt, and crashes with a second one.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.install import wheels
from dcc_bridge.install.archive import write_wheel
from dcc_bridge.install.builds import Build
from dcc_bridge.install.wheels import NotVendored as NotVendored

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_VENDORED: Final = "dcc_bridge.vendored"
"""The group of entry points for packages that are copied together with the bridge."""


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


def download(into: Path, python: str, build: Build) -> None:
    """Download wheels of the bridge's dependencies into a folder, which may have other files.

    Args:
        into: The folder.
        python: The minor version of Python that the wheels are for: "3.11".
        build: The system that the wheels are for.

    Raises:
        NotVendored: pip could not fetch the wheels, or Qt is among them.
    """
    wheels.download(into, requirements(), python, build)


def absent_packages(folder: Path) -> list[str]:
    """Return the packages that `download` left out of the wheels in a folder, although required."""
    return wheels.absent_packages(folder)


def fill(into: Path, python: str, build: Build) -> None:
    """Put the bridge and its dependencies into a folder, which must not exist yet.

    Args:
        into: The folder.
        python: The minor version of the host's Python: "3.11".
        build: The system and the processor of the host.

    Raises:
        NotVendored: pip could not fetch a package, or Qt is among them.
    """
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        folder = Path(temporary)
        download(folder, python, build)
        build_own_wheel(folder)  # includes the metadata of the bridge's version
        for wheel in sorted(folder.glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(into)


def copy_sources(source: Path, target: Path) -> None:
    """Copy a folder, without compiled Python files, to a folder that may exist."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)


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
    wheel = into / f"dcc_bridge_mcp-{version}-py3-none-any.whl"
    write_wheel(wheel, content, info)
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
