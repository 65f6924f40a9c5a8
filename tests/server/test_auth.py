"""Only a client with this host's token, at this host's address, gets in."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx2
import pytest

from dcc_bridge.server import auth, discovery, worker
from tests.live import Live, live


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(tmp_path_factory.mktemp("runtime")) as bridge:
        yield bridge


def post(running: Live, **headers: str | None) -> int:
    port = int(running.bridge.url.split(":")[2].split("/")[0])
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    lines = ["POST /mcp HTTP/1.1", "Connection: close", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return int(sock.recv(64).split()[1])


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer test", "Basic {}", "Bearer {}x", "Bearer x{}", "{}"],
)
def test_without_a_token_of_this_host_nobody_gets_in(given: str | None, running: Live) -> None:
    own = running.bridge.url.removeprefix("http://").removesuffix("/mcp")
    token = running.bridge.instance.token("test")

    assert post(running, Host=own, Authorization=given and given.format(token)) == 401


def test_a_token_proves_its_label_and_no_other() -> None:
    token = discovery.issue_token("secret", "claude")

    assert discovery.token_label("secret", token) == "claude"
    assert discovery.token_label("other", token) is None
    assert discovery.token_label("secret", token.replace("claude", "cursor")) is None
    assert discovery.token_label("secret", "") is None
    assert discovery.token_label("secret", "claude.ü") is None


def test_a_host_proves_that_it_made_a_token_and_gives_none_away(running: Live) -> None:
    """Anybody may ask, also with a label as the nonce."""
    secret, url = running.bridge.instance.secret, running.bridge.url.removesuffix("/mcp")
    asked = httpx2.URL(f"{url}{auth.PROOF}", params={"label": "test", "nonce": "test"})
    proof = running.beside(lambda: httpx2.get(asked, trust_env=False)).text
    foreign = {"Origin": "https://example.org"}
    refused = running.beside(lambda: httpx2.get(asked, headers=foreign, trust_env=False))

    assert proof == discovery.host_proof(discovery.issue_token(secret, "test"), "test")
    assert proof != discovery.host_proof(discovery.issue_token(secret, "test"), "another")
    assert discovery.token_label(secret, f"test.{proof}") is None
    assert refused.status_code == 403


def test_the_listening_socket_does_not_delay_what_it_sends() -> None:
    with worker.listen(0) as sock:
        client = socket.create_connection(sock.getsockname())
        accepted, _ = sock.accept()

        assert sock.proto == socket.IPPROTO_TCP
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        client.close()
        accepted.close()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/.well-known/oauth-protected-resource/mcp", 404),
        ("GET", "/.well-known/oauth-authorization-server", 404),
        ("GET", "/.well-known/openid-configuration", 404),
        ("POST", "/register", 400),
    ],
)
def test_a_client_that_looks_for_a_sign_in_is_told_in_its_words_that_there_is_none(
    method: str, path: str, status: int, running: Live
) -> None:
    url = running.bridge.url.removesuffix("/mcp") + path
    asked = running.beside(lambda: httpx2.request(method, url, trust_env=False))

    assert (asked.status_code, asked.json()["error"]) == (status, "invalid_request")
    assert "dcc-bridge client add" in asked.json()["error_description"]


def test_a_client_without_a_token_is_sent_to_no_sign_in(running: Live) -> None:
    """A client with an auth provider would look for one wherever `resource_metadata` leads."""
    response = running.beside(lambda: httpx2.post(running.bridge.url, trust_env=False))

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
