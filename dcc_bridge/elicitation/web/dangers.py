"""What a person should look at before they go to a page. Any thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.web.hosts import Place

LONG: Final = 1000
"""Characters from which on it is said that an address is long."""
Kind = Literal[
    "userinfo",
    "imitation",
    "mixed",
    "punycode",
    "ip",
    "localhost",
    "http",
    "port",
    "hidden",
    "long",
]


@dataclass(frozen=True, slots=True)
class Danger:
    """Something to look at.

    Attributes:
        kind: What it is.
        text: A sentence that says so; what stands in its places is safe to show.
    """

    kind: Kind
    text: str


def of_user(user: str, at: str) -> Iterator[Danger]:
    """Look at what stands before the host."""
    if at:
        before = plain.line(unquote(user), 80)
        text = f"What stands before the @ ({before}) is not where it leads."
        yield Danger("userinfo", text)


def of_place(place: Place) -> Iterator[Danger]:
    """Look at the host."""
    if place.imitated:
        text = f"It begins like {place.imitated}, but belongs to {place.strong}."
        yield Danger("imitation", text)
    if place.scripts:
        text = f"Its name mixes alphabets ({', '.join(place.scripts)}), as imitations do."
        yield Danger("mixed", text)
    if place.letters:
        letters = plain.line(place.letters)
        text = f"Its name has other letters than a to z ({letters}); they may only look like them."
        yield Danger("punycode", text)
    yield from _of_number(place)
    if place.is_loopback:
        text = "It leads to a program on this computer, not to a site."
        yield Danger("localhost", text)


def _of_number(place: Place) -> Iterator[Danger]:
    if place.written:
        text = f"It is a number instead of a name, and was disguised as {place.written}."
        yield Danger("ip", text)
    elif place.is_number:
        text = "It is a number instead of a name, so nothing tells whose computer it is."
        yield Danger("ip", text)


def of_way(scheme: str, port: int | None) -> Iterator[Danger]:
    """Look at how the host is reached."""
    if scheme == "http":
        yield Danger("http", "The connection is not encrypted.")
    if port is not None:
        yield Danger("port", f"It uses the unusual port {port}.")


def of_text(text: str, length: int) -> Iterator[Danger]:
    """Look at the rest of the address, percent-encoded, and at its length."""
    chars = dict.fromkeys(unquote(text, errors="replace"))
    unseen = [plain.line(char) for char in chars if plain.line(char) != char]
    if unseen:
        told = f"It contains characters that cannot be seen ({' '.join(unseen[:3])})."
        yield Danger("hidden", told)
    if length > LONG:
        told = f"It is very long ({length:,} characters). Look at its host above all."
        yield Danger("long", told)
