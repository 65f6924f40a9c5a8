"""Where the server listens. Any thread; free of the SDK, because the main thread makes it.

On the loopback address only, unless what goes there is encrypted: a token that travels in the
clear is everybody's.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dcc_bridge.config import Settings
from dcc_bridge.errors import StartError

if TYPE_CHECKING:
    from cryptography import x509

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Place:
    """How a server is reached.

    Attributes:
        bind: The address at which it listens.
        names: The hosts under which it answers, and no other; the first one is in its URL.
        cert: The file of its certificate, or None where nothing is encrypted.
        key: The file of that one's key; None where it is in the same file.
        certificate: What that file shows to clients, as PEM; "" where nothing is encrypted.
    """

    bind: str = LOOPBACK
    names: tuple[str, ...] = (LOOPBACK, "localhost")
    cert: Path | None = None
    key: Path | None = None
    certificate: str = ""

    @property
    def address(self) -> str:
        """Give the address at which this computer itself reaches it."""
        return {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self.bind, self.bind)

    @property
    def scheme(self) -> str:
        """Of its URL."""
        return "http" if self.cert is None else "https"

    def origin(self, port: int) -> str:
        """Give the beginning of its URL."""
        name = f"[{self.names[0]}]" if ":" in self.names[0] else self.names[0]
        return f"{self.scheme}://{name}:{port}"

    def hosts(self, port: int) -> set[str]:
        """Give what a request's Host may be."""
        names = {f"[{name}]" if ":" in name else name for name in self.names}
        usual = names if port == (80 if self.cert is None else 443) else set()
        return {f"{name}:{port}" for name in names} | usual


def place(settings: Settings) -> Place:
    """Say where a server is to be.

    Raises:
        StartError: It would be reached from other computers in the clear, or by nobody.
    """
    bind, cert, key = settings.bind, settings.tls_cert, settings.tls_key
    if cert is None:
        if bind != LOOPBACK:
            raise StartError(
                f"bind={bind!r} would let other computers in, and tokens would travel in the "
                f"clear. Give tls_cert and tls_key, or leave bind at {LOOPBACK!r}."
            )
        return Place()
    try:
        ipaddress.ip_address(bind)
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key, lambda: "")
        names, certificate = _read(cert)
    except (OSError, ValueError) as error:  # of ssl they are OSErrors
        raise StartError(
            f"The server cannot be encrypted at {bind!r} with the certificate {cert} and the key "
            f"{key or cert}: {error}. The address is an IP address, and the key has no password."
        ) from error
    own = (LOOPBACK, "localhost") if bind == LOOPBACK else ()
    known = tuple(dict.fromkeys([*own, *names]))
    if not known:
        raise StartError(f"The certificate {cert} names no host, so nobody could connect to it.")
    first = (bind,) if bind in known else ()
    return Place(bind, tuple(dict.fromkeys([*first, *known])), cert, key, certificate)


def listen(port: int, bind: str = LOOPBACK) -> socket.socket:
    """Make the listening socket.

    It is made with ``IPPROTO_TCP``: asyncio sets TCP_NODELAY only then, and without it each call
    waits 44 ms for a delayed acknowledgement (measured; `Transport._set_nodelay` in CPython's
    asyncio/base_events.py).

    Args:
        port: Which one; 0 for any free one.
        bind: The address.

    Raises:
        StartError: The port is taken, or may not be used.
    """
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind((bind, port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        at = "" if bind == LOOPBACK else f" at {bind}"
        raise StartError(
            f"Port {port}{at} cannot be used ({error}). Choose another one, or 0 for any free one."
        ) from error
    return sock


def _read(cert: Path) -> tuple[list[str], str]:
    """Read for which hosts a certificate stands, and itself without the key that may be with it."""
    from cryptography import x509  # 30 ms, and only where something is encrypted
    from cryptography.hazmat.primitives.serialization import Encoding

    read = x509.load_pem_x509_certificate(cert.read_bytes())
    return _names(read), read.public_bytes(Encoding.PEM).decode("ascii")


def _names(read: x509.Certificate) -> list[str]:
    """Name the hosts of a certificate; those with a wildcard are for no one host."""
    from cryptography import x509

    try:
        told = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    named = [name.lower() for name in told.get_values_for_type(x509.DNSName) if "*" not in name]
    return [*named, *map(str, told.get_values_for_type(x509.IPAddress))]
