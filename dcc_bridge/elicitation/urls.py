"""Reads URLs that a skill sends a person to: refuses some, and lists the dangers of the others.

A surface calls `of` and shows the `Address`. A URL that a browser would repair is refused, so the
shown URL is the one that opens. A URL that hides where it leads is refused too: a user name before
the host, an IPv4 address that is not four decimal numbers, a name that mixes alphabets. Nothing is
fetched and no name is looked up. Any thread.

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

MAX_URL_CHARS: Final = 8192
_LONG_URL_CHARS: Final = 1000  # a longer URL has the danger "long"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_UNENCODED: Final = "!$&'()*+,;=:@/?%-._~"  # these, letters and digits are not percent-encoded
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_AUTHORITY: Final = re.compile(r"([^/?#]*)([^#]*)(?:#(.*))?", re.DOTALL)
_NAME: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
# A name with one of these in its middle imitates another one: "example.com.else.where".
_IMITATED_SUFFIXES: Final = frozenset({"com", "org", "net", "edu", "gov", "mil"})
# The alphabets that one name may mix: unicode.org/reports/tr39, level "highly restrictive".
_COMPATIBLE_ALPHABETS: Final = (
    {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "BOPOMOFO"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "HANGUL"},
)


@dataclass(frozen=True, slots=True)
class UrlHost:
    """The host of a URL.

    Attributes:
        host: The name as the network knows it, or the IP address.
        strong: The registered end of the name, which tells the owner; the whole name where no
            registered end is known.
        letters: The international name as a person reads it, where `host` is encoded; else "".
        imitated: The other name at the beginning of the host, or "": "example.com" in
            "example.com.else.where".
        is_number: Whether the host is an IP address instead of a name.
        is_loopback: Whether the host is this computer.
    """

    host: str
    strong: str
    letters: str = ""
    imitated: str = ""
    is_number: bool = False
    is_loopback: bool = False

    @property
    def weak(self) -> str:
        """The part of the host before `strong`."""
        return self.host[: len(self.host) - len(self.strong)]


@dataclass(frozen=True, slots=True)
class Danger:
    """Something about a URL that a person should check before they go there.

    Attributes:
        kind: The kind of the danger.
        text: A sentence that describes the danger, safe to show.
    """

    kind: Literal["imitation", "punycode", "ip", "localhost", "http", "port", "hidden", "long"]
    text: str


@dataclass(frozen=True, slots=True)
class Address:
    """A URL that may be opened, once a person agreed.

    Attributes:
        url: The whole URL, percent-encoded, which is shown and opened.
        place: The host.
        dangers: The dangers, the worst first; none for a page of the bridge itself.
        ours: Whether it is a page of the bridge itself.
    """

    url: str
    place: UrlHost
    dangers: tuple[Danger, ...] = ()
    ours: bool = False


def read(url: str, *, ours: bool = False) -> Address:
    """Read a URL.

    Args:
        url: The URL, as a skill or the bridge itself made it.
        ours: Whether it is a page of the bridge itself, which has no dangers.

    Returns:
        The address, with the host and the dangers.

    Raises:
        RefusedAddress: The URL leads to no page, or hides where it leads.
    """
    _refuse_unreadable(url)
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _DEFAULT_PORTS:
        raise RefusedAddress(url, "only pages at https:// are opened")
    authority, path, fragment = _AUTHORITY.fullmatch(rest).groups()  # type: ignore[union-attr]  # it matches any text
    if "@" in authority:
        raise RefusedAddress(url, "the part before the @ hides the destination; leave it out")
    name, port = _split_port(url, scheme, authority)
    host = _parse_host(url, name)
    if scheme == "http" and not host.is_loopback:
        raise RefusedAddress(url, "without https a page must be on this computer")
    if not path.startswith("/"):
        path = f"/{path}"
    tail = _percent_encode(path)
    if fragment is not None:
        tail += "#" + _percent_encode(fragment)
    origin = f"{scheme}://{host.host}"
    if port is not None:
        origin += f":{port}"
    encoded = origin + tail
    if ours:
        return Address(encoded, host, ours=True)
    dangers = (*_host_dangers(host), *_other_dangers(scheme, port, tail, len(encoded)))
    return Address(encoded, host, dangers)


def of(question: Question) -> Address:
    """Read the URL of a question's page; RefusedAddress for a question without a page."""
    url = ""
    if question.page is not None:
        url = question.page.url
    return read(url, ours=question.visit is not None)


def _refuse_unreadable(url: str) -> None:
    if len(url) > MAX_URL_CHARS:
        raise RefusedAddress(url, f"it has more than {MAX_URL_CHARS:,} characters")
    for char in url:
        if char.isspace() or ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0:
            raise RefusedAddress(url, "it contains spaces or control characters; encode them")
    if "\\" in url:
        raise RefusedAddress(url, "it contains a backslash, which browsers read as a slash")


def _split_port(url: str, scheme: str, authority: str) -> tuple[str, int | None]:
    """Split the host from its port; None for the default port of the scheme."""
    name, colon, digits = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return authority, None
    if not digits:
        return name, None
    if not (digits.isascii() and digits.isdecimal()) or not 0 < int(digits[:6]) < 65536:
        raise RefusedAddress(url, f"{safe_line(digits, 40)!r} is not a port")
    port = int(digits)
    if port == _DEFAULT_PORTS[scheme]:
        return name, None
    return name, port


def _percent_encode(text: str) -> str:
    """Percent-encode the characters that are not encoded yet, and put escapes in capitals."""
    encoded = quote(_STRAY_PERCENT.sub("%25", text), safe=_UNENCODED)
    return _ESCAPED.sub(lambda match: match[0].upper(), encoded)


def _parse_host(url: str, name: str) -> UrlHost:
    if name.startswith("["):
        return _ipv6_host(url, name)
    host = _ascii_name(url, name)
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        return _ipv4_host(url, host)
    letters = _decode_name(url, host)
    alphabets = _mixed_alphabets(letters)
    if alphabets:
        names = ", ".join(alphabets)
        raise RefusedAddress(url, f"its host mixes alphabets ({names}), as imitations of others do")
    if letters == host:
        letters = ""
    bare = host.rstrip(".")
    registered = _suffix_list().privatesuffix(bare)
    strong = host
    subdomain = ""
    if registered:
        strong = host[len(bare) - len(registered) :]
        subdomain = bare[: -len(registered) - 1]
    imitated = ""
    if not _IMITATED_SUFFIXES.isdisjoint(subdomain.split(".")[1:]):
        imitated = subdomain
    return UrlHost(
        host,
        strong=strong,
        letters=letters,
        imitated=imitated,
        is_loopback=bare == "localhost" or bare.endswith(".localhost"),
    )


def _ascii_name(url: str, name: str) -> str:
    """Return a name as the network knows it; an international name begins with "xn--"."""
    host = name.lower()
    if not host.isascii():
        import idna  # 200 kB of tables that only such a name needs

        try:
            host = idna.encode(name, uts46=True).decode()
        except idna.IDNAError as error:
            raise _invalid_name(url, f" ({error})") from None
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _invalid_name(url)
    return host


def _decode_name(url: str, host: str) -> str:
    """Return an international name as a person reads it; "" for any other name."""
    if "xn--" not in host:
        return ""
    import idna  # 200 kB of tables that only such a name needs

    try:
        return idna.decode(host)
    except (idna.IDNAError, UnicodeError) as error:
        raise _invalid_name(url, f" ({error})") from None


def _invalid_name(url: str, why: str = "") -> RefusedAddress:
    return RefusedAddress(url, f"its host is not a valid name{why}")


def _mixed_alphabets(letters: str) -> list[str]:
    """Return the alphabets of the first part of a name that mixes too many; [] for no such part."""
    for part in letters.split("."):
        alphabets = {unicodedata.name(char, "?").split(" ")[0] for char in part if char.isalpha()}
        is_compatible = any(alphabets <= compatible for compatible in _COMPATIBLE_ALPHABETS)
        if len(alphabets) > 1 and not is_compatible:
            return sorted(alphabet.capitalize() for alphabet in alphabets)
    return []


def _ipv4_host(url: str, host: str) -> UrlHost:
    import ipaddress  # 4 ms that only such a host needs

    try:
        number = ipaddress.IPv4Address(host)
    except ValueError:
        why = "its host is a number, and not four decimal ones as in 203.0.113.7"
        raise RefusedAddress(url, why) from None
    return UrlHost(host, host, is_number=True, is_loopback=number.is_loopback)


def _ipv6_host(url: str, name: str) -> UrlHost:
    import ipaddress  # 4 ms that only such a host needs

    try:
        if not name.endswith("]") or "%" in name:
            raise ValueError
        number = ipaddress.IPv6Address(name[1:-1])
    except ValueError:
        raise RefusedAddress(url, "its host is not a valid address") from None
    text = number.compressed
    if number.ipv4_mapped is not None:
        text = f"::ffff:{number.ipv4_mapped}"  # as Python 3.13 writes it; older versions do not
    host = f"[{text}]"
    return UrlHost(host, host, is_number=True, is_loopback=host == "[::1]")


@cache
def _suffix_list() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 300 kB, 30 ms that only a shown URL needs

    return PublicSuffixList()


def _host_dangers(host: UrlHost) -> Iterator[Danger]:
    if host.imitated:
        yield Danger("imitation", f"It looks like {host.imitated} but belongs to {host.strong}.")
    if host.letters:
        yield Danger(
            "punycode",
            f"Its name has letters outside a to z ({safe_line(host.letters)}). They may look like "
            "those letters.",
        )
    if host.is_number:
        yield Danger("ip", "It is a number, not a name, so nothing tells you whose computer it is.")
    if host.is_loopback:
        yield Danger("localhost", "It leads to a program on this computer, not to a website.")


def _other_dangers(scheme: str, port: int | None, tail: str, length: int) -> Iterator[Danger]:
    """Yield the dangers of the connection, of the percent-encoded `tail`, and of the length."""
    if scheme == "http":
        yield Danger("http", "The connection is not encrypted.")
    if port is not None:
        yield Danger("port", f"It uses the unusual port {port}.")
    hidden = []
    for char in unquote(tail, errors="replace"):
        shown = safe_line(char)
        if shown != char and shown not in hidden:
            hidden.append(shown)
    if hidden:
        shown = " ".join(hidden[:3])
        yield Danger("hidden", f"It contains characters that cannot be seen ({shown}).")
    if length > _LONG_URL_CHARS:
        yield Danger("long", f"It is very long ({length:,} characters). Check its domain first.")
