"""The MCP clients of agent frameworks list, read, edit, ask and wait, by HTTP and by ``connect``.

``npm`` and ``pip`` bring them into the user's cache, once. Each test waits for over two minutes, so
they run at once: ``pytest -m frameworks -n 7 --dist load``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge import confirm_sync, skill
from dcc_bridge.skills.skill import track
from tests.cli.commands import COMMAND, environment
from tests.clients.kinds import NPM
from tests.live import Live, live
from tests.packages import from_npm, from_pip, put_beside
from tests.stand_ins import FakeHost

HERE: Final = Path(__file__).parent / "frameworks"
WAIT: Final = float(os.environ.get("FRAMEWORKS_WAIT", "130"))
"""Seconds of the long call: longer than any client's usual limit for a silent one."""
IN_PYTHON: Final = {
    "pydantic_ai": "pydantic_ai 2.68.0",
    "langchain": "langchain-mcp-adapters 0.3.2",
    "strands": "strands-agents 1.62.0",
    "openai_agents": "openai-agents 0.24.0",
}
IN_TYPESCRIPT: Final = {
    "ai_sdk": "@ai-sdk/mcp 2.0.99",
    "mastra1": "@mastra/mcp 1.18.0",
    "mastra2": "@mastra/mcp 2.0.0",
}
CANNOT_ASK: Final = {"openai_agents"}
"""They have no way to show a question: it is the host that asks, and here nobody is there."""
AGREES: Final = {"action": "accept", "content": {"confirm": True}}
CALLS: Final[list[dict[str, Any]]] = [
    {"name": "list", "tool": "tools/list"},
    {"name": "read", "tool": "count", "arguments": {}},
    {"name": "edit", "tool": "add", "arguments": {"name": "lamp"}},
    {"name": "decline", "tool": "delete", "arguments": {}, "reply": {"action": "decline"}},
    {"name": "cancel", "tool": "delete", "arguments": {}, "reply": {"action": "cancel"}},
    {"name": "accept", "tool": "delete", "arguments": {}, "reply": AGREES},
    {"name": "wait", "tool": "bake", "arguments": {"seconds": WAIT}},
    {"name": "after", "tool": "count", "arguments": {}},
]

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.timeout(600),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


def skills(host: FakeHost, way: str, runs: list[str]) -> list[Callable[..., Any]]:
    """Make what every framework calls; how often the long one ran is noted."""

    @skill(risk="read")
    def count() -> str:
        """Count the items."""
        return f"{len(host.items)} items"

    @skill(risk="edit")
    def add(name: str) -> str:
        """Add an item."""
        host.items.append(name)
        return f"added {name}"

    @skill(risk="destructive", confirms=True)
    def delete() -> str:
        """Delete two cameras, if the person agrees."""
        cameras = confirm_sync("Delete these cameras?", items=["cam1", "cam2"], verb="Delete")
        for camera in cameras:
            host.items.remove(camera)
        return f"deleted {len(cameras)}"

    @skill(risk="read", thread="any", timeout=None)
    def bake(seconds: float) -> str:
        """Work for a while; by HTTP it tells how far it is, through the proxy not a word."""
        runs.append("began")
        steps = range(max(1, int(seconds)))
        for _ in track(steps, message="Baking") if way == "HTTP" else steps:
            time.sleep(seconds / len(steps))
        runs.append("ended")
        return "baked"

    return [count, add, delete, bake]


def start(framework: str) -> tuple[list[str], dict[str, str]]:
    """Give how a framework's script is run, and what its environment has besides."""
    if framework in IN_PYTHON:
        packages = from_pip(HERE / "locks" / f"{framework.replace('_', '')}.txt")
        return [sys.executable, str(HERE / "framework.py")], {"PYTHONPATH": str(packages)}
    folder = from_npm(NPM or "", HERE, "frameworks")
    script = put_beside(folder, HERE / "framework.mjs")
    node = next((folder / "node_modules").glob("node-*/bin/node*"), Path("node"))
    return [str(node), str(script)], {}


def seen(framework: str, target: dict[str, Any], home: Path) -> dict[str, dict[str, Any]]:
    """Let a framework make all calls, and give what it saw of each by its name."""
    command, more = start(framework)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables = {"FRAMEWORK": framework, "TARGET": json.dumps(target), "HOME": str(home)}
    ran = subprocess.run(
        command,
        env=kept | more | variables,
        input=json.dumps(CALLS),
        capture_output=True,
        text=True,
        timeout=WAIT + 200,
    )
    reports = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert len(reports) == len(CALLS), ran.stderr[-4000:]
    return {report["name"]: report for report in reports}


@pytest.mark.parametrize("way", ["HTTP", "connect"])
@pytest.mark.parametrize("framework", [*IN_PYTHON, *IN_TYPESCRIPT])
def test_a_framework_lists_reads_edits_asks_and_waits(
    tmp_path: Path, framework: str, way: str
) -> None:
    """Each call says what it did, the person is asked where they can be, and nothing runs twice."""
    host, runs = FakeHost(["cam1", "cam2", "cam3"]), list[str]()
    with live(tmp_path, *skills(host, way, runs), host=host) as running:
        target = by_http(running) if way == "HTTP" else by_proxy(tmp_path)

        calls = running.beside(lambda: seen(framework, target, tmp_path), limit=WAIT + 240)

    text = {name: call["text"] for name, call in calls.items()}
    questions = {name: len(call["asked"]) for name, call in calls.items() if call["asked"]}
    assert {"count", "add", "delete", "bake"} <= set(text["list"].split())
    assert "3 items" in text["read"]
    assert "added lamp" in text["edit"]
    assert "baked" in text["wait"]
    assert runs == ["began", "ended"]
    if framework in CANNOT_ASK:
        for call in ("decline", "cancel", "accept"):
            assert "nobody could be asked" in text[call].lower()
        assert questions == {}
        assert "4 items" in text["after"]
        assert host.items == ["cam1", "cam2", "cam3", "lamp"]
    else:
        assert "Declined" in text["decline"]
        assert "was closed in the" in text["cancel"]
        assert "deleted 2" in text["accept"]
        assert questions == {"decline": 1, "cancel": 1, "accept": 1}
        assert "2 items" in text["after"]
        assert host.items == ["cam3", "lamp"]


def by_http(running: Live) -> dict[str, Any]:
    """Give where a client finds the bridge itself."""
    token = running.bridge.instance.token("framework")
    return {"url": running.bridge.url, "headers": {"Authorization": f"Bearer {token}"}}


def by_proxy(runtime: Path) -> dict[str, Any]:
    """Give the command of the proxy."""
    arguments = [*COMMAND[1:], "connect", "--label", "framework"]
    return {"command": COMMAND[0], "args": arguments, "env": environment(runtime)}
