"""The facts about Blender that the commands need. Blender's API is not imported. Any thread.

Blender looks for add-ons in ``scripts/addons`` in the folder of its version, says its manual under
"Blender's Directory Layout". That was tried with 3.4 on Linux.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.spi.program import (
    Facts,
    InstallTarget,
    Places,
    Preferences,
    System,
    UnknownLocation,
    numbers,
)


class BlenderProgram(InstallTarget):
    """Blender, for the commands: how it is started, and where the plug-in is installed."""

    name = "blender"
    title = "Blender"
    suffixes = (".blend",)
    programs = ("blender",)
    places = Places(
        folders={
            "win32": ("Blender Foundation/Blender*",),
            "darwin": ("Blender*.app", "Blender*/Blender*.app"),
            "linux": ("blender*",),
        },
        interpreters={
            "win32": ("blender.exe", "Blender/blender.exe"),
            "darwin": ("Contents/MacOS/Blender",),
            "linux": ("blender",),
        },
        listed_as="blender",
        executable="blender.exe",
        store="BlenderFoundation.Blender",
        steam="Blender",
        bundle="org.blenderfoundation.blender",
        flatpak="org.blender.Blender",
        snap="blender",
    )
    module = "bpy"
    script_option = ("-b", "--factory-startup", "--python")
    start_option = ("-b", "--python")
    probe_imports = "import bpy"
    probe_version = "'.'.join(map(str, bpy.app.version))"
    probe_shared = "os.path.join(bpy.utils.system_resource('SCRIPTS'), 'addons')"
    pythons = (((5, 1), "3.13"), ((4, 1), "3.11"))
    oldest = (3, 4)
    example = "4.5"
    afterwards = "In Blender, enable it once: Edit > Preferences > Add-ons > DCC Bridge."
    known = (
        *("3.4", "3.6"),
        *(f"4.{minor}" for minor in range(6)),
        *(f"5.{minor}" for minor in range(6)),
        *(f"6.{minor}" for minor in range(6)),
    )
    folder = "dcc_bridge_blender"
    sources = ((folder, "."),)

    def vendor(self, system: System, python: str | None) -> str:
        """Return the folder for dependencies: one, as each version of Blender has own add-ons."""
        return "vendor"

    def user_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which Blender looks for the add-ons of its user."""
        return self._scripts(system, facts) / "addons"

    def preferences(self, system: System, facts: Facts) -> Preferences | None:
        """Return the preferences of the user, which have the name of each add-on that is enabled.

        Blender writes them uncompressed: 3.4, 4.5, 5.2 and 5.3 do.
        """
        config = self._user_folder(system, facts, "BLENDER_USER_CONFIG", "config")
        if config is None:
            return None
        script = self.leaf / self.folder / "enabling.py"
        return Preferences(config / "userpref.blend", self.folder.encode() + b"\0", script)

    def other_form(self, system: System, facts: Facts) -> Path | None:
        """Return the folder of the extension, if it is in one of the user's repositories."""
        repositories = self._user_folder(system, facts, "BLENDER_USER_EXTENSIONS", "extensions")
        if repositories is None:
            return None
        for manifest in repositories.glob("*/dcc_bridge/blender_manifest.toml"):
            return manifest.parent
        return None

    def _user_folder(self, system: System, facts: Facts, variable: str, name: str) -> Path | None:
        named = system.env.get(variable)
        if named:
            return Path(named)
        try:
            return self._resources(system, facts) / name
        except UnknownLocation:
            return None

    def _scripts(self, system: System, facts: Facts) -> Path:
        scripts = system.env.get("BLENDER_USER_SCRIPTS")
        if scripts:
            return Path(scripts)
        return self._resources(system, facts) / "scripts"

    def _resources(self, system: System, facts: Facts) -> Path:
        resources = system.env.get("BLENDER_USER_RESOURCES")
        if resources:
            return Path(resources)
        major_minor = numbers(self.required_version(facts))[:2]
        version = ".".join(map(str, major_minor))
        if system.platform == "linux":
            return system.folder("XDG_CONFIG_HOME", ".config") / "blender" / version
        maker = "Blender Foundation" if system.platform == "win32" else ""
        return system.application_data(linux=system.home) / maker / "Blender" / version


PROGRAM: Final = BlenderProgram()
