"""A host's operations over a small scene, and what the host calls things, for the contract.

Applications run it too: it needs pytest and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from dcc_bridge.verbs.operations import Placement, SocketLink
from tests.verbs.every_port import EveryPort


@dataclass(frozen=True)
class Words:
    """What a host calls things, and which of them it has.

    Attributes:
        solid: The type that is created as something with a size, and no children.
        kind: The type that it has then.
        group: The type of what others can be put below, which has a place.
        hollow: The type of a group that is junk while it is empty.
        number: A number of a solid, and a value that it does not have.
        links: Gives two connections that lead into one input, with all that they need.
        scene: Values that the scene can have, and does not.
        collection: What it collects items in.
        members: Gives the items of a collection.
        no_name: A name that nothing can have.
        file: The suffix of a scene's file.
        exchange: The suffix of a file that can be written and read.
        formats: Other suffixes of such files, of which a version may lack some.
        has_shapes: Such a file has the shapes of what is in it, as those of Maya's stand-in do not.
        top: What is above an item that is below none.
        none: What is above an item that was put below none.
        unit: The value of the scene that cannot be "parsec".
        holds: By a word of the reason: holds a value of an item, and gives the item and the value.
        keyed: The rotation about X, Y and Z in degrees, "" where there are no keys.
        camera: The type of a camera, and its angle from top to bottom in degrees, when it is new.
        shader: Where a material has its colour and its roughness: below it, and the two values.
        shares_groups: Linked copies share data only of what has something below it.
        applied: Which parts of a solid's transform can be put into its data.
        nests: What is put below an item is copied with it.
        may_begin: A refused edit may leave a step that takes back what it began.
    """

    solid: str
    kind: str
    group: str
    hollow: str
    number: tuple[str, float]
    links: Callable[[Stand], tuple[SocketLink, SocketLink]]
    scene: Mapping[str, Any]
    collection: str
    members: Callable[[EveryPort, str], Iterable[str]]
    no_name: str
    file: str
    exchange: str
    top: str | None = None
    none: str | None = None
    formats: tuple[str, ...] = ()
    has_shapes: bool = True
    unit: str = "units"
    holds: Mapping[str, Callable[[Stand], tuple[str, str]]] = field(default_factory=dict)
    keyed: str = ""
    camera: tuple[str, float] | None = None
    shader: tuple[str, str, str] | None = None
    shares_groups: bool = False
    applied: tuple[Literal["at", "rotation", "scale"], ...] = ("rotation", "scale")
    may_begin: bool = False
    nests: bool = True


@dataclass(frozen=True)
class Stand:
    """A host's operations, over a scene with a crate, a ball, and a rack with a lid and a pin.

    Attributes:
        operations: The host's.
        words: What it calls things.
        folder: Where files can be written.
        crate: A solid.
        ball: Another one.
        rack: A group that is moved and turned.
        lid: A solid below the rack.
        pin: Another one, behind the lid.
        hollow: An empty group.
    """

    operations: EveryPort
    words: Words
    folder: Path
    crate: str
    ball: str
    rack: str
    lid: str
    pin: str
    hollow: str

    @property
    def shared(self) -> str:
        """What has linked copies that share its data."""
        return self.rack if self.words.shares_groups else self.crate

    def needs(self, *ports: type) -> None:
        """Skip the test where the host does not implement these ports."""
        lacking = [port.__name__ for port in ports if not isinstance(self.operations, port)]
        if lacking:
            pytest.skip(f"{self.operations.host.name} has no {', '.join(lacking)}")

    def camera(self) -> str:
        """Create a camera."""
        if self.words.camera is None:
            pytest.skip(f"{self.operations.host.name} has no cameras")
        with self.operations.host.undo_step("Camera"):
            return self.operations.create(self.words.camera[0], "shot", None)

    def key(self, *keys: tuple[float, Any], clear: bool = False) -> None:
        """Key the rotation of the crate."""
        self.operations.set_keys(self.crate, self.words.keyed, keys, "linear", clear=clear)


def furnish(operations: EveryPort, words: Words, folder: Path) -> Stand:
    """Make the scene."""
    with operations.host.undo_step("Furnish"):
        crate, ball, lid, pin = (
            operations.create(words.solid, name, None) for name in ("crate", "ball", "lid", "pin")
        )
        rack = operations.create(words.group, "rack", None)
        operations.place(rack, (5, 6, 7), (0, 0, 90))
        lid, pin = (operations.set_parent(it, rack, keep_place=False) for it in (lid, pin))
        hollow = operations.create(words.hollow, "hollow", None)
    return Stand(operations, words, folder, crate, ball, rack, lid, pin, hollow)


def near(numbers: Any, within: float = 1e-3) -> Any:
    return pytest.approx(numbers, abs=within)


def box(operations: EveryPort, item: str) -> list[float]:
    """Return the two corners of what has a size, in one list."""
    bounds = operations.bounds(item)
    assert bounds is not None
    return [*bounds[0], *bounds[1]]


def moved(corners: list[float], way: tuple[float, float, float]) -> list[float]:
    """Return where the corners are after a move."""
    return [corner + step for corner, step in zip(corners, way * 2, strict=True)]


def numbers_of(placement: Placement) -> list[float]:
    return [*placement.at, *placement.rotation, *placement.scale]


def names_of(operations: EveryPort, under: str | None = None) -> list[str]:
    return [operations.name(item) for item in operations.items(under)]


def size_of(jpeg: bytes) -> tuple[int, int]:
    """Return the width and the height that a JPEG says it has."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    width = jpeg[at + 7 : at + 9]
    height = jpeg[at + 5 : at + 7]
    return int.from_bytes(width, "big"), int.from_bytes(height, "big")
