"""Where each application looks for plug-ins. Any thread; nothing is touched.

=========  =====================================================================================
Blender    ``scripts/addons`` in the folder of its version; by its manual, "Blender's Directory
           Layout". 3.4 on Linux was run.
FreeCAD    ``Mod`` in its data folder, of which each version has one of its own from 1.1 on; by
           its documentation of folders. 0.20.2 on Linux was run.
Houdini    A package's JSON file in one of its folders; by SideFX's documentation of packages.
           It was not run in Houdini.
Maya       A ``.mod`` file in one of its folders of modules; by Autodesk's documentation of
           MAYA_MODULE_PATH and of module files. It was not run in Maya.
=========  =====================================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.install import location as targets


class _Blender(targets.InstallTarget):
    name = "blender"
    title = "Blender"
    programs = ("blender",)
    script_option = ("-b", "--factory-startup", "--python")
    probe = targets.Probe(
        "import bpy",
        "'.'.join(map(str, bpy.app.version))",
        "os.path.join(bpy.utils.system_resource('SCRIPTS'), 'addons')",
    )
    pythons = (((5, 1), "3.13"), ((4, 1), "3.11"))
    oldest = (3, 4)
    example = "4.5"
    afterwards = "In Blender, switch it on once: Edit > Preferences > Add-ons > DCC Bridge."
    known = ("3.4", "3.6", *(f"{major}.{minor}" for major in (4, 5, 6) for minor in range(6)))
    folder = "dcc_bridge_blender"
    sources = ((folder, "."), ("skills", "skills"))

    def vendor(self, system: targets.System, python: str | None) -> str:
        """Give the same folder for all: each version of Blender has its own add-ons."""
        return "vendor"

    def user_root(self, system: targets.System, facts: targets.Facts) -> Path:
        """Give the add-ons of a version, or those that a variable names."""
        return self._scripts(system, facts) / "addons"

    def _scripts(self, system: targets.System, facts: targets.Facts) -> Path:
        if scripts := system.env.get("BLENDER_USER_SCRIPTS"):
            return Path(scripts)
        if resources := system.env.get("BLENDER_USER_RESOURCES"):
            return Path(resources, "scripts")
        version = ".".join(map(str, targets.numbers(self.required_version(facts))[:2]))
        if system.platform == "linux":
            return system.folder("XDG_CONFIG_HOME", ".config") / "blender" / version / "scripts"
        maker = "Blender Foundation" if system.platform == "win32" else ""
        data = system.application_data(linux=system.home)
        return data / maker / "Blender" / version / "scripts"


class _FreeCAD(targets.InstallTarget):
    name = "freecad"
    title = "FreeCAD"
    programs = ("freecadcmd", "FreeCADCmd", "freecad.cmd")
    probe = targets.Probe(
        "import FreeCAD",
        "'.'.join(FreeCAD.Version()[:3])",
        "os.path.join(FreeCAD.getHomePath(), 'Mod')",
    )
    pythons = (((1, 0), "3.11"),)
    oldest = (0, 20)
    example = "1.0"
    afterwards = "Start FreeCAD again: dcc-bridge list shows it."
    known = ("1.0", "1.1", "1.2", "1.3")

    def user_root(self, system: targets.System, facts: targets.Facts) -> Path:
        """Give the modules in the data folder."""
        if data := system.env.get("FREECAD_USER_DATA"):
            return Path(data) / "Mod"
        linux = system.folder("XDG_DATA_HOME", ".local", "share")
        folder = system.application_data(linux) / "FreeCAD"
        version = targets.numbers(facts.version or "")
        if version >= (1, 1):
            folder /= f"v{version[0]}-{version[1]}"
        return folder / "Mod"


class _Houdini(targets.InstallTarget):
    name = "houdini"
    title = "Houdini"
    programs = ("hython",)
    probe = targets.Probe("import hou", "hou.applicationVersionString()")
    pythons = (((22,), "3.13"), ((20, 5), "3.11"))
    oldest = (20, 5)
    example = "21.0"
    afterwards = "Start Houdini again: the tool is on the shelf Agents."
    known = ("20.5", "21.0", "21.5", "22.0", "22.5")
    loader = "dcc_bridge.json"
    sources = (
        ("python3.11libs", "python3.11libs"),
        ("python3.13libs", "python3.13libs"),
        ("python_panels", "python_panels"),
        ("scripts", "scripts"),
        ("skills", "skills"),
        ("toolbar", "toolbar"),
    )

    def user_root(self, system: targets.System, facts: targets.Facts) -> Path:
        """Give the packages in the preferences of a version."""
        version = self._version(facts)
        if preferences := system.env.get("HOUDINI_USER_PREF_DIR"):
            return Path(preferences.replace("__HVER__", version)) / "packages"
        if system.platform == "darwin":
            return system.home / "Library/Preferences/houdini" / version / "packages"
        return system.documents() / f"houdini{version}" / "packages"

    def shared_root(self, system: targets.System, facts: targets.Facts) -> Path:
        """Give the packages of the site."""
        version, site = self._version(facts), system.env.get("HSITE")
        if not site:
            raise targets.UnknownLocation(
                "For all users Houdini looks where HSITE says, and that is not set."
            )
        return Path(site) / f"houdini{version}" / "packages"

    def _version(self, facts: targets.Facts) -> str:
        version = targets.numbers(self.required_version(facts))
        if len(version) < 2:
            raise targets.UnknownLocation(
                "Houdini's folders have two numbers in their name; say --version 21.0."
            )
        return f"{version[0]}.{version[1]}"


class _Maya(targets.InstallTarget):
    name = "maya"
    title = "Maya"
    programs = ("mayapy",)
    probe = targets.Probe(
        "import maya.standalone\nmaya.standalone.initialize()\nfrom maya import cmds",
        "str(cmds.about(version=True))",
    )
    pythons = (((2027,), None), ((2025,), "3.11"))
    oldest = (2025,)
    example = "2026"
    afterwards = "Start Maya again: the button is on the shelf Agents."
    known = ("2025", "2026", "2027")
    loader = "dcc_bridge.mod"
    sources = (("plug-ins", "plug-ins"), ("scripts", "scripts"), ("skills", "skills"))

    def plugin_folder(self, root: Path) -> Path:
        """Give a folder beside that of the modules, to which the module's file leads."""
        return root.parent / self.folder

    def user_root(self, system: targets.System, facts: targets.Facts) -> Path:
        """Give the user's modules, which are those of every version."""
        if folder := system.env.get("MAYA_APP_DIR"):
            return Path(folder) / "modules"
        if system.platform == "darwin":
            return system.home / "Library/Preferences/Autodesk/maya/modules"
        return system.documents() / "maya" / "modules"

    def shared_root(self, system: targets.System, facts: targets.Facts) -> Path:
        """Give everybody's modules of a version."""
        version = self.required_version(facts)
        if system.platform == "win32":
            common = system.env.get("COMMONPROGRAMFILES", r"C:\Program Files\Common Files")
            return Path(common, "Autodesk Shared", "Modules", "maya", version)
        if system.platform == "darwin":
            return Path("/Users/Shared/Autodesk/modules/maya", version)
        return Path("/usr/autodesk/modules/maya", version)


_ALL: Final = (_Blender(), _FreeCAD(), _Houdini(), _Maya())
# By the names that the command takes.
APPLICATIONS: Final[dict[str, targets.InstallTarget]] = {
    application.name: application for application in _ALL
}
