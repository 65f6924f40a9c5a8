"""The facts about FreeCAD for the commands; FreeCAD's API is not imported. Any thread.

FreeCAD looks in ``Mod`` in its data folder; from 1.1 on each version has a data folder of its own,
by FreeCAD's documentation of folders. 0.20.2 on Linux was run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.spi.program import Facts, InstallTarget, Places, System, numbers


class FreeCADProgram(InstallTarget):
    """FreeCAD for the commands: its programs, its versions, and its folder of plug-ins."""

    name = "freecad"
    title = "FreeCAD"
    suffixes = (".FCStd",)
    programs = ("freecadcmd", "FreeCADCmd", "freecad.cmd")
    places = Places(
        folders={
            "win32": ("FreeCAD*",),
            "darwin": ("FreeCAD*.app",),
            "linux": ("freecad*", "FreeCAD*"),
        },
        interpreters={
            "win32": ("bin/freecadcmd.exe", "bin/FreeCADCmd.exe"),
            "darwin": ("Contents/Resources/bin/freecadcmd", "Contents/Resources/bin/FreeCADCmd"),
            "linux": ("bin/freecadcmd", "bin/FreeCADCmd"),
        },
        listed_as="FreeCAD",
        executable="FreeCAD.exe",
        bundle="org.freecad.FreeCAD",
        flatpak="org.freecad.FreeCAD",
        snap="freecad",
    )
    probe_imports = "import FreeCAD"
    probe_version = "'.'.join(FreeCAD.Version()[:3])"
    probe_shared = "os.path.join(FreeCAD.getHomePath(), 'Mod')"
    pythons = (((1, 0), "3.11"),)
    oldest = (0, 20)
    example = "1.0"
    afterwards = "Restart FreeCAD; dcc-bridge list then shows it."
    known = ("0.20", "0.21", "1.0", "1.1", "1.2", "1.3")

    def user_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which FreeCAD looks for its user's plug-ins."""
        data = system.env.get("FREECAD_USER_DATA")
        if data:
            return Path(data) / "Mod"
        linux = system.folder("XDG_DATA_HOME", ".local", "share")
        folder = system.application_data(linux) / "FreeCAD"
        version = numbers(facts.version or "")
        if version >= (1, 1):
            folder /= f"v{version[0]}-{version[1]}"
        return folder / "Mod"


PROGRAM: Final = FreeCADProgram()
