"""The places where an application looks for plug-ins, and the facts of an application. Any thread.

No file is written. Each leaf's module ``program`` defines the `InstallTarget` of its application.
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
from typing import ClassVar, Final

import platformdirs

from dcc_bridge.errors import BridgeError
from dcc_bridge.install.places import Places, Platform
from dcc_bridge.install.preferences import Preferences
from dcc_bridge.program import Program

_VENDOR_SUFFIXES: Final[dict[Platform, str]] = {"linux": "linux", "win32": "win64", "darwin": "mac"}


class UnknownLocation(BridgeError):
    """The place of a plug-in is not known; the message names the options that the person needs."""


@dataclass(frozen=True, slots=True)
class System:
    """An operating system, a user's home folder on it, and the environment.

    Any thread. The folders need not exist.

    Attributes:
        platform: "linux", "win32" or "darwin", as in `sys.platform`.
        home: The user's home folder.
        env: The variables of the environment.
        user_documents: The folder of the user's documents, where the system has one. It need not
            be below the home folder: OneDrive moves it.
    """

    platform: Platform
    home: Path
    env: Mapping[str, str]
    user_documents: Path | None = None

    @classmethod
    def here(cls) -> System:
        """Return the system that this process runs on. An unknown system counts as Linux.

        Returns:
            The system, with the home folder and the variables as they are now.

        Raises:
            RuntimeError: The home folder cannot be found.
        """
        platforms: dict[str, Platform] = {"win32": "win32", "darwin": "darwin"}
        platform = platforms.get(sys.platform, "linux")
        documents = None
        if platform == "win32":
            documents = platformdirs.user_documents_path()
        return cls(platform, Path.home(), dict(os.environ), documents)

    def folder(self, variable: str, *default: str) -> Path:
        """Return the folder that a variable names, or a folder below the home. It raises nothing.

        Args:
            variable: The name of the variable: "XDG_CONFIG_HOME".
            *default: The path below the home folder that is used if the variable is missing or
                empty: ".config".

        Returns:
            The folder.
        """
        value = self.env.get(variable)
        if value:
            return Path(value)
        return self.home.joinpath(*default)

    def documents(self) -> Path:
        """Return the folder in which applications keep a user's documents. It raises nothing.

        Returns:
            The user's documents on Windows, else the home folder.
        """
        if self.platform != "win32":
            return self.home
        if self.user_documents is not None:
            return self.user_documents
        return self.home / "Documents"

    def application_data(self, linux: Path) -> Path:
        """Return the folder in which applications store their own files. It raises nothing.

        Args:
            linux: The folder on Linux, where some applications use ``~/.config`` and others
                ``~/.local/share``.

        Returns:
            ``Application Support`` on macOS, ``AppData/Roaming`` on Windows.
        """
        if self.platform == "linux":
            return linux
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.home / "Library" / "Application Support"


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of an application, from its own program or from the person.

    Attributes:
        version: The application's version, such as "0.20.2" or "2026"; None if not known.
        python: The minor version of the application's Python, such as "3.11"; None if not known.
        shared: The folder in which the application looks for plug-ins for all users; None if not
            known.
        program: The program that reported the facts; None if none was asked.
        machine: The processor that its Python runs on: "arm64"; None if none was asked.
    """

    version: str | None = None
    python: str | None = None
    shared: Path | None = None
    program: Path | None = None
    machine: str | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """The place of a plug-in.

    Attributes:
        folder: The plug-in's own folder.
        vendor: The folder for the bridge and its dependencies, as a path from the plug-in's folder.
        texts: The files outside of the folder by which the application finds the plug-in, with
            their texts.
        sources: The folders that are copied, as pairs: a path from the leaf's folder, and the path
            from the plug-in's folder to which it goes. "." is the folder itself.
    """

    folder: Path
    vendor: str
    texts: Mapping[Path, str] = field(default_factory=dict)
    sources: tuple[tuple[str, str], ...] = ((".", "."),)


class InstallTarget(Program):
    """An application that ``dcc-bridge install`` can put a plug-in into.

    A leaf derives a class from it in its module ``program``, sets `name`, `title` and the
    attributes below that have no default, and implements `user_root`; ``PROGRAM`` is an instance.
    Any thread. No method writes anything.

    Attributes:
        programs: The names of the batch interpreter, which is searched on PATH.
        places: Where else the application may be installed.
        module: The module by which an ordinary Python may contain the whole application, such as
            "bpy"; "" if there is none.
        script_option: The words of the command line before a Python file that only reads the
            program's facts.
        start_option: The words before the Python file with which the program serves.
        probe_imports: Python statements before the two expressions below, which the application's
            own Python evaluates. `os` is imported already.
        probe_version: A Python expression for the application's version, a `str`.
        probe_shared: A Python expression for the folder in which the application looks for
            plug-ins for all users; "None" if the application does not know the folder.
        pythons: The minor version of Python from a version of the application on, the newest
            first, as ``((5, 1), "3.13")``; None in place of an unknown Python.
        oldest: The oldest version that the plug-in supports.
        example: An example of a version, for error messages.
        afterwards: A sentence with the person's next step after the installation.
        known: The versions whose folders are checked if no program reports its version.
        folder: The name of the plug-in's folder, below the folder in which the application looks.
        loader: The name of a file in ``plugins/NAME`` that is copied beside that folder, for an
            application that finds the plug-in by such a file; else None.
        sources: The parts of ``plugins/NAME`` and their places in the plug-in's folder, as pairs of
            relative paths; "." is the folder itself.
    """

    programs: ClassVar[tuple[str, ...]]
    places: ClassVar[Places] = Places()
    module: ClassVar[str] = ""
    script_option: ClassVar[tuple[str, ...]] = ()
    start_option: ClassVar[tuple[str, ...]] = ()
    probe_imports: ClassVar[str]
    probe_version: ClassVar[str]
    probe_shared: ClassVar[str] = "None"
    pythons: ClassVar[tuple[tuple[tuple[int, ...], str | None], ...]]
    oldest: ClassVar[tuple[int, ...]]
    example: ClassVar[str]
    afterwards: ClassVar[str]
    known: ClassVar[tuple[str, ...]]
    folder: ClassVar[str] = "dcc_bridge"
    loader: ClassVar[str | None] = None
    sources: ClassVar[tuple[tuple[str, str], ...]] = ((".", "."),)

    def location(self, system: System, facts: Facts, for_all: bool) -> Location:
        """Return the place of the plug-in.

        Args:
            system: The operating system and the user.
            facts: The known facts of the application.
            for_all: Whether to install for all users of the computer.

        Returns:
            The plug-in's folder, with the files in it and beside it.

        Raises:
            UnknownLocation: Too little is known; the message names the needed options.
            OSError: The `loader` cannot be read.
        """
        root = self.shared_root(system, facts) if for_all else self.user_root(system, facts)
        texts = {}
        if self.loader is not None:
            source = self.leaf / self.loader
            texts[root / self.loader] = source.read_text(encoding="utf-8")
        vendor = self.vendor(system, facts.python)
        return Location(self.plugin_folder(root), vendor, texts, self.sources)

    def preferences(self, system: System, facts: Facts) -> Preferences | None:
        """Return the preferences in which the plug-in must be enabled. It raises nothing.

        A leaf overrides this if the application does not start a plug-in before it is enabled.

        Args:
            system: The operating system and the user.
            facts: The known facts of the application.

        Returns:
            The preferences; None if the plug-in need not be enabled, or the version is not known.
        """
        return None

    def other_form(self, system: System, facts: Facts) -> Path | None:
        """Return where the bridge is installed in another way, so that it is not there twice.

        A leaf overrides this if the application has such a way. It raises nothing.

        Args:
            system: The operating system and the user.
            facts: The known facts of the application.

        Returns:
            The folder; None if there is none.
        """
        return None

    def locations(self, system: System, versions: Iterable[Facts]) -> list[tuple[Location, bool]]:
        """Return the places where versions look for plug-ins, if known.

        Args:
            system: The operating system and the user.
            versions: The facts of each version.

        Returns:
            Each place once, and whether it is for all users.

        Raises:
            OSError: The `loader` cannot be read.
        """
        places: dict[Path, tuple[Location, bool]] = {}
        for facts, for_all in product(versions, (False, True)):
            # An unknown place, as without a version, has no plug-in of ours either.
            with suppress(UnknownLocation):
                location = self.location(system, facts, for_all)
                places.setdefault(location.folder, (location, for_all))
        return list(places.values())

    @property
    def known_versions(self) -> list[Facts]:
        """The versions whose folders are known without asking the application."""
        return [Facts(), *(Facts(version) for version in self.known)]

    def check_known(self, version: str) -> None:
        """Check a version that the person named and no program confirmed.

        Args:
            version: The version: "4.5".

        Raises:
            UnknownLocation: The version is none of the `known` ones. The error names a similar one.
        """
        if f"{version}.".startswith(tuple(f"{known}." for known in self.known)):
            return
        advice = ". If there is one"
        similar = get_close_matches(version, self.known, n=1)
        if similar:
            advice = f"; did you mean {similar[0]}? If not"
        raise UnknownLocation(f"{self.title} {version} is not known{advice}, say --interpreter.")

    def plugin_folder(self, root: Path) -> Path:
        """Return the plug-in's own folder. It raises nothing.

        Args:
            root: The folder in which the application looks for plug-ins.

        Returns:
            The folder `folder` in `root`; a leaf may override this.
        """
        return root / self.folder

    def vendor(self, system: System, python: str | None) -> str:
        """Return the folder for the bridge and its dependencies in the plug-in's folder.

        It raises nothing.

        Args:
            system: The operating system.
            python: The minor version of the application's Python: "3.11"; None if not known.

        Returns:
            A relative path, different for each Python and each system because of native code:
            "vendor/py311-linux".
        """
        digits = ""
        if python is not None:
            digits = python.replace(".", "")
        return f"vendor/py{digits}-{_VENDOR_SUFFIXES[system.platform]}"

    @abstractmethod
    def user_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which the application looks for its user's plug-ins.

        Args:
            system: The operating system and the user.
            facts: The known facts of the application; the version may be missing.

        Returns:
            The folder, which need not exist.

        Raises:
            UnknownLocation: The place depends on an unknown fact, such as the version.
        """

    def shared_root(self, system: System, facts: Facts) -> Path:
        """Return the folder in which the application looks for plug-ins for all users.

        A leaf overrides this if the place is known without the application's own report.

        Args:
            system: The operating system.
            facts: The known facts of the application.

        Returns:
            The folder that the application reported, which need not exist.

        Raises:
            UnknownLocation: The application did not report a folder.
        """
        if facts.shared is None:
            raise UnknownLocation(
                f"The folder for all users is read from {self.title} itself, but "
                f"{self.programs[0]} was not found. Use --interpreter PATH."
            )
        return facts.shared

    def python(self, version: str) -> str | None:
        """Return the Python of a version of the application. It raises nothing.

        Args:
            version: The application's version: "2026".

        Returns:
            The minor version, such as "3.11"; None if not known.
        """
        for first_version, python in self.pythons:
            if numbers(version) >= first_version:
                return python
        return None

    def complete(self, facts: Facts, version: str | None, python: str | None) -> Facts:
        """Return the facts from the program, completed by those that the person named.

        Args:
            facts: The facts from the program; empty if no program was found.
            version: The version that the person named, if any, which takes precedence.
            python: The minor version of Python that the person named, if any.

        Returns:
            The facts, with a Python.

        Raises:
            UnknownLocation: The Python of the application is not known.
        """
        if version is not None and version != facts.version:
            # The person may shorten a version, such as "0.20" for "0.20.2".
            is_same = facts.version is not None and facts.version.startswith(f"{version}.")
            if not is_same:
                facts = Facts(version)
        python = python or facts.python or self.python(facts.version or "")
        if python is None:
            options = "--interpreter PATH, or --python 3.11"
            if not version:
                options = f"--version {self.example}, {options}"
            raise UnknownLocation(
                f"The Python of this {self.title} is unknown. Its program "
                f"{' or '.join(self.programs)} was not found. Use {options}."
            )
        return replace(facts, python=python)

    def required_version(self, facts: Facts) -> str:
        """Return the version of an application whose place depends on the version.

        Args:
            facts: The known facts of the application.

        Returns:
            The version: "0.20.2".

        Raises:
            UnknownLocation: The version is not known.
        """
        if facts.version is None:
            raise UnknownLocation(
                f"The version of {self.title} is unknown. Its program was not found. "
                f"Use --version {self.example}."
            )
        return facts.version


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: (0, 20, 2) for "0.20.2".

    Args:
        version: Numbers separated by points, up to the first part that is no number.

    Returns:
        The numbers.

    Raises:
        Nothing.
    """
    return tuple(int(part) for part in takewhile(str.isdigit, version.split(".")))
