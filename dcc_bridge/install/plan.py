"""Installs the plug-in, and takes away exactly what was installed. Main thread.

A list lies in the plug-in's own folder: every file, and every folder that had to be made. What
Python compiles of our files goes with them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from dcc_bridge.config import data_folder
from dcc_bridge.errors import DISTRIBUTION, BridgeError
from dcc_bridge.install import locations as targets
from dcc_bridge.install import vendor

LIST_NAME: Final = "installed.json"
_OLDEST: Final = (3, 11)
_NEWEST: Final = (3, 13)


class NotOurs(BridgeError):
    """What is there is none of ours, or it is not known what is."""


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """What an installation consists of."""

    facts: dict[str, str]  # the host, its version, its Python, ours
    files: tuple[Path, ...]  # in the plug-in's folder and besides
    folders: tuple[Path, ...]  # those that were made, the outermost first

    @classmethod
    def read(cls, folder: Path) -> InstalledFiles | None:
        """Read what was installed in a folder; None where nothing of ours is."""
        file = folder / LIST_NAME
        try:
            payload = json.loads(file.read_text(encoding="utf-8"))
            files, folders = (tuple(map(Path, payload[kind])) for kind in ("files", "folders"))
            return cls(dict(payload["facts"]), files, folders)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = f"{file} cannot be read, so nobody knows what was installed: {error}"
            raise NotOurs(f"{why}. Take {folder} away by hand.") from error

    def save(self, folder: Path) -> None:
        """Write the list into the plug-in's folder."""
        payload = {
            "facts": self.facts,
            "folders": [str(path) for path in self.folders],
            "files": sorted(map(str, self.files)),
        }
        (folder / LIST_NAME).write_text(json.dumps(payload, indent=1), encoding="utf-8")

    def missing(self) -> list[Path]:
        """List the files that are gone."""
        return [file for file in self.files if not os.path.lexists(file)]

    def foreign(self, folder: Path) -> list[Path]:
        """List the files in the plug-in's folder that are none of ours."""
        ours = {*self.files, folder / LIST_NAME, *self._compiled(folder)}
        return [file for file in _files(folder) if file not in ours]

    def delete(self, folder: Path) -> None:
        """Delete the files, and those folders that are empty then."""
        for file in [*self._compiled(folder), *self.files]:
            if file.is_symlink() or not file.is_dir():  # a folder in a file's place is none of ours
                file.unlink(missing_ok=True)
        (folder / LIST_NAME).unlink(missing_ok=True)
        for below, _, _ in os.walk(folder, topdown=False):
            _remove_if_empty(Path(below))
        for parent in reversed(self.folders):
            _remove_if_empty(parent)

    def _compiled(self, folder: Path) -> Iterator[Path]:
        for file in list(_files(folder)):
            source = file.parent.parent / f"{file.name.split('.')[0]}.py"
            if file.parent.name == "__pycache__" and file.suffix == ".pyc" and source in self.files:
                yield file


@dataclass(frozen=True, slots=True)
class Plan:
    """What is installed where."""

    application: targets.InstallTarget
    facts: targets.Facts
    location: targets.Location
    system: targets.System

    @property
    def python(self) -> str:
        """The minor version of the application's Python."""
        return self.facts.python or ""

    def sentences(self) -> list[str]:
        """Say what is done, a line each."""
        location = self.location
        version = f" {self.facts.version}" if self.facts.version else ""
        return [
            f"{self.application.title}{version}, with Python {self.python}:",
            f"  put the plug-in into {location.folder}",
            f"  put the bridge and what it depends on into {location.folder / location.vendor}",
            f"    ({', '.join(vendor.names())}; no Qt)",
            *(f"  write {file}" for file in location.texts),
        ]

    def check(self) -> InstalledFiles | None:
        """Look whether it can be done; give what is there already.

        UnknownLocation: a version or a Python that will not do; NotOurs: something is in the way.
        """
        title, version, folder = self.application.title, self.facts.version, self.location.folder
        oldest = self.application.oldest
        if version and () < targets.numbers(version) < oldest:
            needed = ".".join(map(str, oldest))
            raise targets.UnknownLocation(f"{title} {version} is too old; {needed} is needed.")
        if version and self.facts.program is None:  # the person named it
            self.application.check_known(version)
        if not _OLDEST <= targets.numbers(self.python) <= _NEWEST:
            needs = "the bridge needs 3.11 to 3.13"
            raise targets.UnknownLocation(f"{title} has Python {self.python}; {needs}.")
        old = InstalledFiles.read(folder)
        if old is None:
            for path in (folder, *self.location.texts):
                if os.path.lexists(path):
                    raise NotOurs(f"{path} was not installed by dcc-bridge; move it away first.")
        elif foreign := old.foreign(folder):
            what = f"{folder} holds files of somebody else, such as {foreign[0]}"
            raise NotOurs(f"{what}. Move them away and install again.")
        return old

    def install(self) -> InstalledFiles:
        """Install it, in place of an older one; the application never finds half of it.

        It raises what `check` does, NotVendored where what it depends on cannot be had, OSError.
        """
        old = self.check()
        folder, texts = self.location.folder, self.location.texts
        parents = list(old.folders if old else ())
        with ExitStack() as on_failure:
            for parent in (folder.parent, *(file.parent for file in texts)):
                parents += _make_folders(parent)
            for parent in parents:
                on_failure.callback(_remove_if_empty, parent)
            with tempfile.TemporaryDirectory(prefix=".dcc_bridge-", dir=folder.parent) as staging:
                new = Path(staging, "plug-in")
                plugin = data_folder("plugins") / self.application.name
                for source, target in self.location.sources:
                    vendor.copy_sources(plugin / source, new / target)
                vendor.fill(new / self.location.vendor, self.python, self.system.platform)
                if old is not None:
                    old.delete(folder)
                new.rename(folder)
            on_failure.pop_all()
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)  # it went with the old one
            file.write_text(text, encoding="utf-8")
        facts = {
            "host": self.application.name,
            "host_version": self.facts.version or "",
            "python": self.python,
            "platform": self.system.platform,
            "bridge": metadata.version(DISTRIBUTION),
        }
        installed = InstalledFiles(facts, (*_files(folder), *texts), tuple(parents))
        installed.save(folder)
        return installed


def find_installations(
    application: targets.InstallTarget, versions: Iterable[targets.Facts]
) -> Iterator[dict[str, Any]]:
    """Look where some versions of an application look for plug-ins; give what is there of ours."""
    for location, for_all in application.locations(targets.System.here(), versions):
        about = {"host": application.name, "folder": str(location.folder), "for_all_users": for_all}
        try:
            if (installed := InstalledFiles.read(location.folder)) is not None:
                yield {**about, **installed.facts, "missing": len(installed.missing())}
        except NotOurs as error:
            yield {**about, "wrong": str(error)}


def describe(installation: dict[str, Any]) -> str:
    """Say in a line what is installed."""
    if "wrong" in installation:
        return f"{installation['host']}: {installation['wrong']}"
    shared = " for all users" if installation["for_all_users"] else ""
    missing = f" ({installation['missing']} files missing)" if installation["missing"] else ""
    text = "{host} {host_version}{shared}: version {bridge}, Python {python}, in {folder}{missing}"
    return text.format(**installation | {"shared": shared, "missing": missing})


def _files(folder: Path) -> Iterator[Path]:
    for below, folders, files in os.walk(folder):
        yield from (Path(below, name) for name in files)
        yield from (Path(below, name) for name in folders if Path(below, name).is_symlink())


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder; list those that were not there, the outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()][::-1]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # somebody else has something in it, or it is gone
        folder.rmdir()
