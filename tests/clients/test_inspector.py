"""The official Inspector reads the tools of a host, by way of the proxy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.clients.kinds import NPM, node, packages
from tests.hosts.scenes import SCENE
from tests.live import live

INSPECTOR = Path("node_modules", "@modelcontextprotocol", "inspector", "clients", "cli", "build")

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


def test_it_finds_no_schema_that_a_client_may_refuse(tmp_path: Path) -> None:
    """Strictly it fails for each error, and says a warning for what few clients can read."""
    folder = packages()
    proxy = [sys.executable, "-P", "-m", "dcc_bridge", "connect", "--label", "inspector"]
    kept = {"DCC_BRIDGE_RUNTIME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    settings = [word for name, value in kept.items() for word in ("-e", f"{name}={value}")]
    inspector = [node(folder), str(folder / INSPECTOR / "index.js"), *settings]
    command = [*inspector, "--method", "tools/list", "--strict", "--", *proxy]
    env = {**os.environ, "HOME": str(tmp_path)}

    with live(tmp_path, host=UsdSession(SCENE), operations=operations) as running:
        ran = running.beside(
            lambda: subprocess.run(command, env=env, capture_output=True, text=True, timeout=120),
            limit=150,
        )

    assert (ran.returncode, ran.stderr) == (0, "")
    names = {tool["name"] for tool in json.loads(ran.stdout)["tools"]}
    assert names >= {"batch", "create", "list_hosts", "recent_calls", "summary", "use_host"}
