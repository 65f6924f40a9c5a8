"""What the commands know of Blender, whose API is not imported.

Blender looks for add-ons in ``scripts/addons`` in the folder of its version; by its manual,
"Blender's Directory Layout". 3.4 on Linux was run. Any thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.spi.program import Facts, InstallTarget, System, numbers


class BlenderProgram(InstallTarget):
    """Blender, as the commands know it."""

    name = "blender"
    title = "Blender"
    programs = ("blender",)
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
    known = ("3.4", "3.6", *(f"{major}.{minor}" for major in (4, 5, 6) for minor in range(6)))
    folder = "dcc_bridge_blender"
    sources = ((folder, "."),)

    def vendor(self, system: System, python: str | None) -> str:
        """Return the same folder for all: each version of Blender has its own add-ons."""
        return "vendor"

    def user_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which Blender looks for its user's plug-ins."""
        return self._scripts(system, facts) / "addons"

    def _scripts(self, system: System, facts: Facts) -> Path:
        if scripts := system.env.get("BLENDER_USER_SCRIPTS"):
            return Path(scripts)
        if resources := system.env.get("BLENDER_USER_RESOURCES"):
            return Path(resources, "scripts")
        version = ".".join(map(str, numbers(self.required_version(facts))[:2]))
        if system.platform == "linux":
            return system.folder("XDG_CONFIG_HOME", ".config") / "blender" / version / "scripts"
        maker = "Blender Foundation" if system.platform == "win32" else ""
        return system.application_data(linux=system.home) / maker / "Blender" / version / "scripts"


PROGRAM: Final = BlenderProgram()
