"""Brings the bridge and what it depends on elsewhere: as a folder, an extension or a bundle.

Native code is built for one minor version of Python and one system, so there is a folder for each.
Qt is never among it: the host has its own, and a second one ends it.

Blender 4.2 and newer install an extension from one file. By the Blender manual, "Creating
Extensions" and "Python Wheels", its manifest names wheels, and Blender unpacks those that fit its
Python and its system into a folder of its own, from which it takes them again when the extension is
disabled. So what the bridge depends on comes as wheels, for each Python that a Blender has, and the
bridge itself comes as one.

Claude Desktop installs a server from one file too, an MCP bundle. By its specification
(github.com/modelcontextprotocol/mcpb, MANIFEST.md, 0.4) the server type "uv" leaves Python and what
the server depends on to uv, which reads the project file in the bundle. Main thread.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

from dcc_bridge.config import data_folder
from dcc_bridge.errors import DISTRIBUTION, BridgeError
from dcc_bridge.install.locations import Platform

# pip does not go down from a tag to an older one, so each is named. Newer ones than 2.28 do not
# load on the systems of the VFX Reference Platform CY2024 to CY2026.
_TAGS: Final[dict[Platform, tuple[str, ...]]] = {
    "linux": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "win32": ("win_amd64",),
    "darwin": ("macosx_11_0_arm64", "macosx_10_13_x86_64"),
}
_NEVER: Final = re.compile(r"(pyside|shiboken|pyqt|qtpy)", re.IGNORECASE)
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_VENDORED: Final = "dcc_bridge.vendored"
"""The group of entry points that name packages which go wherever the bridge goes."""
_TIMEOUT: Final = 600  # seconds for pip, which may have to download all of it
_BLENDER_PYTHONS: Final = ("3.11", "3.13")  # what 4.2 to 5.0 has, and what 5.1 and newer have
_BLENDER_SYSTEMS: Final = {"linux": "linux-x64", "win32": "windows-x64", "darwin": "macos-arm64"}
_WHEELS_MARK: Final = "# `dcc-bridge pack` puts here"
_PYTHONS: Final = ("3.11", "3.12", "3.13")  # those that uv may choose for a bundle


class NotVendored(BridgeError):
    """What the bridge depends on cannot be had; says why."""


def requirements() -> list[str]:
    """List what the bridge depends on, as its own installation says.

    In a checkout its project file does: what is installed of that may be older.
    """
    project = _PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        return list(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"])
    requirements = metadata.requires(DISTRIBUTION) or []
    return [requirement for requirement in requirements if "extra ==" not in requirement]


def names() -> list[str]:
    """List what the bridge depends on, by name."""
    matches = (re.match(r"[\w.-]+", requirement) for requirement in requirements())
    return sorted(match[0] for match in matches if match)


def command(into: Path, python: str, platform: Platform) -> list[str]:
    """Give pip's command that fills a folder for a host's minor version of Python, as in "3.11"."""
    words = _pip("install", python, platform)
    return [*words, "--no-compile", "--target", str(into), *requirements()]


def _pip(command: str, python: str, platform: Platform) -> list[str]:
    words = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check"]
    words += ["--no-cache-dir"]  # nothing is written but the folder
    words += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
    for tag in _TAGS[platform]:
        words += ["--platform", tag]
    return words


def download(into: Path, python: str, platform: Platform) -> None:
    """Put the wheels of all that the bridge depends on into a folder; others may be there."""
    _run([*_pip("download", python, platform), "--dest", str(into), *requirements()], into)
    _refuse_qt(into)


def fill(into: Path, python: str, platform: Platform) -> None:
    """Put the bridge and all that it depends on into a folder that is not there yet."""
    _run(command(into, python, platform), into)
    shutil.rmtree(into / "bin", ignore_errors=True)  # commands of this Python, not of the host's
    _refuse_qt(into)
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:  # with its own version
        zipfile.ZipFile(_build_own_wheel(Path(temporary))).extractall(into)


def copy_sources(source: Path, target: Path) -> None:
    """Copy a folder into another, which may be there; what Python compiled stays behind."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)


def _run(words: list[str], into: Path) -> None:
    done = subprocess.run(
        words,
        # pip asks rustc for its version, for its statistics, and rustup then writes settings.
        env={**os.environ, "RUSTUP_HOME": str(into.parent / ".rustup")},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        raise NotVendored(
            f"pip could not fetch what the bridge depends on: {reason}. Check that this computer "
            "reaches a package index."
        )
    shutil.rmtree(into.parent / ".rustup", ignore_errors=True)


def _refuse_qt(into: Path) -> None:
    names = [path.name for path in into.iterdir() if _NEVER.match(path.name)]
    if names:
        raise NotVendored(f"Qt ({', '.join(names)}) must not come along: nothing was installed.")


def build_extension(into: Path, platform: Platform) -> Path:
    """Make Blender's extension for a system in a folder, in place of one of that name."""
    source = data_folder("plugins") / "blender" / "dcc_bridge_blender"
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        folder = Path(temporary, "extension")
        copy_sources(source, folder)
        wheels = folder / "wheels"
        wheels.mkdir()
        for python in _BLENDER_PYTHONS:
            download(wheels, python, platform)
        _build_own_wheel(wheels)
        manifest = folder / "blender_manifest.toml"
        text = _with_wheels(manifest.read_text(encoding="utf-8"), wheels, platform)
        manifest.write_text(text, encoding="utf-8")
        table = tomllib.loads(text)
        target = into / f"{table['id']}-{table['version']}-{_BLENDER_SYSTEMS[platform]}.zip"
        _zip(folder, target)
    return target


def _zip(folder: Path, target: Path) -> None:
    """Put the files of a folder into an archive, which is there as a whole or not at all."""
    packed = folder.with_suffix(".packed")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _files(folder):
            archive.write(file, file.relative_to(folder).as_posix())
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(packed, target)


def _with_wheels(manifest: str, wheels: Path, platform: Platform) -> str:
    """Give the manifest with the wheels in it, before its first table."""
    names = [f"./wheels/{file.name}" for file in sorted(wheels.iterdir())]
    lines = "".join(f"  {json.dumps(name)},\n" for name in names)
    settings = f"platforms = [{json.dumps(_BLENDER_SYSTEMS[platform])}]\nwheels = [\n{lines}]\n"
    before, mark, after = manifest.partition(_WHEELS_MARK)
    assert mark, "the manifest has lost the place for its wheels"
    return before + settings + after.partition("\n")[2]


def _build_own_wheel(into: Path) -> Path:
    """Make a wheel of what runs in an application, by its specification: no build tool is there."""
    version = metadata.version(DISTRIBUTION)
    info = f"dcc_bridge_mcp-{version}.dist-info"
    facts = ["Metadata-Version: 2.1", f"Name: {DISTRIBUTION}", f"Version: {version}"]
    facts += [f"{name}: {_fact(name)}" for name in ("Summary", "Requires-Python")]
    facts += [f"Requires-Dist: {requirement}" for requirement in requirements()]
    data = {}
    for package in _packages():
        for file in _files(package):
            data[file.relative_to(package.parent).as_posix()] = file.read_bytes()
    data[f"{info}/METADATA"] = "\n".join([*facts, ""]).encode()
    tags = "Generator: dcc-bridge\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    data[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\n{tags}".encode()
    rows = []
    for name, content in data.items():
        digest = base64.urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}")
    data[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,\n"]).encode()
    wheel = into / f"dcc_bridge_mcp-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in data.items():
            archive.writestr(name, content)
    return wheel


def _packages() -> list[Path]:
    """List the packages that run inside an application: ours, and those that leaves declare."""
    declared = metadata.entry_points(group=_VENDORED)
    return [_PACKAGE, *(Path(it.load().__path__[0]) for it in declared)]


def _fact(name: str) -> str:
    return str(metadata.metadata(DISTRIBUTION)[name])


def _files(folder: Path) -> Iterator[Path]:
    return (it for it in sorted(folder.rglob("*")) if it.is_file() and it.suffix != ".pyc")


# An empty field of the settings gives "--host=", and one that was never seen its own name.
_SERVER: Final = """\
import sys

from dcc_bridge.cli import main

fields = [word for word in sys.argv[1:] if "${" not in word]
sys.exit(main(["connect", "--label", "claude-desktop", *fields]))
"""
_MANIFEST: Final = Path(__file__).with_name("claude_desktop.json")
_PROJECT: Final = """\
[project]
name = "dcc-bridge-mcp-bundle"
version = "{version}"
requires-python = "{python}"
dependencies = ["dcc-bridge-mcp"]
[tool.uv]
package = false
{only}[tool.uv.sources]
"""
# Without the environments uv looks for what other systems need, too.
_ONLY: Final = """\
no-index = true
find-links = ["wheels"]
environments = ["sys_platform == '{platform}'"]
"""


def build_bundle(into: Path, platform: Platform, *, offline: bool = False) -> Path:
    """Make the bundle for Claude Desktop in a folder, in place of one of that name.

    The bridge is in it as a wheel. What it depends on comes from a package index when the bundle
    is first started; `offline` puts that into it too, as wheels for a system.
    """
    version = metadata.version(DISTRIBUTION)
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        folder = Path(temporary, "bundle")
        wheels = folder / "wheels"
        wheels.mkdir(parents=True)
        for python in _PYTHONS if offline else ():
            download(wheels, python, platform)
        wheel = _build_own_wheel(wheels)
        (folder / "src").mkdir()
        (folder / "src" / "server.py").write_text(_SERVER)
        only = _ONLY.format(platform=platform) if offline else ""
        (folder / "pyproject.toml").write_text(
            _PROJECT.format(version=version, python=_fact("Requires-Python"), only=only)
            + f'{DISTRIBUTION} = {{ path = "wheels/{wheel.name}" }}\n'
        )
        manifest = json.loads(_MANIFEST.read_text(encoding="utf-8")) | {"version": version}
        if offline:
            manifest["compatibility"]["platforms"] = [platform]
        if runtime := os.environ.get("DCC_BRIDGE_RUNTIME"):  # where its hosts are found
            manifest["server"]["mcp_config"]["env"]["DCC_BRIDGE_RUNTIME"] = runtime
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=2))
        system = f"-{_BLENDER_SYSTEMS[platform]}" if offline else ""
        target = into / f"{DISTRIBUTION}-{version}{system}.mcpb"
        _zip(folder, target)
    return target
