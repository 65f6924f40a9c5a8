"""Our entry in a client's configuration: put in, taken out, looked for. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
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
        kept: The copy of what it held before us, where it has just been made, or is still needed;
            or None.
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
    file, wanted = place.file(project), place.entry(entry.make(label))
    mark, text = files.bare(files.read(file))
    done = edit.put(text, place.path, wanted)
    if done == text:
        return Change(file, is_new=False)
    kept = files.keep(file)
    files.write(file, mark + done)
    return Change(file, is_new=True, kept=kept)


def remove(place: Place, project: Path | None = None) -> Change:
    """Take our entry out; where nothing else was changed since, the file is what it was before us.

    Args:
        place: The client's configuration.
        project: A project's folder; None for all that the user does.

    Raises:
        ValueError: The file cannot be edited safely, or there is none for projects.
        OSError: It cannot be read or written.
    """
    file = place.file(project)
    copy, before = files.copy_of(file), files.read(file)
    mark, text = files.bare(before)
    done = mark + edit.remove(text, place.path)
    if done == before:
        return Change(file, is_new=False)
    first = files.read(copy)
    if first and _made_of(first, place, text) == before:
        done = first
    files.write(file, done)
    if first == done:
        copy.unlink(missing_ok=True)
    return Change(file, is_new=True, kept=copy if copy.exists() else None)


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


def _made_of(first: str, place: Place, text: str) -> str:
    """Give what a file was made into when our entry, as it is in a text, was put in."""
    mark, bare = files.bare(first)
    try:
        return mark + edit.put(bare, place.path, edit.find(text, place.path))
    except ValueError:  # the copy is none of ours
        return ""
