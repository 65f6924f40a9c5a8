"""Installs the plug-in, and takes away exactly what was installed. Main thread.

A list lies in the plug-in's own folder: every file, and every folder that had to be made. What
Python compiles of our files goes with them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from dcc_bridge import private_files
from dcc_bridge.errors import DISTRIBUTION, BridgeError
from dcc_bridge.install import locations as targets
from dcc_bridge.install import vendor

LIST_NAME: Final = "installed.json"
_NEW: Final = "new"
_OLD: Final = "old"
_ASIDE: Final = ".dcc_bridge-"
_OLDEST: Final = (3, 11)
_NEWEST: Final = (3, 13)


class NotOurs(BridgeError):
    """What is there is none of ours, or it is not known what is."""


class InUse(BridgeError):
    """The application holds files of the plug-in open, so nothing was changed."""

    def __init__(self, path: Path, title: str, error: OSError) -> None:
        super().__init__(
            f"{path} cannot be taken away: {error.strerror}. Nothing was changed. Close {title}, "
            "and try again."
        )


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """What an installation consists of, as the list in its folder says.

    Every name in the list is a path from that folder, so a folder that was copied lists its own
    files.

    Attributes:
        folder: The plug-in's folder.
        facts: The host, its version, its Python, ours.
        digests: The SHA-256 of each file that was installed, by its name.
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
        made: Iterable[Path],
    ) -> InstalledFiles:
        """Return what an installation will consist of.

        Args:
            folder: The plug-in's folder.
            facts: The host, its version, its Python, ours.
            files: All the files, in the folder and besides, each with where it lies now.
            made: The folders that were made, the outermost first.
        """
        digests = {_name(file, folder): _digest(now) for file, now in files.items()}
        return cls(folder, facts, digests, tuple(_name(path, folder) for path in made))

    @classmethod
    def read(cls, folder: Path) -> InstalledFiles | None:
        """Return what was installed in a folder; None where nothing of ours is.

        Raises:
            NotOurs: The list cannot be read, or it is one of another folder.
        """
        file = folder / LIST_NAME
        try:
            payload = json.loads(file.read_text(encoding="utf-8"))
            named = [*payload["files"], *payload["folders"]]
            absolute = [name for name in named if Path(name).is_absolute()]
            if absolute:
                why = f"{file} lists files by their full paths, such as {absolute[0]}"
                advice = "which may be another folder's. Nothing was deleted."
                raise NotOurs(f"{why}, {advice} Take {folder} away by hand.")
            digests = dict(payload["files"])
            return cls(folder, dict(payload["facts"]), digests, tuple(payload["folders"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = f"{file} cannot be read, so nobody knows what was installed: {error}"
            raise NotOurs(f"{why}. Take {folder} away by hand.") from error

    def save(self, folder: Path) -> None:
        """Write the list into the folder that becomes the plug-in's."""
        payload = {
            "facts": dict(self.facts),
            "folders": list(self.folder_names),
            "files": dict(sorted(self.digests.items())),
        }
        text = json.dumps(payload, indent=1)
        (folder / LIST_NAME).write_text(text, encoding="utf-8")

    @property
    def files(self) -> list[Path]:
        """The files, in the plug-in's folder and besides."""
        return [_path(name, self.folder) for name in self.digests]

    @property
    def made(self) -> list[Path]:
        """The folders that were made, the outermost first."""
        return [_path(name, self.folder) for name in self.folder_names]

    def missing(self) -> list[Path]:
        """List the files that are gone."""
        return [file for file in self.files if not os.path.lexists(file)]

    def foreign(self) -> list[Path]:
        """List the files in the plug-in's folder that are none of ours."""
        ours = {*self.files, self.folder / LIST_NAME, *self._compiled()}
        return [file for file in _files(self.folder) if file not in ours]

    def changed(self) -> list[Path]:
        """List our files that somebody changed since they were installed."""
        changed = []
        for name, digest in self.digests.items():
            file = _path(name, self.folder)
            # What is in a folder in a file's place is foreign.
            is_there = file.is_symlink() or file.is_file()
            if is_there and _digest(file) != digest:
                changed.append(file)
        return changed

    def remove(self, title: str) -> dict[Path, str]:
        """Take the plug-in away: as a whole, or not at all.

        Its folder is put aside first, which Windows refuses while the application holds a file in
        it. Only then is anything deleted: the files, and the folders that are empty then. The list
        stays as long as a file of ours does, so that it can be taken away later.

        Args:
            title: What the application's users call it.

        Returns:
            Each file that is still there, and why; `leftovers` names what was put aside.

        Raises:
            InUse: The application holds files of it open. Nothing was deleted.
            OSError: The folder beside it cannot be written to. Nothing was deleted.
        """
        kept = dict.fromkeys(self.foreign(), "dcc-bridge did not install it")
        kept.update(dict.fromkeys(self.changed(), "it was changed since it was installed"))
        ours = {*self.files, *self._compiled()} - kept.keys()
        beside = [file for file in ours if not file.is_relative_to(self.folder)]
        with _staging(self.folder) as staging:
            aside = staging / _OLD
            _put_aside(self.folder, aside, title)
            if kept:
                private_files.replace(aside, self.folder)
            for file in beside:
                try:
                    private_files.delete(file)
                except OSError as error:  # the first, for there is one only
                    if not kept:
                        private_files.replace(aside, self.folder)
                    raise InUse(file, title, error) from error
        undeleted = _delete_all(ours)
        if not undeleted:
            undeleted = _delete_all([self.folder / LIST_NAME])
        for below, _, _ in os.walk(self.folder, topdown=False):
            _remove_if_empty(Path(below))
        for made in reversed(self.made):
            _remove_if_empty(made)
        return kept | undeleted

    def _compiled(self) -> Iterator[Path]:
        """Yield what Python compiled of our files."""
        ours = set(self.files)
        for file in list(_files(self.folder)):
            source = file.parent.parent / f"{file.name.split('.')[0]}.py"
            if file.parent.name == "__pycache__" and file.suffix == ".pyc" and source in ours:
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
        title, version = self.application.title, self.facts.version
        oldest = self.application.oldest
        if version and () < targets.numbers(version) < oldest:
            needed = ".".join(map(str, oldest))
            raise targets.UnknownLocation(f"{title} {version} is too old; {needed} is needed.")
        if version and self.facts.program is None:  # the person named it
            self.application.check_known(version)
        if not _OLDEST <= targets.numbers(self.python) <= _NEWEST:
            needs = "the bridge needs 3.11 to 3.13"
            raise targets.UnknownLocation(f"{title} has Python {self.python}; {needs}.")
        return self._check_place()

    def _check_place(self) -> InstalledFiles | None:
        folder = self.location.folder
        old = InstalledFiles.read(folder)
        if old is None:
            for path in (folder, *self.location.texts):
                if os.path.lexists(path):
                    raise NotOurs(f"{path} was not installed by dcc-bridge; move it away first.")
            return None
        foreign = old.foreign()
        if foreign:
            what = f"{folder} holds files of somebody else, such as {foreign[0]}"
            raise NotOurs(f"{what}. Move them away and install again.")
        changed = old.changed()
        if changed:
            what = f"Files were changed since they were installed, such as {changed[0]}"
            raise NotOurs(f"{what}. Move them away and install again.")
        return old

    def install(self) -> InstalledFiles:
        """Install it, in place of an older one; the application never finds half of it.

        Raises:
            UnknownLocation: A version or a Python that will not do.
            NotOurs: Something is in the way.
            NotVendored: What it depends on cannot be had.
            InUse: The application holds files of the older one open.
            OSError: It cannot be written. In each case nothing was changed.
        """
        old = self.check()
        folder, texts = self.location.folder, self.location.texts
        made = old.made if old is not None else []
        with ExitStack() as on_failure:
            for parent in (folder.parent, *(file.parent for file in texts)):
                for new_folder in _make_folders(parent):
                    made.append(new_folder)
                    on_failure.callback(_remove_if_empty, new_folder)
            # Last in, first undone: the new plug-in goes, and the old one comes back.
            with _staging(folder) as staging, ExitStack() as put_back:
                new = staging / _NEW
                for source, target in self.location.sources:
                    vendor.copy_sources(self.application.leaf / source, new / target)
                vendor.fill(new / self.location.vendor, self.python, self.system.platform)
                files = {folder / file.relative_to(new): file for file in _files(new)}
                written = {}
                for file, text in texts.items():
                    written[file] = _new_file_beside(file)
                    put_back.callback(private_files.delete, written[file])
                    written[file].write_text(text, encoding="utf-8")
                installed = InstalledFiles.of(folder, self._facts(), files | written, made)
                installed.save(new)
                # All is written by now; what follows only renames.
                if old is not None:
                    _put_aside(folder, staging / _OLD, self.application.title)
                    put_back.callback(private_files.replace, staging / _OLD, folder)
                private_files.replace(new, folder)
                put_back.callback(private_files.replace, folder, new)
                for file, now in written.items():
                    private_files.replace(now, file)  # there is one at most
                put_back.pop_all()
            on_failure.pop_all()
        return installed

    def _facts(self) -> dict[str, str]:
        """Return what the list says of the installation."""
        return {
            "host": self.application.name,
            "host_version": self.facts.version or "",
            "python": self.python,
            "platform": self.system.platform,
            "bridge": metadata.version(DISTRIBUTION),
        }


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


def leftovers(folder: Path) -> list[Path]:
    """List the folders beside the plug-in's in which something was put aside and not deleted."""
    return sorted(folder.parent.glob(f"{_ASIDE}*"))


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


def _name(path: Path, folder: Path) -> str:
    """Return the path of a file from a folder, the same on every system."""
    return Path(os.path.relpath(path, folder)).as_posix()


def _path(name: str, folder: Path) -> Path:
    return Path(os.path.normpath(folder / name))


def _digest(file: Path) -> str:
    """Return the SHA-256 of a file; of a link that of where it leads."""
    if file.is_symlink():
        return sha256(os.readlink(file).encode()).hexdigest()
    return sha256(file.read_bytes()).hexdigest()


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Have an empty folder beside another one in a ``with``.

    What is left in it at the end is deleted. After an error only what is new is: what was put
    aside, and could not be put back, may be the only one.
    """
    staging = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=folder.parent))
    try:
        yield staging
    except BaseException:
        shutil.rmtree(staging / _NEW, ignore_errors=True)
        _remove_if_empty(staging)
        raise
    shutil.rmtree(staging, ignore_errors=True)


def _put_aside(folder: Path, aside: Path, title: str) -> None:
    """Rename a folder in which no file is held by the application.

    Raises:
        InUse: One is. The folder is where it was.
    """
    try:
        private_files.replace(folder, aside)
    except OSError as error:
        raise InUse(folder, title, error) from error
    try:
        _check_deletable(aside)
    except OSError as error:
        private_files.replace(aside, folder)
        raise InUse(folder, title, error) from error


def _check_deletable(folder: Path) -> None:
    """Raise an OSError where Windows would delete some files of a folder and then not the rest.

    A library that a process has loaded can be moved there, but neither written nor deleted.
    """
    if sys.platform == "win32":
        for file in _files(folder):
            private_files.retry_while_held(partial(_open_to_write, file))


def _open_to_write(file: Path) -> None:
    os.close(os.open(file, os.O_RDWR))


def _delete_all(files: Iterable[Path]) -> dict[Path, str]:
    """Delete files; return each that cannot be deleted, and why."""
    undeleted = {}
    for file in sorted(files):
        try:
            _delete(file)
        except OSError as error:
            undeleted[file] = f"it cannot be deleted ({error.strerror}); uninstall it again"
    return undeleted


def _delete(file: Path) -> None:
    # A folder in a file's place is somebody's.
    if file.is_symlink() or not file.is_dir():
        private_files.delete(file)


def _new_file_beside(file: Path) -> Path:
    """Return a name beside a file that no application reads, for what is to take its place."""
    return file.with_name(f"{file.name}.dcc_bridge-new")


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder; list those that were not there, the outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()][::-1]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # somebody else has something in it, or it is gone
        folder.rmdir()
