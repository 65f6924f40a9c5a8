"""What is wrong with the plug-in that was installed into an application. Main thread."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dcc_bridge.cli.doctor.report import Report
from dcc_bridge.install import probe
from dcc_bridge.install.location import Facts, InstallTarget, Location, System, UnknownLocation
from dcc_bridge.install.locations import APPLICATIONS
from dcc_bridge.install.plan import InstalledFiles, NotOurs

_QT: Final = re.compile(r"(pyside|shiboken|pyqt)", re.IGNORECASE)


def check(host: str) -> Report:
    """Look at the application, and at what was put where it looks.

    Args:
        host: Its name, as `install` takes it.
    """
    kind, report = APPLICATIONS[host], Report()
    told = _ask(kind, report)
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


def _ask(kind: InstallTarget, report: Report) -> Facts:
    try:
        told = probe.probe(kind)
    except UnknownLocation as error:
        report.find("application", str(error), "Start it once by hand, and see what it says.")
        return Facts()
    if told.program is None:
        report.facts.append(
            f"{' or '.join(kind.programs)} is not on PATH, so {kind.title} itself was not asked."
        )
    else:
        report.facts.append(f"{told.program} is {kind.title} {told.version}, Python {told.python}.")
    return told


def _places(kind: InstallTarget, told: Facts) -> list[Location]:
    places: list[Location] = []
    for for_all in (False, True):
        try:
            place = kind.location(System.here(), told, for_all)
        except UnknownLocation:  # it cannot be told where that is, so nothing was put there either
            continue
        if place.folder not in [one.folder for one in places]:
            places.append(place)
    return places


def _read(place: Location, report: Report) -> InstalledFiles | None:
    try:
        old = InstalledFiles.read(place.folder)
    except NotOurs as error:
        report.find("installation", str(error), f"Delete {place.folder}, and install again.")
        return None
    if old is None and place.folder.exists():
        report.find(
            "installation",
            f"{place.folder} is there, and was not put by us.",
            "Move it away, and install again.",
        )
    return old


def _look(
    kind: InstallTarget, place: Location, old: InstalledFiles, told: Facts, report: Report
) -> None:
    before, folder = len(report.findings), place.folder
    again = f"dcc-bridge uninstall {kind.name}, then {_install(kind.name)}"
    missing = old.missing()
    if missing:
        report.find(
            "files", f"{len(missing)} files in {folder} are gone, such as {missing[0]}.", again
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
