"""Reads from the Windows registry what is installed. Any thread. Nothing is written.

By Microsoft's documentation: ``App Paths`` in "Application Registration", ``Uninstall`` in
"Uninstall Registry Key". The list of packages from the Store (``AppModel``) is not documented, but
every Windows since 8 has it. Steam stores its own folder as ``SteamPath``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_APP_PATHS: Final = r"Software\Microsoft\Windows\CurrentVersion\App Paths"
_UNINSTALL: Final = (
    r"Software\Microsoft\Windows\CurrentVersion\Uninstall",
    r"Software\WOW6432Node\Microsoft\Windows\CurrentVersion\Uninstall",
)
_PACKAGES: Final = (
    r"Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion"
    r"\AppModel\Repository\Packages"
)
_STEAM: Final = r"Software\Valve\Steam"


@dataclass(frozen=True, slots=True)
class Registry:
    """The registry's facts of installed programs. They are empty on other systems.

    Attributes:
        app_paths: The programs of ``App Paths`` by their names in lower case: "blender.exe".
        installed: The names of installed programs, with their folders.
        packages: The names of packages from the Microsoft Store, with their folders.
        steam: The folder of Steam; None if it is not installed.
    """

    app_paths: Mapping[str, Path] = field(default_factory=dict)
    installed: tuple[tuple[str, Path], ...] = ()
    packages: tuple[tuple[str, Path], ...] = ()
    steam: Path | None = None


if sys.platform == "win32":
    import winreg

    _HIVES: Final = (winreg.HKEY_CURRENT_USER, winreg.HKEY_LOCAL_MACHINE)

    def _values_of(path: str) -> Iterator[Mapping[str, str]]:
        """Yield the values of a key that are texts, of the user and of the computer."""
        for hive in _HIVES:
            with suppress(OSError), winreg.OpenKey(hive, path) as key:
                yield _texts(key)

    def _subkeys(path: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the name of each key below another one, and its values that are texts."""
        for hive in _HIVES:
            with suppress(OSError), winreg.OpenKey(hive, path) as key:
                for index in range(winreg.QueryInfoKey(key)[0]):
                    name = winreg.EnumKey(key, index)
                    with suppress(OSError), winreg.OpenKey(key, name) as subkey:
                        yield name, _texts(subkey)

    def _paths_below(path: str, name_value: str, path_value: str) -> Iterator[tuple[str, Path]]:
        """Yield the name and the path that each key below another one has.

        Args:
            path: The path of the other key.
            name_value: The value with the name; "" for the name of the key itself.
            path_value: The value with the path; "" for the default value.
        """
        for key, values in _subkeys(path):
            name = key
            if name_value:
                name = values.get(name_value, "")
            folder = values.get(path_value, "").strip('"')
            if name and folder:
                yield name, Path(folder)

    def _texts(key: winreg.HKEYType) -> dict[str, str]:
        texts = {}
        for index in range(winreg.QueryInfoKey(key)[1]):
            name, value, kind = winreg.EnumValue(key, index)
            if kind == winreg.REG_EXPAND_SZ:
                texts[name] = winreg.ExpandEnvironmentStrings(value)
            elif kind == winreg.REG_SZ:
                texts[name] = value
        return texts

    def read() -> Registry:
        """Return what this computer's registry says."""
        app_paths = {}
        for name, folder in _paths_below(_APP_PATHS, "", ""):
            app_paths[name.lower()] = folder
        installed: list[tuple[str, Path]] = []
        for key in _UNINSTALL:
            installed += _paths_below(key, "DisplayName", "InstallLocation")
        packages = tuple(_paths_below(_PACKAGES, "", "PackageRootFolder"))
        steam = None
        for values in _values_of(_STEAM):
            if values.get("SteamPath"):
                steam = Path(values["SteamPath"])
        return Registry(app_paths, tuple(installed), packages, steam)

else:

    def read() -> Registry:
        """Return nothing: this system has no registry."""
        return Registry()
