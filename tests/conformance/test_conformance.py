"""The official conformance suite against a headless bridge, with worker, main-thread hop and token.

``npm`` brings the suite and a Node.js that is new enough for it into the user's cache, once.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.conformance.front import DISCOVER
from tests.packages import from_npm

pytestmark = pytest.mark.timeout(330)

HERE: Final = Path(__file__).parent
MODERN: Final = "2026-07-28"
SCENARIOS: Final = {"2025-06-18": 27, "2025-11-25": 33, MODERN: 40}
"""How many scenarios the suite has for each revision: none is left out unnoticed."""
OF_HTTP: Final = {
    "dns-rebinding-protection",
    "http-custom-header-server-validation",
    "http-header-validation",
    "server-sse-polling",
}
"""Scenarios of HTTP itself, which a proxy on stdio does not speak: they would test its front."""
RUNS: Final = [
    *(("HTTP", revision) for revision in SCENARIOS),
    # a proxy for each scenario; to it the two legacy revisions are one
    pytest.param("proxy", "2025-11-25", marks=pytest.mark.long),
    pytest.param("proxy", MODERN, marks=pytest.mark.long),
]
TASKS: Final = [
    *("tasks-capability-negotiation", "tasks-dispatch-and-envelope", "tasks-lifecycle"),
    *("tasks-mrtr-composition", "tasks-mrtr-input", "tasks-request-headers"),
    *("tasks-request-state-removal", "tasks-required-task-error", "tasks-status-notifications"),
    "tasks-wire-fields",
]
"""Scenarios of the extension, which the suite runs by their names only."""
FAILING: Final = {"tools-call-error"}
"""Scenarios in which a tool is to fail."""
GOOD: Final = ("SUCCESS", "INFO")
Checks = list[dict[str, Any]]
_NAME: Final = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT")


@pytest.fixture(scope="module")
def bridge() -> Iterator[str]:
    """Run the host behind the forwarder, and give its address."""
    with _host() as url:
        yield url


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    """Run the host behind proxies, and give the address of their front."""
    with _host("proxy") as url:
        yield url


@contextmanager
def _host(*way: str) -> Iterator[str]:
    """Run the host with the fixture; it must end well."""
    command = [sys.executable, "-m", "tests.conformance.host", *way]
    pipe = subprocess.PIPE
    root = HERE.parent.parent
    with subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, text=True) as host:
        assert host.stdout is not None
        url = host.stdout.readline().strip()
        assert url, "the host did not start"
        yield url
        host.communicate(timeout=20)
    assert host.returncode == 0


@pytest.fixture(scope="session")
def suite() -> list[str]:
    """Give the command that runs the suite, installed if need be."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: it brings the conformance suite")
    packages = from_npm(npm, HERE, "conformance") / "node_modules"
    node = next(packages.glob("node-*/bin/node*"), None) or shutil.which("node")
    script = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [str(node), str(script), "server"]


@pytest.mark.real
@pytest.mark.parametrize(("way", "revision"), RUNS)
def test_the_suite_finds_no_more_than_is_known(
    way: str, revision: str, suite: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every scenario finds what is expected of it, no more and no less."""
    url = request.getfixturevalue("bridge" if way == "HTTP" else "proxy")

    scenarios = _run([*suite, "--url", url], revision, tmp_path)

    assert len(scenarios) == SCENARIOS[revision], sorted(scenarios)
    if way == "proxy":
        scenarios = {name: checks for name, checks in scenarios.items() if name not in OF_HTTP}
    for name, checks in scenarios.items():
        assert any(check["status"] != "INFO" for check in checks), f"{name}: nothing was checked"
    assert _findings(scenarios) == _known(f"{revision} by {way}")
    assert _with_failed_tools(scenarios) == FAILING


@pytest.mark.real
@pytest.mark.parametrize("way", ["HTTP", "proxy"])
def test_the_scenarios_of_tasks_find_no_more_than_is_known(
    way: str, suite: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("bridge" if way == "HTTP" else "proxy")
    command = [*suite, "--url", url]

    scenarios: dict[str, Checks] = {}
    for name in TASKS:
        scenarios |= _run(command, MODERN, tmp_path, "--scenario", name, "--force")

    assert sorted(scenarios) == TASKS
    assert _findings(scenarios) == _known(f"tasks by {way}")


def test_each_expected_failure_belongs_to_a_revision_of_the_suite() -> None:
    """A table with a misspelt name would expect nothing."""
    runs = [*SCENARIOS, "tasks"]
    ways = {f"{run} by {way}" for run in runs for way in ("HTTP", "proxy")}

    assert set(_expected()) <= ways


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
    """The bridge's own authentication refuses them: the forwarder would prove nothing otherwise."""
    own = urlsplit(bridge).netloc
    headers = {"Host": host.format(own=own), "Origin": origin.format(own=own)}

    response = httpx2.post(bridge, headers=headers | _DISCOVER_HEADERS, json=DISCOVER)

    assert response.status_code == status, response.text
    assert ("error" in response.json()) == (status != 200)  # the SDK's own refusal is no JSON


def _run(command: list[str], revision: str, out: Path, *which: str) -> dict[str, Checks]:
    which = which or ("--suite", "all")
    what = ["--spec-version", revision, "--output-dir", str(out)]
    ran = subprocess.run([*command, *which, *what], capture_output=True, text=True, timeout=280)
    scenarios = {}
    for report in out.glob("*/checks.json"):
        named = _NAME.match(report.parent.name)
        assert named is not None, report
        checks: Checks = json.loads(report.read_text(encoding="utf-8"))
        scenarios[named[1]] = checks
    assert scenarios, ran.stdout + ran.stderr
    return scenarios


def _findings(scenarios: dict[str, Checks]) -> dict[str, str]:
    return {
        f"{scenario}: {check['id']}": f"{check['status']} {check.get('errorMessage', '')}"
        for scenario, checks in scenarios.items()
        for check in checks
        if check["status"] not in GOOD
    }


def _known(run: str) -> dict[str, str]:
    known = _expected().get(run, {})
    return {check: f"{entry['status']} {entry['says']}" for check, entry in known.items()}


def _expected() -> dict[str, Any]:
    return tomllib.loads((HERE / "expected_failures.toml").read_text(encoding="utf-8"))


def _with_failed_tools(scenarios: dict[str, Checks]) -> set[str]:
    """Name those in which a tool failed: the suite is content with any result of some."""
    return {
        scenario
        for scenario, checks in scenarios.items()
        for check in checks
        if isinstance(result := check.get("details", {}).get("result"), dict)
        and result.get("isError")
    }


_DISCOVER_HEADERS: Final = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": MODERN,
    "Mcp-Method": "server/discover",
}
