"""Finds the applications that are installed on this computer. Any thread. Nothing is started.

The core knows no application: each leaf's `InstallTarget` declares its `Places`. What one of them
contains is the batch interpreter, which `dcc_bridge.cli.interpreter.probe` asks for its version.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dcc_bridge import store_programs
from dcc_bridge.install import registry
from dcc_bridge.install.locations import InstallTarget, System, UnknownLocation
from dcc_bridge.install.registry import Registry

_MDFIND_TIMEOUT_S: Final = 20
_LIBRARY: Final = re.compile(r'"path"\s+"((?:[^"\\]|\\.)*)"')
_VERSION: Final = re.compile(r"\d+(?:\.\d+)*")
_PROGRAM_FILES: Final = ("PROGRAMFILES", "PROGRAMW6432", "PROGRAMFILES(X86)")
_TRANSLOCATED: Final = "AppTranslocation"
_SEALED: Final = "{} is {}, which has folders of its own. Use the one from its makers' page"
_FROM_STORE: Final = (
    "{} is from the Microsoft Store: Windows puts what it writes into folders of its own, where no "
    "client would find it. Use the one from its makers' page"
)
PATH: Final = "PATH"
Way = tuple[str, Path]
"""How the folder of an application was found, in words, and the folder."""


class SeveralFound(UnknownLocation):
    """An application is installed several times; the message lists the places."""


@dataclass(frozen=True, slots=True)
class Computer:
    """The facts of a computer by which applications are found on it.

    Attributes:
        system: The operating system, the user and the environment.
        root: The folder that counts as "/".
        registry: What the registry of Windows says.
        spotlight: Returns the applications with a bundle's identifier, as Spotlight knows them.
    """

    system: System
    root: Path = Path("/")
    registry: Registry = field(default_factory=Registry)
    spotlight: Callable[[str], Iterable[Path]] = lambda bundle: ()

    @classmethod
    def here(cls) -> Computer:
        """Return this computer."""
        system = System.here()
        if system.platform == "darwin":
            return cls(system, spotlight=_ask_spotlight)
        return cls(system, registry=registry.read())


@dataclass(frozen=True, slots=True)
class Found:
    """An application that is installed.

    Attributes:
        program: Its batch interpreter; or its folder or file, if there is a `problem`.
        way: How it was found, in a few words, such as "PATH".
        version: The version in the name of its folder; None if there is none.
        problem: The reason why the bridge cannot be set up there, and what to do; else "".
    """

    program: Path
    way: str
    version: str | None = None
    problem: str = ""


def search(application: InstallTarget, computer: Computer) -> list[Found]:
    """Return where an application is installed, each place once.

    Args:
        application: The application.
        computer: The computer.

    Returns:
        Those on PATH first, then those of the system's folders and lists.
    """
    found: dict[str, Found] = {}
    for one in (*_on_path(application, computer.system), *_elsewhere(application, computer)):
        found.setdefault(os.path.realpath(one.program), one)
    usable = [one for one in found.values() if not one.problem]
    return [*usable, *(one for one in found.values() if one.problem)]


def first_on_path(application: InstallTarget, system: System) -> Found | None:
    """Return the first usable place of an application on PATH; None if there is none."""
    for found in _on_path(application, system):
        if not found.problem:
            return found
    return None


def choose(application: InstallTarget, found: Sequence[Found], version: str | None) -> Found | None:
    """Return the one place that fits: the first one on PATH, or else the only one.

    Args:
        application: The application.
        found: What `search` returned.
        version: The version that the person named, if any. A folder with that version in its name
            comes before PATH.

    Returns:
        The place; None if there is none.

    Raises:
        SeveralFound: There are several. The message lists them.
    """
    fitting = [one for one in found if not one.problem]
    if version is not None:
        named = [one for one in fitting if one.version and _fits(one.version, version)]
        fitting = named or [one for one in fitting if one.version is None]
    if not fitting:
        return None
    if len(fitting) == 1 or fitting[0].way == PATH:
        return fitting[0]
    places = ", ".join(str(one.program) for one in fitting)
    raise SeveralFound(
        f"{application.title} is installed several times: {places}. Say which: --interpreter PATH, "
        f"or for an installation also --version {application.example}."
    )


def problem_of(application: InstallTarget, program: Path) -> str:
    """Return why the bridge cannot be set up for a program; "" if nothing is known against it."""
    title = application.title
    if _TRANSLOCATED in program.parts:
        return (
            f"macOS runs this {title} from a temporary copy. Quit it, move it with the Finder into "
            "the folder Applications, and start it there once"
        )
    if store_programs.is_from_store(program):
        return _FROM_STORE.format(title)
    if Path(os.path.realpath(program)).name == "snap":
        return _SEALED.format(title, "a snap")
    return ""


def _fits(version: str, wanted: str) -> bool:
    """Return whether a version is the wanted one, of which either may be shortened."""
    return f"{version}.".startswith(f"{wanted}.") or f"{wanted}.".startswith(f"{version}.")


def _on_path(application: InstallTarget, system: System) -> Iterator[Found]:
    for folder in system.env.get("PATH", "").split(os.pathsep):
        for name in application.programs:
            program = shutil.which(name, path=folder)
            # On Windows `which` also looks in the current folder, where anybody may put a program.
            if program is not None and Path(program).parent == Path(folder):
                path = Path(program)
                yield Found(path, PATH, None, problem_of(application, path))


def _elsewhere(application: InstallTarget, computer: Computer) -> Iterator[Found]:
    interpreters = application.places.interpreters.get(computer.system.platform, ())
    for way, folder in _folders(application, computer):
        for interpreter in interpreters:
            program = folder / interpreter
            if program.is_file():
                yield Found(program, way, _version(folder), problem_of(application, program))
                break
    yield from _only_named(application, computer)


def _folders(application: InstallTarget, computer: Computer) -> Iterator[Way]:
    """Yield the folders that may contain an application."""
    patterns = application.places.folders.get(computer.system.platform, ())
    match computer.system.platform:
        case "win32":
            yield from _matching("Program Files", _program_files(computer), patterns)
            yield from _registered(application, computer)
        case "darwin":
            folders = [computer.root / "Applications", computer.system.home / "Applications"]
            yield from _matching("Applications", folders, patterns)
            yield from _known_to_spotlight(application, computer)
        case "linux":
            at_root = [pattern[1:] for pattern in patterns if pattern.startswith("/")]
            yield from _matching("its own folder", [computer.root], at_root)
            below = [pattern for pattern in patterns if not pattern.startswith("/")]
            yield from _matching("a folder of programs", _linux_folders(computer), below)
    yield from _from_steam(application, computer)


def _linux_folders(computer: Computer) -> list[Path]:
    shared = [computer.root / "opt", computer.root / "usr/local"]
    return [*shared, computer.system.home / "Applications"]


def _known_to_spotlight(application: InstallTarget, computer: Computer) -> Iterator[Way]:
    bundle = application.places.bundle
    if bundle:
        for app in computer.spotlight(bundle):
            yield "Spotlight", app


def _from_steam(application: InstallTarget, computer: Computer) -> Iterator[Way]:
    name = application.places.steam
    if not name:
        return
    for library in _steam_libraries(computer):
        folder = library / "steamapps" / "common" / name
        yield "Steam", folder
        for app in sorted(folder.glob("*.app")):
            yield "Steam", app


def _matching(way: str, roots: Iterable[Path], patterns: Iterable[str]) -> Iterator[Way]:
    for root in roots:
        for pattern in patterns:
            for folder in sorted(root.glob(pattern)):
                yield way, folder


def _program_files(computer: Computer) -> list[Path]:
    env = computer.system.env
    names = [env[variable] for variable in _PROGRAM_FILES if env.get(variable)]
    folders = [Path(name) for name in dict.fromkeys(names)]
    # Installers for one user only, such as those of FreeCAD, use this folder.
    folders.append(computer.system.folder("LOCALAPPDATA", "AppData", "Local") / "Programs")
    return folders


def _registered(application: InstallTarget, computer: Computer) -> Iterator[Way]:
    """Yield the folders that the registry of Windows names."""
    places = application.places
    known = computer.registry
    executable = known.app_paths.get(places.executable.lower())
    if executable is not None:
        yield "the registry", executable.parent
        yield "the registry", executable.parent.parent
    for name, folder in known.installed:
        if places.listed_as and name.lower().startswith(places.listed_as.lower()):
            yield "the registry", folder
    for name, folder in known.packages:
        if places.store and name.lower().startswith(places.store.lower()):
            yield "Microsoft Store", folder


def _steam_libraries(computer: Computer) -> list[Path]:
    """Return the folders of Steam's libraries, the first of which is Steam's own folder."""
    libraries = []
    for steam in _steam_folders(computer):
        try:
            text = (steam / "steamapps/libraryfolders.vdf").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            text = ""
        paths = [path.replace("\\\\", "\\") for path in _LIBRARY.findall(text)]
        libraries += [steam, *(Path(path) for path in paths)]
    return list(dict.fromkeys(libraries))


def _steam_folders(computer: Computer) -> list[Path]:
    system = computer.system
    match system.platform:
        case "win32":
            return [folder for folder in (computer.registry.steam,) if folder is not None]
        case "darwin":
            return [system.application_data(system.home) / "Steam"]
        case "linux":
            return [system.folder("XDG_DATA_HOME", ".local", "share") / "Steam"]


def _only_named(application: InstallTarget, computer: Computer) -> Iterator[Found]:
    """Yield the forms of an application on Linux that have a file system of their own."""
    if computer.system.platform != "linux":
        return
    places, title, home = application.places, application.title, computer.system.home
    for folder in (computer.root / "var/lib/flatpak/app", home / ".local/share/flatpak/app"):
        flatpak = folder / places.flatpak
        if places.flatpak and flatpak.is_dir():
            yield Found(flatpak, "Flatpak", None, _SEALED.format(title, "a Flatpak"))
    snap = computer.root / "snap" / places.snap
    if places.snap and snap.is_dir():
        yield Found(snap, "snap", None, _SEALED.format(title, "a snap"))
    for folder in _linux_folders(computer):
        for file in sorted(folder.glob(f"{title}*.AppImage")):
            problem = f"{title} is an AppImage, whose interpreter is inside of it"
            advice = f"Use dcc-bridge install {application.name} --version {application.example}"
            yield Found(file, "AppImage", _version(file), f"{problem}. {advice}")


def _version(path: Path) -> str | None:
    """Return the version in the name of an application's folder or file, if there is one."""
    match = _VERSION.search(path.name)
    if match is None:
        return None
    return match[0]


def _ask_spotlight(bundle: str) -> list[Path]:
    """Return where Spotlight knows an application with a bundle's identifier."""
    words = ["mdfind", f"kMDItemCFBundleIdentifier == '{bundle}'"]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_MDFIND_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [Path(line) for line in done.stdout.splitlines() if line]
