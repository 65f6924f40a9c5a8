"""Where Maya looks: a ``.mod`` file in one of its folders of modules. Any thread.

By Autodesk's documentation of MAYA_MODULE_PATH and of module files; it was not run in Maya.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.config import data_folder
from dcc_bridge.install.places.place import Kind, Place, Told, numbers, wanted
from dcc_bridge.install.system import System

_ASK: Final = """\
import json, os, sys
import maya.standalone
maya.standalone.initialize()
from maya import cmds
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    json.dump({
        "version": str(cmds.about(version=True)),
        "python": "%d.%d" % sys.version_info[:2],
    }, out)
"""


def _asking(program: str, folder: Path) -> list[str]:
    return [program, "-c", _ASK]


def _python(version: str) -> str | None:
    return "3.11" if numbers(version)[:1] in ((2025,), (2026,)) else None


def place(system: System, told: Told, for_all: bool) -> Place:
    """Tell where the module goes, and the file that names it."""
    modules = _shared(system, wanted(told.version, "Maya", "2026")) if for_all else _own(system)
    text = (data_folder("plugins") / "maya" / "dcc_bridge.mod").read_text(encoding="utf-8")
    vendor = f"vendor/py{(told.python or '').replace('.', '')}-{system.mark}"
    return Place(
        modules.parent / "dcc_bridge",
        vendor,
        {modules / "dcc_bridge.mod": text},
        (("plug-ins", "plug-ins"), ("scripts", "scripts"), ("skills", "skills")),
    )


def _own(system: System) -> Path:
    named = system.env.get("MAYA_APP_DIR")
    if named:
        return Path(named) / "modules"
    if system.platform == "darwin":
        return system.home / "Library/Preferences/Autodesk/maya/modules"
    below = ("Documents",) if system.platform == "win32" else ()
    return system.home.joinpath(*below, "maya", "modules")


def _shared(system: System, version: str) -> Path:
    if system.platform == "win32":
        common = system.env.get("COMMONPROGRAMFILES", r"C:\Program Files\Common Files")
        return Path(common, "Autodesk Shared", "Modules", "maya", version)
    if system.platform == "darwin":
        return Path("/Users/Shared/Autodesk/modules/maya", version)
    return Path("/usr/autodesk/modules/maya", version)


MAYA: Final = Kind(
    name="maya",
    title="Maya",
    programs=("mayapy",),
    asking=_asking,
    python=_python,
    place=place,
    first=(2025,),
    after="Start Maya again: the button is on the shelf Agents.",
    known=("2025", "2026", "2027"),
)
