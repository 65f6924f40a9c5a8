"""``dcc-bridge list`` and ``connect``; which running host a command means. Any thread."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import time
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

LABEL: Final = CLI_LABEL  # under which hosts know this command
TOKEN: Final = "DCC_BRIDGE_TOKEN"
START: Final = (
    "Start an application that has the plug-in (see: dcc-bridge status), or: dcc-bridge serve"
)
_POLL: Final = 0.1  # seconds between two looks for a host that starts
_LONGEST: Final = 2000  # characters of what keeps a host from being ready
_COLUMNS: Final = ("ID", "HOST", "VERSION", "SCENE", "STATE", "FOR", "PID", "URL")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_LABEL_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


class SeveralHosts(Failure):
    """More than one running host fits; which is normal, but a command is for one."""


class NotStarted(Failure):
    """The host that is meant did not become ready for agents.

    Attributes:
        problem: Why not, and what to do.
    """

    def __init__(self, problem: StartProblem) -> None:
        super().__init__(str(problem), UNREACHABLE)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Target:
    """A host that can be called."""

    url: str
    token: str = field(repr=False)  # proves who we are
    host: str = "the host"  # its name, as far as it is known
    # Seconds the host may be silent, as while a skill keeps Python's lock; None for the default.
    silence: float | None = None

    def connect(
        self, *, era: connection.Era = "auto", person: Person | None = None
    ) -> AbstractAsyncContextManager[agent.Agent]:
        """Connect to it; see `connection.connect`."""
        from dcc_bridge.client.connection import connect

        return connect(self.url, self.token, era=era, person=person, silence=self.silence)


def find(options: argparse.Namespace) -> Target:
    """Give the host that the options name, or the running one; Failure if none or several fit."""
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
    """Give the host of this user that is meant, as `find` does; it takes requests.

    A host that is starting is waited for until it says why it does not become ready, or until it
    should have said so.

    Raises:
        Failure: None or several fit; `NotStarted` where the one that fits did not become ready.
    """
    runtime, wanted, end = settings().runtime, _wanted(options), time.monotonic() + options.wait
    while True:
        running = discovery.running(runtime)
        fitting = [it for it in running if wanted.fits(it)]
        if options.url is not None:
            address = _address(options.url)
            fitting = [it for it in fitting if it.id == options.url or _address(it.url) == address]
        if fitting or time.monotonic() >= end:
            break
        time.sleep(_POLL)
    if len(fitting) > 1:  # one that did not start is beside one that is well
        fitting = [it for it in fitting if it.start_problem() is None] or fitting
    if len(fitting) == 1:
        return _wait_until_ready(fitting[0], runtime)
    if not running:
        raise Failure(f"No host is running. {START}", UNREACHABLE)
    rows = "\n".join(
        f"  {record.id}  {record.host}, {safe_line(record.scene)}  {record.url}"
        for record in fitting or running
    )
    if fitting:
        which = "say which one: its ID, or --host, --scene or --instance"
        raise SeveralHosts(f"{len(fitting)} hosts are running; {which}:\n{rows}")
    name = f" called {options.url!r}" if options.url else ""
    raise Failure(f"No host{name}{wanted} is running. There are:\n{rows}", UNREACHABLE)


def _wait_until_ready(host: discovery.Instance, runtime: Path | None) -> discovery.Instance:
    while host.state != "ready":
        problem = host.start_problem()
        if problem is not None:
            raise NotStarted(problem)
        time.sleep(_POLL)
        now = {it.id: it for it in discovery.running(runtime)}
        if host.id not in now:
            raise Failure(f"{host.host} ended while it was starting. {START}", UNREACHABLE)
        host = now[host.id]
    return host


def of_task(task: str) -> str | None:
    """Give the host that a task's id begins with; None where it ended: another may know of it."""
    name = task.partition(".")[0]
    return name if name in [it.id for it in discovery.running(settings().runtime)] else None


def _wanted(options: argparse.Namespace) -> Wanted:
    from dcc_bridge.client.proxy.host_choice import Wanted  # 0.4 s, and `list` needs it not

    # "" is what an empty field of Claude Desktop's settings gives.
    return Wanted(options.host or None, options.scene or None, options.instance or None)


def running_in(runtime: Path) -> list[discovery.Instance]:
    """Return the hosts that run and are written down in a folder of their own, newest first.

    Args:
        runtime: The folder, which their setting ``runtime`` names.

    Returns:
        Their records.

    Raises:
        StartError: The folder is not the user's own.
    """
    return discovery.running(runtime)


def settings(**arguments: object) -> Settings:
    """Read the settings; Failure if one of the environment or the studio's file cannot be read."""
    try:
        return Settings.load(**arguments).under()
    except ValueError as error:
        raise Failure(str(error)) from None


def _address(url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
        return host, parts.port
    except ValueError:
        raise Failure(f"{url} is not a URL.") from None


def fill_host(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add what says which host is meant to a parser; `more` may stand in the host's place too."""
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
    parser.add_argument("--json", action="store_true", help="print a JSON list and nothing else")


def run_list(options: argparse.Namespace) -> int:
    """List them, newest first."""
    running = discovery.running(settings().runtime)
    if options.json:
        print(json.dumps([record.told() for record in running], indent=2))
    elif running:
        rows = [_COLUMNS, *map(_row, running)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
        for record in running:
            problem = record.start_problem()
            if problem is not None:
                print(safe_line(f"{record.id}: {problem}", _LONGEST))
    else:
        print(f"No host is running. {START}")
    return SUCCESS


def _row(record: discovery.Instance) -> tuple[str, ...]:
    state = "failed" if record.start_problem() is not None else record.state
    facts = record.id, record.host, record.version, record.scene, state
    seconds = time.time() - record.started
    size, unit = next((step for step in _STEPS if seconds >= step[0]), _STEPS[-1])
    age = f"{max(0, int(seconds // size))} {unit}"
    return tuple(map(safe_line, (*facts, age, str(record.pid), record.url)))


def fill_connect(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    _fill_wanted(parser)
    name = "the name by which hosts know this client"
    parser.add_argument("--label", type=label, default="stdio", metavar="NAME", help=name)


def run_connect(options: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    from dcc_bridge.client import proxy

    running = partial(discovery.running, settings().runtime)
    running()  # a folder that is not ours is said here, in a sentence
    # Python's own handler would wait for the thread that reads stdin; nothing here has to be saved.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        proxy.serve(running, _wanted(options), options.label)
    except* OSError as errors:
        _, others = errors.split(says_unread)  # where the client is gone
        if others is not None:
            raise others from None
    return SUCCESS


def label(text: str) -> str:
    """Read a label, for argparse."""
    if not _LABEL_PATTERN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"letters, digits, - and _ only, 40 at most; not {text!r}")
    return text
