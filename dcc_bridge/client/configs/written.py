"""Our entry in a client's configuration: put in, taken out, looked for. Any thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcc_bridge.client.configs import edit, entry, files
from dcc_bridge.client.configs.places import Place


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a file.

    Attributes:
        file: The file.
        is_new: It is another one now; else it was as wanted before.
        kept: The copy of what it held, or None where there was no file, or nothing to do.
    """

    file: Path
    is_new: bool
    kept: Path | None = None


def add(place: Place, label: str, project: Path | None = None) -> Change:
    """Put our entry in, or make the one that is there right.

    Args:
        place: The client's configuration.
        label: The name under which hosts will know the client.
        project: A project's folder; None for all that the user does.

    Raises:
        ValueError: The file cannot be edited safely, or there is none for projects.
        OSError: It cannot be read or written.
    """
    wanted = place.entry(entry.make(label))
    return _change(place.file(project), lambda text: edit.put(text, place.path, wanted))


def remove(place: Place, project: Path | None = None) -> Change:
    """Take our entry out.

    Args:
        place: The client's configuration.
        project: A project's folder; None for all that the user does.

    Raises:
        ValueError: The file cannot be edited safely, or there is none for projects.
        OSError: It cannot be read or written.
    """
    return _change(place.file(project), lambda text: edit.remove(text, place.path))


def is_there(place: Place, project: Path | None = None) -> bool:
    """Tell whether our entry is in a file, as far as that can be read."""
    return find(place, project) is not None


def find(place: Place, project: Path | None = None) -> Mapping[str, Any] | None:
    """Give our entry in a file; None where it is not there, or the file cannot be read."""
    try:
        found = edit.find(files.bare(files.read(place.file(project)))[1], place.path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, Mapping) else None


def _change(file: Path, change: Callable[[str], str]) -> Change:
    mark, text = files.bare(files.read(file))
    done = change(text)
    if done == text:
        return Change(file, is_new=False)
    return Change(file, is_new=True, kept=files.write(file, mark + done))
