"""Replaces a scene by its edited copy, wholly or not at all, and keeps the original. Any thread.

The copy is edited, and takes the scene's place by a rename, which the file system does as a whole.
Beside it the original stays as a second link to the very same file, where the file system has such
links; so `rollback` brings back the file itself and not a copy of it.

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
GONE: Final = "It no longer exists."
_IN_USE: Final = "Another program has locked it."
NOT_HERE: Final = (
    "The original is no longer beside it. If the scenes are in another folder, use --root. "
    "Otherwise only a backup has the original."
)
_MOVE_AWAY: Final = "To restore the original, move the scene away and roll back again."
_LOOK_AT_BOTH: Final = "Compare both and put the one you want in place of the scene."
_COPY_WRITTEN: Final = "The copy was changed after it was verified."
_MAX_NAME_BYTES: Final = 180  # of a scene's name; with a longer one the names here would not fit


class SceneLeft(Exception):
    """A scene is left as it is. Its text is the reason, a sentence."""


class UnprovedCopy(Exception):
    """A copy is not the one that was proved; the scene is tried again. Its text is a sentence."""


class UnclearReplacement(Exception):
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
        """Name the files of an attempt.

        Args:
            plan: The plan of the scene.
            scene: The scene's line of the plan.
            root: The folder below which the scene lies.
            attempt: A short word that no other attempt at the scene has.

        Raises:
            PlanError: The scene would not lie below the root.
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
        kept = path.with_name(f"{name}.kept{path.suffix}")
        return cls(path, work, kept)


def prepare(places: Places, sha256: str) -> files.Stamp:
    """Make the copy that is edited.

    Args:
        places: The scene's files.
        sha256: The digest that the scene has in the plan.

    Returns:
        The scene's stamp, for `replace`.

    Raises:
        SceneLeft: The scene was changed, is gone, or may not be written.
        OSError: No space, or no right to write in the folder; no copy is left.
    """
    try:
        stamp = files.stamp(places.scene)
    except FileNotFoundError:
        raise SceneLeft(GONE) from None
    _check_writable(places.scene)
    try:
        # Not flushed: the host writes the copy again, and `replace` flushes that.
        digest_of_copy = files.copy_file(places.scene, places.work, is_flushed=False)
        if digest_of_copy != sha256:
            raise SceneLeft(CHANGED)
        shutil.copymode(places.scene, places.work)
    except (SceneLeft, OSError):
        discard(places)
        raise
    return stamp


def replace(places: Places, stamp: files.Stamp, proved: str, planned: str) -> None:
    """Put the copy in the scene's place, and keep the original.

    Args:
        places: The scene's files.
        stamp: The stamp that `prepare` returned.
        proved: The digest of the edited copy.
        planned: The digest of the original.

    Raises:
        SceneLeft: Somebody has changed the scene since `prepare`, or has it open on a system that
            lets nobody rename an open file.
        UnprovedCopy: The copy is not the one that was proved.
        UnclearReplacement: It cannot be told whether the copy has taken the scene's place; all
            files are left.
        OSError: The scene cannot be replaced; it is as it was.
    """
    _copy_attributes(places)
    files.sync_file(places.work)
    if files.digest_file(places.work) != proved:
        raise UnprovedCopy(_COPY_WRITTEN)
    _check_same(places.scene, stamp)
    try:
        _keep_original(places, stamp, planned)
        _check_same(places.scene, stamp)  # again: to copy a large original takes a while
    except (SceneLeft, OSError):
        if places.scene.exists():  # else the file that was kept is the only original
            drop(places)
        raise
    try:
        os.replace(places.work, places.scene)
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
        # Who may not set the owner may still set a group of which they are a member.
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
    """Raise SceneLeft unless a file has a stamp."""
    try:
        now = files.stamp(file)
    except FileNotFoundError:
        raise SceneLeft(GONE) from None
    if now != stamp:
        raise SceneLeft(CHANGED)


def _was_replaced(places: Places, proved: str, planned: str) -> bool:
    """Return whether a rename was done that reported an error, as NFS does if a reply is lost.

    If it was not done, the second link to the scene is deleted. UnclearReplacement.
    """
    try:
        if not os.path.samefile(places.scene, places.kept):
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
    """Link the original to the attempt's own name, and check that it is the planned one."""
    try:
        os.link(places.scene, places.kept)
    except (OSError, NotImplementedError):  # exFAT, and some network folders
        digest_of_copy = files.copy_file(places.scene, places.kept)
        if digest_of_copy != planned:
            raise SceneLeft(CHANGED) from None
        shutil.copystat(places.scene, places.kept)
    else:  # another run may have put its copy in place, and even taken it back again
        _check_same(places.kept, stamp)
    files.sync_folder(places.scene.parent)


def discard(places: Places) -> None:
    """Delete the copy of an attempt, if there is one. It raises nothing."""
    with suppress(OSError):  # the copy is deleted at the end, by `sweep`
        places.work.unlink(missing_ok=True)


def sweep(places: Places) -> None:
    """Delete the copy, and the files beside it of a host that was killed while it saved the copy.

    It raises nothing.
    """
    discard(places)
    with suppress(OSError):
        blender_file = places.work.with_name(f"{places.work.name}@")
        blender_file.unlink(missing_ok=True)
        stem = places.work.stem.lstrip(".")
        for folder in places.work.parent.glob(".dcc_bridge-*"):  # of our own application
            parts = list(folder.iterdir())
            is_of_copy = all(part.name.lstrip(".").startswith(stem) for part in parts)
            # An empty folder may belong to another scene's save, which has just begun.
            if parts and is_of_copy:
                shutil.rmtree(folder)


def commit(places: Places, edited: Collection[str], planned: str) -> None:
    """Delete the original that was kept, if the scene is there as a run left it.

    Args:
        places: The scene's files.
        edited: The digests of all copies that were proved.
        planned: The digest of the original.

    Raises:
        SceneLeft: The scene or the original was changed since; nothing is deleted.
        OSError: A file cannot be read or deleted.
    """
    is_kept = places.kept.exists()
    now = digest(places.scene)
    if not is_kept:
        # An edited scene has lost its original just before a crash; any other scene is not here.
        if now not in edited:
            raise SceneLeft(NOT_HERE)
        return
    if now not in (*edited, planned):
        raise SceneLeft(_changed_since(places))
    _check_kept(places, planned)
    places.kept.unlink()


def drop(places: Places) -> None:
    """Delete the second name of an original that is still the scene; OSError."""
    places.kept.unlink(missing_ok=True)


def roll_back(places: Places, edited: Collection[str], planned: str) -> None:
    """Put the original back, the very file.

    Args:
        places: The scene's files.
        edited: The digests of all copies that were proved.
        planned: The digest of the original.

    Raises:
        SceneLeft: The scene was changed after the run, and those changes would be lost; or the
            original was changed, or is gone.
        OSError: A file cannot be read or renamed.
    """
    if not places.kept.exists():
        raise SceneLeft(NOT_HERE)
    _check_kept(places, planned)
    with suppress(FileNotFoundError):
        before = files.stamp(places.scene)
        is_known = digest(places.scene) in (*edited, planned)
        if not is_known or files.stamp(places.scene) != before:
            raise SceneLeft(f"{_changed_since(places)} {_MOVE_AWAY}")
    os.replace(places.kept, places.scene)
    drop(places)  # a rename does nothing where both are names of one file
    files.sync_folder(places.scene.parent)


def _changed_since(places: Places) -> str:
    return f"It was changed after the run; the original is {places.kept}."


def _check_kept(places: Places, planned: str) -> None:
    """Raise SceneLeft unless the file that was kept is the original."""
    if files.digest_file(places.kept) != planned:
        changed = f"The kept original has been changed: {places.kept}."
        raise SceneLeft(f"{changed} {_LOOK_AT_BOTH}")


def digest(file: Path) -> str | None:
    """Return the digest of a file's content; None where there is no file.

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
        if not private_files.claim(descriptor):
            raise SceneLeft(_IN_USE)
    finally:
        os.close(descriptor)
