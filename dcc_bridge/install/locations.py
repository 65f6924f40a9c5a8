"""Where an application looks for plug-ins, and what it says of itself. Any thread.

Nothing is touched. Each leaf's module ``program`` has its application's `InstallTarget`.
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import product, takewhile
from pathlib import Path
from typing import ClassVar, Final, Literal

from dcc_bridge.config import data_folder
from dcc_bridge.errors import BridgeError
from dcc_bridge.program import Program

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
        """Give the folder of applications' files; Linux has two, and `linux` says which."""
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
class Location:
    """Where a plug-in goes."""

    folder: Path
    vendor: str  # the folder below it for what the bridge depends on
    texts: Mapping[Path, str] = field(default_factory=dict)  # of files by which it is found
    # What of ``plugins/<host>`` goes where in the folder; "." is the folder itself.
    sources: tuple[tuple[str, str], ...] = ((".", "."),)


class InstallTarget(Program):
    """An application that the bridge can be installed into; the class attributes are its data."""

    programs: ClassVar[tuple[str, ...]]  # its batch interpreter, by the names that are looked for
    module: ClassVar[str] = ""  # under which a Python may have the whole application
    script_option: ClassVar[tuple[str, ...]] = ()  # what stands before a Python file that asks it
    start_option: ClassVar[tuple[str, ...]] = ()  # what stands before the file with which it serves
    # Python with which it says what it is: statements, then an expression for its version, and one
    # for the folder in which it looks for everybody's plug-ins.
    probe_imports: ClassVar[str]
    probe_version: ClassVar[str]
    probe_shared: ClassVar[str] = "None"
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
        """Say where the plug-in goes, for its user or for all; UnknownLocation if not known."""
        root = self.shared_root(system, facts) if for_all else self.user_root(system, facts)
        texts = {}
        if self.loader is not None:
            source = data_folder("plugins") / self.name / self.loader
            texts = {root / self.loader: source.read_text(encoding="utf-8")}
        return Location(
            self.plugin_folder(root), self.vendor(system, facts.python), texts, self.sources
        )

    def locations(self, system: System, versions: Iterable[Facts]) -> list[tuple[Location, bool]]:
        """Give where versions look for plug-ins, and whether everybody's; nothing is guessed."""
        places: dict[Path, tuple[Location, bool]] = {}
        for facts, for_all in product(versions, (False, True)):
            # Without a version some have no place; then nothing was put there either.
            with suppress(UnknownLocation):
                location = self.location(system, facts, for_all)
                places.setdefault(location.folder, (location, for_all))
        return list(places.values())

    @property
    def known_versions(self) -> list[Facts]:
        """The versions whose folders are known without asking the application."""
        return [Facts(), *map(Facts, self.known)]

    def check_known(self, version: str) -> None:
        """Check a version that no program has said; UnknownLocation where nobody knows it."""
        if not f"{version}.".startswith(tuple(f"{known}." for known in self.known)):
            close = get_close_matches(version, self.known, n=1)
            meant = f"; did you mean {close[0]}? If not" if close else ". If there is one"
            raise UnknownLocation(f"{self.title} {version} is not known{meant}, say --interpreter.")

    def plugin_folder(self, root: Path) -> Path:
        """Give the plug-in's folder, by the one in which the application looks."""
        return root / self.folder

    def vendor(self, system: System, python: str | None) -> str:
        """Give the folder of native code: there is one for each Python and each system."""
        return f"vendor/py{(python or '').replace('.', '')}-{_VENDOR_SUFFIXES[system.platform]}"

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
        return next((it for first, it in self.pythons if numbers(version) >= first), None)

    def complete(self, facts: Facts, version: str | None, python: str | None) -> Facts:
        """Put together what person and program said; UnknownLocation where no Python is known."""
        if version is not None and version != facts.version:
            is_same = facts.version is not None and facts.version.startswith(f"{version}.")
            facts = facts if is_same else Facts(version)
        python = python or facts.python or self.python(facts.version or "")
        if python is None:
            raise UnknownLocation(
                f"Which Python has this {self.title}? Its program {' or '.join(self.programs)} was "
                f"not found; say {'' if version else f'--version {self.example}, '}--interpreter "
                "PATH, or --python 3.11."
            )
        return replace(facts, python=python)

    def required_version(self, facts: Facts) -> str:
        """Give the version, or raise UnknownLocation where nobody said it."""
        if facts.version is None:
            raise UnknownLocation(
                f"Which {self.title}? Its program was not found; say --version {self.example}."
            )
        return facts.version


def numbers(version: str) -> tuple[int, ...]:
    """Read "0.20.2" as (0, 20, 2).

    Args:
        version: Numbers with points between them; what is no number ends it.

    Returns:
        The numbers.

    Raises:
        Nothing.
    """
    return tuple(map(int, takewhile(str.isdigit, version.split("."))))
