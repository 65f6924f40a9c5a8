"""Versions of other packages that are known to break. Any thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dcc_bridge.cli.doctor.report import Finding

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trap:
    """Versions of a package that must not be used.

    Attributes:
        package: Its name on the package index.
        is_bad: Whether a version of it is one, with that version of Python.
        why: What happens.
        mend: A command.
    """

    package: str
    is_bad: Callable[[Version, Version], bool]
    why: str
    mend: str


TRAPS: Final = (
    Trap(
        "PySide6-Essentials",
        lambda qt, python: qt[:3] == (6, 12, 0) and python < (3, 12),
        "it drops references to True and None, and ends the application without a word",
        "pip install 'PySide6-Essentials<6.12'",
    ),
    Trap(
        "mcp",
        lambda mcp, python: not (2, 3) <= mcp < (3,),
        "it does not speak the protocol as it is used here",
        "pip install 'mcp>=2.3,<3'",
    ),
    Trap(
        "greenlet",
        lambda greenlet, python: greenlet < (3, 1),
        "skills cannot wait for an answer without freezing the host",
        "pip install 'greenlet>=3.1'",
    ),
)


def check(packages: Mapping[str, str], python: str, whose: str) -> Iterator[Finding]:
    """Find the versions that break.

    Args:
        packages: Name and version of what is installed.
        python: The version of Python.
        whose: What they belong to, in words that begin a sentence.
    """
    for trap in TRAPS:
        found = packages.get(trap.package)
        if found is not None and trap.is_bad(_numbers(found), _numbers(python)):
            what = f"{whose} has {trap.package} {found} on Python {python}: {trap.why}."
            yield Finding("versions", what, trap.mend)


def _numbers(version: str) -> Version:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
