"""Where Houdini looks: a package's JSON file in one of its folders. Any thread.

By SideFX's documentation of packages; it was not run in Houdini.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.config import data_folder
from dcc_bridge.install.places.place import Kind, NoPlace, Place, Told, numbers, wanted
from dcc_bridge.install.system import System

_ASK: Final = """\
import json, os, sys
import hou
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    json.dump({
        "version": hou.applicationVersionString(),
        "python": "%d.%d" % sys.version_info[:2],
    }, out)
"""


def _asking(program: str, folder: Path) -> list[str]:
    return [program, "-c", _ASK]


def _python(version: str) -> str | None:
    here = numbers(version)
    return "3.13" if here >= (22,) else "3.11" if here >= (20, 5) else None


def place(system: System, told: Told, for_all: bool) -> Place:
    """Tell where the package goes, and the file that names it."""
    version = numbers(wanted(told.version, "Houdini", "21.0"))
    if len(version) < 2:
        raise NoPlace("Houdini's folders have two numbers in their name; say --version 21.0.")
    name = f"{version[0]}.{version[1]}"
    packages = _shared(system, name) if for_all else _own(system, name)
    text = (data_folder("plugins") / "houdini" / "dcc_bridge.json").read_text(encoding="utf-8")
    vendor = f"vendor/py{(told.python or '').replace('.', '')}-{system.mark}"
    below = ("python3.11libs", "python3.13libs", "python_panels", "scripts", "skills", "toolbar")
    return Place(
        packages / "dcc_bridge",
        vendor,
        {packages / "dcc_bridge.json": text},
        tuple((one, one) for one in below),
    )


def _own(system: System, version: str) -> Path:
    named = system.env.get("HOUDINI_USER_PREF_DIR")
    if named:
        return Path(named.replace("__HVER__", version)) / "packages"
    if system.platform == "darwin":
        return system.home / "Library/Preferences/houdini" / version / "packages"
    below = ("Documents",) if system.platform == "win32" else ()
    return system.home.joinpath(*below, f"houdini{version}", "packages")


def _shared(system: System, version: str) -> Path:
    site = system.env.get("HSITE")
    if not site:
        raise NoPlace("For all users Houdini looks where HSITE says, and that is not set.")
    return Path(site) / f"houdini{version}" / "packages"


HOUDINI: Final = Kind(
    name="houdini",
    title="Houdini",
    programs=("hython",),
    asking=_asking,
    python=_python,
    place=place,
    first=(20, 5),
    after="Start Houdini again: the tool is on the shelf Agents.",
    known=("20.5", "21.0", "21.5", "22.0", "22.5"),
)
