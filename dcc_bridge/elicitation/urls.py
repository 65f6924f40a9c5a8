"""Where a page's address really leads, and what a person should look at before going there.

An address is read more strictly than a browser does: what a browser would mend is refused, so that
what is shown is what opens. Nothing is fetched and no name is looked up. Any thread.

The host's parts are told apart as the URL standard has them (https://url.spec.whatwg.org/), its
registrable part by the Public Suffix List (https://publicsuffix.org/).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote, unquote

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.sentence import Sentence
from dcc_bridge.errors import RefusedAddress

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MOST: Final = 8192
"""Characters of an address."""
_PORTS: Final = {"http": 80, "https": 443}
_KEPT: Final = "!$&'()*+,;=:@/?%-._~"
"""What is not percent-encoded behind the host, beside letters and digits."""
_STRAY: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_AUTHORITY: Final = re.compile(r"([^/?#]*)([^#]*)(?:#(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Address:
    """An address that may be opened, once a person agreed.

    Attributes:
        url: The whole of it, percent-encoded: what is shown, and what opens.
        place: Its host.
        dangers: What to look at, the worst first; none for a page of this application.
        ours: It is a page of this application.
    """

    url: str
    place: UrlHost
    dangers: tuple[Danger, ...] = ()
    ours: bool = False


def read(url: str, *, ours: bool = False) -> Address:
    """Read an address.

    Args:
        url: As a skill gives it.
        ours: The bridge itself made it: a page of this application.

    Raises:
        RefusedAddress: It does not lead to a page, or not plainly; says why.
    """
    if len(url) > MOST:
        raise RefusedAddress(url, f"it has more than {MOST:,} characters")
    if any(char.isspace() or ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in url):
        raise RefusedAddress(url, "it contains spaces or control characters; encode them")
    if "\\" in url:
        raise RefusedAddress(url, "it contains a backslash, which browsers read as a slash")
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _PORTS:
        raise RefusedAddress(url, "only pages at https:// are opened")
    authority, path, fragment = _AUTHORITY.fullmatch(rest).groups()  # type: ignore[union-attr]  # it matches any text
    user, at, named = authority.rpartition("@")
    name, port = _port(url, scheme, named)
    place = _host(url, name)
    if scheme == "http" and not place.is_loopback:
        raise RefusedAddress(url, "only on this computer a page may go without https")
    path = path if path.startswith("/") else f"/{path}"
    tail = _encoded(path) + ("" if fragment is None else "#" + _encoded(fragment))
    user = _encoded(user.replace("@", "%40"))
    encoded = f"{scheme}://{user}{at}{place.host}{'' if port is None else f':{port}'}{tail}"
    if ours:
        return Address(encoded, place, ours=True)
    found = [
        *_of_user(user, at),
        *_of_place(place),
        *_of_way(scheme, port),
        *_of_text(user + tail, len(encoded)),
    ]
    return Address(encoded, place, tuple(found))


def of(question: Question) -> Address:
    """Read the address of a question that was asked.

    Raises:
        RefusedAddress: It has none that may be opened.
    """
    visit = question.visit
    return read(question.url or "", ours=visit is not None and visit.ours)


def _port(url: str, scheme: str, named: str) -> tuple[str, int | None]:
    """Tell the host's name from its port; None for the usual one."""
    name, colon, digits = named.rpartition(":")
    if not colon or named.endswith("]"):
        return named, None
    if not digits:
        return name, None
    if not (digits.isascii() and digits.isdecimal()) or not 0 < int(digits[:6]) < 65536:
        raise RefusedAddress(url, f"{plain.line(digits, 40)!r} is no port")
    return name, int(digits) if int(digits) != _PORTS[scheme] else None


def _encoded(text: str) -> str:
    """Percent-encode what is not encoded yet; escapes are written in capitals."""
    return _ESCAPED.sub(lambda m: m[0].upper(), quote(_STRAY.sub("%25", text), safe=_KEPT))


_ASCII: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
_IMITATED: Final = frozenset({"com", "org", "net", "edu", "gov", "mil"})
"""What makes the beginning of a name look like a whole one: "example.com.else.where"."""
_TOGETHER: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "LATIN"})
"""Alphabets that are written together, in Japanese."""


@dataclass(frozen=True, slots=True)
class UrlHost:
    """A host.

    Attributes:
        host: Its name as the network knows it, or its number.
        strong: The end of it that somebody registered: whose it is. The whole where that is not
            known.
        letters: The name as it is read, where that differs from `host`; else "".
        scripts: The alphabets that are mixed in a part of the name; none where that is usual.
        imitated: What the beginning of the name looks like, or "".
        is_number: It is an address instead of a name.
        written: How a number was disguised, or "".
        is_loopback: It is this computer.
    """

    host: str
    strong: str
    letters: str = ""
    scripts: tuple[str, ...] = ()
    imitated: str = ""
    is_number: bool = False
    written: str = ""
    is_loopback: bool = False

    @property
    def weak(self) -> str:
        """What stands before `strong`."""
        return self.host[: len(self.host) - len(self.strong)]


def _host(url: str, name: str) -> UrlHost:
    """Read a host.

    Args:
        url: Where it stands, for the error.
        name: As it is written there.

    Raises:
        RefusedAddress: It is none.
    """
    if name.startswith("["):
        return _version_6(url, name)
    host = _ascii(url, name)
    last = host.rstrip(".").rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        return _version_4(url, host)
    return _named(host, _letters(url, host))


def _ascii(url: str, name: str) -> str:
    """Give a name as the network knows it."""
    lower = name.lower()
    if not lower.isascii():
        import idna  # 200 kB of tables that only such a name needs

        try:
            lower = idna.encode(name, uts46=True).decode()
        except idna.IDNAError as error:
            raise RefusedAddress(
                url, f"its host is no name that a network knows ({error})"
            ) from None
    if len(lower) > 253 or not _ASCII.fullmatch(lower):
        raise RefusedAddress(url, "its host is no name that a network knows")
    return lower


def _letters(url: str, host: str) -> str:
    """Give a name as it is read, or "" where that is no different."""
    if "xn--" not in host:
        return ""
    import idna  # 200 kB of tables that only such a name needs

    try:
        return idna.decode(host)
    except (idna.IDNAError, UnicodeError) as error:
        raise RefusedAddress(url, f"its host is no name that a network knows ({error})") from None


def _named(host: str, letters: str) -> UrlHost:
    bare = host.rstrip(".")
    registered = _suffixes().privatesuffix(bare)
    begin = bare[: -len(registered) - 1] if registered and registered != bare else ""
    looks_whole = bool(_IMITATED.intersection(begin.split(".")[1:]))
    return UrlHost(
        host,
        strong=host[len(bare) - len(registered) :] if registered else host,
        letters=letters if letters != host else "",
        scripts=_mixed(letters),
        imitated=begin if looks_whole else "",
        is_loopback=bare == "localhost" or bare.endswith(".localhost"),
    )


def _mixed(letters: str) -> tuple[str, ...]:
    """List the alphabets of the first part of a name that mixes some that do not go together."""
    for part in letters.split("."):
        scripts = {unicodedata.name(c, "?").split(" ")[0] for c in part if c.isalpha()}
        if len(scripts) > 1 and not scripts <= _TOGETHER:
            return tuple(sorted(one.capitalize() for one in scripts))
    return ()


def _version_4(url: str, host: str) -> UrlHost:
    """Read an address as browsers do: of one to four parts, each decimal, octal or hexadecimal."""
    bare = host.rstrip(".")
    try:
        parts = [_part(part) for part in bare.split(".")]
        *first, last = parts
        if len(first) > 3 or any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
            raise ValueError
    except ValueError:
        raise RefusedAddress(url, "its host is no number that a network knows") from None
    number = sum(part << (24 - 8 * at) for at, part in enumerate(first)) + last
    dotted = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    written = host if host != dotted else ""
    local = dotted.startswith("127.")
    return UrlHost(dotted, dotted, is_number=True, written=written, is_loopback=local)


def _part(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") and len(text) > 1 else 10)


def _version_6(url: str, name: str) -> UrlHost:
    import ipaddress  # 4 ms that only such an address needs

    try:
        if not name.endswith("]") or "%" in name:
            raise ValueError
        address = ipaddress.IPv6Address(name[1:-1])
    except ValueError:
        raise RefusedAddress(url, "its host is no number that a network knows") from None
    mapped = address.ipv4_mapped  # Python 3.13 writes it as here, older ones do not
    host = f"[{address.compressed if mapped is None else f'::ffff:{mapped}'}]"
    written = name if name.lower() != host else ""
    return UrlHost(host, host, is_number=True, written=written, is_loopback=host == "[::1]")


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 300 kB that only a shown address needs

    return PublicSuffixList()


_LONG: Final = 1000
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


def _of_user(user: str, at: str) -> Iterator[Danger]:
    """Look at what stands before the host."""
    if at:
        before = plain.line(unquote(user), 80)
        text = Sentence("What stands before the @ ({before}) is not where it leads.", before=before)
        yield Danger("userinfo", text)


def _of_place(place: UrlHost) -> Iterator[Danger]:
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


def _of_number(place: UrlHost) -> Iterator[Danger]:
    if place.written:
        text = Sentence(
            "It is a number instead of a name, and was disguised as {written}.",
            written=place.written,
        )
        yield Danger("ip", text)
    elif place.is_number:
        text = Sentence("It is a number instead of a name, so nothing tells whose computer it is.")
        yield Danger("ip", text)


def _of_way(scheme: str, port: int | None) -> Iterator[Danger]:
    """Look at how the host is reached."""
    if scheme == "http":
        yield Danger("http", Sentence("The connection is not encrypted."))
    if port is not None:
        yield Danger("port", Sentence("It uses the unusual port {port}.", port=port))


def _of_text(text: str, length: int) -> Iterator[Danger]:
    """Look at the rest of the address, percent-encoded, and at its length."""
    chars = dict.fromkeys(unquote(text, errors="replace"))
    unseen = [plain.line(char) for char in chars if plain.line(char) != char]
    if unseen:
        told = Sentence(
            "It contains characters that cannot be seen ({unseen}).", unseen=" ".join(unseen[:3])
        )
        yield Danger("hidden", told)
    if length > _LONG:
        told = Sentence(
            "It is very long ({length:,} characters). Look at its host above all.", length=length
        )
        yield Danger("long", told)
