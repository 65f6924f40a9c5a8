"""A client of the modern era, byte by byte, that knows tasks."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from typing import Any, Final

import httpx2

from dcc_bridge.elicitation.types import TASKS
from tests.live import ERAS, LIMIT, Live

ENDED: Final = ("completed", "failed", "cancelled")
META: Final = "io.modelcontextprotocol/"
Message = dict[str, Any]


class Wire:
    """Sends requests and gives the messages that come back. Blocks, so it works on a thread."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        declares: bool = True,
        elicits: bool = True,
        extensions: Message | None = None,
    ) -> None:
        self.url = url
        self._ids = itertools.count(1)
        self.http = httpx2.Client(
            timeout=LIMIT,
            headers={"Authorization": f"Bearer {token}"},
            limits=httpx2.Limits(max_keepalive_connections=0),  # nothing is left open
        )
        self._post: Callable[..., httpx2.Response] = self.http.post
        self._able: Message = {"elicitation": {}} if elicits else {}
        declared: Message = {TASKS: {}} if declares else {}
        declared |= extensions or {}
        self._able |= {"extensions": declared} if declared else {}

    @classmethod
    def beside(cls, running: Live, label: str = "test", **more: Any) -> Wire:
        """Speak to a bridge of this process, whose main thread is the test's own."""
        wire = cls.of(running, label, **more)
        wire._post = lambda *what, **how: running.beside(lambda: wire.http.post(*what, **how))
        return wire

    @classmethod
    def of(cls, running: Live, label: str = "test", **more: Any) -> Wire:
        """Speak to a bridge of this process."""
        return cls(running.bridge.url, running.bridge.instance.token(label), **more)

    def send(self, method: str, params: Message | None = None, **headers: str) -> Message:
        body, head = self.request(method, params or {})
        head |= {name.replace("_", "-"): value for name, value in headers.items()}
        response = self._post(self.url, json=body, headers=head)
        if response.headers["content-type"].startswith("text/event-stream"):
            lines = [it[5:] for it in response.text.splitlines() if it.startswith("data:")]
            answer: Message = [json.loads(it) for it in lines if "id" in json.loads(it)][-1]
            return answer
        message: Message = response.json()
        return message

    def request(self, method: str, params: Message) -> tuple[Message, dict[str, str]]:
        meta = {
            f"{META}protocolVersion": ERAS[-1],
            f"{META}clientInfo": {"name": "wire", "version": "1"},
            f"{META}clientCapabilities": self._able,
        }
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        name = params.get("taskId") or params.get("name") or params.get("uri")
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": ERAS[-1],
            "Mcp-Method": method,
            **({"Mcp-Name": str(name)} if name else {}),
        }
        meta = {**params.get("_meta", {}), **meta}
        return {**body, "params": {**params, "_meta": meta}}, headers

    def call(self, tool: str, **more: Any) -> Message:
        params = {"name": tool, "arguments": more.pop("arguments", {}), **more}
        return self.result("tools/call", params)

    def result(self, method: str, params: Message) -> Message:
        message = self.send(method, params)
        assert "result" in message, message
        result: Message = message["result"]
        return result

    def code(self, method: str, params: Message, **headers: str) -> int:
        message = self.send(method, params, **headers)
        assert "error" in message, message
        return int(message["error"]["code"])

    def get(self, task: str) -> Message:
        return self.result("tasks/get", {"taskId": task})

    def update(self, task: str, **answers: Any) -> Message:
        return self.result("tasks/update", {"taskId": task, "inputResponses": answers})

    def cancel(self, task: str) -> Message:
        return self.result("tasks/cancel", {"taskId": task})

    def until(self, task: str, *statuses: str) -> Message:
        """Look at a task until it has one of those statuses."""
        return self.when(task, lambda look: look["status"] in (statuses or ENDED))

    def when(self, task: str, is_so: Callable[[Message], bool]) -> Message:
        """Look at a task until something holds of it."""
        end = time.monotonic() + LIMIT
        while not is_so(look := self.get(task)):
            assert time.monotonic() < end, look
            time.sleep(0.005)
        return look
