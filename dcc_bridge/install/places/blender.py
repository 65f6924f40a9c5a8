"""Where Blender looks for add-ons: ``scripts/addons`` in the folder of its version. Any thread.

By the Blender manual, "Blender's Directory Layout"; 3.4 on Linux was run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.install.places.place import Kind, NoPlace, Place, Told, numbers, wanted
from dcc_bridge.install.system import System

_ASK: Final = """\
import json, os, sys
import bpy
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    json.dump({
        "version": ".".join(map(str, bpy.app.version)),
        "python": "%d.%d" % sys.version_info[:2],
        "shared": os.path.join(bpy.utils.system_resource("SCRIPTS"), "addons"),
    }, out)
"""
_NAME: Final = "dcc_bridge_blender"
_SOURCES: Final = ((_NAME, "."), ("skills", "skills"))


def _asking(program: str, folder: Path) -> list[str]:
    return [program, "-b", "--factory-startup", "--python-expr", _ASK]


def _python(version: str) -> str | None:
    here = numbers(version)
    return "3.13" if here >= (5, 1) else "3.11" if here >= (4, 1) else None


def place(system: System, told: Told, for_all: bool) -> Place:
    """Tell where the plug-in goes."""
    if for_all:
        if told.shared is None:
            raise NoPlace(
                "Where Blender looks for all users is asked of Blender itself, which was not "
                "found; say --interpreter PATH."
            )
        return Place(told.shared / _NAME, "vendor", sources=_SOURCES)
    return Place(_scripts(system, told) / "addons" / _NAME, "vendor", sources=_SOURCES)


def _scripts(system: System, told: Told) -> Path:
    for variable, below in (("BLENDER_USER_SCRIPTS", ()), ("BLENDER_USER_RESOURCES", ("scripts",))):
        named = system.env.get(variable)
        if named:
            return Path(named).joinpath(*below)
    version = numbers(wanted(told.version, "Blender", "4.5"))
    name = ".".join(map(str, version[:2]))
    if system.platform == "linux":
        return system.config() / "blender" / name / "scripts"
    family = ("Blender Foundation", "Blender") if system.platform == "win32" else ("Blender",)
    return system.roaming().joinpath(*family, name, "scripts")


BLENDER: Final = Kind(
    name="blender",
    title="Blender",
    programs=("blender",),
    asking=_asking,
    python=_python,
    place=place,
    first=(3, 4),
    after="In Blender, switch it on once: Edit > Preferences > Add-ons > DCC Bridge.",
    known=("3.4", "3.6", *(f"{one}.{two}" for one in (4, 5, 6) for two in range(6))),
)
