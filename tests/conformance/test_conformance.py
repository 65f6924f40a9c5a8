"""The official conformance suite against a headless bridge, with worker, main-thread hop and token.

``npm`` brings the suite and a Node.js that is new enough for it into the user's cache, once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import platformdirs
import pytest

pytestmark = pytest.mark.timeout(300)

HERE: Final = Path(__file__).parent
LEGACY: Final = ("2025-06-18", "2025-11-25")
MODERN: Final = "2026-07-28"
SCENARIOS: Final = {
    "server-initialize": LEGACY,
    "ping": LEGACY,
    "tools-list": (*LEGACY, MODERN),
    "tools-call-simple-text": (*LEGACY, MODERN),
    "tools-call-error": (*LEGACY, MODERN),
    "tools-call-elicitation": LEGACY,
    "elicitation-sep1034-defaults": LEGACY[1:],
    "elicitation-sep1330-enums": LEGACY[1:],
    "dns-rebinding-protection": (LEGACY[1], MODERN),
    "input-required-result-basic-elicitation": (MODERN,),
    "input-required-result-basic-list-roots": (MODERN,),
    "input-required-result-basic-sampling": (MODERN,),
    "input-required-result-capability-check": (MODERN,),
    "input-required-result-ignore-extra-params": (MODERN,),
    "input-required-result-missing-input-response": (MODERN,),
    "input-required-result-multi-round": (MODERN,),
    "input-required-result-multiple-input-requests": (MODERN,),
    "input-required-result-non-tool-request": (MODERN,),
    "input-required-result-request-state": (MODERN,),
    "input-required-result-result-type": (MODERN,),
    "input-required-result-tampered-state": (MODERN,),
    "input-required-result-unsupported-methods": (MODERN,),
    "input-required-result-validate-input": (MODERN,),
}
RUNS: Final = [(name, revision) for name, revisions in SCENARIOS.items() for revision in revisions]
GOOD: Final = ("SUCCESS", "INFO")
Checks = list[dict[str, Any]]


@pytest.fixture(scope="session")
def bridge() -> Iterator[str]:
    """Run the host with the fixture and give its address; it must end well."""
    command = [sys.executable, "-m", "tests.conformance.host"]
    pipe = subprocess.PIPE
    root = HERE.parent.parent
    with subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, text=True) as host:
        assert host.stdout is not None
        url = host.stdout.readline().strip()
        assert url, "the host did not start"
        yield url
        host.communicate(timeout=10)
    assert host.returncode == 0


@pytest.fixture(scope="session")
def suite() -> list[str]:
    """Give the command that runs the suite, installed if need be."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: it brings the conformance suite")
    packages = _installed(npm) / "node_modules"
    node = next(packages.glob("node-*/bin/node*"), None) or shutil.which("node")
    script = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [str(node), str(script), "server"]


@pytest.mark.real
@pytest.mark.parametrize(("scenario", "revision"), RUNS)
def test_the_suite_finds_no_more_than_is_known(
    scenario: str, revision: str, bridge: str, suite: list[str], tmp_path: Path
) -> None:
    """A scenario finds what is expected of it, no more and no less, and every answer arrived."""
    checks = _run([*suite, "--url", bridge], scenario, revision, tmp_path)

    found = {check["id"]: check["status"] for check in checks if check["status"] not in GOOD}

    assert found == _known(scenario, revision), json.dumps(checks, indent=1)
    assert _failing_results(checks) == (scenario == "tools-call-error"), json.dumps(
        checks, indent=1
    )


def test_each_expected_failure_belongs_to_a_run() -> None:
    """A table with a misspelt name would expect nothing."""
    assert set(_expected()) <= {f"{scenario} @ {revision}" for scenario, revision in RUNS}


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("{own}", "http://{own}", 200),
        ("evil.example.com", "http://{own}", 421),
        ("{own}", "http://evil.example.com", 403),
        ("{own}", "null", 403),
        ("{own}", "http://localhost:1", 403),
        ("127.0.0.1", "http://{own}", 421),
    ],
)
def test_a_stranger_gets_through_the_forwarder_and_is_refused_by_the_bridge(
    host: str, origin: str, status: int, bridge: str
) -> None:
    """The bridge's own door refuses them: the forwarder would prove nothing otherwise."""
    own = urlsplit(bridge).netloc
    headers = {"Host": host.format(own=own), "Origin": origin.format(own=own)}

    response = httpx2.post(bridge, headers=headers | _DISCOVER_HEADERS, json=_DISCOVER)

    assert response.status_code == status, response.text
    assert ("error" in response.json()) == (status != 200)  # the SDK's own refusal is no JSON


def _installed(npm: str) -> Path:
    """Install what the lock file names, beside other versions; another test run may do the same."""
    lock = (HERE / "package-lock.json").read_bytes()
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"conformance-{sha256(lock).hexdigest()[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            _install(npm, Path(new) / "it")
            with suppress(OSError):
                os.rename(Path(new) / "it", folder)
    return folder


def _install(npm: str, folder: Path) -> None:
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run([npm, "ci", *quiet], cwd=folder, check=True, timeout=240)


def _run(command: list[str], scenario: str, revision: str, out: Path) -> Checks:
    what = ["--scenario", scenario, "--spec-version", revision, "--output-dir", str(out)]
    ran = subprocess.run([*command, *what], capture_output=True, text=True, timeout=60)
    reports = list(out.glob("*/checks.json"))
    assert len(reports) == 1, ran.stdout + ran.stderr
    checks: Checks = json.loads(reports[0].read_text(encoding="utf-8"))
    assert any(check["status"] != "INFO" for check in checks), "nothing was checked"
    return checks


def _known(scenario: str, revision: str) -> dict[str, str]:
    known = _expected().get(f"{scenario} @ {revision}", {})
    return {check: entry["status"] for check, entry in known.items()}


def _expected() -> dict[str, Any]:
    return tomllib.loads((HERE / "expected_failures.toml").read_text(encoding="utf-8"))


def _failing_results(checks: Checks) -> bool:
    """Whether a tool failed: the suite is content with any result, so our skills say so."""
    results = [check.get("details", {}).get("result") for check in checks]
    return any(isinstance(result, dict) and result.get("isError") for result in results)


_META: Final = "io.modelcontextprotocol"
_DISCOVER: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            f"{_META}/protocolVersion": MODERN,
            f"{_META}/clientInfo": {"name": "test", "version": "1"},
            f"{_META}/clientCapabilities": {},
        }
    },
}
_DISCOVER_HEADERS: Final = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": MODERN,
    "Mcp-Method": "server/discover",
}
