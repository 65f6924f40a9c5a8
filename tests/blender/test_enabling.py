"""A real Blender enables the add-on in a user's preferences, and changes nothing else in them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.cli.leaves import targets
from dcc_bridge.install.locations import Facts, System
from tests.blender import bpy_module

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

BLENDER = targets()["blender"]
VERSIONS = (bpy_module.IN_BACKGROUND, *bpy_module.VERSIONS)
ADD_ON = "bl_info = {'blender': (3, 4, 0)}\n\n\ndef register(): pass\n\n\ndef unregister(): pass\n"
BROKEN = "raise ImportError('no module of this Blender')\n"
# Where it is a module, Blender starts with the settings of the factory.
MODULE = """
import os, runpy, sys, bpy

bpy.ops.wm.read_userpref()
runpy.run_path(sys.argv[1], run_name="__main__")
"""
# Every value of the preferences that can be compared, and the names of the add-ons.
READ = """
import json, os, bpy

def values(group, depth=0):
    found = {}
    for name, property in group.bl_rna.properties.items():
        if name == "rna_type" or name == "is_dirty":
            continue
        value = getattr(group, name)
        if isinstance(value, set):
            value = sorted(value)
        if property.type == "POINTER" and value is not None and depth < 3:
            found[name] = values(value, depth + 1)
        elif property.type != "COLLECTION":
            found[name] = repr(value)
    return found

preferences = bpy.context.preferences
if os.environ["CHANGE"]:
    preferences.view.show_splash = False
    preferences.edit.undo_steps = 77
    bpy.ops.wm.save_userpref()
seen = {
    "version": list(bpy.app.version),
    "values": values(preferences),
    "addons": sorted(preferences.addons.keys()),
}
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    json.dump(seen, out)
"""


class Home:
    """A user's home with a Blender of one version."""

    def __init__(self, version: str, folder: Path) -> None:
        self._folder = folder
        if version == bpy_module.IN_BACKGROUND:
            if bpy_module.PROGRAM is None:
                pytest.skip("Blender is not installed")
            self._words: list[str | Path] = [bpy_module.PROGRAM, "-b", "--python"]
        else:
            (folder / "module.py").write_text(MODULE)
            self._words = [bpy_module.installed(version), folder / "module.py"]
        (folder / "read.py").write_text(READ)
        number = ".".join(map(str, self.read()["version"]))
        system = System("linux", folder, {})
        facts = Facts(number)
        preferences = BLENDER.preferences(system, facts)
        assert preferences is not None
        self.preferences = preferences
        self.add_on = BLENDER.location(system, facts, False).folder / "__init__.py"

    def run(self, script: Path, **variables: str) -> Any:
        answer = self._folder / "answer.json"
        kept = {name: it for name, it in os.environ.items() if not name.startswith("XDG_")}
        own = {"HOME": str(self._folder), "PYTHONPATH": "", "DCC_BRIDGE_TELL": str(answer)}
        subprocess.run(
            [*self._words, script],
            env={**kept, **own, **variables},
            cwd=self._folder,
            capture_output=True,
            timeout=120,
            check=True,
        )
        return json.loads(answer.read_text())

    def read(self, change: str = "") -> Any:
        return self.run(self._folder / "read.py", CHANGE=change)

    def enable(self, wanted: str) -> str:
        return str(self.run(self.preferences.script, DCC_BRIDGE_ENABLE=wanted)["why"])


def home_with(add_on: str, version: str, folder: Path) -> Home:
    """Return a home in which an add-on is installed, and not enabled."""
    home = Home(version, folder)
    home.add_on.parent.mkdir(parents=True)
    home.add_on.write_text(add_on)
    return home


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_enabled_and_disabled_and_every_other_setting_stays(
    version: str, tmp_path: Path
) -> None:
    home = home_with(ADD_ON, version, tmp_path)
    before = home.read(change="yes")

    first = home.preferences.is_enabled
    assert home.enable("yes") == ""
    enabled = home.read()
    is_enabled = home.preferences.is_enabled
    assert home.enable("yes") == ""
    home.add_on.unlink()
    assert home.enable("no") == ""
    disabled = home.read()

    assert (first, is_enabled, home.preferences.is_enabled) == (False, True, False)
    assert before["values"]["edit"]["undo_steps"] == "77"
    assert enabled["values"] == before["values"]
    assert enabled["addons"] == sorted([*before["addons"], "dcc_bridge_blender"])
    assert disabled == before


@pytest.mark.parametrize("version", VERSIONS)
def test_what_cannot_be_loaded_is_not_enabled_and_nothing_is_saved(
    version: str, tmp_path: Path
) -> None:
    home = home_with(BROKEN, version, tmp_path)

    why = home.enable("yes")

    assert why == "Blender cannot load it"
    assert not home.preferences.file.exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_blender_goes_on_to_offer_the_settings_of_an_older_one(
    version: str, tmp_path: Path
) -> None:
    """It offers them as long as it has no preferences of its own."""
    home = home_with(ADD_ON, version, tmp_path)
    own = home.preferences.file.parents[1]
    major, minor = own.name.split(".")
    older = own.with_name(f"{major}.{int(minor) - 1}") / "config" / "userpref.blend"
    older.parent.mkdir(parents=True)
    older.write_bytes(b"")

    why = home.enable("yes")

    assert why.startswith("it was not started yet, and would no longer offer to take over")
    assert not home.preferences.file.exists()
