"""Digests, and files that are whole and on the disk. Any thread."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from dcc_bridge.spi.batch import private_files

_BLOCK: Final = 1 << 20
_LOCK: Final = "lock"
Stamp = tuple[int, int, int]  # what tells a file from what became of it: node, size, time


class Busy(OSError):
    """Another process works on the same plan."""


def canonical(value: object) -> bytes:
    """Serialize a value in the one way that a digest is made of."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def digest_of(value: object) -> str:
    """Digest what JSON can carry."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_file(file: Path) -> str:
    """Digest a file's content; OSError: it cannot be read."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stamp(file: Path) -> Stamp:
    """Look at what changes with a file; OSError: it is not there."""
    facts = file.stat()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def copy_file(source: Path, target: Path, *, is_flushed: bool = True) -> str:
    """Copy a file's content to a new one, flushed to the disk or not, and give its digest.

    FileExistsError: the target is there. OSError: no space, no right; a part of it may be there.
    """
    sha256 = hashlib.sha256()
    with source.open("rb") as stream, open(target, "xb") as out:
        while block := stream.read(_BLOCK):
            sha256.update(block)
            out.write(block)
        if is_flushed:
            out.flush()
            os.fsync(out.fileno())
    return sha256.hexdigest()


def sync_file(file: Path) -> None:
    """Wait until a file's content would outlive a power cut."""
    descriptor = os.open(file, os.O_RDWR)  # Windows flushes no file that is open to be read only
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder would outlive a power cut. Windows has no such call."""
    with suppress(PermissionError, OSError):  # some network folders have none either
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(file: Path, data: bytes) -> None:
    """Write a file as a whole: whoever reads it has the old content or the new one."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, file)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def write_json(file: Path, value: object) -> None:
    """Write a value as a whole, in lines that a person can read."""
    write_whole(file, _text(value))


def read_json(file: Path) -> Any:
    """Read a value that `write_json` wrote; OSError, or ValueError for a byte that it did not."""
    data = file.read_bytes()
    value = json.loads(data)
    if _text(value) != data:
        raise ValueError(f"{file.name} was changed after it was written")
    return value


def _text(value: object) -> bytes:
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii")


@contextmanager
def only_process(folder: Path) -> Iterator[None]:
    """Be the only process of this computer that works on a plan; Busy: there is another one."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not private_files.claim(descriptor):
            raise Busy(f"Another process works on {folder}; wait until it has ended.")
        yield
    finally:
        os.close(descriptor)
