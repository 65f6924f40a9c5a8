"""Writes archives, and wheels among them, that are the same wherever they are made. Any thread."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the oldest that an archive can have
_MODE: Final = 0o100644 << 16  # a file that everybody may read
_UNIX: Final = 3


def write_archive(target: Path, content: Mapping[str, bytes]) -> None:
    """Write an archive: the same content gives the same bytes, with the same zlib.

    Args:
        target: The file.
        content: The files by their paths in the archive. A wheel is stored as it is.
    """
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(content):
            member = zipfile.ZipInfo(name, _TIME)
            member.create_system = _UNIX
            member.external_attr = _MODE
            member.compress_type = zipfile.ZIP_DEFLATED
            if name.endswith(".whl"):
                member.compress_type = zipfile.ZIP_STORED
            archive.writestr(member, content[name])


def write_wheel(target: Path, content: Mapping[str, bytes], info: str) -> None:
    """Write a wheel, with the record of its files that the specification asks for.

    Args:
        target: The file.
        content: The files by their paths, without the record.
        info: The folder of the wheel's metadata.
    """
    record = f"{info}/RECORD"
    rows = []
    for name in sorted(content):
        data = content[name]
        digest = base64.urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    rows.append(f"{record},,\n")
    write_archive(target, {**content, record: "\n".join(rows).encode()})
