"""An installation: what it is to be, done, undone, looked at. Main thread."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from dcc_bridge.config import data_folder
from dcc_bridge.install import vendor, written
from dcc_bridge.install.places.place import Kind, NoPlace, Place, Told, numbers
from dcc_bridge.install.system import System
from dcc_bridge.install.written import NotOurs, Written

_SKIP: Final = shutil.ignore_patterns("__pycache__", "*.pyc")
_OLDEST: Final = (3, 11)
_NEWEST: Final = (3, 13)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is put where.

    Attributes:
        kind: The host.
        told: Which one.
        place: Where.
        system: On what.
    """

    kind: Kind
    told: Told
    place: Place
    system: System

    @property
    def python(self) -> str:
        """The minor version of the host's Python."""
        return self.told.python or ""

    def sentences(self) -> list[str]:
        """Say what is done, a line each."""
        version = f" {self.told.version}" if self.told.version else ""
        return [
            f"{self.kind.title}{version}, with Python {self.python}:",
            f"  put the plug-in into {self.place.folder}",
            f"  put the bridge and what it depends on into {self.place.folder / self.place.vendor}",
            f"    ({', '.join(vendor.names())}; no Qt)",
            *(f"  write {file}" for file in self.place.texts),
        ]

    def check(self) -> Written | None:
        """Look whether it can be done; give what is there already.

        Raises:
            NoPlace: The host is too old or has another Python.
            NotOurs: Something that is none of ours is in the way.
        """
        here = numbers(self.told.version or "")
        if here and here < self.kind.first:
            oldest = ".".join(map(str, self.kind.first))
            raise NoPlace(f"{self.kind.title} {self.told.version} is too old; {oldest} is needed.")
        if not _OLDEST <= numbers(self.python) <= _NEWEST:
            raise NoPlace(
                f"{self.kind.title} has Python {self.python}; the bridge needs 3.11 to 3.13."
            )
        old = written.read(self.place.folder)
        if old is not None:
            others = old.added(self.place.folder)
            if others:
                raise NotOurs(
                    f"{self.place.folder} holds files that are none of ours, such as {others[0]}. "
                    "Move them away and install again."
                )
            return old
        for path in (self.place.folder, *self.place.texts):
            if path.exists() or path.is_symlink():
                raise NotOurs(f"{path} is there and was not put by us; move it away first.")
        return None

    def do(self) -> Written:
        """Put it there, in place of an older one; until it is whole nothing is where it is found.

        Raises:
            NotOurs: As `check` says.
            NoPlace: As `check` says.
            NotVendored: What it depends on cannot be had.
            OSError: It cannot be written.
        """
        old = self.check()
        folder = self.place.folder
        parents = [folder.parent, *(file.parent for file in self.place.texts)]
        made = list(old.folders if old else ())
        made += [one for parent in parents for one in _make(parent)]
        try:
            with tempfile.TemporaryDirectory(prefix=".dcc_bridge-", dir=folder.parent) as new:
                self._build(Path(new, "it"))
                if old is not None:
                    old.take_away(folder)
                Path(new, "it").rename(folder)
        except BaseException:  # whatever it was goes on to the person; the folders must not stay
            for one in reversed(made):
                with suppress(OSError):  # one with something in it stays
                    one.rmdir()
            raise
        for file, text in self.place.texts.items():
            file.write_text(text, encoding="utf-8")
        facts = {
            "host": self.kind.name,
            "host_version": self.told.version or "",
            "python": self.python,
            "platform": self.system.platform,
            "bridge": metadata.version("dcc-bridge"),
        }
        done = written.record(folder, list(self.place.texts), made, facts)
        done.save(folder)
        return done

    def _build(self, folder: Path) -> None:
        source = data_folder("plugins") / self.kind.name
        for here, there in self.place.sources:
            shutil.copytree(source / here, folder / there, ignore=_SKIP, dirs_exist_ok=True)
        vendor.fill(folder / self.place.vendor, self.python, self.system.platform)


def undo(folder: Path, old: Written) -> list[Path]:
    """Take away what was put.

    Args:
        folder: The plug-in's.
        old: What is to go.

    Returns:
        Files of others in the folder, which stay.
    """
    others = old.added(folder)
    old.take_away(folder)
    return others


def _make(folder: Path) -> list[Path]:
    """Make a folder; list those that were not there, the outermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()][::-1]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
