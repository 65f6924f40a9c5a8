"""Which skills go on unasked where nobody can be asked: a file of the studio. Any thread.

A skill's name on each line, and after it, if need be, the SHA-256 of its file; ``#`` begins a
remark. ``sha256sum FILE`` tells that digest; with it only the very file that somebody looked at
goes on unasked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(
    r"(?P<name>[A-Za-z0-9_./-]{1,64})(\s+(sha256:)?(?P<digest>[0-9a-f]{8,64}))?"
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What such a file says.

    Attributes:
        file: Where it stands.
        digests: By a skill's name what its file's digest begins with, "" for any.
    """

    file: Path
    digests: Mapping[str, str]

    def covers(self, skill: str, digest: str) -> bool:
        """Tell whether a skill is on it, with the file that it has."""
        wanted = self.digests.get(skill)
        return wanted is not None and digest.startswith(wanted)


def read(file: Path) -> Allowance:
    """Read a list.

    Raises:
        ValueError: It cannot be read; the line is named.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read: {error}.") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        told = line.partition("#")[0].strip()
        found = _LINE.fullmatch(told)
        if told and found is None:
            raise ValueError(f"{file}, line {number}: a skill's name, and its digest if need be.")
        if found:
            digests[found["name"]] = found["digest"] or ""
    return Allowance(file, digests)
