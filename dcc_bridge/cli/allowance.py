"""Which skills may go on unasked where nobody sits: a file that a studio writes. Any thread."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dcc_bridge.cli.exits import Failure

_LINE: Final = re.compile(
    r"(?P<name>[A-Za-z0-9_./-]{1,64})(\s+(sha256:)?(?P<digest>[0-9a-f]{8,64}))?"
)


def read(file: Path) -> dict[str, str]:
    """Read a list: a skill's name on each line, and after it, if need be, its file's digest.

    ``sha256sum FILE`` tells that; with it only the very file that somebody
    looked at goes on unasked. ``#`` begins a remark.

    Returns:
        The digests by name, "" for any.

    Raises:
        Failure: It cannot be read; the line is named.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise Failure(f"{file} cannot be read: {error}.") from None
    allowed: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        told = line.partition("#")[0].strip()
        found = _LINE.fullmatch(told)
        if told and found is None:
            raise Failure(f"{file}, line {number}: a skill's name, and its digest if need be.")
        if found:
            allowed[found["name"]] = found["digest"] or ""
    return allowed
