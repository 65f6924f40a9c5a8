"""One client put through all cases, and what is to be said of each.

A bridge, or a bare server of the SDK, and the client's own process. Main thread: it is the host's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.cli.commands import COMMAND, environment
from tests.clients.bare import bare
from tests.clients.cases import CASES, Case, Report
from tests.clients.kinds import HTTP, ROWS, Kind
from tests.clients.skills import skills
from tests.live import Live, live
from tests.stand_ins import FakeHost

_LIMIT: Final = 250.0
Target = dict[str, Any]
"""Where a client finds the server: a URL with headers, or a command."""
Results = dict[str, str]
"""For each case nothing, or what is not as it must be."""


def through_bridge(row: str) -> Results:
    """Put a client through all cases at a bridge. One at a time in a process.

    Args:
        row: The name of one of `ROWS`.
    """
    kind, era, way = ROWS[row]
    host, ended = FakeHost(["cam1", "cam2", "cam3"]), dict[str, str]()
    short = {"keepalive": 0.2, "deadline": kind.deadline, "session_grace": 0.3}
    with (
        TemporaryDirectory() as folder,
        live(Path(folder), *skills(host, ended), host=host, **short) as running,
    ):
        target = _http(running) if way == HTTP else _proxy(Path(folder))

        reports = running.beside(lambda: _drive(kind, era, CASES, target, folder), limit=_LIMIT)
        left = [case.name for case in CASES if case.leaves]
        with suppress(AssertionError):  # judged below
            running.until(lambda: all(name in ended for name in left), limit=kind.deadline + 2)
    return judged(CASES, reports, ended)


def at_bare_server(row: str, cases: Sequence[Case]) -> Results:
    """Put a client through cases at a server that is the SDK's alone.

    It is reached as the bridge was: over HTTP, or on stdio where the proxy was.
    """
    kind, era, way = ROWS[row]
    with TemporaryDirectory() as folder:
        if way == HTTP:
            with bare() as (url, ended):
                reports = _drive(kind, era, cases, {"url": url, "headers": {}}, folder)
            return judged(cases, reports, ended)
        noted = Path(folder, "ended.json")
        reports = _drive(kind, era, cases, _stdio(noted), folder)
        return judged(cases, reports, json.loads(noted.read_text()) if noted.exists() else {})


def _http(running: Live) -> Target:
    token = running.bridge.instance.token("matrix")
    return {"url": running.bridge.url, "headers": {"Authorization": f"Bearer {token}"}}


def _proxy(runtime: Path) -> Target:
    arguments = [*COMMAND[1:], "connect", "--label", "matrix"]
    return {"command": COMMAND[0], "args": arguments, "env": environment(runtime)}


def _stdio(noted: Path) -> Target:
    arguments = ["-m", "tests.clients.bare", str(noted)]
    return {"command": sys.executable, "args": arguments, "env": environment(noted.parent)}


def judged(cases: Sequence[Case], reports: Sequence[Report], ended: dict[str, str]) -> Results:
    """Say of each case what is not as it must be."""
    by_name = {report["case"]: report for report in reports}
    return {case.name: _judge(case, by_name.get(case.name), ended) for case in cases}


def _judge(case: Case, report: Report | None, ended: dict[str, str]) -> str:
    if report is None:
        return "nothing was told"
    if "error" in report:
        return str(report["error"])
    if len(report["asked"]) != case.asked:
        return f"asked {len(report['asked'])} times, not {case.asked}"
    if case.text not in report.get("text", ""):
        return f"the result says {report.get('text')!r}"
    seen = ended.get(case.name, "open")
    if case.seen and seen not in case.seen:
        return f"the skill saw {seen!r}"
    if case.stops and report.get("seen") != seen:
        return f"the session afterwards: {report.get('seen')!r}"
    return ""


def _drive(
    kind: Kind, era: str, cases: Sequence[Case], target: Target, folder: str
) -> list[Report]:
    command, more = kind.start()
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        **more,
        "ERA": era,
        "TARGET": json.dumps(target),
        "HOME": folder,
    }
    ran = subprocess.run(
        command,
        env=environment,
        input=json.dumps([case.spec for case in cases]),
        capture_output=True,
        text=True,
        timeout=_LIMIT,
    )
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    assert lines, ran.stderr
    return [json.loads(line) for line in lines]
