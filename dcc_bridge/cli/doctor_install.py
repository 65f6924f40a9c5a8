"""What the doctor says of what is installed: versions, plug-ins and clients. Main thread."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dcc_bridge import known_clients
from dcc_bridge.cli import install
from dcc_bridge.client import registration as entries
from dcc_bridge.client.config_files import CONFIG_FILES
from dcc_bridge.install import probe
from dcc_bridge.install.location import Facts, InstallTarget, Location, System, UnknownLocation
from dcc_bridge.install.locations import APPLICATIONS
from dcc_bridge.install.plan import InstalledFiles, NotOurs
from dcc_bridge.server.clients import packages

_QT: Final = re.compile(r"(pyside|shiboken|pyqt)", re.IGNORECASE)
_TRAPS: Final = (
    # package, first version that breaks, first that works again, why, and what mends it
    (
        *("PySide6-Essentials", (6, 12, 0), (6, 12, 1)),
        "it drops references to True and None, and ends the application without a word",
        "pip install 'PySide6-Essentials<6.12'",
    ),
    (
        *("mcp", (0,), (2, 3)),
        "it does not speak the protocol as it is used here",
        "pip install 'mcp>=2.3,<3'",
    ),
    (
        *("mcp", (3,), (sys.maxsize,)),
        "it does not speak the protocol as it is used here",
        "pip install 'mcp>=2.3,<3'",
    ),
    (
        *("greenlet", (0,), (3, 1)),
        "skills cannot wait for an answer without freezing the host",
        "pip install 'greenlet>=3.1'",
    ),
)
_IMMORTAL: Final = (3, 12)
"""The Python whose True and None no extension can free."""


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
    """The result of a check.

    Attributes:
        facts: What is well, a sentence each.
        findings: What is not.
    """

    facts: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __len__(self) -> int:
        """Count both."""
        return len(self.facts) + len(self.findings)

    def add(self, check: str, what: str, mend: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(check, what, mend))


def check_here() -> Report:
    """Check the versions of what this command itself runs on."""
    versions, python = packages(), platform.python_version()
    mcp = versions.get("mcp", "(none)")
    report = Report([f"dcc-bridge runs on Python {python} with mcp {mcp}."])
    report.findings += check_versions(versions, python, "This installation")
    return report


def check_versions(versions: Mapping[str, str], python: str, whose: str) -> Iterator[Finding]:
    """Find the versions of packages that are known to break.

    Args:
        versions: What is installed, by package.
        python: The version of Python.
        whose: What they belong to, in words that begin a sentence.
    """
    for package, first, mended, why, mend in _TRAPS:
        version = versions.get(package)
        if version is None or not first <= _numbers(version) < mended:
            continue
        if package == "PySide6-Essentials" and _numbers(python) >= _IMMORTAL:
            continue
        what = f"{whose} has {package} {version} on Python {python}: {why}."
        yield Finding("versions", what, mend)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


# ---- what was set up on this computer


def check_setup() -> Report:
    """Check the plug-ins that are installed and the clients that know us.

    No application is asked for its version, which takes seconds: `check_installation` does that.
    """
    report = Report()
    for kind in APPLICATIONS.values():
        _check_plug_ins(report, kind)
    if not len(report):
        report.facts.append("No plug-in is installed: dcc-bridge install HOST.")
    before = len(report)
    for name in CONFIG_FILES:
        _check_client(report, name)
    if len(report) == before:
        report.facts.append("No client is set up: dcc-bridge client add NAME.")
    return report


def _check_plug_ins(report: Report, kind: InstallTarget) -> None:
    for facts in install.find_installations(kind, install.known_versions(kind)):
        if "wrong" in facts or facts["missing"]:
            mend = f"See what it is: dcc-bridge doctor {kind.name}"
            report.add("installation", f"Not as it was installed: {install.describe(facts)}.", mend)
        else:
            report.facts.append(f"Installed: {install.describe(facts)}.")


def _check_client(report: Report, name: str) -> None:
    config, title = CONFIG_FILES[name], known_clients.CLIENTS[name].name
    entry = entries.find(config) if config.is_writable else None
    if entry is None:
        return
    file, program = config.path(), str(entry.get("command"))
    if shutil.which(program) is None:
        what = f"{title} starts {program}, as {file} says, and that is no program here."
        report.add("client", what, f"dcc-bridge client add {name}")
    else:
        report.facts.append(f"{title} is set up in {file}.")


# ---- the plug-in of one application


def check_installation(host: str) -> Report:
    """Check an application, and what was installed where it looks for plug-ins.

    Args:
        host: Its name, as `install` takes it.
    """
    kind, report = APPLICATIONS[host], Report()
    told = _ask_application(kind, report)
    installed = [(place, old) for place in _places(kind, told) if (old := _read(place, report))]
    if not installed and not report.findings:
        what = f"The bridge is not installed for {kind.title}."
        report.add("installation", what, f"dcc-bridge install {host}")
    if len(installed) > 1:
        folders = " and in ".join(str(place.folder) for place, _ in installed)
        mend = f"Keep one: dcc-bridge uninstall {host}, with --for-all-users or without."
        report.add("installation", f"It is installed twice, in {folders}.", mend)
    for place, old in installed:
        _check_files(kind, place, old, told, report)
    return report


def _ask_application(kind: InstallTarget, report: Report) -> Facts:
    try:
        told = probe.probe(kind)
    except UnknownLocation as error:
        report.add("application", str(error), "Start it once by hand, and see what it says.")
        return Facts()
    if told.program is None:
        names = " or ".join(kind.programs)
        fact = f"{names} is not on PATH, so {kind.title} itself was not asked."
    else:
        fact = f"{told.program} is {kind.title} {told.version}, Python {told.python}."
    report.facts.append(fact)
    return told


def _places(kind: InstallTarget, told: Facts) -> list[Location]:
    places: dict[Path, Location] = {}
    for for_all in (False, True):
        try:
            place = kind.location(System.here(), told, for_all)
        except UnknownLocation:  # it cannot be told where that is, so nothing was put there either
            continue
        places.setdefault(place.folder, place)
    return list(places.values())


def _read(place: Location, report: Report) -> InstalledFiles | None:
    folder = place.folder
    try:
        old = InstalledFiles.read(folder)
    except NotOurs as error:
        report.add("installation", str(error), f"Delete {folder}, and install again.")
        return None
    if old is None and folder.exists():
        what = f"{folder} is there, and was not put by us."
        report.add("installation", what, "Move it away, and install again.")
    return old


def _check_files(
    kind: InstallTarget, place: Location, old: InstalledFiles, told: Facts, report: Report
) -> None:
    before, folder = len(report.findings), place.folder
    name, python = kind.name, old.facts.get("python")
    again = f"dcc-bridge uninstall {name}, then dcc-bridge install {name}"
    missing = old.missing()
    if missing:
        what = f"{len(missing)} files in {folder} are gone, such as {missing[0]}."
        report.add("files", what, again)
    if told.python is not None and python != told.python:
        what = (
            f"It was installed for Python {python}, and {kind.title} has {told.python}: its "
            "compiled parts do not load there."
        )
        report.add("python", what, again)
    _check_for_qt(folder / place.vendor, report)
    if len(report.findings) == before:
        report.facts.append(f"Version {old.facts.get('bridge')} is whole in {folder}.")


def _check_for_qt(vendor: Path, report: Report) -> None:
    qt = [file for file in vendor.iterdir() if _QT.match(file.name)] if vendor.is_dir() else []
    if qt:
        what = f"There is a Qt in {vendor} ({qt[0].name}); a second one ends the application."
        report.add("qt", what, f"Delete {', '.join(map(str, qt))}.")
