"""The facts about Houdini for the commands; Houdini's API is not imported. Any thread.

Houdini finds a plug-in by a package's JSON file in one of its folders, by SideFX's documentation of
packages. This was not run in Houdini.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dcc_bridge.spi.program import Facts, InstallTarget, Places, System, UnknownLocation, numbers


class HoudiniProgram(InstallTarget):
    """Houdini for the commands: its programs, its versions, and its folders of packages."""

    name = "houdini"
    title = "Houdini"
    suffixes = (".hip", ".hiplc", ".hipnc")
    programs = ("hython",)
    places = Places(
        folders={
            "win32": ("Side Effects Software/Houdini *",),
            "darwin": ("Houdini/Houdini*",),
            "linux": ("hfs*",),
        },
        interpreters={
            "win32": ("bin/hython.exe",),
            "darwin": ("Frameworks/Houdini.framework/Versions/Current/Resources/bin/hython",),
            "linux": ("bin/hython",),
        },
        listed_as="Houdini ",
        steam="Houdini Indie",
    )
    probe_imports = "import hou"
    probe_version = "hou.applicationVersionString()"
    pythons = (((22,), "3.13"), ((20, 5), "3.11"))
    oldest = (20, 5)
    example = "21.0"
    afterwards = "Restart Houdini; the tool is on the shelf Agents."
    known = ("20.5", "21.0", "21.5", "22.0", "22.5")
    loader = "dcc_bridge.json"
    sources = (
        ("python3.11libs", "python3.11libs"),
        ("python3.13libs", "python3.13libs"),
        ("python_panels", "python_panels"),
        ("toolbar", "toolbar"),
        ("dcc_bridge_houdini", "scripts/python/dcc_bridge_houdini"),
    )

    def user_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which Houdini looks for its user's plug-ins."""
        version = self._version(facts)
        preferences = system.env.get("HOUDINI_USER_PREF_DIR")
        if preferences:
            return Path(preferences.replace("__HVER__", version)) / "packages"
        if system.platform == "darwin":
            return system.home / "Library/Preferences/houdini" / version / "packages"
        return system.documents() / f"houdini{version}" / "packages"

    def shared_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which Houdini looks for the plug-ins of all users.

        Raises:
            UnknownLocation: HSITE is not set, or the version has only one number.
        """
        version = self._version(facts)
        site = system.env.get("HSITE")
        if not site:
            raise UnknownLocation(
                "For all users, Houdini looks in the folder that HSITE names, and HSITE is not set."
            )
        return Path(site) / f"houdini{version}" / "packages"

    def _version(self, facts: Facts) -> str:
        """Return the first two numbers of the version, "21.0", which are in Houdini's folders."""
        version = numbers(self.required_version(facts))
        if len(version) < 2:
            raise UnknownLocation("Houdini's folders need two numbers. Use --version 21.0.")
        return f"{version[0]}.{version[1]}"


PROGRAM: Final = HoudiniProgram()
