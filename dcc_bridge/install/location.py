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
    """An operating system and a user's home on it.

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
    """What an application's own program said of itself, or the person did.

    Attributes:
        version: The application's own: "0.20.2", "2026".
        python: The minor version of its Python: "3.11".
        shared: Where it looks for plug-ins for all users, if it said so.
        program: The program that was asked.
    """

    version: str | None = None
    python: str | None = None
    shared: Path | None = None
    program: Path | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """Python with which an application says what it is.

    Attributes:
        imports: Statements, before the expressions.
        version: An expression for its version, a string.
        shared: An expression for the folder in which it looks for everybody's plug-ins.
    """

    imports: str
    version: str
    shared: str = "None"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a plug-in goes.

    Attributes:
        folder: The plug-in's own.
        vendor: The folder below it for what the bridge depends on.
        texts: Files besides, by which the application finds the folder, with their text.
        sources: What of ``plugins/<host>`` goes where in the folder; "." is the folder itself.
    """

    folder: Path
    vendor: str
    texts: Mapping[Path, str] = field(default_factory=dict)
    sources: tuple[tuple[str, str], ...] = ((".", "."),)


class InstallTarget(ABC):
    """An application that the bridge can be installed into; the class attributes are its data.

    Attributes:
        name: As the command takes it: "freecad".
        title: As its users call it.
        programs: Its batch interpreter, by the names that are looked for.
        script_option: What stands before a Python file on the program's command line.
        probe: How it is asked for its version.
        pythons: The Python that it has from a version on, newest first; None where nobody knows.
        oldest: The oldest version for which the plug-in is meant.
        example: A version, for sentences.
        afterwards: What the person does once the plug-in is there.
        known: Versions whose folders are looked at where the program is not asked.
        folder: The plug-in's folder, below the one in which the application looks.
        loader: A file of ours beside that folder, by which the application finds it.
        sources: As in `Location`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]
    script_option: ClassVar[tuple[str, ...]] = ()
    probe: ClassVar[Probe]
    pythons: ClassVar[tuple[tuple[tuple[int, ...], str | None], ...]]
    oldest: ClassVar[tuple[int, ...]]
    example: ClassVar[str]
    afterwards: ClassVar[str]
    known: ClassVar[tuple[str, ...]]
    folder: ClassVar[str] = "dcc_bridge"
    loader: ClassVar[str | None] = None
    sources: ClassVar[tuple[tuple[str, str], ...]] = ((".", "."),)

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
