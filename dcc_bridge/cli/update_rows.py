"""Lists what is set up on this computer, and what ``update`` can do about each. Main thread.

What a person changed is kept and named. So is the plug-in of an application that is running: its
process would otherwise import modules of two versions.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dcc_bridge import known_clients, shell
from dcc_bridge.cli import hosts, setup_rows
from dcc_bridge.cli.setup_rows import Row
from dcc_bridge.client import entry_state
from dcc_bridge.client.entries import ConfigFile
from dcc_bridge.errors import own_version
from dcc_bridge.install.builds import build_for
from dcc_bridge.install.folders import leftovers
from dcc_bridge.install.installed import InstalledFiles, NotOurs
from dcc_bridge.install.locations import (
    Facts,
    InstallTarget,
    Location,
    System,
    UnknownLocation,
    numbers,
)
from dcc_bridge.install.plan import Plan
from dcc_bridge.server import discovery
from dcc_bridge.server.host_version import is_newer


def rows_to_update(only: Collection[str]) -> list[Row]:
    """Return what is set up, each with the step that updates it, if one is needed.

    Args:
        only: The names of the wanted applications and clients; empty for all.
    """
    running = discovery.running(hosts.settings().runtime)
    rows: list[Row] = []
    for application in setup_rows.wanted_applications(only):
        rows += _plug_ins(application, running)
    for label, place in setup_rows.wanted_files(only):
        rows += _entries(label, place)
    return rows


@dataclass(frozen=True, slots=True)
class _PlugIn:
    """An installed plug-in.

    Attributes:
        application: The application.
        location: The place of the plug-in.
        installed: Its files.
        facts: The facts of the application, from its program or else from the installation.
    """

    application: InstallTarget
    location: Location
    installed: InstalledFiles
    facts: Facts

    @property
    def version(self) -> str:
        return str(self.installed.facts.get("bridge"))

    @property
    def label(self) -> str:
        return f"{self.application.title} {self.facts.version or ''}".rstrip()

    @property
    def is_current(self) -> bool:
        """Whether it is complete, of this bridge, and fits the application."""
        if self.installed.missing():
            return False
        installed = self.installed.facts
        if self.facts.machine is not None:  # it was asked
            needed = build_for(System.here().platform, self.facts.machine)
            if needed is None or needed.name != installed.get("build"):
                return False
        return (self.version, installed.get("python")) == (own_version(), self.facts.python)


def _plug_ins(application: InstallTarget, running: Sequence[discovery.Instance]) -> Iterator[Row]:
    """Yield the row of each plug-in of an application."""
    found = [facts for _, facts in setup_rows.asked(application) if isinstance(facts, Facts)]
    found.sort(key=lambda facts: numbers(facts.version or ""), reverse=True)
    versions = [*found, *application.known_versions]
    for location, for_all in application.locations(System.here(), versions):
        folder = location.folder
        try:
            installed = InstalledFiles.read(folder)
        except NotOurs as error:
            why = str(error).removesuffix(".")
            yield Row(application.title, str(folder), "cannot be read", note=why, is_broken=True)
            continue
        if installed is not None:
            facts = _facts_of(application, installed, found, for_all=for_all)
            plug_in = _PlugIn(application, location, installed, facts)
            yield _plug_in_row(plug_in, running, for_all=for_all)


def _facts_of(
    application: InstallTarget, installed: InstalledFiles, found: Sequence[Facts], *, for_all: bool
) -> Facts:
    """Return the facts of the application that an installation is for.

    Versions of an application may share a folder: then the newest that has the Python of the
    installation counts, or else the newest.

    Args:
        application: The application.
        installed: The installation.
        found: The facts of each version that was found, the newest first.
        for_all: Whether the installation is for all users.
    """
    fitting = []
    for facts in found:
        for location, is_shared in application.locations(System.here(), [facts]):
            if (location.folder, is_shared) == (installed.folder, for_all):
                fitting.append(facts)
    python = installed.facts.get("python")
    for facts in fitting:
        if facts.python == python:
            return facts
    if fitting:
        return fitting[0]
    return Facts(installed.facts.get("host_version") or None, python)


def _plug_in_row(plug_in: _PlugIn, running: Sequence[discovery.Instance], *, for_all: bool) -> Row:
    facts = plug_in.facts
    row = partial(
        Row,
        plug_in.application.title,
        str(plug_in.location.folder),
        f"plug-in {plug_in.version}",
        version=facts.version or "",
        python=facts.python or "",
    )
    if plug_in.is_current:
        return row()
    row = partial(row, is_broken=True)
    if is_newer(plug_in.version, own_version()):
        return row(note="It is newer than this dcc-bridge, and stays. Update dcc-bridge first")
    if for_all:
        words = ["dcc-bridge", "install", plug_in.application.name, "--for-all-users"]
        advice = f"It is for all users. To update it: {shell.line(words)}"
        return row(verb="by hand", note=advice)
    host = _running_host(plug_in, running)
    if host is not None:
        note = f"It is running ({host.id}). Close it, then run dcc-bridge update again"
        return row(verb="close it first", note=note)
    try:
        location = plug_in.application.location(System.here(), facts, False)
        plan = Plan(plug_in.application, facts, location, System.here())
        plan.check()
    except (UnknownLocation, NotOurs) as error:
        return row(note=str(error).removesuffix("."))
    change = f"the plug-in {own_version()} in place of {plug_in.version}, in {location.folder}"
    do = partial(_replace, plan, plug_in.version)
    return row(verb="update", change=change, is_broken=False, do=do)


def _running_host(
    plug_in: _PlugIn, running: Sequence[discovery.Instance]
) -> discovery.Instance | None:
    """Return a running host that has imported the bridge from a plug-in."""
    folder = Path(os.path.realpath(plug_in.location.folder))
    for host in running:
        if Path(os.path.realpath(host.imported_from)).is_relative_to(folder):
            return host
        is_older = not host.imported_from  # it does not say where it is
        is_alike = host.host == plug_in.application.title
        if is_older and is_alike and host.version in ("", plug_in.facts.version):
            return host
    return None


def _replace(plan: Plan, old: str) -> str:
    """Replace a plug-in, and return what was done, as a sentence."""
    installed = plan.install()
    done = f"{old} is {own_version()} now, {len(installed.files):,} files"
    kept = ", ".join(str(path) for path in leftovers(installed.folder))
    if kept:
        return f"{done}. Delete what is left of the older one: {kept}"
    return done


def _entries(label: str, config: ConfigFile) -> Iterator[Row]:
    """Yield the row of a client, if it has an entry of ours or its file cannot be read."""
    match entry_state.state(config, label):
        case "absent":
            return
        case "changed":
            title = known_clients.CLIENTS[label].name
            advice = (
                f"To have it written anew: {shell.line(['dcc-bridge', 'client', 'add', label])}"
            )
            note = f"Its entry was changed by hand, and stays as it is. {advice}"
            yield Row(title, str(config.path()), "changed by hand", note=note)
        case _:
            yield from setup_rows.clients(label, config)
