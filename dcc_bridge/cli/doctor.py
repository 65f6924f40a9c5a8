"""``dcc-bridge doctor``: what is wrong with a connection or an installation, and what mends it.

`dcc_bridge.cli.doctor_install` has the checks of what is installed. Main thread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final

import anyio

from dcc_bridge.cli import hosts
from dcc_bridge.cli.call import ASK, answering
from dcc_bridge.cli.doctor_install import (
    Report,
    check_here,
    check_installation,
    check_setup,
    check_versions,
)
from dcc_bridge.cli.exits import SUCCESS, TOOL_ERROR, Failure
from dcc_bridge.cli.hosts import Target
from dcc_bridge.client.agent import Result
from dcc_bridge.client.person import Person
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT
from dcc_bridge.errors import BridgeError, Unreachable
from dcc_bridge.install.locations import APPLICATIONS
from dcc_bridge.server.discovery import CLI_LABEL
from dcc_bridge.skills.builtin import PATIENCE

_TOOL: Final = "check_connection"
_CALLS: Final = 5
_TIMEOUT: Final = 20.0
Facts = Mapping[str, Any]
_WAY_BACK: Final = (
    "See with `dcc-bridge list` where hosts run; for one of another user or computer, set "
    f"{hosts.TOKEN} to a token that `dcc-bridge token make` gives there."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument(
        "url",
        nargs="?",
        metavar="URL|HOST",
        help="where the host is; without it, the one that runs. Or what the plug-in was installed "
        f"into: {', '.join(sorted(APPLICATIONS))}",
    )
    parser.add_argument(
        "--no-question", action="store_true", help="do not ask the person a test question"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def run(options: argparse.Namespace) -> int:
    """Make the checks, and show what they found."""
    whole = Report()
    for report in _reports(options):
        whole.facts += report.facts
        whole.findings += report.findings
        if not options.json:
            _show(report)
    if options.json:
        findings = [asdict(finding) for finding in whole.findings]
        print(json.dumps({"findings": findings, "facts": whole.facts}, indent=2))
    elif whole.findings:
        print(f"{len(whole.findings)} to mend.", file=sys.stderr)
    else:
        print("Nothing to mend.")
    return TOOL_ERROR if whole.findings else SUCCESS


def _reports(options: argparse.Namespace) -> Iterator[Report]:
    yield check_here()
    if options.url in APPLICATIONS:
        yield check_installation(options.url)
        return
    if not options.url:
        yield check_setup()
    yield check_host(options.url, ask=not options.no_question)


def _show(report: Report) -> None:
    for fact in report.facts:
        print(f"ok     {safe_line(fact)}", flush=True)
    for finding in report.findings:
        print(
            f"WRONG  {safe_line(finding.what)}\n       To mend it: {safe_line(finding.mend)}",
            flush=True,
        )


def check_host(url: str | None, *, ask: bool) -> Report:
    """Check a running host.

    Args:
        url: Where it is; None for the one that runs.
        ask: Whether the person may be asked a test question.
    """
    report = Report()
    try:
        host = hosts.find(url)
        facts, seconds = anyio.run(_measure, host)
    except Failure as failure:
        what, starts, _ = str(failure).partition(f" {hosts.START}")
        report.add("server", what, hosts.START if starts else "Do what it says, and look again.")
    except Unreachable as error:
        report.add("server", str(error), _WAY_BACK)
    except (BridgeError, TimeoutError) as error:
        what = f"The host does not answer as it should: {error}"
        report.add("server", what, "Restart the host, and look into its log.")
    else:
        _check_main_thread(report, host, facts, seconds)
        for client in facts["clients"]:
            _check_connected(report, client, facts)
        _check_skills(report, facts)
        if ask:
            _check_question(report, host)
    return report


async def _measure(host: Target) -> tuple[Facts, float]:
    times = []
    with anyio.fail_after(_TIMEOUT):
        async with host.connect() as client:
            for _ in range(_CALLS):
                began = time.perf_counter()
                facts = _facts(await client.call(_TOOL, {}))
                times.append(time.perf_counter() - began)
                if facts["main_thread_ms"] is None:
                    break
    return facts, statistics.median(times)


def _facts(result: Result) -> Facts:
    if result.is_error:
        raise BridgeError(" ".join(result.texts))
    data: Facts = result.structured or json.loads(result.texts[0])
    facts: Facts = data.get("result", data)
    return facts


def _check_main_thread(report: Report, host: Target, facts: Facts, seconds: float) -> None:
    hop = facts["main_thread_ms"]
    if hop is not None:
        report.facts.append(
            f"{facts['host']} {facts['version']} answers at {host.url}: {seconds * 1000:.1f} ms a "
            f"call, {hop:.1f} ms of it for its main thread."
        )
    else:
        busy = facts.get("busy") or f"its main thread took nothing for {PATIENCE:g} s"
        mend = "Close the dialogs that are open in it, or wait until it has finished its work."
        report.add("main thread", f"{facts['host']} is busy: {busy}", mend)
    report.findings += check_versions(facts["packages"], facts["python"], str(facts["host"]))


def _check_connected(report: Report, client: Facts, facts: Facts) -> None:
    if client["label"] == CLI_LABEL:
        return
    who = f"{client['label']} ({client['name'] or '?'} {client['version']}".rstrip() + ")"
    can_ask, does = _questions(client)
    says = f"{who} speaks {client['protocol']} and {does}."
    if can_ask or facts["draws_questions"]:
        report.facts.append(says)
    else:
        what = f"{says} {facts['host']} has no window either, so nobody can be asked."
        mend = "Use a client that draws questions, or start the host with a window."
        report.add("clients", what, mend)


def _questions(client: Facts) -> tuple[bool, str]:
    """Tell whether a client asks its person, and what it does in words."""
    if client["silent"]:
        return False, "draws no questions, though it declares that it does: the host asks"
    modes = [("draws forms", client["draws_forms"]), ("opens pages", client["opens_pages"])]
    does = " and ".join(words for words, can in modes if can)
    return bool(does), does or "asks nobody: the host asks"


def _check_skills(report: Report, facts: Facts) -> None:
    for name, why in facts["broken"].items():
        mend = "Put the file right, as `dcc-bridge skill check FILE` says; it is read again then."
        report.add("skills", f"The skill {name} cannot be loaded: {why}", mend)
    if not facts["broken"]:
        report.facts.append("All skills can be loaded.")


def _check_question(report: Report, host: Target) -> None:
    """Ask the person at the host; where there is nobody, the one at this terminal."""
    try:
        reply = anyio.run(partial(_ask, host, None))
        if reply["message"] == NOT_SUPPORTED:
            with answering(ASK, "The doctor") as person:
                reply = anyio.run(partial(_ask, host, person)) if person is not None else reply
    except BridgeError as error:
        report.add("question", f"The test question could not be asked: {error}", "See above.")
        return
    where = {"host": "in the host", "client": "in this terminal"}.get(reply["answered_by"])
    if reply["seen"] and where is not None:
        report.facts.append(
            f"The test question was seen {where} and answered after {reply['seconds']:.1f} s."
        )
    else:
        report.add("question", *_unanswered(reply))


async def _ask(host: Target, person: Person | None) -> Facts:
    async with host.connect(person=person) as client:
        reply: Facts = _facts(await client.call(_TOOL, {"ask": True}))["question"]
        return reply


def _unanswered(reply: Facts) -> tuple[str, str]:
    """Say why the test question has no answer, and what to do."""
    if reply["message"] == NOT_SUPPORTED:
        what = "Nobody can be asked: the host has no window, and here is no terminal."
        return what, "Start the host with a window, or run this command in a terminal."
    if reply["message"] == TIMED_OUT:
        what = f"Nobody answered the test question within {reply['seconds']:.0f} s."
        return what, "Look for a dialog behind the host's window, and try again."
    what = f"The test question was not seen ({reply['message']})."
    return what, "Try again, and agree to it where you see it."
