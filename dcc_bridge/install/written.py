"""What was written, so that exactly this can be taken away. Main thread.

The list lies in the plug-in's own folder: every file, and every folder that had to be made. What
Python compiles of our files goes with them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dcc_bridge.errors import BridgeError

NAME: Final = "installed.json"
_CACHE: Final = "__pycache__"


class NotOurs(BridgeError):
    """What is there is none of ours, or it is not known what is."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an installation consists of.

    Attributes:
        facts: What was installed: the host, its version, its Python, ours.
        files: Each file, in the plug-in's folder and besides.
        folders: Those that were made, the outermost first.
    """

    facts: dict[str, str]
    files: tuple[Path, ...]
    folders: tuple[Path, ...]

    def save(self, folder: Path) -> None:
        """Write the list down."""
        told = {
            "facts": self.facts,
            "folders": [str(one) for one in self.folders],
            "files": sorted(map(str, self.files)),
        }
        (folder / NAME).write_text(json.dumps(told, indent=1), encoding="utf-8")

    def missing(self) -> list[Path]:
        """List the files that are gone."""
        return [file for file in self.files if not os.path.lexists(file)]

    def added(self, folder: Path) -> list[Path]:
        """List the files in the plug-in's folder that are none of ours."""
        ours = {*self.files, folder / NAME}
        compiled = {*self._compiled(folder)}
        return [file for file in _files(folder) if file not in ours | compiled]

    def take_away(self, folder: Path) -> None:
        """Delete the files, and those folders that are empty then."""
        for file in [*self._compiled(folder), *self.files]:
            if file.is_symlink() or not file.is_dir():  # a folder in a file's place is none of ours
                file.unlink(missing_ok=True)
        (folder / NAME).unlink(missing_ok=True)
        for below, _, _ in os.walk(folder, topdown=False):
            _remove(Path(below))
        for made in reversed(self.folders):
            _remove(made)

    def _compiled(self, folder: Path) -> Iterator[Path]:
        """List what Python compiled of files of ours."""
        ours = {*self.files}
        for file in list(_files(folder)):
            source = file.parent.parent / f"{file.name.split('.')[0]}.py"
            if file.parent.name == _CACHE and file.suffix == ".pyc" and source in ours:
                yield file


def read(folder: Path) -> Written | None:
    """Read what was installed in a folder; None where nothing of ours is.

    Raises:
        NotOurs: The list cannot be read.
    """
    try:
        told = json.loads((folder / NAME).read_text(encoding="utf-8"))
        files, folders = (tuple(map(Path, told[kind])) for kind in ("files", "folders"))
        return Written(dict(told["facts"]), files, folders)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotOurs(
            f"{folder / NAME} cannot be read, so nobody knows what was installed: {error}. "
            f"Take {folder} away by hand."
        ) from error


def record(folder: Path, besides: list[Path], made: list[Path], facts: dict[str, str]) -> Written:
    """List what is there now."""
    return Written(facts, (*_files(folder), *besides), tuple(made))


def _files(folder: Path) -> Iterator[Path]:
    for below, folders, files in os.walk(folder):
        yield from (Path(below, name) for name in files)
        yield from (Path(below, name) for name in folders if Path(below, name).is_symlink())


def _remove(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # somebody else has something in it, or it is gone
        return
