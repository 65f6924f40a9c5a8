"""Never half: a scene is the old one or the new one, and the old one is kept. Any thread.

The copy is edited, and takes the scene's place by a rename, which the file system does as a whole.
The original keeps its name beside it as a second link to the very same file, where there are such
links; so what `rollback` brings back is not a copy of it.

Two runs of copies of one plan may meet at a scene, as may two workers on storage without locks. So
each attempt has names of its own for its copy and for the original that it keeps, and no run
deletes the original of another one. An attempt puts its copy in place only once it holds the
planned original by its own name: whichever of two renames comes last, both have the original.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dcc_bridge.spi.batch import private_files

from . import files
from .plan import Plan, PlanError, Scene

CHANGED: Final = "It was changed after it was planned."
GONE: Final = "It is not there any more."
_IN_USE: Final = "Another program holds it locked."
NOT_HERE: Final = (
    "Its original is not beside it any more. Where the scenes are in another folder, --root names "
    "it; else only a backup has the original."
)
_MOVE: Final = "To have that back, move the scene away and roll back again."
_LOOK: Final = "Look at both, and put the one that you want in the scene's place."
_WRITTEN: Final = "The copy was written to after it was proved."
_LONG: Final = 180  # bytes of a name above which ours would not fit into a folder


class Left(Exception):
    """A scene is left as it is. Its text is the reason, a sentence."""


class Unproved(Exception):
    """A copy is not the one that was proved; the scene is tried again. Its text is a sentence."""


class Unsure(Exception):
    """A scene may have been replaced or not; the next run, or rollback, looks again."""


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one attempt at a scene, all in its folder.

    Attributes:
        scene: The scene itself.
        work: The copy that is edited.
        kept: The original, once the copy has taken its place.
    """

    scene: Path
    work: Path
    kept: Path

    @classmethod
    def of(cls, plan: Plan, scene: Scene, root: Path, attempt: str = "") -> Places:
        """Name them; PlanError: the scene would not lie below the root.

        Args:
            plan: The plan of the scene.
            scene: Its line.
            root: The folder below which it lies.
            attempt: A short word that no other attempt at it has.
        """
        parts = scene["path"].split("/")
        if not all(parts) or {"..", "."} & set(parts) or Path(scene["path"]).is_absolute():
            raise PlanError(f"{scene['path']} does not lie below the plan's root.")
        path = root.joinpath(*parts)
        stem = path.stem
        if len(os.fsencode(path.name)) > _LONG:
            stem = f"{stem[:40]}~{files.digest_of(stem)[:8]}"
        name = f".{stem}.{plan.id}"
        if attempt:
            name = f"{name}.{attempt}"
        return cls(
            path,
            path.with_name(f"{name}.work{path.suffix}"),
            path.with_name(f"{name}.kept{path.suffix}"),
        )


def prepare(places: Places, sha256: str) -> files.Stamp:
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
        stamp = files.stamp(places.scene)
    except FileNotFoundError:
        raise Left(GONE) from None
    _check_free(places.scene)
    try:
        # the host writes it anew: `replace` flushes what came of it
        if files.copy_file(places.scene, places.work, is_flushed=False) != sha256:
            raise Left(CHANGED)
        shutil.copymode(places.scene, places.work)
    except (Left, OSError):
        discard(places)
        raise
    return stamp


def replace(places: Places, stamp: files.Stamp, proved: str, planned: str) -> None:
    """Put the copy in the scene's place, and keep the original.

    Args:
        places: The scene's files.
        stamp: What `prepare` gave.
        proved: The digest that the edited copy has.
        planned: That of the original.

    Raises:
        Left: Somebody has changed the scene since `prepare`, or has it open where that forbids it.
        Unproved: The copy is not the one that was proved.
        Unsure: It cannot be told whether the copy has taken the scene's place; all files are left.
        OSError: It cannot be; the scene is as it was.
    """
    _dress(places)
    files.sync_file(places.work)
    if files.digest_file(places.work) != proved:
        raise Unproved(_WRITTEN)
    _check_same(places.scene, stamp)
    try:
        _keep(places, stamp, planned)
        _check_same(places.scene, stamp)  # a copy of a large scene takes a while
    except (Left, OSError):
        if places.scene.exists():  # as a person has saved it over what is kept
            drop(places)
        raise
    try:
        os.replace(places.work, places.scene)
    except OSError as error:
        if not _was_done(places, proved, planned):
            if isinstance(error, PermissionError):  # Windows, where a program has it open
                raise Left(_IN_USE) from None
            raise
    files.sync_folder(places.scene.parent)


def _dress(places: Places) -> None:
    """Set the scene's owner, group, attributes and mode on the copy, as far as this user may."""
    if sys.platform != "win32":
        facts = places.scene.stat()
        for owner in (facts.st_uid, -1):  # a member of the group may give it that at least
            with suppress(OSError):
                os.chown(places.work, owner, facts.st_gid)
                break
    if sys.platform == "linux":  # access lists are among them
        with suppress(OSError):
            for name in os.listxattr(places.scene):
                with suppress(OSError):
                    os.setxattr(places.work, name, os.getxattr(places.scene, name))
    shutil.copymode(places.scene, places.work)


def _check_same(file: Path, stamp: files.Stamp) -> None:
    """Have a file be the scene that was looked at. Left: it is another one."""
    try:
        if files.stamp(file) != stamp:
            raise Left(CHANGED)
    except FileNotFoundError:
        raise Left(GONE) from None


def _was_done(places: Places, proved: str, planned: str) -> bool:
    """Return whether a rename was done that reported an error, as NFS does where an answer is lost.

    Where it was not, the second link to the scene goes. Unsure.
    """
    try:
        if not os.path.samefile(places.scene, places.kept):
            now = files.digest_file(places.scene)
            if now != planned:
                if now == proved and not places.work.exists():
                    return True
                raise Unsure
        drop(places)
    except OSError:
        raise Unsure from None
    return False


def _keep(places: Places, stamp: files.Stamp, planned: str) -> None:
    """Have the original by the attempt's own name, and be sure that it is the planned one."""
    try:
        os.link(places.scene, places.kept)
    except (OSError, NotImplementedError):  # exFAT, and some network folders
        if files.copy_file(places.scene, places.kept) != planned:
            raise Left(CHANGED) from None
        shutil.copystat(places.scene, places.kept)
    else:  # another run may have put its copy in place, and even taken it back again
        _check_same(places.kept, stamp)
    files.sync_folder(places.scene.parent)


def discard(places: Places) -> None:
    """Delete the copy of an attempt, if there is one."""
    with suppress(OSError):  # it is deleted at the end, by `sweep`
        places.work.unlink(missing_ok=True)


def sweep(places: Places) -> None:
    """Delete what a host left beside the copy that was killed while it saved it."""
    discard(places)
    with suppress(OSError):
        places.work.with_name(f"{places.work.name}@").unlink(missing_ok=True)  # Blender's
        for folder in places.work.parent.glob(".dcc_bridge-*"):  # of our own application
            parts = list(folder.iterdir())
            # an empty one may be that of another scene's save, which has just begun
            stem = places.work.stem.lstrip(".")
            if parts and all(it.name.lstrip(".").startswith(stem) for it in parts):
                shutil.rmtree(folder)


def commit(places: Places, edited: Collection[str], planned: str) -> None:
    """Delete the original that was kept, if the scene is there as a run left it.

    Left: it is another one, or the original is; nothing is deleted. OSError.
    """
    is_kept = places.kept.exists()
    now = digest(places.scene)
    if not is_kept:  # as it was deleted just before a crash; and not in any other folder
        if now not in edited:
            raise Left(NOT_HERE)
        return
    if now not in (*edited, planned):
        raise Left(_since(places))
    _check_kept(places, planned)
    places.kept.unlink()


def drop(places: Places) -> None:
    """Delete the second name of an original that is the scene still. OSError."""
    places.kept.unlink(missing_ok=True)


def roll_back(places: Places, edited: Collection[str], planned: str) -> None:
    """Put the original back, the very file.

    Left: the scene was changed after the run, and what was done to it since would be lost; or the
    original was changed, or is gone. OSError.
    """
    if not places.kept.exists():
        raise Left(NOT_HERE)
    _check_kept(places, planned)
    with suppress(FileNotFoundError):
        stamp = files.stamp(places.scene)
        if digest(places.scene) not in (*edited, planned) or files.stamp(places.scene) != stamp:
            raise Left(f"{_since(places)} {_MOVE}")
    os.replace(places.kept, places.scene)
    drop(places)  # a rename does nothing where both are names of one file
    files.sync_folder(places.scene.parent)


def _since(places: Places) -> str:
    return f"It was changed after the run; the original is {places.kept}."


def _check_kept(places: Places, planned: str) -> None:
    """Have the file that was kept be the original; Left: it is another one."""
    if files.digest_file(places.kept) != planned:
        raise Left(f"The original that was kept was changed since: {places.kept}. {_LOOK}")


def digest(file: Path) -> str | None:
    """Digest a file's content; None where it is not there. OSError: it cannot be read."""
    try:
        return files.digest_file(file)
    except FileNotFoundError:
        return None


def _check_free(file: Path) -> None:
    """Have a scene be one that may be written; Left: it is read-only, or another one locks it."""
    if not (os.access(file, os.W_OK) and file.stat().st_mode & stat.S_IWRITE):
        raise Left("It is read-only.")
    try:
        descriptor = os.open(file, os.O_RDWR)
    except PermissionError:
        raise Left(_IN_USE) from None
    try:
        if not private_files.claim(descriptor):
            raise Left(_IN_USE)
    finally:
        os.close(descriptor)
