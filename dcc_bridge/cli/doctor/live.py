"""What is wrong with a running host, seen as a client sees it. Main thread."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio

from dcc_bridge.cli import answers, target
from dcc_bridge.cli.doctor import versions
from dcc_bridge.cli.doctor.report import Report
from dcc_bridge.cli.exits import Failure
from dcc_bridge.cli.target import Target
from dcc_bridge.client.agent import Result
from dcc_bridge.client.person import Person
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT
from dcc_bridge.errors import BridgeError, Unreachable
from dcc_bridge.server.tokens import COMMANDS
from dcc_bridge.skills.connection import PATIENCE

TOOL: Final = "check_connection"
_CALLS: Final = 5
_LIMIT: Final = 20.0
_WAY_BACK: Final = (
    "See with `dcc-bridge list` where hosts run; for one of another user or computer, set "
    f"{target.TOKEN} to a token that `dcc-bridge token make` gives there."
)
Facts = Mapping[str, Any]


def check(url: str | None, *, ask: bool) -> Report:
    """Look at a host.

    Args:
        url: Where it is; None for the one that runs.
        ask: The person may be asked a test question.
    """
    report = Report()
    try:
        host = target.find(url)
        told, seconds = anyio.run(_measure, host)
    except Failure as failure:
        what, starts, _ = str(failure).partition(f" {target.START}")
        report.find("server", what, target.START if starts else "Do what it says, and look again.")
    except Unreachable as error:
        report.find("server", str(error), _WAY_BACK)
    except (BridgeError, TimeoutError) as error:
        restart = "Restart the host, and look into its log."
        report.find("server", f"The host does not answer as it should: {error}", restart)
    else:
        _host(report, host, told, seconds)
        _clients(report, told)
        _skills(report, told)
        if ask:
            _question(report, host)
    return report


async def _measure(host: Target) -> tuple[Facts, float]:
    times = []
    with anyio.fail_after(_LIMIT):
        async with host.connect() as client:
            for _ in range(_CALLS):
                began = time.perf_counter()
                told = _facts(await client.call(TOOL, {}))
                times.append(time.perf_counter() - began)
                if told["main_thread_ms"] is None:
                    break
    return told, statistics.median(times)


def _facts(result: Result) -> Facts:
    if result.is_error:
        raise BridgeError(" ".join(result.texts))
    told: Facts = result.structured or json.loads(result.texts[0])
    facts: Facts = told.get("result", told)
    return facts


def _host(report: Report, host: Target, told: Facts, seconds: float) -> None:
    hop = told["main_thread_ms"]
    if hop is not None:
        report.facts.append(
            f"{told['host']} {told['version']} answers at {host.url}: {seconds * 1000:.1f} ms a "
            f"call, {hop:.1f} ms of it for its main thread."
        )
    else:
        busy = told.get("busy") or f"its main thread took nothing for {PATIENCE:g} s"
        mend = "Close the dialogs that are open in it, or wait until it has finished its work."
        report.find("main thread", f"{told['host']} is busy: {busy}", mend)
    report.findings += versions.check(told["packages"], told["python"], str(told["host"]))


def _clients(report: Report, told: Facts) -> None:
    for one in told["clients"]:
        if one["label"] == COMMANDS:
            continue
        who = f"{one['label']} ({one['name'] or '?'} {one['version']}".rstrip() + ")"
        can, does = _can(one)
        says = f"{who} speaks {one['protocol']} and {does}."
        if can or told["draws_questions"]:
            report.facts.append(says)
        else:
            report.find(
                "clients",
                f"{says} {told['host']} has no window either, so nobody can be asked.",
                "Use a client that draws questions, or start the host with a window.",
            )


def _can(client: Facts) -> tuple[bool, str]:
    """Tell whether a client asks its person, and what it does in words."""
    if client["silent"]:
        return False, "draws no questions, though it declares that it does: the host asks"
    can = [("draws forms", client["draws_forms"]), ("opens pages", client["opens_pages"])]
    does = " and ".join(words for words, is_so in can if is_so)
    return bool(does), does or "asks nobody: the host asks"


def _skills(report: Report, told: Facts) -> None:
    for name, why in told["broken"].items():
        mend = "Put the file right, as `dcc-bridge skill check FILE` says; it is read again then."
        report.find("skills", f"The skill {name} cannot be loaded: {why}", mend)
    if not told["broken"]:
        report.facts.append("All skills can be loaded.")


def _question(report: Report, host: Target) -> None:
    """Ask the person at the host; where there is nobody, the one at this terminal."""
    try:
        heard = anyio.run(partial(_ask, host, None))
        if heard["message"] == NOT_SUPPORTED:
            with answers.person(answers.ASK, "The doctor") as person:
                heard = anyio.run(partial(_ask, host, person)) if person is not None else heard
    except BridgeError as error:
        report.find("question", f"The test question could not be asked: {error}", "See above.")
        return
    _hear(report, heard)


async def _ask(host: Target, person: Person | None) -> Facts:
    async with host.connect(person=person) as client:
        asked: Facts = _facts(await client.call(TOOL, {"ask": True}))["question"]
        return asked


def _hear(report: Report, heard: Facts) -> None:
    where = {"host": "in the host", "client": "in this terminal"}.get(heard["answered_by"])
    if heard["seen"] and where is not None:
        report.facts.append(
            f"The test question was seen {where} and answered after {heard['seconds']:.1f} s."
        )
    elif heard["message"] == NOT_SUPPORTED:
        report.find(
            "question",
            "Nobody can be asked: the host has no window, and here is no terminal.",
            "Start the host with a window, or run this command in a terminal.",
        )
    elif heard["message"] == TIMED_OUT:
        what = f"Nobody answered the test question within {heard['seconds']:.0f} s."
        report.find("question", what, "Look for a dialog behind the host's window, and try again.")
    else:
        what = f"The test question was not seen ({heard['message']})."
        report.find("question", what, "Try again, and agree to it where you see it.")
