"""The facts about Maya for the commands; Maya's API is not imported. Any thread.

Maya finds a plug-in by a ``.mod`` file in one of its folders of modules, by Autodesk's
documentation of MAYA_MODULE_PATH and of module files. This was not run in Maya.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.spi.program import Facts, InstallTarget, Places, System


class MayaProgram(InstallTarget):
    """Maya for the commands: its programs, its versions, and its folders of modules."""

    name = "maya"
    title = "Maya"
    suffixes = (".ma", ".mb")
    programs = ("mayapy",)
    places = Places(
        folders={
            "win32": ("Autodesk/Maya20*",),
            "darwin": ("Autodesk/maya20*",),
            "linux": ("/usr/autodesk/maya20*",),
        },
        interpreters={
            "win32": ("bin/mayapy.exe",),
            "darwin": ("Maya.app/Contents/bin/mayapy",),
            "linux": ("bin/mayapy",),
        },
        listed_as="Autodesk Maya 20",
    )
    probe_imports = "import maya.standalone\nmaya.standalone.initialize()\nfrom maya import cmds"
    probe_version = "str(cmds.about(version=True))"
    pythons = (((2027,), None), ((2025,), "3.11"))
    oldest = (2025,)
    example = "2026"
    afterwards = "Restart Maya; the button is on the shelf Agents."
    known = ("2025", "2026", "2027")
    loader = "dcc_bridge.mod"
    sources = (
        ("plug-ins", "plug-ins"),
        ("scripts", "scripts"),
        ("dcc_bridge_maya", "scripts/dcc_bridge_maya"),
    )

    def plugin_folder(self, root: Path) -> Path:
        """Return a folder beside the folder of modules, to which the module's file leads."""
        return root.parent / self.folder

    def user_root(self, system: System, facts: Facts) -> Path:
        """Return the user's folder of modules, which all versions share."""
        folder = system.env.get("MAYA_APP_DIR")
        if folder:
            return Path(folder) / "modules"
        if system.platform == "darwin":
            return system.home / "Library/Preferences/Autodesk/maya/modules"
        return system.documents() / "maya" / "modules"

    def shared_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which Maya looks for the plug-ins of all users."""
        version = self.required_version(facts)
        if system.platform == "win32":
            common = system.env.get("COMMONPROGRAMFILES", r"C:\Program Files\Common Files")
            return Path(common, "Autodesk Shared", "Modules", "maya", version)
        if system.platform == "darwin":
            return Path("/Users/Shared/Autodesk/modules/maya", version)
        return Path("/usr/autodesk/modules/maya", version)


PROGRAM: Final = MayaProgram()
