"""Digests, and writing files atomically and durably. Any thread."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from dcc_bridge.spi.batch import file_locks, held_files

_BLOCK_BYTES: Final = 1 << 20
_LOCK_NAME: Final = "lock"
# A file's inode, size in bytes and modification time in ns, by which a change is noticed.
Stamp = tuple[int, int, int]


class PlanBusy(OSError):
    """Another process is using the same plan."""


def canonical(value: object) -> bytes:
    """Serialize a value as canonical JSON, for its digest."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def digest_of(value: object) -> str:
    """Return the SHA-256 digest of a value that JSON can carry, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_file(file: Path) -> str:
    """Return the SHA-256 digest of a file's content, or raise OSError."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stamp(file: Path) -> Stamp:
    """Return a file's stamp, or raise OSError."""
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def copy_file(source: Path, target: Path, *, is_flushed: bool = True) -> str:
    """Copy a file's content to a new file.

    Args:
        source: The file that is copied.
        target: The new file.
        is_flushed: Whether to wait until the copy is on the disk.

    Returns:
        The SHA-256 digest of the content.

    Raises:
        FileExistsError: The target exists.
        OSError: There is no space, or no right to read or write. Part of the target may be there.
    """
    sha256 = hashlib.sha256()
    with source.open("rb") as stream, open(target, "xb") as out:
        while block := stream.read(_BLOCK_BYTES):
            sha256.update(block)
            out.write(block)
        if is_flushed:
            out.flush()
            os.fsync(out.fileno())
    return sha256.hexdigest()


def sync_file(file: Path) -> None:
    """Wait until a file's content would survive a power cut."""
    descriptor = os.open(file, os.O_RDWR)  # Windows does not flush a file that is open read-only
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder would survive a power cut, if the system can do that."""
    with suppress(PermissionError, OSError):  # Windows and some network folders cannot
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(file: Path, data: bytes) -> None:
    """Write a file atomically: a reader gets either the old content or the new content.

    Raises:
        OSError: The file cannot be written, and was not changed.
    """
    with held_files.replacing(file) as new, new.open("xb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    sync_folder(file.parent)


def write_json(file: Path, value: object) -> None:
    """Write a value atomically as JSON, in lines that a person can read."""
    write_whole(file, _serialize(value))


def read_json(file: Path) -> Any:
    """Read a value that `write_json` wrote.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not exactly as `write_json` wrote it.
    """
    data = held_files.retry_while_held(file.read_bytes)  # it may be replaced now
    value = json.loads(data)
    if _serialize(value) != data:
        raise ValueError(f"{file.name} was changed after it was written")
    return value


def _serialize(value: object) -> bytes:
    text = json.dumps(value, indent=1, allow_nan=False) + "\n"
    return text.encode("ascii")


@contextmanager
def only_process(folder: Path) -> Iterator[None]:
    """Lock a plan's folder against other processes of this computer.

    Raises:
        PlanBusy: Another process has the lock.
    """
    descriptor = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not file_locks.claim(descriptor):
            raise PlanBusy(f"Another process is using {folder}. Wait until it has ended.")
        yield
    finally:
        os.close(descriptor)
