"""What is known of where a host looks. Any thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dcc_bridge.errors import BridgeError
from dcc_bridge.install.system import System


class NoPlace(BridgeError):
    """It cannot be told where a plug-in belongs; says what is missing."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a host's own program said of itself, or the person did.

    Attributes:
        version: The application's own: "0.20.2", "2026".
        python: The minor version of its Python: "3.11".
        shared: Where it looks for plug-ins for all users, if it said so.
        program: The program that was asked.
    """

    version: str | None = None
    python: str | None = None
    shared: Path | None = None
    program: Path | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a plug-in goes.

    Attributes:
        folder: The plug-in's own.
        vendor: Below it: what the bridge depends on.
        texts: Files besides, by which the host finds the folder, with what stands in them.
        sources: What of ``plugins/<host>`` goes where in the folder; "." is the folder itself.
    """

    folder: Path
    vendor: str
    texts: Mapping[Path, str] = field(default_factory=dict)
    sources: tuple[tuple[str, str], ...] = ((".", "."),)


@dataclass(frozen=True, slots=True)
class Kind:
    """A host that can be installed into.

    Attributes:
        name: As it is asked for: "freecad".
        title: As its users call it.
        programs: Its batch interpreter, by the names that are looked for.
        asking: The words of a command that prints a JSON object of `Told`'s fields.
        python: Tells by its version which Python it has; None where that is not known.
        place: Tells where the plug-in goes.
        first: The oldest version for which this is meant.
        after: What the person does once it is there.
        known: Versions whose folders are looked at where the program is not asked.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    asking: Callable[[str, Path], list[str]]
    python: Callable[[str], str | None]
    place: Callable[[System, Told, bool], Place]
    first: tuple[int, ...]
    after: str
    known: tuple[str, ...]


def numbers(version: str) -> tuple[int, ...]:
    """Read "0.20.2" as (0, 20, 2); what is no number ends it."""
    found: list[int] = []
    for part in version.split("."):
        if not part.isdigit():
            break
        found.append(int(part))
    return tuple(found)


def wanted(version: str | None, title: str, example: str) -> str:
    """Give the version.

    Raises:
        NoPlace: Nobody told it.
    """
    if version is None:
        raise NoPlace(f"Which {title}? Its program was not found; say --version {example}.")
    return version
