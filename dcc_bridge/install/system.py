"""The computer that is installed on, as far as places depend on it. Any thread."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Platform = Literal["linux", "win32", "darwin"]
_MARKS: Final[dict[Platform, str]] = {"linux": "linux", "win32": "win64", "darwin": "mac"}


@dataclass(frozen=True, slots=True)
class System:
    """A system and whose home it is.

    Attributes:
        platform: As Python names it.
        home: The user's home folder.
        env: The environment.
    """

    platform: Platform
    home: Path
    env: Mapping[str, str]

    @classmethod
    def here(cls) -> System:
        """Give this one."""
        platform: Platform = (
            "win32"
            if sys.platform == "win32"
            else "darwin"
            if sys.platform == "darwin"
            else "linux"
        )
        return cls(platform, Path.home(), dict(os.environ))

    @property
    def mark(self) -> str:
        """How the folders of native code are called after it."""
        return _MARKS[self.platform]

    def folder(self, variable: str, *otherwise: str) -> Path:
        """Give the folder that a variable names, or one below the home."""
        told = self.env.get(variable)
        return Path(told) if told else self.home.joinpath(*otherwise)

    def roaming(self) -> Path:
        """Where applications keep the user's own files: Windows' roaming profile, macOS's Library.

        On Linux `data` and `config` are two.
        """
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.home / "Library" / "Application Support"

    def data(self) -> Path:
        """Linux: the user's data folder."""
        return self.folder("XDG_DATA_HOME", ".local", "share")

    def config(self) -> Path:
        """Linux: the user's settings folder."""
        return self.folder("XDG_CONFIG_HOME", ".config")
