"""A host of another version of the bridge: the agent is told so, and no call ends in silence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from dcc_bridge.errors import own_version
from dcc_bridge.server.discovery import Instance, Registration, host_proof, running
from tests import versions
from tests.client.proxy.stage import OWN, client, names, said, small, told
from tests.live import LIMIT, text
from tests.tiers import every_era

pytestmark = pytest.mark.anyio


@every_era
@pytest.mark.parametrize("version", [versions.OLDER, versions.NEWER])
async def test_the_first_result_says_so_and_every_call_works(
    version: str, era: str, tmp_path: Path
) -> None:
    env = versions.environment(tmp_path, version)
    with small(tmp_path, "shot.ma", **env) as host:
        async with client(tmp_path, era) as session:
            listed = text(await session.call_tool("list_hosts", {}))
            first, then = await said(session, "where"), await said(session, "where")

    versions_told = f"{host.id} (Small 1.0) runs dcc-bridge {version}, and here is dcc-bridge "
    sentence = f"{versions_told}{own_version()}."
    assert sentence in listed
    assert first.startswith(sentence)
    assert first.endswith("shot.ma")
    assert "`dcc-bridge update`" in first
    assert "Tell the person." in first
    restarts_client = "restart the agent's client" in first
    assert restarts_client == (version == versions.NEWER)
    assert then == "shot.ma"


async def test_a_host_of_this_version_is_no_news(tmp_path: Path) -> None:
    with small(tmp_path):
        async with client(tmp_path) as session:
            await told(session, "list_hosts")
            assert await said(session, "where") == "shot.ma"
    assert running(tmp_path) == []


def test_a_record_of_a_later_version_is_read_and_one_of_an_earlier_version_is_older(
    tmp_path: Path,
) -> None:
    later = Registration(Instance("u", "Maya", "2026", "s", state="ready"), tmp_path)
    file = tmp_path / f"{later.instance.id}.json"
    record = json.loads(file.read_text())
    del record["bridge"], record["imported_from"]

    file.write_text(json.dumps({**record, "of_tomorrow": [1]}))
    (found,) = running(tmp_path)
    later.withdraw()

    problem = found.version_problem()
    assert problem is not None
    assert "runs an older dcc-bridge" in problem.what


class Stranger(BaseHTTPRequestHandler):
    """Proves that it is the host, and understands no request."""

    protocol_version = "HTTP/1.1"
    host: Instance

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        status, body = 405, b""
        if self.path.startswith("/proof"):
            token = self.host.token(query["label"][0])
            status, body = 200, host_proof(token, query["nonce"][0]).encode()
        self._answer(status, body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(400, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def stranger(runtime: Path) -> Iterator[Instance]:
    """Run a host of an older version whose protocol is another one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        instance = Instance(url, "Maya", "2026", "shot.ma", state="ready", bridge=versions.OLDER)
        Stranger.host = instance
        threading.Thread(target=server.serve_forever, daemon=True).start()
        registration = Registration(instance, runtime)
        try:
            yield instance
        finally:
            registration.withdraw()
            server.shutdown()


@every_era
async def test_a_call_that_cannot_work_ends_with_the_reason(era: str, tmp_path: Path) -> None:
    with stranger(tmp_path) as host:
        async with client(tmp_path, era) as session:
            with anyio.fail_after(LIMIT):
                listed = await names(session)
                await told(session, "use_host", host=host.id)
                results = [await session.call_tool(name, {}) for name in ("where", "list_hosts")]

    assert listed == OWN
    assert results[0].is_error
    for result in results:
        assert f"(Maya 2026) runs dcc-bridge {versions.OLDER}" in text(result)
        assert "Close Maya, run `dcc-bridge update`, and start Maya again." in text(result)
