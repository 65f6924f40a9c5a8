"""The checks of ``doctor`` for what is installed and set up: plug-ins and clients. Main thread."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dcc_bridge import known_clients
from dcc_bridge.cli import client_states, enabling, interpreter, leaves
from dcc_bridge.cli.findings import Advice, Finding, Results
from dcc_bridge.client import entries, entry_state, registration
from dcc_bridge.errors import own_version
from dcc_bridge.install.applications import SeveralFound
from dcc_bridge.install.installed import InstalledFiles, NotOurs, describe, find_installations
from dcc_bridge.install.locations import Facts, InstallTarget, Location, System, UnknownLocation

_QT: Final = re.compile(r"(pyside|shiboken|pyqt)", re.IGNORECASE)
_NO_CLIENT: Final = Advice(
    "client",
    "No client is set up, so no agent finds the running hosts.",
    "dcc-bridge client add NAME, or dcc-bridge setup for all clients that are here.",
)


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
