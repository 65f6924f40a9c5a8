"""What was written, so that exactly this can be taken away. Main thread.

The list lies in the plug-in's own folder: every file with the digest of what is in it, and every
folder that had to be made. What Python compiles of our files goes with them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from dcc_bridge.errors import BridgeError

NAME: Final = "installed.json"
_CACHE: Final = "__pycache__"


class Changed(BridgeError):
    """Somebody changed what is to be taken away, or it is none of ours."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an installation consists of.

    Attributes:
        facts: What was installed: the host, its version, its Python, ours.
        files: Each file with its digest.
        folders: Those that were made, the outermost first.
    """

    facts: dict[str, str]
    files: dict[Path, str]
    folders: tuple[Path, ...]

    def save(self, folder: Path) -> None:
        """Write the list down."""
        told = {
            "facts": self.facts,
            "folders": [str(one) for one in self.folders],
            "files": {str(file): digest for file, digest in sorted(self.files.items())},
        }
        (folder / NAME).write_text(json.dumps(told, indent=1), encoding="utf-8")

    def changed(self) -> list[Path]:
        """List the files that are not as they were written; one that is gone is not among them."""
        there = (file for file in self.files if os.path.lexists(file))
        return [file for file in there if digest(file) != self.files[file]]

    def missing(self) -> list[Path]:
        """List the files that are gone."""
        return [file for file in self.files if not os.path.lexists(file)]

    def added(self, folder: Path) -> list[Path]:
        """List the files in the plug-in's folder that are none of ours."""
        ours = self.files.keys() | {folder / NAME}
        return [file for file in _files(folder) if file not in ours and not self._is_made(file)]

    def take_away(self, folder: Path) -> None:
        """Delete the files, and those folders that are empty then."""
        for file in list(_files(folder)):
            if self._is_made(file):
                file.unlink()
        for file in self.files:
            file.unlink(missing_ok=True)
        (folder / NAME).unlink(missing_ok=True)
        for below, _, _ in os.walk(folder, topdown=False):
            _remove(Path(below))
        for made in reversed(self.folders):
            _remove(made)

    def _is_made(self, file: Path) -> bool:
        """Whether Python compiled it, of a file of ours."""
        if file.parent.name != _CACHE or file.suffix != ".pyc":
            return False
        return file.parent.parent / f"{file.name.split('.')[0]}.py" in self.files


def read(folder: Path) -> Written | None:
    """Read what was installed in a folder; None where nothing of ours is.

    Raises:
        Changed: The list cannot be read.
    """
    try:
        told = json.loads((folder / NAME).read_text(encoding="utf-8"))
        files = {Path(file): str(digest) for file, digest in told["files"].items()}
        return Written(dict(told["facts"]), files, tuple(map(Path, told["folders"])))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Changed(
            f"{folder / NAME} cannot be read, so nobody knows what was installed: {error}. "
            f"Take {folder} away by hand."
        ) from error


def digest(file: Path) -> str:
    """Digest what is in a file; of a link, where it leads: it is not followed."""
    if file.is_symlink():
        return f"-> {os.readlink(file)}"
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else "no file"


def record(folder: Path, besides: list[Path], made: list[Path], facts: dict[str, str]) -> Written:
    """List what is there now."""
    files = {file: digest(file) for file in [*_files(folder), *besides]}
    return Written(facts, files, tuple(made))


def _files(folder: Path) -> Iterator[Path]:
    for below, folders, files in os.walk(folder):
        yield from (Path(below, name) for name in files)
        yield from (Path(below, name) for name in folders if Path(below, name).is_symlink())


def _remove(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # somebody else has something in it, or it is gone
        return
