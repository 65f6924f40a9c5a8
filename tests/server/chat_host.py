"""A chat in a real browser, which draws the page of a result over MCP Apps' own bridge.

The page stands in a sandboxed frame under the policy that the specification makes of its meta.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from selenium.webdriver import Chrome
from selenium.webdriver.support.wait import WebDriverWait

from tests.packages import from_npm, put_beside

HERE: Final = Path(__file__).parent / "chat"
NPM: Final = shutil.which("npm")
ABLE: Final[dict[str, Any]] = {"updateModelContext": {"text": {}}, "serverTools": {}}
"""What the chat can, unless a test says otherwise."""
_HAS_HEARD: Final = """
const state = document.querySelector('#state').innerText
return state !== 'Waiting for the chat' && (state !== 'At work' || !arguments[0])"""
"""Whether the page has drawn what it was handed: the call, or its result too."""
_PAGE: Final = """<!DOCTYPE html><meta charset="utf-8"><title>A chat</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0 }
iframe { display: block; width: 100%; height: 40px; border: 0 }
</style>
<script type="module" src="/host.js"></script>"""


def policy(csp: Mapping[str, list[str]]) -> str:
    """Return the header that the specification makes of a page's meta."""

    def sources(*first: str, of: str) -> str:
        return " ".join([*first, *csp.get(of, ())])

    inline = sources("'self'", "'unsafe-inline'", of="resourceDomains")
    data = sources("'self'", "data:", of="resourceDomains")
    connections = sources("'self'", of="connectDomains")
    return (
        f"default-src 'none'; script-src {inline}; style-src {inline}; img-src {data}; "
        f"media-src {data}; connect-src {connections}; "
        "frame-src 'none'; object-src 'none'; base-uri 'self'"
    )


class Chat:
    """A chat that is open in a browser.

    Attributes:
        asked: The paths that the browser asked for, beside those of the chat itself.
        driver: The browser.
    """

    def __init__(self, driver: Chrome, script: bytes, content: Mapping[str, Any]) -> None:
        self.driver = driver
        self.asked: list[str] = []
        csp = content["_meta"]["ui"]["csp"]
        page = content["text"].encode()
        html = "text/html; charset=utf-8"
        files = {
            "/": (_PAGE.encode(), html, {}),
            "/host.js": (script, "text/javascript", {}),
            "/view": (page, html, {"Content-Security-Policy": policy(csp)}),
        }
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path not in files:
                    asked.append(self.path)
                    self.send_error(404)
                    return
                body, kind, headers = files[self.path]
                self.send_response(200)
                for name, value in {"Content-Type": kind, **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def show(
        self,
        tool: Mapping[str, Any],
        arguments: Mapping[str, Any],
        result: Mapping[str, Any] | None,
        *,
        able: Mapping[str, Any] = ABLE,
        **context: Any,
    ) -> None:
        """Draw the page of a call, and stay inside of it."""
        self.driver.get(self.url)
        self.until("return window.show !== undefined")
        shown = {
            "capabilities": able,
            "context": {"toolInfo": {"tool": tool}, **context},
            "input": arguments,
            "result": result,
        }
        drawn = "const [it, end] = arguments; show(it).then(() => end(''), (e) => end(String(e)))"
        assert self.driver.execute_async_script(drawn, shown) == ""
        self.driver.switch_to.frame(0)
        self.until(_HAS_HEARD, result is not None)

    def until(self, script: str, *values: Any) -> Any:
        """Wait until a script of the page returns what counts as true, and return it."""
        waiting = WebDriverWait(self.driver, 20, poll_frequency=0.02)
        return waiting.until(lambda driver: driver.execute_script(script, *values))

    def text(self) -> str:
        return str(self.driver.execute_script("return document.body.innerText"))

    def outside(self, script: str, *values: Any) -> Any:
        """Run a script in the chat, around the page."""
        self.driver.switch_to.default_content()
        try:
            return self.driver.execute_script(script, *values)
        finally:
            self.driver.switch_to.frame(0)

    def told(self, count: int = 1) -> list[dict[str, Any]]:
        """Return what the page has sent, once it has sent so much."""
        self.driver.switch_to.default_content()
        try:
            self.until("return window.told.length >= arguments[0]", count)
            told: list[dict[str, Any]] = self.driver.execute_script("return window.told")
            return told
        finally:
            self.driver.switch_to.frame(0)


def script(into: Path) -> bytes:
    """Return the chat's script, with the package in it."""
    folder = from_npm(NPM or "", HERE, "chat")
    source = put_beside(folder, HERE / "host.mjs")
    out = into / "host.js"
    bundler = folder / "node_modules" / ".bin" / "esbuild"
    command = [str(bundler), str(source), "--bundle", "--format=esm", "--log-level=error"]
    subprocess.run([*command, f"--outfile={out}"], check=True, timeout=60)
    return out.read_bytes()


@contextmanager
def chat(driver: Chrome, script: bytes, content: Mapping[str, Any]) -> Iterator[Chat]:
    """Open a chat for as long as the block lasts.

    Args:
        driver: The browser.
        script: What `script` returned.
        content: The page, as the server returned it.
    """
    opened = Chat(driver, script, content)
    try:
        yield opened
    finally:
        opened.close()
