"""What a person should look at before they go to a page. Any thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.sentence import Sentence
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
    text: Sentence


def of_user(user: str, at: str) -> Iterator[Danger]:
    """Look at what stands before the host."""
    if at:
        before = plain.line(unquote(user), 80)
        text = Sentence("What stands before the @ ({before}) is not where it leads.", before=before)
        yield Danger("userinfo", text)


def of_place(place: Place) -> Iterator[Danger]:
    """Look at the host."""
    if place.imitated:
        text = Sentence(
            "It begins like {imitated}, but belongs to {owner}.",
            imitated=place.imitated,
            owner=place.strong,
        )
        yield Danger("imitation", text)
    if place.scripts:
        text = Sentence(
            "Its name mixes alphabets ({scripts}), as imitations do.",
            scripts=", ".join(place.scripts),
        )
        yield Danger("mixed", text)
    if place.letters:
        text = Sentence(
            "Its name has other letters than a to z ({letters}); they may only look like them.",
            letters=plain.line(place.letters),
        )
        yield Danger("punycode", text)
    yield from _of_number(place)
    if place.is_loopback:
        text = Sentence("It leads to a program on this computer, not to a site.")
        yield Danger("localhost", text)


def _of_number(place: Place) -> Iterator[Danger]:
    if place.written:
        text = Sentence(
            "It is a number instead of a name, and was disguised as {written}.",
            written=place.written,
        )
        yield Danger("ip", text)
    elif place.is_number:
        text = Sentence("It is a number instead of a name, so nothing tells whose computer it is.")
        yield Danger("ip", text)


def of_way(scheme: str, port: int | None) -> Iterator[Danger]:
    """Look at how the host is reached."""
    if scheme == "http":
        yield Danger("http", Sentence("The connection is not encrypted."))
    if port is not None:
        yield Danger("port", Sentence("It uses the unusual port {port}.", port=port))


def of_text(text: str, length: int) -> Iterator[Danger]:
    """Look at the rest of the address, percent-encoded, and at its length."""
    chars = dict.fromkeys(unquote(text, errors="replace"))
    unseen = [plain.line(char) for char in chars if plain.line(char) != char]
    if unseen:
        told = Sentence(
            "It contains characters that cannot be seen ({unseen}).", unseen=" ".join(unseen[:3])
        )
        yield Danger("hidden", told)
    if length > LONG:
        told = Sentence(
            "It is very long ({length:,} characters). Look at its host above all.", length=length
        )
        yield Danger("long", told)
