"""``dcc-bridge list`` and ``connect``; finds the running host for a command. Any thread."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from dcc_bridge.cli.exits import SUCCESS, UNREACHABLE, Failure, says_unread
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.server import discovery
from dcc_bridge.server.start_problem import StartProblem

if TYPE_CHECKING:
    from dcc_bridge.client import Person, agent, connection
    from dcc_bridge.client.proxy.host_choice import Wanted

LABEL: Final = CLI_LABEL
"""The name by which hosts know this command."""
TOKEN: Final = "DCC_BRIDGE_TOKEN"
START: Final = (
    "Start an application that has the plug-in (see: dcc-bridge status), or: dcc-bridge serve"
)
_POLL_INTERVAL_S: Final = 0.1  # while a host is starting
_MAX_PROBLEM_CHARS: Final = 2000
_COLUMNS: Final = ("ID", "HOST", "VERSION", "SCENE", "STATE", "FOR", "PID", "URL")
_TIME_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_LABEL_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


class SeveralHosts(Failure):
    """Several running hosts fit, which is normal, but a command needs one host."""


class NoSuchHost(Failure):
    """No running host fits."""


class NotStarted(Failure):
    """The wanted host did not become ready for agents.

    Attributes:
        problem: The reason, and what to do.
    """

    def __init__(self, problem: StartProblem) -> None:
        super().__init__(str(problem), UNREACHABLE)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Target:
    """A host that can be called.

    Attributes:
        url: The address of the host's server.
        token: The client's token.
        host: The application's name, if known.
        silence: Seconds for which the host may send nothing, as while a skill holds Python's lock;
            None for the default.
    """

    url: str
    token: str = field(repr=False)
    host: str = "the host"
    silence: float | None = None

    def connect(
        self, *, era: connection.Era = "auto", person: Person | None = None
    ) -> AbstractAsyncContextManager[agent.Agent]:
        """Connect to the host, as `connection.connect` does."""
        from dcc_bridge.client.connection import connect

        return connect(self.url, self.token, era=era, person=person, silence=self.silence)


def find(options: argparse.Namespace) -> Target:
    """Return the host that the options name, or else the running one.

    Args:
        options: The options of `fill_host`.

    Raises:
        Failure: No host or several hosts fit, or the host did not become ready.
    """
    token = os.environ.get(TOKEN)  # for a host of another user, or a forwarded port
    try:
        host = instance(options)
    except Failure as failure:
        if failure.code != UNREACHABLE or "://" not in (options.url or ""):
            raise
        if not token:
            sentence = f"You have no host running at {options.url}, and {TOKEN} is not set. {START}"
            raise Failure(sentence, UNREACHABLE) from None
        return Target(options.url, token)
    return Target(host.url, host.token(LABEL), host.host)


def instance(options: argparse.Namespace) -> discovery.Instance:
    """Return the host of this user that the options name, or else the running one, once ready.

    This waits for a host that is starting until it is ready, reports a problem, or hangs.

    Args:
        options: The options of `fill_host`.

    Raises:
        Failure: No host or several hosts fit.
        NotStarted: The host did not become ready.
    """
    runtime = settings().runtime
    wanted = _wanted(options)
    give_up_at = time.monotonic() + options.wait
    while True:
        running = discovery.running(runtime)
        fitting = _fitting(running, wanted, options.url)
        if fitting or time.monotonic() >= give_up_at:
            break
        time.sleep(_POLL_INTERVAL_S)
    if len(fitting) > 1:  # prefer hosts without a problem
        fitting = [host for host in fitting if host.start_problem() is None] or fitting
    if len(fitting) == 1:
        return _wait_until_ready(fitting[0], runtime)
    if not running:
        raise NoSuchHost(f"No host is running. {START}", UNREACHABLE)
    if fitting:
        which = "choose one by its ID or with --host, --scene or --instance"
        raise SeveralHosts(f"{len(fitting)} hosts are running; {which}:\n{_rows(fitting)}")
    name = ""
    how = ""
    if options.url:
        name = f" called {options.url!r}"
        how = " An application's name goes after --host."
    sentence = f"No host{name}{wanted} is running.{how} There are:\n{_rows(running)}"
    raise NoSuchHost(sentence, UNREACHABLE)


def _fitting(
    running: Sequence[discovery.Instance], wanted: Wanted, name: str | None
) -> list[discovery.Instance]:
    """Return the hosts of a wanted kind; with a `name`, only those with that id or address."""
    fitting = [host for host in running if wanted.fits(host)]
    if name is None:
        return fitting
    address = _address(name)
    return [host for host in fitting if host.id == name or _address(host.url) == address]


def _rows(hosts: Sequence[discovery.Instance]) -> str:
    """Return a line for each host, for an error."""
    return "\n".join(
        f"  {host.id}  {host.host}, {safe_line(host.scene)}  {host.url}" for host in hosts
    )


def _wait_until_ready(host: discovery.Instance, runtime: Path | None) -> discovery.Instance:
    while host.state != "ready":
        problem = host.start_problem()
        if problem is not None:
            raise NotStarted(problem)
        time.sleep(_POLL_INTERVAL_S)
        running = {record.id: record for record in discovery.running(runtime)}
        if host.id not in running:
            raise Failure(f"{host.host} ended while it was starting. {START}", UNREACHABLE)
        host = running[host.id]
    return host


def of_task(task: str) -> str | None:
    """Return the id of the running host that a task belongs to.

    None if that host has ended. Another host of the same user may then know the task's end.
    """
    host_id = task.partition(".")[0]
    for host in discovery.running(settings().runtime):
        if host.id == host_id:
            return host_id
    return None


def _wanted(options: argparse.Namespace) -> Wanted:
    from dcc_bridge.client.proxy.host_choice import Wanted  # takes 0.4 s, which `list` saves

    # An empty field of Claude Desktop's settings arrives as "".
    return Wanted(options.host or None, options.scene or None, options.instance or None)


def running_in(runtime: Path) -> list[discovery.Instance]:
    """Return the running hosts with records in a given folder, newest first.

    Args:
        runtime: The folder, which is the setting ``runtime`` of these hosts.

    Raises:
        StartError: The folder is not the user's own.
    """
    return discovery.running(runtime)


def settings(**arguments: object) -> Settings:
    """Return the settings of this user.

    Args:
        **arguments: Settings by their names, which take precedence over the environment.

    Raises:
        Failure: A setting of the environment or of the studio's file is not valid.
    """
    try:
        return Settings.load(**arguments).under()
    except ValueError as error:
        raise Failure(str(error)) from None


def _address(url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        if host == "localhost":
            host = "127.0.0.1"
        return host, parts.port
    except ValueError:
        raise Failure(f"{url} is not a URL.") from None


def fill_host(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the options that name a host to a parser.

    Args:
        parser: The parser.
        more: The end of the help, about other values in place of a host.
    """
    which = f"the host, as `dcc-bridge list` shows it; default: the only one{more}"
    parser.add_argument("url", nargs="?", metavar="ID|URL", help=which)
    _fill_wanted(parser)
    wait = "seconds to wait for a host to start"
    parser.add_argument("--wait", type=float, default=0.0, metavar="S", help=wait)


def _fill_wanted(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", metavar="NAME", help="only this application, such as maya")
    scene = "only scenes whose name matches, such as 'shot_*'"
    parser.add_argument("--scene", metavar="GLOB", help=scene)
    instance = "only this one, as `dcc-bridge list` shows it"
    parser.add_argument("--instance", metavar="ID", help=instance)


def fill_list(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument("--json", action="store_true", help="print only a JSON list")


def run_list(options: argparse.Namespace) -> int:
    """Print the running hosts, newest first."""
    running = discovery.running(settings().runtime)
    if options.json:
        print(json.dumps([host.told() for host in running], indent=2))
    elif running:
        _print_table([_COLUMNS, *(_cells(host) for host in running)])
        for host in running:
            problem = host.start_problem()
            if problem is not None:
                print(safe_line(f"{host.id}: {problem}", _MAX_PROBLEM_CHARS))
            other_version = host.version_problem()
            if other_version is not None:
                print(safe_line(str(other_version), _MAX_PROBLEM_CHARS))
    else:
        print(f"No host is running. {START}")
    return SUCCESS


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = []
    for column in zip(*rows, strict=True):
        widths.append(max(len(cell) for cell in column))
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())


def _cells(host: discovery.Instance) -> tuple[str, ...]:
    """Return the texts of a host's row, in the order of `_COLUMNS`."""
    state: str = host.state
    if host.start_problem() is not None:
        state = "failed"
    age = _age(time.time() - host.started)
    texts = (host.id, host.host, host.version, host.scene, state, age, str(host.pid), host.url)
    return tuple(safe_line(text) for text in texts)


def _age(seconds: float) -> str:
    """Return a time in its largest unit: "3 min"."""
    for size, unit in _TIME_UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "0 s"


def fill_connect(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    _fill_wanted(parser)
    name = "the name of this client in the hosts"
    parser.add_argument("--label", type=label, default="stdio", metavar="NAME", help=name)


def run_connect(options: argparse.Namespace) -> int:
    """Serve a client until it closes stdin."""
    from dcc_bridge.client import proxy

    running = partial(discovery.running, settings().runtime)
    running()  # raises StartError early if the folder is not ours
    # Python's own handler would wait for the thread that reads stdin.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        proxy.serve(running, _wanted(options), options.label)
    except* OSError as errors:
        _, others = errors.split(says_unread)  # the client is gone
        if others is not None:
            raise others from None
    return SUCCESS


def label(text: str) -> str:
    """Return a client's label, for argparse."""
    if not _LABEL_PATTERN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"letters, digits, - and _ only, 40 at most; not {text!r}")
    return text
