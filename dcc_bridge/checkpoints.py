"""Checkpoints: copies that are kept before something is done that undo does not bring back.

They lie beside the scene, in a folder of its name: ``shot.usda`` has ``shot.usda.checkpoints``.
Each is a folder of its own that appears whole or not at all, ``0007-20260131T140509Z``; the last
ten are kept. A scene without a file has them in the user's state folder. What an older version kept
in ``shot.checkpoints`` may be of ``shot.usd`` too: it is left alone, and not counted. Main thread.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge.errors import LostAnyway, NoCheckpoint
from dcc_bridge.host import Host

MOST: Final = 10
SUFFIX: Final = ".checkpoints"  # of a scene's own folder of them, after the name of its file
_SPARE: Final = 16 * 2**20  # bytes that stay free after the copy and the work that it was taken for
_OURS: Final = re.compile(r"\d{4,}-\d{8}T\d{6}Z")


def checkpoint_folder(host: Host) -> Path:
    """Give the folder in which the checkpoints of a host's scene are."""
    if (scene := host.file()) is not None:
        return folder_beside(scene)
    return untitled_folder() / (re.sub(r"\W+", "_", host.name) or "host")


def folder_beside(file: Path) -> Path:
    """Give the folder in which the checkpoints of a scene's file are."""
    return file.with_name(file.name + SUFFIX)


def untitled_folder() -> Path:
    """Give the folder that has a folder for each host, for its scenes without a file."""
    return platformdirs.user_state_path("dcc_bridge") / "checkpoints"


def keep(
    host: Host, files: Iterable[Path] | None = None, spared: Collection[Path] = ()
) -> Path | None:
    """Keep a copy of what is about to be lost, since undo will not bring it back.

    Args:
        host: Whose scene it is.
        files: Those that will be written over or deleted. None for the scene as a whole: its
            files as they are on disk, and itself as it is in the application.
        spared: Older ones that stay, also where they are more than ten.

    Returns:
        The folder with the copies, or None where there was nothing to keep.

    Raises:
        NoCheckpoint: It cannot be kept; then what it was for must not be done.
    """
    if files is not None:
        return take(checkpoint_folder(host), files, spared=spared)
    file = host.file()
    name = f"{file.stem}.unsaved{file.suffix}" if file else f"untitled{host.suffix}"
    scene = (name, host.save_copy) if host.modified else None
    return take(checkpoint_folder(host), host.files(), scene, spared=spared)


def keep_anyway(host: Host, what: str, files: Sequence[Path] = ()) -> LostAnyway:
    """Keep a copy where the host is about to lose something and lets nobody refuse it.

    `what` it is about to do goes into a sentence: "open another scene". Without the files that it
    writes over it is about the scene as a whole. What is returned is to be raised as soon as it can
    be; it says where the copy is.
    """
    try:
        copy = keep(host, files or None)
    except NoCheckpoint as error:
        return LostAnyway(host.name, what, f"No copy could be kept: {error.__cause__ or error}.")
    kept = f"A copy of what was lost is in {copy}." if copy else "There was nothing to copy."
    return LostAnyway(host.name, what, kept)


def take(
    where: Path,  # the folder of this scene's checkpoints; made if need be
    files: Iterable[Path],  # those that are to be kept; one that is not there has nothing to lose
    # The name of the scene's copy and what writes it, or None to keep the files alone.
    scene: tuple[str, Callable[[Path], None]] | None = None,
    *,
    spared: Collection[Path] = (),  # older ones that stay, also where they are more than ten
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> Path | None:
    """Keep copies of files as they are on disk, and of the scene as it is in the application.

    Returns:
        The new folder, or None where there was nothing to keep.

    Raises:
        NoCheckpoint: The disk is short, or something cannot be read or written. Nothing is left
            of the attempt, and the older checkpoints are as they were.
    """
    existing = [file for file in dict.fromkeys(files) if file.is_file()]
    if not existing and scene is None:
        return None
    try:
        if where.is_symlink():  # what it points to is not ours to tidy up
            raise OSError(f"{where.name} is a link")
        where.mkdir(parents=True, exist_ok=True)
        # room for the copy, for what is done next, and some more
        needed, left = 2 * sum(file.stat().st_size for file in existing) + _SPARE, free(where)
        if left < needed:
            needs = f"{left / 1e6:,.0f} MB left, and {needed / 1e6:,.0f} are needed"
            raise OSError(f"the disk has {needs}")
        checkpoint = _copy(where, existing, scene)
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise NoCheckpoint(where, why or str(error)) from error
    for old in taken(where)[:-MOST]:
        if old not in spared:
            shutil.rmtree(old, ignore_errors=True)
    return checkpoint


def taken(where: Path) -> list[Path]:
    """List the checkpoints in a folder, the oldest first."""
    if not where.is_dir():
        return []
    return sorted((path for path in where.iterdir() if _OURS.fullmatch(path.name)), key=_number)


def _copy(
    where: Path, files: Sequence[Path], scene: tuple[str, Callable[[Path], None]] | None
) -> Path:
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=where))
    with ExitStack() as on_failure:  # half a checkpoint is none, whatever ended it
        on_failure.callback(shutil.rmtree, part, ignore_errors=True)
        for file in files:
            shutil.copy2(file, _unused(part, file.name))
        if scene is not None:
            scene[1](_unused(part, scene[0]))
        for file in part.iterdir():
            with file.open("rb+") as opened:
                os.fsync(opened.fileno())
        number = max(map(_number, taken(where)), default=0) + 1
        checkpoint = part.rename(where / f"{number:04d}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
        on_failure.pop_all()
    return checkpoint


def _unused(folder: Path, name: str) -> Path:
    """Two layers of a scene may have the same name in different folders."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem} ({number}){Path(name).suffix}"
    return path


def _number(path: Path) -> int:
    return int(path.name.partition("-")[0])
