"""Where FreeCAD looks: a folder ``Mod`` in its data folder. Any thread.

By FreeCAD's own documentation of its folders; 0.20.2 on Linux was run. From 1.1 on each version
has a folder of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.install.places.place import Kind, NoPlace, Place, Told, numbers
from dcc_bridge.install.system import System

_ASK: Final = """\
import json, os, sys
import FreeCAD
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    json.dump({
        "version": ".".join(FreeCAD.Version()[:3]),
        "python": "%d.%d" % sys.version_info[:2],
        "shared": os.path.join(FreeCAD.getHomePath(), "Mod"),
    }, out)
"""


def _asking(program: str, folder: Path) -> list[str]:
    script = folder / "ask.py"
    script.write_text(_ASK, encoding="utf-8")
    return [program, str(script)]


def _python(version: str) -> str | None:
    return "3.11" if numbers(version) >= (1, 0) else None


def place(system: System, told: Told, for_all: bool) -> Place:
    """Tell where the plug-in goes."""
    vendor = f"vendor/py{(told.python or '').replace('.', '')}-{system.mark}"
    if for_all:
        if told.shared is None:
            raise NoPlace(
                "Where FreeCAD looks for all users is asked of FreeCAD itself, and freecadcmd was "
                "not found; say --interpreter PATH."
            )
        return Place(told.shared / "dcc_bridge", vendor)
    return Place(_user(system, numbers(told.version or "")) / "Mod" / "dcc_bridge", vendor)


def _user(system: System, version: tuple[int, ...]) -> Path:
    named = system.env.get("FREECAD_USER_DATA")
    if named:
        return Path(named)
    base = system.data() if system.platform == "linux" else system.roaming()
    folder = base / "FreeCAD"
    return folder / f"v{version[0]}-{version[1]}" if version >= (1, 1) else folder


FREECAD: Final = Kind(
    name="freecad",
    title="FreeCAD",
    programs=("freecadcmd", "FreeCADCmd", "freecad.cmd"),
    asking=_asking,
    python=_python,
    place=place,
    first=(0, 20),
    after="Start FreeCAD again: dcc-bridge list shows it.",
    known=("1.0", "1.1", "1.2", "1.3"),
)
