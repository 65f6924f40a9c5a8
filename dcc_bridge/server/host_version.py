"""Tells a person that a host runs another version of the bridge than this process. Any thread.

Calls usually go on working, because both versions speak the same protocol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from dcc_bridge.errors import own_version

_POST: Final = re.compile(r"\.post(\d+)")
_UNKNOWN: Final = "0"  # the version of a bridge that runs from its source


@dataclass(frozen=True, slots=True)
class VersionProblem:
    """A host of another version.

    Attributes:
        what: Which versions there are, in a sentence.
        mend: What the person can do, in a sentence.
    """

    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.what} {self.mend}"


def compare(name: str, application: str, version: str) -> VersionProblem | None:
    """Return the problem of a host whose bridge has another version; None if it has this one.

    Args:
        name: The host's id and application, for the person.
        application: The name of the application.
        version: The version of its bridge; "" for one that is too old to say it.
    """
    own = own_version()
    if version == own or _UNKNOWN in (version, own):
        return None
    theirs = f"dcc-bridge {version}"
    if not version:
        theirs = "an older dcc-bridge"
    what = f"{name} runs {theirs}, and here is dcc-bridge {own}."
    if is_newer(version, own):
        mend = "Update dcc-bridge, run `dcc-bridge update`, and restart the agent's client."
    else:
        mend = f"Close {application}, run `dcc-bridge update`, and start {application} again."
    return VersionProblem(what, mend)


def is_newer(version: str, other: str) -> bool:
    """Return whether a version comes after another one."""
    return _order(version) > _order(other)


def _order(version: str) -> tuple[tuple[int, ...], int]:
    """Return the numbers of a version, and that of its post-release, -1 if it is none."""
    numbers = tuple(int(part) for part in takewhile(str.isdigit, version.split(".")))
    post = _POST.search(version)
    if post is None:
        return numbers, -1
    return numbers, int(post[1])
