"""``dcc-bridge doctor``: finds problems of connections and installations. Main thread.

Each check yields results: a sentence for each thing that is in order, a `Finding` for each problem.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import anyio

from dcc_bridge import known_clients, store_programs
from dcc_bridge.cli import call, exits, hosts, leaves
from dcc_bridge.cli.doctor_setup import check_installation, check_setup
from dcc_bridge.cli.findings import Advice, Finding, Results
from dcc_bridge.client import Person, agent
from dcc_bridge.elicitation.text import safe_text
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT
from dcc_bridge.errors import BridgeError, StartError, Unreachable
from dcc_bridge.install import locations
from dcc_bridge.server import discovery
from dcc_bridge.server.clients import packages
from dcc_bridge.server.start_problem import name_foreign
from dcc_bridge.skills.builtin import PATIENCE_S

_TOOL: Final = "check_connection"
_MEASURED_CALLS: Final = 5
_ANSWER_TIMEOUT_S: Final = 20.0
_MAX_TOOLS: Final = 40  # from a longer list agents choose wrong tools
_NO_WAY_THERE: Final = (
    "`dcc-bridge list` shows the running hosts. For a host of another user or computer, set "
    f"{hosts.TOKEN} to a token that `dcc-bridge token make` prints there."
)
_MENDS: Final[dict[type[BridgeError], str]] = {
    Unreachable: _NO_WAY_THERE,
    StartError: "Set DCC_BRIDGE_RUNTIME to a folder of yours, for the host and for this command.",
}
_NO_FOREIGN: Final = (
    "Remove them from the path of the application's Python: start it from a terminal without a "
    "virtual environment, and without PYTHONPATH."
)
_FROM_STORE: Final = (
    "This Python is from the Microsoft Store: Windows puts what it writes below AppData into a "
    "folder that no application looks into."
)
_MCP: Final = ("it does not speak the protocol that is used here", 'pip install "mcp>=2.3,<3"')
_TRAPS: Final = (
    # package, first broken version, first fixed version, the problem, the command that fixes it
    (
        *("PySide6-Essentials", (6, 12, 0), (6, 12, 1)),
        "it drops references to True and None, and crashes the application",
        'pip install "PySide6-Essentials<6.12"',
    ),
    ("mcp", (0,), (2, 3), *_MCP),
    ("mcp", (3,), (sys.maxsize,), *_MCP),
    (
        *("greenlet", (0,), (3, 1)),
        "skills cannot wait for an answer without freezing the host",
        'pip install "greenlet>=3.1"',
    ),
)
_IMMORTAL: Final = (3, 12)  # from this Python on, no extension can free True and None


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    applications = ", ".join(sorted(leaves.targets()))
    hosts.fill_host(parser, f"; or what the plug-in was installed into: {applications}")
    no_question = "do not ask a test question"
    parser.add_argument("--no-question", action="store_true", help=no_question)
    parser.add_argument("--json", action="store_true", help="print only JSON")


def run(options: argparse.Namespace) -> int:
    """Run the checks, and print each result as soon as it is known."""
    findings: list[Finding] = []
    warnings: list[Finding] = []
    facts: list[str] = []
    for result in _check_all(options):
        if isinstance(result, Advice):
            warnings.append(result)
            text = f"to do  {result.what}\nTo do it: {result.mend}"
        elif isinstance(result, Finding):
            findings.append(result)
            text = f"WRONG  {result.what}\nTo fix it: {result.mend}"
        else:
            facts.append(result)
            text = f"ok     {result}"
        if not options.json:
            print(safe_text(text).replace("\n", "\n       "), flush=True)
    if options.json:
        payload = {
            "findings": [asdict(finding) for finding in findings],
            "warnings": [asdict(warning) for warning in warnings],
            "facts": facts,
        }
        print(json.dumps(payload, indent=2))
    elif findings:
        print(f"{len(findings)} to fix.", file=sys.stderr)
    else:
        print("Nothing to fix.")
    if findings:
        return exits.FAILED
    return exits.SUCCESS


def _check_all(options: argparse.Namespace) -> Results:
    versions = packages()
    python = platform.python_version()
    yield f"dcc-bridge runs on Python {python} with mcp {versions.get('mcp', '(none)')}."
    yield from check_versions(versions, python, "This installation")
    if store_programs.is_from_store(Path(sys.base_prefix)):
        yield Finding("python", _FROM_STORE, f"{store_programs.ANOTHER_PYTHON}.")
    if options.url in leaves.targets():
        yield from check_installation(options.url)
        return
    if not options.url:
        yield from check_setup()
    yield from _check_host(options)


def check_versions(versions: Mapping[str, str], python: str, whose: str) -> Iterator[Finding]:
    """Yield a finding for each package with a version that is known to be broken.

    Args:
        versions: The installed versions, by package.
        python: The version of the Python that has these packages.
        whose: The owner of the packages, as the beginning of a sentence: "This installation".
    """
    for package, first, mended, why, mend in _TRAPS:
        version = versions.get(package)
        if version is None or not first <= locations.numbers(version) < mended:
            continue
        if package == "PySide6-Essentials" and locations.numbers(python) >= _IMMORTAL:
            continue
        what = f"{whose} has {package} {version} on Python {python}: {why}."
        yield Finding("versions", what, mend)


def _check_host(options: argparse.Namespace) -> Results:
    try:
        if not options.url:
            yield from _check_starts()
        yield from _check_host_versions(options.url)
        host = hosts.find(options)
        facts, seconds = call.run(_measure, host)
    except hosts.NotStarted as failure:
        if options.url:  # else `_check_starts` has yielded the finding
            yield Finding("start", failure.problem.what, failure.problem.mend)
    except exits.Failure as failure:
        yield _not_chosen(failure, options.url)
    except (BridgeError, TimeoutError) as error:
        yield _not_answering(error)
    else:
        yield from _check_answer(host, facts, seconds)
        if not options.no_question:
            yield _check_question(host)


def _check_starts() -> Results:
    """Find hosts that did not become ready for agents, or run files from other places."""
    for host in discovery.running(hosts.settings().runtime):
        problem = host.start_problem()
        if problem is not None:
            yield Finding("start", f"{host.id}: {problem.what}", problem.mend)
        if host.foreign:
            yield Finding("files", name_foreign(host.id, host.foreign), _NO_FOREIGN)


def _check_host_versions(name: str | None) -> Results:
    """Find running hosts of another version of the bridge; with a name, look at that host only."""
    for host in discovery.running(hosts.settings().runtime):
        problem = host.version_problem()
        if problem is not None and name in (None, host.id, host.url):
            yield Finding("version", problem.what, problem.mend)


def _check_answer(host: hosts.Target, facts: Mapping[str, Any], seconds: float) -> Results:
    """Check the facts that a host reports about itself."""
    yield _check_main_thread(host.url, facts, seconds)
    yield from check_versions(facts["packages"], facts["python"], str(facts["host"]))
    connected = [client for client in facts["clients"] if client["label"] != hosts.LABEL]
    for client in connected:
        yield _check_connected(client, facts)
    if not connected:
        yield f"No client is connected to {facts['host']} now."
    yield from _check_skills(facts)


def _not_chosen(failure: exits.Failure, name: str | None) -> str | Finding:
    """Return the result for options that fit no host, or several; `name` is an ID or a URL."""
    if isinstance(failure, hosts.SeveralHosts):
        return f"{failure}\nTo check one of them: dcc-bridge doctor ID"
    if isinstance(failure, hosts.NoSuchHost) and name and "://" not in name:
        return _unknown_name(name)
    what, advice, _ = str(failure).partition(f" {hosts.START}")
    if advice:
        return Finding("server", what, hosts.START)
    if isinstance(failure, hosts.NoSuchHost):
        mend = "Name one of these with --host, --scene or --instance, or leave the options out."
        return Finding("server", what, mend)
    return Finding("server", what, "Correct that, then run the doctor again.")


def _unknown_name(name: str) -> Finding:
    running = [host.id for host in discovery.running(hosts.settings().runtime)]
    applications = ", ".join(sorted(leaves.targets()))
    return Finding(
        "server",
        f"There is no running host and no application called {name!r}.",
        f"Name a running host ({', '.join(running) or 'there is none'}), or an application whose "
        f"plug-in is to be checked ({applications}).",
    )


def _not_answering(error: BridgeError | TimeoutError) -> Finding:
    if isinstance(error, TimeoutError):
        what = f"The host did not answer within {_ANSWER_TIMEOUT_S:g} s."
        mend = "Close its open dialogs. If that does not help, restart it."
        return Finding("server", what, mend)
    if type(error) in _MENDS:
        return Finding("server", str(error), _MENDS[type(error)])
    what = f"The host gave an unexpected answer: {error}"
    return Finding("server", what, "Restart the host, and look at its log.")


async def _measure(host: hosts.Target) -> tuple[Mapping[str, Any], float]:
    """Return the facts that a host reports, and the median time of a call in seconds."""
    times = []
    with anyio.fail_after(_ANSWER_TIMEOUT_S):
        async with host.connect() as client:
            for _ in range(_MEASURED_CALLS):
                began = time.perf_counter()
                facts = _facts(await client.call(_TOOL, {}))
                times.append(time.perf_counter() - began)
                if facts["main_thread_ms"] is None:
                    break
    return facts, statistics.median(times)


def _facts(result: agent.Result) -> Mapping[str, Any]:
    if result.is_error:
        raise BridgeError(" ".join(result.texts))
    return dict(result.value)


def _check_main_thread(url: str, facts: Mapping[str, Any], seconds: float) -> str | Finding:
    main_thread_ms = facts["main_thread_ms"]
    if main_thread_ms is not None:
        share = f"of which {main_thread_ms:.1f} ms on its main thread"
        answers = f"{facts['host']} {facts['version']} answers at {url}"
        return f"{answers}: {seconds * 1000:.1f} ms a call, {share}."
    busy = facts.get("busy") or f"its main thread has not responded for {PATIENCE_S:g} s"
    mend = "Close its open dialogs or wait until it has finished its work."
    return Finding("main thread", f"{facts['host']} is busy: {busy}", mend)


def _check_connected(client: Mapping[str, Any], facts: Mapping[str, Any]) -> str | Finding:
    abilities = []
    if client["draws_forms"]:
        abilities.append("shows forms")
    if client["opens_pages"]:
        abilities.append("opens pages")
    if client["silent"]:
        ability = "claims to show questions but does not, so the application asks"
    elif abilities:
        ability = " and ".join(abilities)
    else:
        ability = "shows no questions, so the application asks"
    who = f"{client['label']} ({client['name'] or '?'} {client['version']}".rstrip() + ")"
    text = f"{who} speaks {client['protocol']} and {ability}.{_told_of_tasks(client)}"
    shows_questions = abilities and not client["silent"]
    if shows_questions or facts["draws_questions"]:
        return text
    what = f"{text} {facts['host']} has no window either, so nobody can be asked."
    mend = "Use a client that shows questions, or start the host with a window."
    return Finding("clients", what, mend)


def _told_of_tasks(client: Mapping[str, Any]) -> str:
    """Return a sentence on the tasks of a connected client; "" where nothing is known yet."""
    if client["tasks"]:
        return " Its long calls go on as tasks."
    if client["protocol"] < known_clients.REVISIONS[0]:
        return f" It has no tasks, which there are from {known_clients.REVISIONS[0]} on."
    return ""


def _check_skills(facts: Mapping[str, Any]) -> Results:
    broken = facts["broken"]
    folders = facts.get("folders", {})
    for name, place in sorted(facts.get("replaced", {}).items()):
        yield f"The tool {name} is replaced by a skill file: {place}"
    for name, why in broken.items():
        mend = "Correct the file: dcc-bridge skill check FILE. It is read again when you save it."
        yield Finding("skills", f"The tool {name} is not available: {why}", mend)
    if not broken:
        yield "All skills can be loaded."
    total = sum(folders.values())
    if total > _MAX_TOOLS:
        counts = [f"{count} of {name}" for name, count in folders.items() if name != "None"]
        what = f"Clients see {total} tools. With more than {_MAX_TOOLS}, agents choose badly."
        text = f"{what} Skill folders: {', '.join(counts)}."
        yield Finding("tools", text, "Remove the ones you rarely need.")


def _check_question(host: hosts.Target) -> str | Finding:
    """Ask a test question at the host, or if nobody is there, at this terminal."""
    try:
        reply = call.run(_ask, host, None)
        if reply["message"] == NOT_SUPPORTED:
            with call.answering(call.ASK, "The doctor") as person:
                if person is not None:
                    reply = call.run(_ask, host, person)
    except BridgeError as error:
        return Finding("question", f"The test question could not be asked: {error}", "See above.")
    where = {"host": "in the host", "client": "in this terminal"}.get(reply["answered_by"])
    if reply["seen"] and where is not None:
        return f"The test question was seen {where} and answered after {reply['seconds']:.1f} s."
    if reply["message"] == NOT_SUPPORTED:
        return f"{host.host} has no window, so agents' clients ask; here is no terminal to try it."
    if reply["message"] == TIMED_OUT:
        what = f"Nobody answered the test question within {reply['seconds']:.0f} s."
        mend = "Look for a dialog behind the host's window, and try again."
    else:
        what = f"The test question was not seen ({reply['message']})."
        mend = "Try again, and agree when you see it."
    return Finding("question", what, mend)


async def _ask(host: hosts.Target, person: Person | None) -> Mapping[str, Any]:
    async with host.connect(person=person) as client:
        return dict(_facts(await client.call(_TOOL, {"ask": True}))["question"])
