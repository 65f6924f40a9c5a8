"""``dcc-bridge doctor``: what is wrong with a connection or an installation, and what mends it."""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from dcc_bridge import known_clients
from dcc_bridge.cli import hosts, status
from dcc_bridge.cli.call import ASK, answering
from dcc_bridge.cli.exits import SUCCESS, TOOL_ERROR, Failure
from dcc_bridge.cli.hosts import Target
from dcc_bridge.client.agent import Result
from dcc_bridge.client.configs import written as entries
from dcc_bridge.client.configs.places import PLACES
from dcc_bridge.client.person import Person
from dcc_bridge.elicitation.plain import line
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT
from dcc_bridge.errors import BridgeError, Unreachable
from dcc_bridge.install import asking, written
from dcc_bridge.install.places import KINDS, Kind, NoPlace, Place, Told
from dcc_bridge.install.system import System
from dcc_bridge.install.written import Changed, Written
from dcc_bridge.server.about import packages
from dcc_bridge.server.access import Access
from dcc_bridge.server.tokens import COMMANDS
from dcc_bridge.skills.connection import PATIENCE


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "url",
        nargs="?",
        metavar="URL|HOST",
        help="where the host is; without it, the one that runs. Or what the plug-in was installed "
        f"into: {', '.join(sorted(KINDS))}",
    )
    parser.add_argument(
        "--no-question", action="store_true", help="do not ask the person a test question"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def run(options: argparse.Namespace) -> int:
    """Make the checks, and show what they found."""
    reports = []
    for check in _checks(options):
        reports.append(check())
        if not options.json:
            _show(reports[-1])
    findings = [one for report in reports for one in report.findings]
    if options.json:
        facts = [one for report in reports for one in report.facts]
        told = {"findings": [asdict(one) for one in findings], "facts": facts}
        print(json.dumps(told, indent=2))
    elif findings:
        print(f"{len(findings)} to mend.", file=sys.stderr)
    else:
        print("Nothing to mend.")
    return TOOL_ERROR if findings else SUCCESS


def _checks(options: argparse.Namespace) -> list[Check]:
    if options.url in KINDS:
        return [check_here, lambda: check_installation(options.url)]
    there = [] if options.url else [check_setup]
    return [check_here, *there, lambda: check_live(options.url, ask=not options.no_question)]


def _show(report: Report) -> None:
    for fact in report.facts:
        print(f"ok     {line(fact)}", flush=True)
    for one in report.findings:
        print(f"WRONG  {line(one.what)}\n       To mend it: {line(one.mend)}", flush=True)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Attributes:
        check: What was looked at, in a word.
        what: A sentence.
        mend: What to do.
    """

    check: str
    what: str
    mend: str


@dataclass(slots=True)
class Report:
    """What a check has to say.

    Attributes:
        facts: What is well, a sentence each.
        findings: What is not.
    """

    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def find(self, check: str, what: str, mend: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(check, what, mend))


Check = Callable[[], Report]


def check_here() -> Report:
    """Look at the versions that are installed beside it."""
    found, python = packages(), platform.python_version()
    report = Report([f"dcc-bridge runs on Python {python} with mcp {found.get('mcp', '(none)')}."])
    report.findings += check_versions(found, python, "This installation")
    return report


Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trap:
    """Versions of a package that must not be used.

    Attributes:
        package: Its name on the package index.
        is_bad: Whether a version of it is one, with that version of Python.
        why: What happens.
        mend: A command.
    """

    package: str
    is_bad: Callable[[Version, Version], bool]
    why: str
    mend: str


TRAPS: Final = (
    Trap(
        "PySide6-Essentials",
        lambda qt, python: qt[:3] == (6, 12, 0) and python < (3, 12),
        "it drops references to True and None, and ends the application without a word",
        "pip install 'PySide6-Essentials<6.12'",
    ),
    Trap(
        "mcp",
        lambda mcp, python: not (2, 3) <= mcp < (3,),
        "it does not speak the protocol as it is used here",
        "pip install 'mcp>=2.3,<3'",
    ),
    Trap(
        "greenlet",
        lambda greenlet, python: greenlet < (3, 1),
        "skills cannot wait for an answer without freezing the host",
        "pip install 'greenlet>=3.1'",
    ),
)


def check_versions(packages: Mapping[str, str], python: str, whose: str) -> Iterator[Finding]:
    """Find the versions that break.

    Args:
        packages: Name and version of what is installed.
        python: The version of Python.
        whose: What they belong to, in words that begin a sentence.
    """
    for trap in TRAPS:
        found = packages.get(trap.package)
        if found is not None and trap.is_bad(_numbers(found), _numbers(python)):
            what = f"{whose} has {trap.package} {found} on Python {python}: {trap.why}."
            yield Finding("versions", what, trap.mend)


def _numbers(version: str) -> Version:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def check_setup() -> Report:
    """Look at both, a line each."""
    report = Report()
    for kind in KINDS.values():
        _plug_ins(report, kind)
    if not report.facts and not report.findings:
        report.facts.append("No plug-in is installed: dcc-bridge install HOST.")
    before = len(report.facts) + len(report.findings)
    for name in PLACES:
        _check_client(report, name)
    if len(report.facts) + len(report.findings) == before:
        report.facts.append("No client is set up: dcc-bridge client add NAME.")
    return report


def _plug_ins(report: Report, kind: Kind) -> None:
    for told in status.there(kind, status.known(kind)):
        if "wrong" in told or told["changed"] or told["missing"]:
            mend = f"See what it is: dcc-bridge doctor {kind.name}"
            report.find("installation", f"Not as it was installed: {status.line(told)}.", mend)
        else:
            report.facts.append(f"Installed: {status.line(told)}.")


def _check_client(report: Report, name: str) -> None:
    place, title = PLACES[name], known_clients.CLIENTS[name].name
    entry = entries.find(place) if place.writes else None
    if entry is None:
        return
    file, program = place.file(None), str(entry.get("command"))
    if shutil.which(program) is None:
        what = f"{title} starts {program}, as {file} says, and that is no program here."
        report.find("client", what, f"dcc-bridge client add {name}")
    else:
        report.facts.append(f"{title} is set up in {file}.")


_QT: Final = re.compile(r"(pyside|shiboken|pyqt)", re.IGNORECASE)


def check_installation(host: str) -> Report:
    """Look at the application, and at what was put where it looks.

    Args:
        host: Its name, as `install` takes it.
    """
    kind, report = KINDS[host], Report()
    told = _ask_application(kind, report)
    found = [(place, old) for place in _places(kind, told) if (old := _read(place, report))]
    if not found and not report.findings:
        report.find(
            "installation", f"The bridge is not installed for {kind.title}.", _install(host)
        )
    if len(found) > 1:
        report.find(
            "installation",
            f"It is installed twice, in {' and in '.join(str(one.folder) for one, _ in found)}.",
            f"Keep one: dcc-bridge uninstall {host}, with --for-all-users or without.",
        )
    for place, old in found:
        _look(kind, place, old, told, report)
    return report


def _install(host: str) -> str:
    return f"dcc-bridge install {host}"


def _ask_application(kind: Kind, report: Report) -> Told:
    try:
        told = asking.ask(kind)
    except NoPlace as error:
        report.find("application", str(error), "Start it once by hand, and see what it says.")
        return Told()
    if told.program is None:
        report.facts.append(
            f"{' or '.join(kind.programs)} is not on PATH, so {kind.title} itself was not asked."
        )
    else:
        report.facts.append(f"{told.program} is {kind.title} {told.version}, Python {told.python}.")
    return told


def _places(kind: Kind, told: Told) -> list[Place]:
    places: list[Place] = []
    for for_all in (False, True):
        try:
            place = kind.place(System.here(), told, for_all)
        except NoPlace:  # it cannot be told where that is, so nothing was put there either
            continue
        if place.folder not in [one.folder for one in places]:
            places.append(place)
    return places


def _read(place: Place, report: Report) -> Written | None:
    try:
        old = written.read(place.folder)
    except Changed as error:
        report.find("installation", str(error), f"Delete {place.folder}, and install again.")
        return None
    if old is None and place.folder.exists():
        report.find(
            "installation",
            f"{place.folder} is there, and was not put by us.",
            "Move it away, and install again.",
        )
    return old


def _look(kind: Kind, place: Place, old: Written, told: Told, report: Report) -> None:
    before, folder = len(report.findings), place.folder
    again = f"dcc-bridge uninstall {kind.name} --discard-changes, then {_install(kind.name)}"
    for what, files in (("changed", old.changed()), ("gone", old.missing())):
        if files:
            report.find(
                "files", f"{len(files)} files in {folder} are {what}, such as {files[0]}.", again
            )
    python = old.facts.get("python")
    if told.python is not None and python != told.python:
        report.find(
            "python",
            f"It was installed for Python {python}, and {kind.title} has {told.python}: its "
            "compiled parts do not load there.",
            again,
        )
    _look_for_qt(place.folder / place.vendor, report)
    if len(report.findings) == before:
        report.facts.append(f"Version {old.facts.get('bridge')} is whole in {folder}.")


def _look_for_qt(vendor: Path, report: Report) -> None:
    qt = [one for one in vendor.iterdir() if _QT.match(one.name)] if vendor.is_dir() else []
    if qt:
        report.find(
            "qt",
            f"There is a Qt in {vendor} ({qt[0].name}); a second one ends the application.",
            f"Delete {', '.join(str(one) for one in qt)}.",
        )


TOOL: Final = "check_connection"
_CALLS: Final = 5
_LIMIT: Final = 20.0
Facts = Mapping[str, Any]


def check_live(url: str | None, *, ask: bool) -> Report:
    """Look at a host.

    Args:
        url: Where it is; None for the one that runs.
        ask: The person may be asked a test question.
    """
    report = Report()
    try:
        host = hosts.find(url)
        told, seconds = anyio.run(_measure, host)
    except Failure as failure:
        what, starts, _ = str(failure).partition(f" {hosts.START}")
        report.find("server", what, hosts.START if starts else "Do what it says, and look again.")
    except Unreachable as error:
        report.find("server", str(error), _way_back())
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


def _way_back() -> str:
    if Access().standing(COMMANDS).revoked:
        return f"dcc-bridge token make {COMMANDS}"
    return (
        f"See with `dcc-bridge list` where hosts run; for one of another user or computer, set "
        f"{hosts.TOKEN} to a token that `dcc-bridge token make` gives there."
    )


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
    report.findings += check_versions(told["packages"], told["python"], str(told["host"]))


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
            with answering(ASK, "The doctor") as person:
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
