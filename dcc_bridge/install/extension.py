"""Blender's extension as one file, which Blender 4.2 and newer install from disk. Main thread.

By the Blender manual, "Creating Extensions" and "Python Wheels": the manifest names the wheels, and
Blender unpacks those that fit its Python and its system into a folder of its own, from which it
takes them again when the extension is disabled. So what the bridge depends on comes as wheels, for
each Python that a Blender has, and the bridge itself comes as one.
"""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

from dcc_bridge.config import data_folder
from dcc_bridge.install import vendor
from dcc_bridge.install.system import Platform

PYTHONS: Final = ("3.11", "3.13")
"""What Blender 4.2 to 5.0 has, and what 5.1 and newer have."""
_SYSTEMS: Final[dict[Platform, str]] = {
    "linux": "linux-x64",
    "win32": "windows-x64",
    "darwin": "macos-arm64",
}
_MARK: Final = "# `dcc-bridge pack` puts here"
_SKIP: Final = shutil.ignore_patterns("__pycache__", "*.pyc")


def build(into: Path, platform: Platform) -> Path:
    """Make the file.

    Args:
        into: The folder in which it is put; one of that name is replaced.
        platform: The system for which its compiled parts are.

    Returns:
        The file.

    Raises:
        NotVendored: What it depends on cannot be had.
        OSError: It cannot be written.
    """
    source = data_folder("plugins") / "blender"
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
        folder = Path(temporary, "it")
        shutil.copytree(source / "dcc_bridge_blender", folder, ignore=_SKIP)
        shutil.copytree(source / "skills", folder / "skills", ignore=_SKIP)
        wheels = folder / "wheels"
        wheels.mkdir()
        for python in PYTHONS:
            vendor.download(wheels, python, platform)
        _own_wheel(wheels)
        manifest = folder / "blender_manifest.toml"
        text = _filled(manifest.read_text(encoding="utf-8"), wheels, platform)
        manifest.write_text(text, encoding="utf-8")
        told = tomllib.loads(text)
        into.mkdir(parents=True, exist_ok=True)
        target = into / f"{told['id']}-{told['version']}-{_SYSTEMS[platform]}.zip"
        part = Path(temporary, "packed.zip")
        _pack(part, ((file, str(file.relative_to(folder).as_posix())) for file in _files(folder)))
        shutil.move(part, target)
    return target


def _filled(manifest: str, wheels: Path, platform: Platform) -> str:
    """Give the manifest with the wheels in it, before its first table."""
    names = [f"./wheels/{file.name}" for file in sorted(wheels.iterdir())]
    lines = "".join(f"  {json.dumps(name)},\n" for name in names)
    told = f"platforms = [{json.dumps(_SYSTEMS[platform])}]\nwheels = [\n{lines}]\n"
    before, mark, after = manifest.partition(_MARK)
    assert mark, "the manifest has lost the place for its wheels"
    return before + told + after.partition("\n")[2]


def _own_wheel(into: Path) -> None:
    """Make a wheel of this package as it is here: no build tool is there for it.

    By the specification of the binary distribution format.
    """
    version = metadata.version("dcc-bridge")
    info = f"dcc_bridge-{version}.dist-info"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: dcc-bridge\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: dcc-bridge\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    package = Path(__file__).resolve().parents[1]
    files = [(one, one.relative_to(package.parent).as_posix()) for one in _files(package)]
    data = {name: file.read_bytes() for file, name in files}
    data |= {name: text.encode() for name, text in texts.items()}
    record = "".join(f"{name},{_digest(each)},{len(each)}\n" for name, each in data.items())
    data[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = into / f"dcc_bridge-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, each in data.items():
            out.writestr(name, each)


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()


def _files(folder: Path) -> Iterator[Path]:
    every = (one for one in sorted(folder.rglob("*")) if one.is_file())
    return (one for one in every if one.suffix != ".pyc")


def _pack(target: Path, files: Iterator[tuple[Path, str]]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for file, name in files:
            out.write(file, name)
