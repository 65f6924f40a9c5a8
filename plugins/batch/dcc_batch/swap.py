"""Never half: a scene is the old one or the new one, and the old one is kept. Any thread.

The copy is edited, and takes the scene's place by a rename, which the file system does as a whole.
The original keeps its name beside it as a second link to the very same file, where there are such
links; so what `rollback` brings back is not a copy of it.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dcc_batch import files
from dcc_batch.plan import Plan, PlanError, Scene
from dcc_bridge import private_files

_CHANGED: Final = "It was changed after it was planned."
_GONE: Final = "It is not there any more."
_IN_USE: Final = "Another program holds it locked."
Stamp = tuple[int, int, int]  # what tells a file from what became of it: node, size, time


class Left(Exception):
    """A scene is left as it is. Its text is the reason, a sentence."""


class Unsure(Exception):
    """Whether a scene was replaced is not known; the next run, or rollback, looks again."""


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one scene, all in its folder."""

    scene: Path  # the scene itself
    work: Path  # the copy that is edited
    kept: Path  # the original, once the copy has taken its place

    @classmethod
    def of(cls, plan: Plan, scene: Scene, root: Path) -> Places:
        """Name them; PlanError: the scene would not lie below the root."""
        parts = scene["path"].split("/")
        if not all(parts) or {"..", "."} & set(parts) or Path(scene["path"]).is_absolute():
            raise PlanError(f"{scene['path']} does not lie below the plan's root.")
        path = root.joinpath(*parts)
        name = f".{path.stem}.{plan.id}"
        return cls(
            path,
            path.with_name(f"{name}.work{path.suffix}"),
            path.with_name(f"{name}.kept{path.suffix}"),
        )


def prepare(places: Places, sha256: str) -> Stamp:
    """Make the copy that is edited.

    Args:
        places: The scene's files.
        sha256: The digest that the scene has in the plan.

    Returns:
        What `replace` compares the scene with.

    Raises:
        Left: The scene was changed, is gone, or may not be written.
        OSError: No space, or no right to write in the folder; no copy is left.
    """
    try:
        stamp = _stamp(places.scene)
    except FileNotFoundError:
        raise Left(_GONE) from None
    _check_free(places.scene)
    discard(places)
    try:
        if files.copy_file(places.scene, places.work) != sha256:
            raise Left(_CHANGED)
        shutil.copymode(places.scene, places.work)
    except (Left, OSError):
        discard(places)
        raise
    return stamp


def replace(places: Places, stamp: Stamp, proved: str, planned: str) -> None:
    """Put the copy in the scene's place, and keep the original.

    Args:
        places: The scene's files.
        stamp: What `prepare` gave.
        proved: The digest that the edited copy has.
        planned: That of the original.

    Raises:
        Left: Somebody has changed the scene since `prepare`, or has it open where that forbids it.
        Unsure: It cannot be told whether the copy has taken the scene's place; all files are left.
        OSError: It cannot be; the scene is as it was.
    """
    shutil.copymode(places.scene, places.work)
    files.sync_file(places.work)
    if files.digest_file(places.work) != proved:  # a copy of the plan's folder is run elsewhere
        raise Left("Another run of this plan works on it.")
    _check_same(places.scene, stamp)
    _keep(places)
    try:
        _check_same(places.scene, stamp)  # a copy of a large scene takes a while
    except Left:
        if places.scene.exists():  # as a person has saved it over what is kept
            places.kept.unlink(missing_ok=True)
        raise
    try:
        os.replace(places.work, places.scene)
    except OSError as error:
        if not _was_done(places, proved, planned):
            if isinstance(error, PermissionError):  # Windows, where a program has it open
                raise Left(_IN_USE) from None
            raise
    files.sync_folder(places.scene.parent)


def _check_same(file: Path, stamp: Stamp) -> None:
    """Have a file be the one that was looked at; Left: it is another one."""
    try:
        if _stamp(file) != stamp:
            raise Left(_CHANGED)
    except FileNotFoundError:
        raise Left(_GONE) from None


def _was_done(places: Places, proved: str, planned: str) -> bool:
    """Whether a rename was done that reported an error, as NFS does where an answer is lost.

    Where it was not, the second link to the scene goes. Unsure.
    """
    try:
        if not os.path.samefile(places.scene, places.kept):
            now = files.digest_file(places.scene)
            if now != planned:
                if now == proved:
                    return True
                raise Unsure
        places.kept.unlink()
    except OSError:
        raise Unsure from None
    return False


def _keep(places: Places) -> None:
    places.kept.unlink(missing_ok=True)  # of a run that ended here; the scene is the original
    try:
        os.link(places.scene, places.kept)
    except (OSError, NotImplementedError):  # exFAT, and some network folders
        files.copy_file(places.scene, places.kept)
        shutil.copystat(places.scene, places.kept)
    files.sync_folder(places.scene.parent)


def discard(places: Places) -> None:
    """Delete the copy, if there is one."""
    with suppress(OSError):  # it is deleted at the next run
        places.work.unlink(missing_ok=True)


def sweep(places: Places) -> None:
    """Delete what a host left beside the copy that was killed while it saved it."""
    discard(places)
    with suppress(OSError):
        places.work.with_name(f"{places.work.name}@").unlink(missing_ok=True)  # Blender's
        for folder in places.work.parent.glob(".dcc_bridge-*"):  # of the standalone host
            parts = list(folder.iterdir())
            # an empty one may be that of another scene's save, which has just begun
            stem = places.work.stem.lstrip(".")
            if parts and all(it.name.lstrip(".").startswith(stem) for it in parts):
                shutil.rmtree(folder)


def was_replaced(places: Places, proved: str, planned: str) -> bool:
    """Tell whether a scene was replaced when its task ended before it could say so.

    Args:
        places: The scene's files.
        proved: The digest of the edited copy.
        planned: That of the original.

    Raises:
        Left: It is neither: somebody has changed it since. The original may be kept beside it.
    """
    now = _digest(places.scene)
    if now is None:
        raise Left(_GONE)
    if now not in (proved, planned):
        raise Left(_CHANGED)
    return now == proved


def commit(places: Places, edited: str, planned: str) -> None:
    """Delete the original that was kept, if the scene is there as the run left it.

    Left: it is another one, or the original is; nothing is deleted. OSError.
    """
    if not places.kept.exists():
        return
    if _digest(places.scene) not in (edited, planned):
        raise Left(_since(places))
    _check_kept(places, planned)
    places.kept.unlink()


def drop(places: Places) -> None:
    """Delete the second name of an original that is the scene still. OSError."""
    places.kept.unlink(missing_ok=True)


def roll_back(places: Places, edited: str, planned: str) -> None:
    """Put the original back, the very file. Harmless the second time.

    Left: the scene was changed after the run, and what was done to it since would be lost; or the
    original was changed, or is gone. OSError.
    """
    if places.kept.exists():
        _check_kept(places, planned)
        with suppress(FileNotFoundError):
            stamp = _stamp(places.scene)
            if _digest(places.scene) not in (edited, planned) or _stamp(places.scene) != stamp:
                raise Left(_since(places))
        os.replace(places.kept, places.scene)
        files.sync_folder(places.scene.parent)
    elif _digest(places.scene) != planned:
        raise Left("The original that was kept is gone.")


def _since(places: Places) -> str:
    return f"It was changed after the run; the original is {places.kept.name}."


def _check_kept(places: Places, planned: str) -> None:
    """Have the file that was kept be the original; Left: it is another one."""
    if files.digest_file(places.kept) != planned:
        raise Left(f"The original that was kept, {places.kept.name}, was changed since.")


def _digest(file: Path) -> str | None:
    """Digest a file's content; None where it is not there. OSError: it cannot be read."""
    try:
        return files.digest_file(file)
    except FileNotFoundError:
        return None


def _stamp(file: Path) -> Stamp:
    facts = file.stat()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _check_free(file: Path) -> None:
    """Have a scene be one that may be written; Left: it is read-only, or another one locks it."""
    if not (os.access(file, os.W_OK) and file.stat().st_mode & stat.S_IWRITE):
        raise Left("It is read-only.")
    try:
        descriptor = os.open(file, os.O_RDWR)
    except PermissionError:
        raise Left(_IN_USE) from None
    try:
        if os.name == "posix" and not private_files.claim(descriptor):
            raise Left(_IN_USE)
    finally:
        os.close(descriptor)
