"""Lists what ``setup`` found on this computer, and what it can do about each. Main thread.

Nothing is written before a row's `Row.do` is called. That uses the functions of ``install`` and of
``client add``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dcc_bridge import known_clients
from dcc_bridge.cli import enabling, install, interpreter, leaves
from dcc_bridge.client import registration
from dcc_bridge.client.entries import CONFIG_FILES, ConfigFile
from dcc_bridge.errors import own_version
from dcc_bridge.install.applications import Computer, Found, search
from dcc_bridge.install.installed import InstalledFiles, NotOurs, find_installations
from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation, numbers
from dcc_bridge.install.plan import Plan


@dataclass(frozen=True, slots=True)
class Row:
    """An application or a client, what is set up of it, and what can be done.

    Attributes:
        title: The name that its users say.
        place: Its program, or its file.
        now: What is set up, in a few words.
        version: The application's version; "" if not known.
        python: The application's Python; "" if not known.
        verb: What is to be done, in a word or two; "" if nothing.
        change: The sentence about what will be written or deleted.
        note: What the person should know or do, as one sentence; "" if nothing.
        is_broken: Whether a file or a folder is in a state that only the person can mend.
        do: Does it, and returns a sentence with the person's next step.
    """

    title: str
    place: str
    now: str
    version: str = ""
    python: str = ""
    verb: str = ""
    change: str = ""
    note: str = ""
    is_broken: bool = False
    do: Callable[[], str] | None = None

    @property
    def label(self) -> str:
        """The title, with the version if there is one."""
        return f"{self.title} {self.version}".rstrip()


def rows_to_set_up(only: Collection[str]) -> list[Row]:
    """Return what was found, each with the step that sets it up, if one is needed.

    Args:
        only: The names of the wanted applications and clients; empty for all.
    """
    rows: list[Row] = []
    for application in wanted_applications(only):
        rows += _applications(application)
    for label, place in wanted_files(only):
        rows += clients(label, place)
    return rows


def rows_to_undo(only: Collection[str]) -> list[Row]:
    """Return what is set up, each with the step that takes it back.

    The steps are the other way round: an installation that made folders in which others are comes
    after those.

    Args:
        only: The names of the wanted applications and clients; empty for all.
    """
    rows: list[Row] = []
    for label, place in wanted_files(only):
        problem = registration.problem(place)
        if problem:
            title = known_clients.CLIENTS[label].name
            rows.append(Row(title, str(place.path()), problem, is_broken=True))
        elif registration.find(place) is not None:
            rows.append(_entry(label, place))
    installations: list[tuple[int, Row]] = []
    for application in wanted_applications(only):
        versions = [facts for _, facts in asked(application) if isinstance(facts, Facts)]
        versions += application.known_versions
        for installation in find_installations(application, versions):
            facts = _facts_of(application, versions, Path(installation["folder"]))
            row = _installation(application, facts, installation)
            installations.append((_depth(Path(installation["folder"])), row))
    installations.sort(key=lambda installation: installation[0], reverse=True)
    return [*rows, *(row for _, row in installations)]


def _facts_of(application: InstallTarget, versions: Sequence[Facts], folder: Path) -> Facts:
    """Return the facts of the first version that looks for a user's plug-in in a folder."""
    for facts in versions:
        for location, for_all in application.locations(System.here(), [facts]):
            if location.folder == folder and not for_all:
                return facts
    return Facts()


def wanted_applications(only: Collection[str]) -> list[InstallTarget]:
    """Return the wanted applications; all of them if none is named."""
    targets = leaves.targets()
    return [application for name, application in targets.items() if not only or name in only]


def wanted_files(only: Collection[str]) -> Iterator[tuple[str, ConfigFile]]:
    """Yield the label of each wanted client, with each of its files."""
    for label, config in CONFIG_FILES.items():
        if only and label not in only:
            continue
        for place in config.places():
            yield label, place


def _depth(folder: Path) -> int:
    """Return how deep the outermost folder is that an installation made."""
    with suppress(NotOurs):
        installed = InstalledFiles.read(folder)
        if installed is not None:
            return min(len(path.parts) for path in (folder, *installed.new_folders))
    return len(folder.parts)


def asked(application: InstallTarget) -> Iterator[tuple[Found, Facts | str]]:
    """Yield each place of an application, with its facts, or with the reason why it has none."""
    for found in search(application, Computer.here()):
        if found.problem:
            yield found, found.problem
            continue
        try:
            facts = interpreter.probe(application, str(found.program))
            yield found, application.complete(facts, None, None)
        except UnknownLocation as error:
            yield found, str(error).removesuffix(".")


def _applications(application: InstallTarget) -> Iterator[Row]:
    """Yield a row for each place of an application, the newest version first."""
    usable: list[tuple[Found, Facts]] = []
    for found, facts in asked(application):
        if isinstance(facts, str):
            place = str(found.program)
            yield Row(application.title, place, "cannot be used", found.version or "", note=facts)
        else:
            usable.append((found, facts))
    usable.sort(key=lambda one: numbers(one[1].version or ""), reverse=True)
    folders: dict[Path, Facts] = {}
    for found, facts in usable:
        row = partial(
            Row,
            application.title,
            str(found.program),
            version=facts.version or "",
            python=facts.python or "",
        )
        try:
            location = application.location(System.here(), facts, False)
            plan = Plan(application, facts, location, System.here())
            if location.folder in folders:
                yield row(_shared_folder(folders[location.folder], facts))
                continue
            yield _application(row, plan)
            folders[location.folder] = facts
        except (UnknownLocation, OSError) as error:
            yield row("cannot be set up", note=str(error).removesuffix("."))


def _shared_folder(first: Facts, facts: Facts) -> str:
    """Return the state of an application that shares its folder with a newer version."""
    if first.python == facts.python:
        return f"shares the plug-in of {first.version}"
    return f"has the folder of {first.version}, but another Python"


def _application(row: Callable[..., Row], plan: Plan) -> Row:
    """Return the row of an application with a folder of its own.

    Raises:
        UnknownLocation: The version or the Python of the application does not fit.
    """
    other = plan.application.other_form(System.here(), plan.facts)
    if other is not None:
        return row("extension", note=f"The bridge is there as an extension already, in {other}")
    for installation in find_installations(plan.application, [plan.facts]):
        if _is_current(installation, plan):
            return _current(row, plan, installation)
    try:
        old = plan.check()
    except NotOurs as error:
        return row("cannot be set up", note=str(error).removesuffix("."), is_broken=True)
    now = "no plug-in"
    verb = "install"
    if old is not None:
        now = f"plug-in {old.facts.get('bridge')}"
        verb = "replace"
    places = " and ".join(str(path) for path in (plan.location.folder, *plan.location.texts))
    change = f"the plug-in, into {places}"
    note = ""
    preferences = enabling.to_enable(plan.application, plan.facts)
    if preferences is not None:
        change += f"; then it is enabled {enabling.change(plan.application, preferences)}"
        note = enabling.warning(plan.application, plan.facts)
    return row(now, verb=verb, change=change, note=note, do=partial(install.put, plan))


def _current(row: Callable[..., Row], plan: Plan, installation: dict[str, Any]) -> Row:
    """Return the row of an application that has the plug-in, which may have to be enabled."""
    now = f"plug-in {installation['bridge']}"
    if installation["for_all_users"]:
        return row(f"{now} for all users")
    preferences = enabling.to_enable(plan.application, plan.facts)
    if preferences is None:
        return row(now)
    enabled = enabling.change(plan.application, preferences)
    change = f"the plug-in that is there, which is enabled {enabled}"
    note = enabling.warning(plan.application, plan.facts)
    do = partial(enabling.enable, plan.application, plan.facts)
    return row(f"{now}, not enabled", verb="enable", change=change, note=note, do=do)


def _is_current(installation: dict[str, Any], plan: Plan) -> bool:
    """Return whether an installation is complete, and of this bridge, Python and processor."""
    if "wrong" in installation or installation["missing"]:
        return False
    facts = (installation["bridge"], installation["python"], installation.get("build"))
    return facts == (own_version(), plan.python, plan.build.name)


def _installation(application: InstallTarget, facts: Facts, installation: dict[str, Any]) -> Row:
    """Return the row of an installation, which takes it back."""
    folder = installation["folder"]
    row = partial(Row, application.title, folder)
    if "wrong" in installation:
        return row("cannot be read", note=installation["wrong"].removesuffix("."), is_broken=True)
    now = f"plug-in {installation['bridge']}"
    row = partial(row, now, installation["host_version"], installation["python"])
    if installation["for_all_users"]:
        advice = f"dcc-bridge uninstall {application.name} --for-all-users"
        return row(verb="by hand", note=f"It is for all users. To remove it: {advice}")
    change = f"the plug-in, out of {folder}"
    note = ""
    disabling = enabling.change_back(application, facts)
    if disabling:
        change += f"; then {disabling}"
        note = enabling.warning(application, facts)
    do = partial(_take, application, facts, Path(folder))
    return row(verb="remove", change=change, note=note, do=do)


def _take(application: InstallTarget, facts: Facts, folder: Path) -> str:
    installed = InstalledFiles.read(folder)
    if installed is None:
        return "it was removed meanwhile"
    return install.take(application, facts, installed)


def clients(label: str, config: ConfigFile) -> Iterator[Row]:
    """Yield the row of a client that is on this computer, with the step that sets it up."""
    entry = registration.find(config)
    if entry is None and not config.is_there:
        return
    known = known_clients.CLIENTS[label]
    row = partial(Row, known.name, str(config.path()))
    problem = registration.problem(config)
    if problem:
        yield row(problem, is_broken=True)
    elif registration.is_current(config, label):
        yield row("set up")
    elif not config.is_writable:
        note = f"Paste the output of `dcc-bridge client print {label}` into that file"
        yield row("not set up", verb="by hand", note=note)
    else:
        now = "not set up"
        verb = "add"
        if entry is not None:
            now = "starts another program"
            verb = "correct"
        change = f"the entry dcc-bridge, into {config.path()}"
        backup = registration.backup_of(config.path())
        if config.path().exists() and not backup.exists():
            change += f" (a copy of the file as it is: {backup.name})"
        program = config.own_command()
        if program is not None:
            change += f", by {program}"
        yield row(now, verb=verb, change=change, do=partial(_add, label, config))


def _add(label: str, config: ConfigFile) -> str:
    change = registration.add(config, label)
    copy = ""
    if change.backup is not None:
        copy = f" (a copy of the file from before is {change.backup.name})"
    known = known_clients.CLIENTS[label]
    return f"added{copy}. Restart {known.name}; {known.servers} lists dcc-bridge"


def _entry(label: str, config: ConfigFile) -> Row:
    """Return the row of a client that is set up, which takes our entry out."""
    known = known_clients.CLIENTS[label]
    row = partial(Row, known.name, str(config.path()), "set up")
    if not config.is_writable:
        return row(
            verb="by hand", note=f"Remove the entry dcc-bridge from {config.path()} yourself"
        )
    change = f"the entry dcc-bridge, out of {config.path()}"
    return row(verb="remove", change=change, do=partial(_remove, config))


def _remove(config: ConfigFile) -> str:
    change = registration.remove(config)
    if change.backup is not None:
        return f"removed. The file was changed since, so its copy stays: {change.backup}"
    return "removed"
