"""A server that other computers could reach (row 31).

31  `test_another_address_is_refused_in_the_clear`, `test_with_a_certificate_it_is_encrypted`,
    `test_a_certificate_that_cannot_be_used_is_a_sentence`,
    `test_a_handshake_that_does_not_come_is_given_up`
"""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.errors import StartError
from dcc_bridge.pump import Pump
from dcc_bridge.server import instances
from dcc_bridge.testing import FakeHost
from tests.certificate import NAME, signed
from tests.live import live
from tests.threats.raw import META, Raw, heard, in_thread

OTHERS = ["0.0.0.0", "::", "::1", "127.0.0.2", "192.168.1.5", "localhost", "", "host.example"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Sign a certificate, and give it and its key."""
    return signed(tmp_path_factory.mktemp("tls"))


def begin(runtime: Path, **settings: Any) -> None:
    """Start a bridge that is refused."""
    told = Settings(runtime=runtime, audit=runtime / "audit", **settings)
    Bridge(FakeHost(), Pump().main, settings=told).start()


@pytest.mark.parametrize("bind", OTHERS)
def test_another_address_is_refused_in_the_clear(bind: str, tmp_path: Path) -> None:
    with pytest.raises(StartError) as refused:
        begin(tmp_path, bind=bind)

    assert str(refused.value) == (
        f"bind={bind!r} would let other computers in, and tokens would travel in the clear. "
        "Give tls_cert and tls_key, or leave bind at '127.0.0.1'."
    )
    assert instances.running(tmp_path) == []


@pytest.mark.parametrize("bind", ["0.0.0.0", "127.0.0.1"])
def test_with_a_certificate_it_is_encrypted(
    bind: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    """Its clients need the token, and the names of the certificate, all the same."""
    cert, key = certificate
    trusting = ssl.create_default_context(cafile=str(cert))
    with live(tmp_path, bind=bind, tls_cert=cert, tls_key=key) as running:
        instance = running.bridge.instance
        port = int(instance.url.split(":")[2].split("/")[0])
        raw = Raw(port, instance.token("test"), trusting, NAME)
        stranger = Raw(port, "test." + "0" * 64, trusting, NAME)

        def talk() -> list[int]:
            said = [raw.say("tools/list", {"_meta": META})]
            said += [stranger.say("tools/list", {"_meta": META})]
            said += [raw.send(Host=host) for host in (f"a.wild.example:{port}", "0.0.0.0:80")]
            said += [raw.send(Origin=f"http://{NAME}:{port}")]
            return [one.status for one in said]

        statuses = running.run(in_thread(talk))
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(Raw(port, instance.token("test")).head(0, {}))
            in_the_clear = plain.recv(100)

    first = "127.0.0.1" if bind == "127.0.0.1" else NAME
    assert instance.url == f"https://{first}:{port}/mcp"
    assert statuses == [200, 401, 421, 421, 403]
    assert b"HTTP/1.1 200" not in in_the_clear


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01"])
def test_a_handshake_that_does_not_come_is_given_up(
    sent: bytes, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    cert, key = certificate
    with live(tmp_path, tls_cert=cert, tls_key=key, request_deadline=0.3) as running:
        port = running.bridge.instance.url.split(":")[2].split("/")[0]
        with socket.create_connection(("127.0.0.1", int(port)), timeout=5) as sock:
            sock.sendall(sent)

            assert heard(sock).status == 0


@pytest.mark.parametrize("wrong", ["no file", "no certificate", "no key", "a name"])
def test_a_certificate_that_cannot_be_used_is_a_sentence(
    wrong: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    cert, key = certificate
    text = tmp_path / "text.pem"
    text.write_text("hello")
    wrongs: dict[str, dict[str, Any]] = {
        "no file": {"tls_cert": tmp_path / "none.pem"},
        "no certificate": {"tls_cert": text, "tls_key": key},
        "no key": {"tls_cert": cert},
        "a name": {"tls_cert": cert, "tls_key": key, "bind": NAME},
    }

    with pytest.raises(StartError, match=r"The server cannot be encrypted at .* certificate .*pem"):
        begin(tmp_path / "runtime", **{"bind": "0.0.0.0", **wrongs[wrong]})
