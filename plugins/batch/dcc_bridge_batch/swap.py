"""Replaces a scene by its edited copy, atomically, and keeps the original. Any thread.

`prepare` makes the copy. Once the copy is edited and *proved* (saved, opened again and compared),
`replace` renames it to the scene's name. The original stays beside the scene as a second hard link
to the same file, if the file system has hard links, so that `roll_back` restores the file itself.

Two runs of copies of one plan may edit a scene at the same time, as may two workers on storage
without locks. So each attempt uses its own names for its copy and its original, and no run deletes
the original of another run. An attempt replaces the scene only after it has linked the planned
original to its own name. Whichever of two renames comes last, both attempts have the original.
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

from dcc_bridge.spi.batch import file_locks, held_files

from . import files
from .plan import Plan, PlanError, Scene

CHANGED: Final = "It was changed after it was planned."
GONE: Final = "It no longer exists."
_IN_USE: Final = "Another program has locked it."
NOT_HERE: Final = (
    "The original is no longer beside it. If the scenes are in another folder, use --root. "
    "Otherwise only a backup has the original."
)
_MOVE_AWAY: Final = "To restore the original, move the scene away and roll back again."
_LOOK_AT_BOTH: Final = "Compare both and put the one you want in place of the scene."
_COPY_WRITTEN: Final = "The copy was changed after it was verified."
_MAX_NAME_BYTES: Final = 180  # of a scene's name; longer names are shortened in the copy's name


class SceneLeft(Exception):
    """A scene is left as it is. The message is the reason, a sentence."""


class UnprovedCopy(Exception):
    """A copy was changed after it was proved; the scene is tried again."""


class UnclearReplacement(Exception):
    """A scene may have been replaced or not; the next run or rollback checks again."""


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one attempt at a scene, all in the scene's folder.

    Attributes:
        scene: The scene itself.
        work: The copy that is edited.
        original: The original, once the copy has replaced the scene.
    """

    scene: Path
    work: Path
    original: Path

    @classmethod
    def of(cls, plan: Plan, scene: Scene, root: Path, attempt: str = "") -> Places:
        """Return the paths of an attempt.

        Args:
            plan: The plan of the scene.
            scene: The scene's line in the plan.
            root: The folder below which the scene lies.
            attempt: A short word that no other attempt at the scene has.

        Raises:
            PlanError: The path of the scene leads out of the root folder.
        """
        parts = scene["path"].split("/")
        has_odd_part = not all(parts) or "." in parts or ".." in parts
        if has_odd_part or Path(scene["path"]).is_absolute():
            raise PlanError(f"{scene['path']} is not below the root folder of the plan.")
        path = root.joinpath(*parts)
        stem = path.stem
        if len(os.fsencode(path.name)) > _MAX_NAME_BYTES:
            digest = files.digest_of(stem)
            stem = f"{stem[:40]}~{digest[:8]}"
        name = f".{stem}.{plan.id}"
        if attempt:
            name = f"{name}.{attempt}"
        work = path.with_name(f"{name}.work{path.suffix}")
        original = path.with_name(f"{name}.kept{path.suffix}")
        return cls(path, work, original)


def prepare(places: Places, sha256: str) -> files.Stamp:
    """Make the copy that is edited.

    Args:
        places: The scene's files.
        sha256: The digest of the scene in the plan.

    Returns:
        The scene's stamp, for `replace`.

    Raises:
        SceneLeft: The scene was changed, does not exist, or may not be written.
        OSError: There is no space, or no right to write in the folder. The copy is deleted.
    """
    try:
        stamp = files.stamp(places.scene)
    except FileNotFoundError:
        raise SceneLeft(GONE) from None
    _check_writable(places.scene)
    try:
        # Not flushed: the host writes the copy again, and then `replace` flushes it.
        digest_of_copy = files.copy_file(places.scene, places.work, is_flushed=False)
        if digest_of_copy != sha256:
            raise SceneLeft(CHANGED)
        shutil.copymode(places.scene, places.work)
    except (SceneLeft, OSError):
        discard(places)
        raise
    return stamp


def replace(places: Places, stamp: files.Stamp, proved: str, planned: str) -> None:
    """Replace the scene by the copy, and keep the original.

    Args:
        places: The scene's files.
        stamp: The stamp that `prepare` returned.
        proved: The digest of the edited copy.
        planned: The digest of the original.

    Raises:
        SceneLeft: The scene was changed since `prepare`, or is open on a system that does not
            rename open files.
        UnprovedCopy: The copy was changed after it was proved.
        UnclearReplacement: It is not known whether the scene was replaced. No file was deleted.
        OSError: The scene was not replaced.
    """
    _copy_attributes(places)
    files.sync_file(places.work)
    if files.digest_file(places.work) != proved:
        raise UnprovedCopy(_COPY_WRITTEN)
    _check_same(places.scene, stamp)
    try:
        _keep_original(places, stamp, planned)
        _check_same(places.scene, stamp)  # again: copying a large original takes a while
    except (SceneLeft, OSError):
        if places.scene.exists():  # else `places.original` is the only copy of the original
            drop(places)
        raise
    try:
        held_files.replace(places.work, places.scene)
    except OSError as error:
        if not _was_replaced(places, proved, planned):
            if isinstance(error, PermissionError):  # Windows, where a program has the scene open
                raise SceneLeft(_IN_USE) from None
            raise
    files.sync_folder(places.scene.parent)


def _copy_attributes(places: Places) -> None:
    """Set the scene's owner, group, attributes and mode on the copy, as far as this user may."""
    if sys.platform != "win32":
        status = places.scene.stat()
        # A user who may not set the owner may still set one of their own groups.
        for owner in (status.st_uid, -1):
            with suppress(OSError):
                os.chown(places.work, owner, status.st_gid)
                break
    if sys.platform == "linux":  # access control lists are extended attributes
        with suppress(OSError):
            for name in os.listxattr(places.scene):
                with suppress(OSError):
                    os.setxattr(places.work, name, os.getxattr(places.scene, name))
    shutil.copymode(places.scene, places.work)


def _check_same(file: Path, stamp: files.Stamp) -> None:
    """Raise SceneLeft unless a file still has its stamp."""
    try:
        now = files.stamp(file)
    except FileNotFoundError:
        raise SceneLeft(GONE) from None
    if now != stamp:
        raise SceneLeft(CHANGED)


def _was_replaced(places: Places, proved: str, planned: str) -> bool:
    """Return whether a rename was done although it reported an error, as on NFS.

    If not, the second link to the scene is deleted. Raises UnclearReplacement if that is not known.
    """
    try:
        if not os.path.samefile(places.scene, places.original):
            now = files.digest_file(places.scene)
            if now != planned:
                if now == proved and not places.work.exists():
                    return True
                raise UnclearReplacement
        drop(places)
    except OSError:
        raise UnclearReplacement from None
    return False


def _keep_original(places: Places, stamp: files.Stamp, planned: str) -> None:
    """Link the scene to `places.original`, and check that it is the planned original."""
    try:
        os.link(places.scene, places.original)
    except (OSError, NotImplementedError):  # exFAT, and some network folders
        digest_of_copy = files.copy_file(places.scene, places.original)
        if digest_of_copy != planned:
            raise SceneLeft(CHANGED) from None
        shutil.copystat(places.scene, places.original)
    else:  # another run may have replaced the scene, and even rolled it back
        _check_same(places.original, stamp)
    files.sync_folder(places.scene.parent)


def discard(places: Places) -> None:
    """Delete the copy of an attempt, if there is one. This raises nothing."""
    with suppress(OSError):  # `sweep` deletes the copy later
        held_files.delete(places.work)


def sweep(places: Places) -> None:
    """Delete the copy, and files that a host left when it was killed while saving the copy.

    This raises nothing.
    """
    discard(places)
    with suppress(OSError):
        blender_file = places.work.with_name(f"{places.work.name}@")
        held_files.delete(blender_file)
        stem = places.work.stem.lstrip(".")
        for folder in places.work.parent.glob(".dcc_bridge-*"):  # of our own application
            parts = list(folder.iterdir())
            is_of_copy = all(part.name.lstrip(".").startswith(stem) for part in parts)
            # An empty folder may belong to the save of another scene that has just begun.
            if parts and is_of_copy:
                shutil.rmtree(folder)


def commit(places: Places, edited: Collection[str], planned: str) -> None:
    """Delete the original, if the scene was not changed after the run.

    Args:
        places: The scene's files.
        edited: The digests of all copies that were proved.
        planned: The digest of the original.

    Raises:
        SceneLeft: The scene or the original was changed after the run. Nothing is deleted.
        OSError: A file cannot be read or deleted.
    """
    now = digest(places.scene)
    if not places.original.exists():
        # A commit that crashed has deleted the original. Any other scene is in another folder.
        if now not in edited:
            raise SceneLeft(NOT_HERE)
        return
    if now not in (*edited, planned):
        raise SceneLeft(_changed_since(places))
    _check_original(places, planned)
    held_files.delete(places.original)


def drop(places: Places) -> None:
    """Delete the second link to a scene that was not replaced, or raise OSError."""
    held_files.delete(places.original)


def roll_back(places: Places, edited: Collection[str], planned: str) -> None:
    """Put the original file back in the scene's place.

    Args:
        places: The scene's files.
        edited: The digests of all copies that were proved.
        planned: The digest of the original.

    Raises:
        SceneLeft: The scene was changed after the run, so that changes would be lost; or the
            original was changed or does not exist.
        OSError: A file cannot be read or renamed.
    """
    if not places.original.exists():
        raise SceneLeft(NOT_HERE)
    _check_original(places, planned)
    with suppress(FileNotFoundError):
        before = files.stamp(places.scene)
        is_known = digest(places.scene) in (*edited, planned)
        if not is_known or files.stamp(places.scene) != before:
            raise SceneLeft(f"{_changed_since(places)} {_MOVE_AWAY}")
    held_files.replace(places.original, places.scene)
    drop(places)  # a rename does nothing if both names are links to one file
    files.sync_folder(places.scene.parent)


def _changed_since(places: Places) -> str:
    return f"It was changed after the run; the original is {places.original}."


def _check_original(places: Places, planned: str) -> None:
    """Raise SceneLeft unless the original has its planned digest."""
    if files.digest_file(places.original) != planned:
        changed = f"The kept original has been changed: {places.original}."
        raise SceneLeft(f"{changed} {_LOOK_AT_BOTH}")


def digest(file: Path) -> str | None:
    """Return the digest of a file's content; None if there is no file.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        return files.digest_file(file)
    except FileNotFoundError:
        return None


def _check_writable(file: Path) -> None:
    """Raise SceneLeft if a scene is read-only, or another program locks it."""
    if not (os.access(file, os.W_OK) and file.stat().st_mode & stat.S_IWRITE):
        raise SceneLeft("It is read-only.")
    try:
        descriptor = os.open(file, os.O_RDWR)
    except PermissionError:
        raise SceneLeft(_IN_USE) from None
    try:
        if not file_locks.claim(descriptor):
            raise SceneLeft(_IN_USE)
    finally:
        os.close(descriptor)
