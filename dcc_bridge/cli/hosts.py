"""``dcc-bridge list`` and ``connect``; which running host a command means. Any thread."""

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
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from dcc_bridge.cli.exits import SUCCESS, UNREACHABLE, Failure
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.server import discovery

if TYPE_CHECKING:
    from dcc_bridge.client import agent, connection
    from dcc_bridge.client.person import Person

LABEL: Final = discovery.CLI_LABEL  # under which hosts know this command
TOKEN: Final = "DCC_BRIDGE_TOKEN"
START: Final = (
    "Start an application that has the plug-in (see: dcc-bridge status), or: dcc-bridge serve"
)
_COLUMNS: Final = ("ID", "HOST", "VERSION", "SCENE", "STATE", "FOR", "PID", "URL")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_LABEL_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Target:
    """A host that can be called."""

    url: str
    token: str = field(repr=False)  # proves who we are
    host: str = "the host"  # its name, as far as it is known
    # Seconds for which it may send nothing; None for the default. A skill that keeps Python's lock
    # sends nothing at all.
    silence: float | None = None

    def connect(
        self, *, era: connection.Era = "auto", person: Person | None = None
    ) -> AbstractAsyncContextManager[agent.Agent]:
        """Connect to it; see `connection.connect`."""
        from dcc_bridge.client import connection

        return connection.connect(
            self.url, self.token, era=era, person=person, silence=self.silence
        )


def find(url: str | None) -> Target:
    """Give the host at a URL, or the one that is running.

    Raises:
        Failure: There is none, or it is not clear which one is meant.
    """
    if url is not None and not _at(url, discovery.running(settings().runtime)):
        token = os.environ.get(TOKEN)  # for a host of another user, or a forwarded port
        if not token:
            sentence = f"No host of yours runs at {url}, and {TOKEN} is not set. {START}"
            raise Failure(sentence, UNREACHABLE)
        return Target(url, token)
    host = instance(url)
    return Target(host.url, host.token(LABEL), host.host)


def instance(url: str | None) -> discovery.Instance:
    """Give the host of this user that runs at a URL, or the only one.

    Raises:
        Failure: There is none, or it is not clear which one is meant.
    """
    running = discovery.running(settings().runtime)
    if url is not None:
        matches = _at(url, running)
        if not matches:
            raise Failure(f"No host of yours runs at {url}. {START}", UNREACHABLE)
        return matches[0]
    if not running:
        raise Failure(f"No host is running. {START}", UNREACHABLE)
    if len(running) > 1:
        known = "\n".join(f"  {record.url}  {record.host}, {record.scene}" for record in running)
        raise Failure(f"{len(running)} hosts are running; say which one by its URL:\n{known}")
    return running[0]


def settings(**arguments: object) -> Settings:
    """Read the settings.

    Raises:
        Failure: The environment, or the studio's file, has one that cannot be read.
    """
    try:
        return Settings.load(**arguments).under()
    except ValueError as error:
        raise Failure(str(error)) from None


def _at(url: str, running: Sequence[discovery.Instance]) -> list[discovery.Instance]:
    return [record for record in running if _address(record.url) == _address(url)]


def _address(url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
        return host, parts.port
    except ValueError:
        raise Failure(f"{url} is not a URL.") from None


def fill_url(parser: argparse.ArgumentParser) -> None:
    """Add the host's URL, which several commands take, to a parser."""
    parser.add_argument(
        "url", nargs="?", metavar="URL", help="where the host is; without it, the one that runs"
    )


def fill_list(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument(
        "--json", action="store_true", help="print a JSON list and nothing else; empty for none"
    )


def run_list(options: argparse.Namespace) -> int:
    """List them, newest first."""
    running = discovery.running(settings().runtime)
    if options.json:
        print(json.dumps([record.told() for record in running], indent=2))
    elif running:
        _print_table([_COLUMNS, *map(_row, running)])
    else:
        print(f"No host is running. {START}")
    return SUCCESS


def _row(record: discovery.Instance) -> tuple[str, ...]:
    since = _age(time.time() - record.started)
    facts = record.id, record.host, record.version, record.scene, record.state
    cells = *facts, since, str(record.pid), record.url
    return tuple(safe_line(cell) for cell in cells)


def _age(seconds: float) -> str:
    size, unit = next((step for step in _STEPS if seconds >= step[0]), _STEPS[-1])
    return f"{max(0, int(seconds // size))} {unit}"


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def fill_connect(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    parser.add_argument("--host", metavar="NAME", help="only this application, such as maya")
    parser.add_argument(
        "--scene", metavar="GLOB", help="only scenes whose name matches, such as 'shot_*'"
    )
    parser.add_argument(
        "--instance", metavar="ID", help="only this one, as `dcc-bridge list` names it"
    )
    parser.add_argument(
        "--label",
        type=label,
        default="stdio",
        metavar="NAME",
        help="under which hosts know the client that starts this",
    )


def run_connect(options: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    import anyio  # 0.4 s with the proxy, and `list` needs neither

    from dcc_bridge.client import proxy
    from dcc_bridge.client.proxy.choice import Wanted

    running = partial(discovery.running, settings().runtime)
    running()  # a folder that is not ours is said here, in a sentence
    wanted = Wanted(options.host, options.scene, options.instance)
    # Python's own handler would wait for the thread that reads stdin; nothing here has to be saved.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(proxy.serve, running, wanted, options.label)
    except* BrokenPipeError:
        pass  # the client is gone
    return SUCCESS


def label(text: str) -> str:
    """Read a label.

    Raises:
        ArgumentTypeError: It cannot be one.
    """
    if not _LABEL_PATTERN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"letters, digits, - and _ only, 40 at most; not {text!r}")
    return text
