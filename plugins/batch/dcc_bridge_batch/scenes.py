"""The list of scenes of a plan, from patterns, files and lists of files. Any thread."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from .plan import PlanError

LISTS: Final = (".txt", ".lst", ".list")  # files that name scenes


def find(words: Iterable[str], cwd: Path) -> list[Path]:
    """List the scenes that words name: patterns, files, or lists of files with a path a line.

    Args:
        words: Such as "shots/**/*.usda", "shot.usda" or "scenes.txt".
        cwd: The folder that relative paths start from.

    Returns:
        The paths, sorted. Each file is listed once, by its own path, whatever link led to it.

    Raises:
        PlanError: A word names no file, or a file of a list is not there.
    """
    scenes: set[Path] = set()
    for word in words:
        matched = list(_matches(word, cwd))
        if not matched:
            raise PlanError(f"There is no scene at {word}.")
        scenes.update(matched)
    return sorted(scenes)


def _matches(word: str, cwd: Path) -> Iterator[Path]:
    exact = cwd / word
    if exact.is_file():  # a name with brackets is a file first, and a pattern second
        if exact.suffix.lower() in LISTS:
            yield from _listed(exact)
        else:
            yield exact.resolve()
        return
    # `glob` skips names that begin with a dot, such as those of our own copies.
    for name in glob.iglob(word, root_dir=cwd, recursive=True):
        path = cwd / name
        if path.is_file():
            yield path.resolve()


def _listed(file: Path) -> Iterator[Path]:
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    for number, line in enumerate(text.splitlines(), 1):
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        path = file.parent / name
        if not path.is_file():
            raise PlanError(f"{file}, line {number}: there is no file {path}.")
        yield path.resolve()


def common_root(scenes: Iterable[Path]) -> Path:
    """Return the deepest folder that contains all scenes.

    Raises:
        PlanError: There are no scenes, or they have no common folder.
    """
    folders = {str(scene.parent) for scene in scenes}
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:
        raise PlanError(
            "There are no scenes, or they are on several drives. Make one plan per drive."
        ) from None
