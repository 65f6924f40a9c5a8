"""Where a page's address really leads, and what a person should look at before going there.

An address is read more strictly than a browser does: what a browser would mend is refused, so that
what is shown is what opens. Nothing is fetched and no name is looked up. Any thread.

The host's parts are told apart as the URL standard has them (https://url.spec.whatwg.org/), its
registrable part by the Public Suffix List (https://publicsuffix.org/).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.web import dangers, hosts
from dcc_bridge.elicitation.web.dangers import Danger
from dcc_bridge.elicitation.web.hosts import Place
from dcc_bridge.errors import RefusedAddress

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
    place: Place
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
    place = hosts.read(url, name)
    if scheme == "http" and not place.is_loopback:
        raise RefusedAddress(url, "only on this computer a page may go without https")
    path = path if path.startswith("/") else f"/{path}"
    tail = _encoded(path) + ("" if fragment is None else "#" + _encoded(fragment))
    user = _encoded(user.replace("@", "%40"))
    encoded = f"{scheme}://{user}{at}{place.host}{'' if port is None else f':{port}'}{tail}"
    if ours:
        return Address(encoded, place, ours=True)
    found = [
        *dangers.of_user(user, at),
        *dangers.of_place(place),
        *dangers.of_way(scheme, port),
        *dangers.of_text(user + tail, len(encoded)),
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
