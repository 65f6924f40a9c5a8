"""Packs the bridge into one file: Blender's extension, Claude Desktop's bundle. Main thread.

Blender 4.2 and newer install an extension from one file. By the Blender manual, "Creating
Extensions" and "Python Wheels", the manifest names wheels. Blender unpacks the wheels that fit its
Python and its system into its own folder, and removes them when the extension is disabled. So the
extension contains the bridge as a wheel, and its dependencies as wheels for each Blender's Python.

Claude Desktop installs a server from one file too, an MCP bundle. By the specification
(github.com/modelcontextprotocol/mcpb, MANIFEST.md, 0.4), for the server type "uv" the tool uv
provides Python and the dependencies, which it reads in the project file of the bundle.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

from dcc_bridge.config import data_folder
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.install import vendor
from dcc_bridge.install.archive import write_archive
from dcc_bridge.install.builds import Build

_BLENDER_PYTHONS: Final = ("3.11", "3.13")  # of Blender 4.2 to 5.0, and of 5.1 and newer
_WHEELS_MARK: Final = "# `dcc-bridge pack` puts here"
_BUNDLE_PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")  # those that uv may choose for a bundle
_BUNDLE_BEFORE: Final = "3.15"  # the first Python for which a bundle has no packages
_RUNTIME: Final = "DCC_BRIDGE_RUNTIME"
# The program that Claude Desktop starts. An empty field of its settings arrives as "--host=", and
# a field that the person has never seen arrives unresolved, as "--host=${...}".
_SERVER: Final = """\
import sys

from dcc_bridge.cli import main

fields = [word for word in sys.argv[1:] if "${" not in word]
sys.exit(main(["connect", "--label", "claude-desktop", *fields]))
"""
_MANIFEST: Final = Path(__file__).with_name("claude_desktop.json")
_ICON: Final = _MANIFEST.with_suffix(".png")
_PROJECT: Final = """\
[project]
name = "dcc-bridge-mcp-bundle"
version = "{version}"
requires-python = "{python}"
dependencies = ["dcc-bridge-mcp"]
[tool.uv]
package = false
{offline}[tool.uv.sources]
"""
# Without "environments", uv would also look for the packages of other systems. What is overridden
# is not among the wheels, and is not needed.
_OFFLINE: Final = """\
no-index = true
find-links = ["wheels"]
environments = ["sys_platform == '{build.platform}' and platform_machine == '{build.machine}'"]
override-dependencies = [{overridden}]
"""


def build_extension(into: Path, build: Build) -> Path:
    """Make Blender's extension for a system, replacing a file of the same name.

    Args:
        into: The folder for the extension.
        build: The system that it is for.

    Returns:
        The path of the extension.

    Raises:
        NotVendored: A dependency of the bridge cannot be fetched.
        OSError: The extension cannot be written.
    """
    source = data_folder("plugins") / "blender" / "dcc_bridge_blender"
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        folder = Path(temporary, "extension")
        vendor.copy_sources(source, folder)
        wheels = folder / "wheels"
        wheels.mkdir()
        for python in _BLENDER_PYTHONS:
            vendor.download(wheels, python, build)
        vendor.build_own_wheel(wheels)
        manifest = folder / "blender_manifest.toml"
        text = _with_wheels(manifest.read_text(encoding="utf-8"), wheels, build)
        manifest.write_bytes(text.encode())
        fields = tomllib.loads(text)
        target = into / f"{fields['id']}-{fields['version']}-{build.name}.zip"
        _zip(folder, target)
    return target


def _with_wheels(manifest: str, wheels: Path, build: Build) -> str:
    """Return Blender's manifest with the list of wheels inserted before the first table."""
    lines = [f"platforms = [{json.dumps(build.name)}]", "wheels = ["]
    for file in sorted(wheels.iterdir()):
        lines.append(f"  {json.dumps(f'./wheels/{file.name}')},")
    lines.append("]")
    settings = "".join(f"{line}\n" for line in lines)
    before, mark, after = manifest.partition(_WHEELS_MARK)
    assert mark, "the manifest has lost the place for its wheels"
    return before + settings + after.partition("\n")[2]


def build_bundle(into: Path, build: Build | None = None) -> Path:
    """Make the bundle for Claude Desktop, replacing a file of the same name.

    The bundle contains the bridge as a wheel.

    Args:
        into: The folder for the bundle.
        build: The system for which the bundle also contains the dependencies, as wheels. None: it
            is for any system, and they come from a package index when it is first started.

    Returns:
        The path of the bundle.

    Raises:
        NotVendored: A dependency of the bridge cannot be fetched.
        OSError: The bundle cannot be written.
    """
    version = metadata.version(DISTRIBUTION)
    system = ""
    if build is not None:
        system = f"-{build.name}"
    target = into / f"{DISTRIBUTION}-{version}{system}.mcpb"
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        folder = Path(temporary, "bundle")
        wheels = folder / "wheels"
        wheels.mkdir(parents=True)
        if build is not None:
            for python in _BUNDLE_PYTHONS:
                vendor.download(wheels, python, build)
        wheel = vendor.build_own_wheel(wheels)
        (folder / "src").mkdir()
        (folder / "src" / "server.py").write_bytes(_SERVER.encode())
        (folder / "pyproject.toml").write_bytes(_project(version, wheel, build).encode())
        (folder / "manifest.json").write_bytes(_manifest(version, build).encode())
        shutil.copyfile(_ICON, folder / "icon.png")
        _zip(folder, target)
    return target


def _project(version: str, wheel: Path, build: Build | None) -> str:
    """Return the project file of a bundle, which uv reads."""
    python = vendor.own_metadata("Requires-Python")
    offline_settings = ""
    if build is not None:
        absent = vendor.absent_packages(wheel.parent)
        overridden = ", ".join(json.dumps(f"{name}; sys_platform == 'none'") for name in absent)
        offline_settings = _OFFLINE.format(build=build, overridden=overridden)
        python = f"{python},<{_BUNDLE_BEFORE}"
    text = _PROJECT.format(version=version, python=python, offline=offline_settings)
    return text + f'{DISTRIBUTION} = {{ path = "wheels/{wheel.name}" }}\n'


def _manifest(version: str, build: Build | None) -> str:
    """Return the manifest of a bundle, which Claude Desktop reads."""
    manifest = json.loads(_MANIFEST.read_text(encoding="utf-8"))
    manifest["version"] = version
    if build is not None:
        manifest["compatibility"]["platforms"] = [build.platform]
    runtime = os.environ.get(_RUNTIME)
    if runtime:  # the folder of the running hosts' records
        manifest["server"]["mcp_config"]["env"][_RUNTIME] = runtime
    return json.dumps(manifest, indent=2)


def _zip(folder: Path, target: Path) -> None:
    """Write the files of a folder into an archive, atomically."""
    content = {}
    for file in vendor.files_below(folder):
        content[file.relative_to(folder).as_posix()] = file.read_bytes()
    packed = folder.with_suffix(".packed")
    write_archive(packed, content)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(packed, target)
