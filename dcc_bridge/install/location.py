"""What is known of an application, and where its plug-in goes. Any thread; nothing is touched."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import ClassVar, Final, Literal

from dcc_bridge.config import data_folder
from dcc_bridge.errors import BridgeError

Platform = Literal["linux", "win32", "darwin"]
_VENDOR_SUFFIXES: Final[dict[Platform, str]] = {"linux": "linux", "win32": "win64", "darwin": "mac"}


class UnknownLocation(BridgeError):
    """The place of a plug-in is not known; says what is missing."""


@dataclass(frozen=True, slots=True)
class System:
    """An operating system, a user's home folder on it, and the environment."""

    platform: Platform
    home: Path
    env: Mapping[str, str]

    @classmethod
    def here(cls) -> System:
        """Give the one that this process runs on."""
        platforms: dict[str, Platform] = {"win32": "win32", "darwin": "darwin"}
        return cls(platforms.get(sys.platform, "linux"), Path.home(), dict(os.environ))

    def folder(self, variable: str, *default: str) -> Path:
        """Give the folder that a variable names, or one below the home."""
        value = self.env.get(variable)
        return Path(value) if value else self.home.joinpath(*default)

    def documents(self) -> Path:
        """Give the folder of a user's documents; on Linux that is the home."""
        return self.home / "Documents" if self.platform == "win32" else self.home

    def application_data(self, linux: Path) -> Path:
        """Give the folder of applications' files: Windows' roaming profile, macOS's Library.

        Args:
            linux: The folder on Linux, where there is one for data and one for settings.
        """
        if self.platform == "linux":
            return linux
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.home / "Library" / "Application Support"


@dataclass(frozen=True, slots=True)
class Facts:
    """What an application's own program said of itself, or the person did."""

    version: str | None = None  # the application's own: "0.20.2", "2026"
    python: str | None = None  # the minor version of its Python: "3.11"
    shared: Path | None = None  # where it looks for plug-ins for all users, if it said so
    program: Path | None = None  # that was asked


@dataclass(frozen=True, slots=True)
class Probe:
    """Python with which an application says what it is."""

    imports: str  # statements, before the expressions
    version: str  # an expression for its version, a string
    shared: str = "None"  # one for the folder in which it looks for everybody's plug-ins


@dataclass(frozen=True, slots=True)
class Location:
    """Where a plug-in goes."""

    folder: Path
    vendor: str  # the folder below it for what the bridge depends on
    # Files besides, by which the application finds the folder, with their text.
    texts: Mapping[Path, str] = field(default_factory=dict)
    # What of ``plugins/<host>`` goes where in the folder; "." is the folder itself.
    sources: tuple[tuple[str, str], ...] = ((".", "."),)


class InstallTarget(ABC):
    """An application that the bridge can be installed into; the class attributes are its data."""

    name: ClassVar[str]  # as the command takes it: "freecad"
    title: ClassVar[str]  # as its users call it
    programs: ClassVar[tuple[str, ...]]  # its batch interpreter, by the names that are looked for
    script_option: ClassVar[tuple[str, ...]] = ()  # what stands before a Python file
    probe: ClassVar[Probe]  # how it is asked for its version
    # The Python that it has from a version on, newest first; None where nobody knows.
    pythons: ClassVar[tuple[tuple[tuple[int, ...], str | None], ...]]
    oldest: ClassVar[tuple[int, ...]]  # the oldest version for which the plug-in is meant
    example: ClassVar[str]  # a version, for sentences
    afterwards: ClassVar[str]  # what the person does once the plug-in is there
    known: ClassVar[tuple[str, ...]]  # versions whose folders are looked at without the program
    folder: ClassVar[str] = "dcc_bridge"  # below the one in which the application looks
    loader: ClassVar[str | None] = None  # a file of ours beside it, by which that finds it
    sources: ClassVar[tuple[tuple[str, str], ...]] = ((".", "."),)  # as in `Location`

    def location(self, system: System, facts: Facts, for_all: bool) -> Location:
        """Say where the plug-in goes.

        Args:
            system: The system that is installed on.
            facts: The application's version and Python.
            for_all: Where it looks for everybody's plug-ins.

        Raises:
            UnknownLocation: Something is missing that its place depends on.
        """
        root = self.shared_root(system, facts) if for_all else self.user_root(system, facts)
        texts = {}
        if self.loader is not None:
            source = data_folder("plugins") / self.name / self.loader
            texts = {root / self.loader: source.read_text(encoding="utf-8")}
        return Location(
            self.plugin_folder(root), self.vendor(system, facts.python), texts, self.sources
        )

    def locations(self, system: System, versions: Iterable[Facts]) -> list[tuple[Location, bool]]:
        """Give where some versions look for plug-ins, and whether everybody's; nothing is guessed.

        Args:
            system: The system that is installed on.
            versions: What is known of each version.
        """
        places: dict[Path, tuple[Location, bool]] = {}
        for facts, for_all in product(versions, (False, True)):
            # Without a version some have no place; then nothing was put there either.
            with suppress(UnknownLocation):
                location = self.location(system, facts, for_all)
                places.setdefault(location.folder, (location, for_all))
        return list(places.values())

    def plugin_folder(self, root: Path) -> Path:
        """Give the plug-in's folder, by the one in which the application looks."""
        return root / self.folder

    def vendor(self, system: System, python: str | None) -> str:
        """Give the folder of native code: there is one for each Python and each system."""
        suffix = _VENDOR_SUFFIXES[system.platform]
        return f"vendor/py{(python or '').replace('.', '')}-{suffix}"

    @abstractmethod
    def user_root(self, system: System, facts: Facts) -> Path:
        """Give the folder in which the application looks for its user's plug-ins."""

    def shared_root(self, system: System, facts: Facts) -> Path:
        """Give the folder in which it looks for everybody's plug-ins, which it has told itself."""
        if facts.shared is None:
            raise UnknownLocation(
                f"Where {self.title} looks for all users is asked of {self.title} itself, and "
                f"{self.programs[0]} was not found; say --interpreter PATH."
            )
        return facts.shared

    def python(self, version: str) -> str | None:
        """Say which Python a version has; None where that is not known."""
        pythons = (python for first, python in self.pythons if numbers(version) >= first)
        return next(pythons, None)

    def required_version(self, facts: Facts) -> str:
        """Give the version.

        Raises:
            UnknownLocation: Nobody said it.
        """
        if facts.version is None:
            raise UnknownLocation(
                f"Which {self.title}? Its program was not found; say --version {self.example}."
            )
        return facts.version


def numbers(version: str) -> tuple[int, ...]:
    """Read "0.20.2" as (0, 20, 2); what is no number ends it."""
    parsed: list[int] = []
    for part in version.split("."):
        if not part.isdigit():
            break
        parsed.append(int(part))
    return tuple(parsed)
