"""Reads URLs that a skill sends a person to: which are refused, and what is odd about the others.

A URL is read more strictly than a browser does: what a browser would mend is refused, so that what
is shown is what opens. So is what hides where it leads: a user name before the host, an IPv4 number
that is not written as four decimal ones, a name that mixes alphabets. Nothing is fetched and no
name is looked up. Any thread.

The parts of the host are those of the URL standard (https://url.spec.whatwg.org/), its registrable
part that of the Public Suffix List (https://publicsuffix.org/), which comes with its package.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote, unquote

from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.errors import RefusedAddress

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MOST: Final = 8192  # characters of a URL
_LONG: Final = 1000  # characters from which on it is said that a URL is long
_PORTS: Final = {"http": 80, "https": 443}
_KEPT: Final = "!$&'()*+,;=:@/?%-._~"  # behind the host not percent-encoded, as letters and digits
_STRAY: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_AUTHORITY: Final = re.compile(r"([^/?#]*)([^#]*)(?:#(.*))?", re.DOTALL)
_NAME: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
_IMITATED: Final = frozenset({"com", "org", "net", "edu", "gov", "mil"})  # "example.com.else.where"
_TOGETHER: Final = (  # alphabets of one name: unicode.org/reports/tr39, "highly restrictive"
    {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "BOPOMOFO"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "HANGUL"},
)


@dataclass(frozen=True, slots=True)
class UrlHost:
    """The host of a URL."""

    host: str  # its name as the network knows it, or its number
    strong: str  # the end of it that was registered: whose it is; all where that is unknown
    letters: str = ""  # the name as it is read, where that differs from `host`; else ""
    imitated: str = ""  # what the beginning of the name looks like, or ""
    is_number: bool = False  # it is an IP address instead of a name
    is_loopback: bool = False

    @property
    def weak(self) -> str:
        """What stands before `strong`."""
        return self.host[: len(self.host) - len(self.strong)]


@dataclass(frozen=True, slots=True)
class Danger:
    """Something that a person should look at before they go there."""

    kind: Literal["imitation", "punycode", "ip", "localhost", "http", "port", "hidden", "long"]
    text: str  # a sentence that says so, safe to show


@dataclass(frozen=True, slots=True)
class Address:
    """A URL that may be opened, once a person agreed."""

    url: str  # the whole of it, percent-encoded: what is shown, and what opens
    place: UrlHost
    dangers: tuple[Danger, ...] = ()  # the worst first; none for a page of ours
    ours: bool = False


def read(url: str, *, ours: bool = False) -> Address:
    """Read a URL as a skill gives it, or as the bridge itself made it: a page of `ours`.

    RefusedAddress says that it does not lead to a page, or hides where it leads.
    """
    _refuse_unreadable(url)
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _PORTS:
        raise RefusedAddress(url, "only pages at https:// are opened")
    authority, path, fragment = _AUTHORITY.fullmatch(rest).groups()  # type: ignore[union-attr]  # it matches any text
    if "@" in authority:
        raise RefusedAddress(url, "what comes before the @ hides where it leads; leave it out")
    name, port = _port(url, scheme, authority)
    host = _host(url, name)
    if scheme == "http" and not host.is_loopback:
        raise RefusedAddress(url, "without https a page must be on this computer")
    path = path if path.startswith("/") else f"/{path}"
    tail = _encoded(path) + ("" if fragment is None else "#" + _encoded(fragment))
    encoded = f"{scheme}://{host.host}{'' if port is None else f':{port}'}{tail}"
    if ours:
        return Address(encoded, host, ours=True)
    return Address(encoded, host, (*_of_host(host), *_of_rest(scheme, port, tail, len(encoded))))


def of(question: Question) -> Address:
    """Read the URL of a question that was asked; RefusedAddress where it has none to open."""
    url = question.page.url if question.page is not None else ""
    return read(url, ours=question.visit is not None)


def _refuse_unreadable(url: str) -> None:
    if len(url) > MOST:
        raise RefusedAddress(url, f"it has more than {MOST:,} characters")
    if any(char.isspace() or ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in url):
        raise RefusedAddress(url, "it contains spaces or control characters; encode them")
    if "\\" in url:
        raise RefusedAddress(url, "it contains a backslash, which browsers read as a slash")


def _port(url: str, scheme: str, authority: str) -> tuple[str, int | None]:
    """Split the host from its port; None for the usual one."""
    name, colon, digits = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return authority, None
    if not digits:
        return name, None
    if not (digits.isascii() and digits.isdecimal()) or not 0 < int(digits[:6]) < 65536:
        raise RefusedAddress(url, f"{safe_line(digits, 40)!r} is not a port")
    return name, int(digits) if int(digits) != _PORTS[scheme] else None


def _encoded(text: str) -> str:
    """Percent-encode what is not encoded yet; escapes are written in capitals."""
    return _ESCAPED.sub(lambda m: m[0].upper(), quote(_STRAY.sub("%25", text), safe=_KEPT))


def _host(url: str, name: str) -> UrlHost:
    if name.startswith("["):
        return _version_6(url, name)
    host = _ascii(url, name)
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return _version_4(url, host)
    letters = _letters(url, host)
    if scripts := _mixed(letters):
        raise RefusedAddress(
            url, f"its host mixes alphabets ({', '.join(scripts)}), as imitations of others do"
        )
    bare = host.rstrip(".")
    registered = _suffixes().privatesuffix(bare)
    begin = bare[: -len(registered) - 1] if registered and registered != bare else ""
    looks_whole = bool(_IMITATED.intersection(begin.split(".")[1:]))
    return UrlHost(
        host,
        strong=host[len(bare) - len(registered) :] if registered else host,
        letters=letters if letters != host else "",
        imitated=begin if looks_whole else "",
        is_loopback=bare == "localhost" or bare.endswith(".localhost"),
    )


def _ascii(url: str, name: str) -> str:
    host = name.lower()
    if not host.isascii():
        import idna  # 200 kB of tables that only such a name needs

        try:
            host = idna.encode(name, uts46=True).decode()
        except idna.IDNAError as error:
            raise _unknown(url, f" ({error})") from None
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _unknown(url)
    return host


def _letters(url: str, host: str) -> str:
    """Give a name as it is read, or "" where that is no different."""
    if "xn--" not in host:
        return ""
    import idna  # 200 kB of tables that only such a name needs

    try:
        return idna.decode(host)
    except (idna.IDNAError, UnicodeError) as error:
        raise _unknown(url, f" ({error})") from None


def _unknown(url: str, why: str = "") -> RefusedAddress:
    return RefusedAddress(url, f"its host is not a valid name{why}")


def _mixed(letters: str) -> list[str]:
    """List the alphabets of the first part of a name that mixes some that do not go together."""
    for part in letters.split("."):
        scripts = {unicodedata.name(c, "?").split(" ")[0] for c in part if c.isalpha()}
        if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
            return sorted(script.capitalize() for script in scripts)
    return []


def _version_4(url: str, host: str) -> UrlHost:
    import ipaddress  # 4 ms that only such a host needs

    try:
        number = ipaddress.IPv4Address(host)
    except ValueError:
        why = "its host is a number, and not four decimal ones as in 203.0.113.7"
        raise RefusedAddress(url, why) from None
    return UrlHost(host, host, is_number=True, is_loopback=number.is_loopback)


def _version_6(url: str, name: str) -> UrlHost:
    import ipaddress  # as above

    try:
        if not name.endswith("]") or "%" in name:
            raise ValueError
        number = ipaddress.IPv6Address(name[1:-1])
    except ValueError:
        raise RefusedAddress(url, "its host is not a valid address") from None
    mapped = number.ipv4_mapped  # Python 3.13 writes it as here, older ones do not
    host = f"[{number.compressed if mapped is None else f'::ffff:{mapped}'}]"
    return UrlHost(host, host, is_number=True, is_loopback=host == "[::1]")


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 300 kB, 30 ms that only a shown URL needs

    return PublicSuffixList()


def _of_host(host: UrlHost) -> Iterator[Danger]:
    if host.imitated:
        yield Danger("imitation", f"It begins like {host.imitated}, but belongs to {host.strong}.")
    if host.letters:
        yield Danger(
            "punycode",
            f"Its name has other letters than a to z ({safe_line(host.letters)}); they may only "
            "look like them.",
        )
    if host.is_number:
        yield Danger("ip", "It is a number, not a name, so nothing tells you whose computer it is.")
    if host.is_loopback:
        yield Danger("localhost", "It leads to a program on this computer, not to a site.")


def _of_rest(scheme: str, port: int | None, tail: str, length: int) -> Iterator[Danger]:
    """Look at the way there, at what stands behind the host, percent-encoded, and at the length."""
    if scheme == "http":
        yield Danger("http", "The connection is not encrypted.")
    if port is not None:
        yield Danger("port", f"It uses the unusual port {port}.")
    chars = dict.fromkeys(unquote(tail, errors="replace"))
    unseen = [safe_line(char) for char in chars if safe_line(char) != char]
    if unseen:
        shown = " ".join(unseen[:3])
        yield Danger("hidden", f"It contains characters that cannot be seen ({shown}).")
    if length > _LONG:
        yield Danger("long", f"It is very long ({length:,} characters). Check its domain first.")
