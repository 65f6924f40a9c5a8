"""The files of an installation, by the list in the plug-in's folder. Main thread.

The list names every file and every folder that was made, so only these are removed, together with
the files that Python compiled from ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from dcc_bridge import held_files
from dcc_bridge.errors import BridgeError
from dcc_bridge.install import locations as targets
from dcc_bridge.install.folders import (
    OLD,
    InUse,
    delete_all,
    files_below,
    put_aside,
    remove_if_empty,
    staging,
)

LIST_NAME: Final = "installed.json"


class NotOurs(BridgeError):
    """A folder or file was not installed by us, or its list of files cannot be read."""


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """The content of an installation, by the list in its folder.

    Every name in the list is a path relative to that folder, so a copied folder lists its own
    files.

    Attributes:
        folder: The plug-in's folder.
        facts: The host, its version, its Python, and the version of the bridge.
        digests: The SHA-256 of each file when it was installed, by its name.
        folder_names: The folders that were made, the outermost first.
    """

    folder: Path
    facts: Mapping[str, str]
    digests: Mapping[str, str]
    folder_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        folder: Path,
        facts: Mapping[str, str],
        files: Mapping[Path, Path],
        new_folders: Iterable[Path],
    ) -> InstalledFiles:
        """Return the content that an installation will have.

        Args:
            folder: The plug-in's folder.
            facts: The host, its version, its Python, and the version of the bridge.
            files: The present path of each file, by its final path.
            new_folders: The folders that were made, the outermost first.
        """
        digests = {_name(file, folder): _digest(source) for file, source in files.items()}
        return cls(folder, facts, digests, tuple(_name(path, folder) for path in new_folders))

    @classmethod
    def read(cls, folder: Path) -> InstalledFiles | None:
        """Return the installation in a folder, if there is one.

        Raises:
            NotOurs: The list cannot be read, or is the list of another folder.
        """
        file = folder / LIST_NAME
        try:
            payload = json.loads(file.read_text(encoding="utf-8"))
            names = [*payload["files"], *payload["folders"]]
            absolute = [name for name in names if Path(name).is_absolute()]
            if absolute:
                why = f"{file} lists files by their full paths, such as {absolute[0]}"
                advice = "which may be another folder's. Nothing was deleted."
                raise NotOurs(f"{why}, {advice} Delete {folder} by hand.")
            digests = dict(payload["files"])
            return cls(folder, dict(payload["facts"]), digests, tuple(payload["folders"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = f"{file} cannot be read, so the installed files are unknown: {error}"
            raise NotOurs(f"{why}. Delete {folder} by hand.") from error

    def save(self, folder: Path) -> None:
        """Write the list into a folder, which will be renamed to the plug-in's."""
        payload = {
            "facts": dict(self.facts),
            "folders": list(self.folder_names),
            "files": dict(sorted(self.digests.items())),
        }
        text = json.dumps(payload, indent=1)
        (folder / LIST_NAME).write_text(text, encoding="utf-8")

    @property
    def files(self) -> list[Path]:
        """The files, in the plug-in's folder and outside of it."""
        return [_path(name, self.folder) for name in self.digests]

    @property
    def new_folders(self) -> list[Path]:
        """The folders that were made, the outermost first."""
        return [_path(name, self.folder) for name in self.folder_names]

    def missing(self) -> list[Path]:
        """Return the files that do not exist any more."""
        return [file for file in self.files if not os.path.lexists(file)]

    def foreign(self) -> list[Path]:
        """Return the files in the plug-in's folder that are not ours."""
        ours = {*self.files, self.folder / LIST_NAME, *self._compiled()}
        return [file for file in files_below(self.folder) if file not in ours]

    def changed(self) -> list[Path]:
        """Return our files that were changed after they were installed."""
        changed = []
        for name, digest in self.digests.items():
            file = _path(name, self.folder)
            # A folder with the name of a file of ours is foreign.
            is_there = file.is_symlink() or file.is_file()
            if is_there and _digest(file) != digest:
                changed.append(file)
        return changed

    def remove(self, title: str) -> dict[Path, str]:
        """Remove the plug-in as a whole, or not at all.

        Its folder is renamed first, which Windows refuses while the application holds a file in the
        folder open. Only then the files are deleted, and the folders that are empty then. The list
        stays until the last file of ours is deleted, so that the plug-in can be removed later.

        Args:
            title: The name of the application for its users.

        Returns:
            The reason for each file that was not deleted. `leftovers` returns the folders that were
            put aside and not deleted.

        Raises:
            InUse: The application holds files of the plug-in open. Nothing was deleted.
            OSError: The parent folder cannot be written. Nothing was deleted.
        """
        spared = dict.fromkeys(self.foreign(), "dcc-bridge did not install it")
        spared.update(dict.fromkeys(self.changed(), "it was changed since it was installed"))
        ours = {*self.files, *self._compiled()} - spared.keys()
        self._take_out(ours, title, stays=bool(spared))
        undeleted = delete_all(ours)
        if not undeleted:
            undeleted = delete_all([self.folder / LIST_NAME])
        for below, _, _ in os.walk(self.folder, topdown=False):
            remove_if_empty(Path(below))
        self.remove_new_folders()
        return spared | undeleted

    def remove_new_folders(self) -> None:
        """Remove the folders that were made and are empty now."""
        for folder in reversed(self.new_folders):
            remove_if_empty(folder)

    def _take_out(self, ours: Iterable[Path], title: str, *, stays: bool) -> None:
        """Put the folder aside to be deleted, and delete our files outside of it.

        Args:
            ours: Our files, in the folder and outside of it.
            title: The name of the application for its users.
            stays: Whether to put the folder back, because other files are in it.

        Raises:
            InUse: The application holds files open. Nothing was deleted.
        """
        outside = [file for file in ours if not file.is_relative_to(self.folder)]
        with staging(self.folder) as staging_folder:
            aside = staging_folder / OLD
            put_aside(self.folder, aside, title)
            if stays:
                held_files.replace(aside, self.folder)
            for file in outside:
                try:
                    held_files.delete(file)
                except OSError as error:  # there is at most one such file, so nothing was deleted
                    if not stays:
                        held_files.replace(aside, self.folder)
                    raise InUse(file, title, error) from error

    def _compiled(self) -> Iterator[Path]:
        """Yield the files that Python compiled from ours."""
        ours = set(self.files)
        for file in list(files_below(self.folder)):
            source = file.parent.parent / f"{file.name.split('.')[0]}.py"
            if file.parent.name == "__pycache__" and file.suffix == ".pyc" and source in ours:
                yield file


def find_installations(
    application: targets.InstallTarget, versions: Iterable[targets.Facts]
) -> Iterator[dict[str, Any]]:
    """Yield our installations for an application.

    Args:
        application: The application.
        versions: The versions whose folders are checked.

    Yields:
        The facts of an installation, with the number of "missing" files; or "wrong", a sentence, if
        the list cannot be read.
    """
    for location, for_all in application.locations(targets.System.here(), versions):
        place = {"host": application.name, "folder": str(location.folder), "for_all_users": for_all}
        try:
            installed = InstalledFiles.read(location.folder)
        except NotOurs as error:
            yield {**place, "wrong": str(error)}
            continue
        if installed is not None:
            yield {**place, **installed.facts, "missing": len(installed.missing())}


def describe(installation: dict[str, Any]) -> str:
    """Return a line about an installation from `find_installations`."""
    if "wrong" in installation:
        return f"{installation['host']}: {installation['wrong']}"
    shared = ""
    if installation["for_all_users"]:
        shared = " for all users"
    missing = ""
    if installation["missing"]:
        missing = f" ({installation['missing']} files missing)"
    text = "{host} {host_version}{shared}: version {bridge}, Python {python}, in {folder}{missing}"
    return text.format(**installation | {"shared": shared, "missing": missing})


def _name(path: Path, folder: Path) -> str:
    """Return the path of a file relative to a folder, in the same form on every system."""
    return Path(os.path.relpath(path, folder)).as_posix()


def _path(name: str, folder: Path) -> Path:
    return Path(os.path.normpath(folder / name))


def _digest(file: Path) -> str:
    """Return the SHA-256 of a file; for a link, that of its target's path."""
    if file.is_symlink():
        return sha256(os.readlink(file).encode()).hexdigest()
    return sha256(file.read_bytes()).hexdigest()
