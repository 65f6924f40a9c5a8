"""The places where an application may be installed, as its leaf declares them. Reads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Platform = Literal["linux", "win32", "darwin"]


@dataclass(frozen=True, slots=True)
class Places:
    """The places where an application may be installed, besides the folders of PATH.

    Everything but `folders` and `interpreters` may be left out. Any thread.

    Attributes:
        folders: The application's folder on each system, as patterns with ``*``. On Windows they
            start in Program Files ("Blender Foundation/*"), on macOS in a folder of applications
            ("Blender*.app"), and on Linux in ``/opt``, ``/usr/local`` and ``~/Applications``
            ("blender*"), or at "/" ("/usr/autodesk/maya*").
        interpreters: The batch interpreter on each system, as paths from the application's folder.
            The first that exists counts.
        listed_as: The beginning of its name in Windows' list of installed programs.
        executable: The program that Windows' ``App Paths`` name: "blender.exe".
        store: The beginning of the name of its package from the Microsoft Store.
        steam: The name of its folder in a library of Steam.
        bundle: The identifier of its bundle on macOS, for Spotlight.
        flatpak: Its identifier as a Flatpak.
        snap: Its name as a snap.
    """

    folders: Mapping[Platform, tuple[str, ...]] = field(default_factory=dict)
    interpreters: Mapping[Platform, tuple[str, ...]] = field(default_factory=dict)
    listed_as: str = ""
    executable: str = ""
    store: str = ""
    steam: str = ""
    bundle: str = ""
    flatpak: str = ""
    snap: str = ""
