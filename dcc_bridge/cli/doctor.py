"""``dcc-bridge doctor``: finds problems of connections and installations. Main thread.

Each check yields results: a sentence for each thing that is in order, a `Finding` for each problem.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import anyio

from dcc_bridge import known_clients, store_programs
from dcc_bridge.cli import call, client_states, enabling, exits, hosts, interpreter, leaves
from dcc_bridge.client import Person, agent, entries, entry_state, registration
from dcc_bridge.elicitation.text import safe_text
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT
from dcc_bridge.errors import BridgeError, StartError, Unreachable, own_version
from dcc_bridge.install import locations
from dcc_bridge.install.applications import SeveralFound
from dcc_bridge.install.installed import InstalledFiles, NotOurs, describe, find_installations
from dcc_bridge.install.locations import Facts, InstallTarget, Location, System, UnknownLocation
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
_QT: Final = re.compile(r"(pyside|shiboken|pyqt)", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem.

    Attributes:
        check: The kind of check, in a word.
        what: The problem, in a sentence.
        mend: The next step, in a sentence or a command.
    """

    check: str
    what: str
    mend: str


class Advice(Finding):
    """Something that is still to be done, but is no problem: it does not change the exit code."""


Results = Iterator[str | Finding]


_NO_CLIENT: Final = Advice(
    "client",
    "No client is set up, so no agent finds the running hosts.",
    "dcc-bridge client add NAME, or dcc-bridge setup for all clients that are here.",
)


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


def check_setup() -> Results:
    """Check the plug-ins that are installed, and the clients that are set up.

    Only `check_installation` starts an application to read its version, which takes seconds.
    """
    plug_ins: list[str | Finding] = []
    for application in leaves.targets().values():
        plug_ins += _check_plug_ins(application)
    yield from plug_ins or ["No plug-in is installed: dcc-bridge install HOST."]
    clients: list[str | Finding] = []
    for name in entries.CONFIG_FILES:
        for config in entries.CONFIG_FILES[name].places():
            result = _check_client(name, config)
            if result is not None:
                clients.append(result)
    yield from clients or [_NO_CLIENT]


def _check_plug_ins(kind: InstallTarget) -> Results:
    for facts in find_installations(kind, kind.known_versions):
        if "wrong" in facts or facts["missing"]:
            what = f"The installation has changed: {describe(facts)}."
            yield Finding("installation", what, f"For details: dcc-bridge doctor {kind.name}")
        elif facts["bridge"] != own_version():
            what = f"Installed: {describe(facts)}. Here is dcc-bridge {own_version()}."
            yield Finding("version", what, "dcc-bridge update")
        else:
            yield f"Installed: {describe(facts)}."
        if "wrong" not in facts:
            yield from _check_enabled(kind, facts, for_all=facts["for_all_users"])


def _check_enabled(kind: InstallTarget, installed: Mapping[str, Any], *, for_all: bool) -> Results:
    """Find a plug-in that its application does not start for this user.

    Args:
        kind: The application.
        installed: The facts of the installation.
        for_all: Whether it is for all users, each of whom may enable it.
    """
    if for_all:
        return
    version = installed.get("host_version")
    preferences = enabling.not_enabled_in(kind, Facts(version))
    if preferences is None:
        return
    title = f"{kind.title} {version or ''}".rstrip()
    what = f"{title} does not start the plug-in, which is not enabled in {preferences.file}."
    mend = f"dcc-bridge setup --only {kind.name}. Or by hand: {kind.afterwards}"
    yield Finding("enabled", what, mend)


def _check_client(name: str, config: entries.ConfigFile) -> str | Finding | None:
    """Check a file of a client's settings; return None if the client is not set up in it."""
    title = known_clients.CLIENTS[name].name
    file = config.path()
    mend = f"dcc-bridge client add {name}"
    problem = registration.problem(config)
    if problem:
        return Finding("client", f"{file} {problem}.", f"Correct the file, then: {mend}")
    entry = registration.find(config)
    if entry is None:
        return None
    program = str(entry.get("command"))
    if shutil.which(program) is not None:
        if entry_state.state(config, name) == "other":
            other = f"it starts another dcc-bridge, {program}"
            return f"{title} is set up in {file}; {other} (to change that: dcc-bridge update)."
        return f"{title} is set up in {file}. {client_states.tasks(name)}"
    what = f"In {file}, {title} starts {program}, which does not exist."
    if not config.is_writable:
        mend = f"Paste the output of `dcc-bridge client print {name}` into {file} yourself."
    return Finding("client", what, mend)


def check_installation(host: str) -> Results:
    """Check an application and its plug-in.

    Args:
        host: The name of the application, as ``install`` takes it.

    Yields:
        The result for the application, then those for each place of its plug-ins.
    """
    kind = leaves.targets()[host]
    application, facts = _ask_application(kind)
    yield application
    installed: list[tuple[Location, InstalledFiles, bool]] = []
    is_empty = True
    for location, for_all in kind.locations(System.here(), _versions(kind, facts)):
        files = _read(location.folder)
        if files is not None:
            is_empty = False
        if isinstance(files, Finding):
            yield files
        elif files is not None:
            installed.append((location, files, for_all))
    if isinstance(application, str) and is_empty:
        what = f"The bridge is not installed for {kind.title}."
        yield Finding("installation", what, f"dcc-bridge install {host}")
    if len(installed) > 1:
        folders = " and in ".join(str(location.folder) for location, *_ in installed)
        mend = f"Keep one: run dcc-bridge uninstall {host}, with or without --for-all-users."
        yield Finding("installation", f"It is installed twice, in {folders}.", mend)
    for location, installed_files, for_all in installed:
        yield from _check_files(kind, location, installed_files, facts)
        yield from _check_enabled(kind, installed_files.facts, for_all=for_all)


def _versions(kind: InstallTarget, facts: Facts) -> list[Facts]:
    """Return the versions whose folders are checked: the one that answered, or else all."""
    if facts.program is None:
        return kind.known_versions
    return [facts]


def _ask_application(kind: InstallTarget) -> tuple[str | Finding, Facts]:
    """Return the result of starting an application, and the facts that it reports."""
    try:
        facts = interpreter.probe(kind)
    except SeveralFound as error:
        return str(error), Facts()
    except UnknownLocation as error:
        mend = "Start it by hand once and read its output."
        return Finding("application", str(error), mend), Facts()
    if facts.program is not None:
        return f"{facts.program} is {kind.title} {facts.version}, Python {facts.python}.", facts
    return f"{' or '.join(kind.programs)} was not found, so its version is not known.", facts


def _read(folder: Path) -> InstalledFiles | Finding | None:
    """Return the installed files of a folder; None if the folder does not exist."""
    try:
        files = InstalledFiles.read(folder)
    except NotOurs as error:
        return Finding("installation", str(error), f"Delete {folder}, and install again.")
    if files is None and folder.exists():
        what = f"dcc-bridge did not install what is in {folder}."
        return Finding("installation", what, "Move it away, and install again.")
    return files


def _check_files(
    kind: InstallTarget, location: Location, files: InstalledFiles, facts: Facts
) -> Results:
    again = f"dcc-bridge uninstall {kind.name}, then dcc-bridge install {kind.name}"
    missing = files.missing()
    if missing:
        what = f"{len(missing)} files are missing from {location.folder}, such as {missing[0]}."
        yield Finding("files", what, again)
    python = files.facts.get("python")
    is_other_python = facts.python not in (None, python)
    if is_other_python:
        what = f"It was installed for Python {python}, and {kind.title} has {facts.python}"
        yield Finding("python", f"{what}: its compiled parts do not load there.", again)
    vendor = location.folder / location.vendor
    qt = _qt_packages(vendor)
    if qt:
        what = f"There is a Qt in {vendor} ({qt[0].name}); a second Qt crashes the application."
        paths = ", ".join(str(path) for path in qt)
        yield Finding("qt", what, f"Delete {paths}.")
    if not (missing or is_other_python or qt):
        yield f"Version {files.facts.get('bridge')} is complete in {location.folder}."


def _qt_packages(vendor: Path) -> list[Path]:
    if not vendor.is_dir():
        return []
    return [path for path in vendor.iterdir() if _QT.match(path.name)]
