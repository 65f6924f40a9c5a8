"""The host in an address: its name as the network knows it, and what a person sees in it.

Any thread. The list of suffixes comes with its package and is read when the first address is
shown (30 ms); nothing is fetched.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from dcc_bridge.errors import RefusedAddress

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_ASCII: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
_IMITATED: Final = frozenset({"com", "org", "net", "edu", "gov", "mil"})
"""What makes the beginning of a name look like a whole one: "example.com.else.where"."""
_TOGETHER: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "LATIN"})
"""Alphabets that are written together, in Japanese."""


@dataclass(frozen=True, slots=True)
class Place:
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


def read(url: str, name: str) -> Place:
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


def _named(host: str, letters: str) -> Place:
    bare = host.rstrip(".")
    registered = _suffixes().privatesuffix(bare)
    begin = bare[: -len(registered) - 1] if registered and registered != bare else ""
    looks_whole = bool(_IMITATED.intersection(begin.split(".")[1:]))
    return Place(
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


def _version_4(url: str, host: str) -> Place:
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
    return Place(dotted, dotted, is_number=True, written=written, is_loopback=local)


def _part(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") and len(text) > 1 else 10)


def _version_6(url: str, name: str) -> Place:
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
    return Place(host, host, is_number=True, written=written, is_loopback=host == "[::1]")


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 300 kB that only a shown address needs

    return PublicSuffixList()
