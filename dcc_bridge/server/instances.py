"""Which hosts are running: one record each, in a folder that only its user can read. Any thread.

A record ``<id>.json`` counts for as long as the process that wrote it holds ``<id>.lock``, which is
there before the record and goes after it. A record that nobody holds is taken away by whoever sees
it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import platformdirs

from dcc_bridge import private
from dcc_bridge.errors import StartError
from dcc_bridge.server import tokens
from dcc_bridge.server.held import Held, is_held

State = Literal["starting", "ready"]


@dataclass(frozen=True, slots=True)
class Instance:
    """A running host.

    Attributes:
        url: Where its server is.
        host: The application's name.
        version: The application's version.
        scene: The scene that is open in it.
        id: Its name among the hosts of this computer, short enough to be typed.
        pid: Its process.
        state: "starting" until all its tools are there, then "ready".
        started: When, in seconds since the epoch.
        secret: The master secret, from which tokens are made.
    """

    url: str
    host: str
    version: str
    scene: str
    id: str = ""
    pid: int = field(default_factory=os.getpid)
    state: State = "starting"
    started: float = field(default_factory=time.time)
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)

    def __post_init__(self) -> None:
        """Give it a name, if it has none."""
        if not self.id:
            kind = re.sub(r"[^a-z0-9]+", "-", self.host.lower()).strip("-") or "host"
            object.__setattr__(self, "id", f"{kind}-{secrets.token_hex(2)}")

    def token(self, label: str) -> str:
        """Make the token for a client with that label."""
        return tokens.issue(self.secret, label)

    def told(self) -> dict[str, Any]:
        """Give what anybody may see of it, and wants to."""
        return {name: value for name, value in asdict(self).items() if name != "secret"}


class Registration:
    """This process's record, which it holds until `withdraw`."""

    def __init__(self, instance: Instance, runtime: Path | None = None) -> None:
        """Write down that a host is running.

        Raises:
            StartError: The folder of the running hosts is not ours.
            OSError: It cannot be written.
        """
        place = folder(runtime)
        self.instance = instance
        self._file = place / f"{instance.id}.json"
        self._writing = threading.Lock()
        self._held: Held | None = Held(place / f"{instance.id}.lock")
        try:
            self._write()
        except OSError:
            self.withdraw()
            raise

    def update(self, **facts: Any) -> None:
        """Say what is another one now: "scene" or "state". Quick where nothing is."""
        with self._writing:
            changed = replace(self.instance, **facts)
            if self._held is not None and changed != self.instance:
                self.instance = changed
                self._write()

    def withdraw(self) -> None:
        """Take the record away; harmless the second time."""
        with self._writing:
            held, self._held = self._held, None
        if held is not None:
            self._file.unlink(missing_ok=True)
            held.release()

    def _write(self) -> None:
        """Put a whole record in the old one's place, so that nobody reads half of one."""
        new = self._file.with_name(f"{self._file.stem}.{secrets.token_hex(4)}.new")
        with open(private.create(new), "w", encoding="utf-8") as out:
            json.dump(asdict(self.instance), out)
        os.replace(new, self._file)


def folder(runtime: Path | None = None) -> Path:
    """Give the folder of the running hosts, made if need be.

    Args:
        runtime: Another place than the system's own.

    Raises:
        StartError: It belongs to somebody else, or others may write to it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # XDG_RUNTIME_DIR need not be set; the folder is checked here
        path = runtime or platformdirs.user_runtime_path("dcc_bridge")
    try:
        return private.folder(path)
    except PermissionError as error:
        raise StartError(f"{error} Set DCC_BRIDGE_RUNTIME to one that is yours.") from error


def running(runtime: Path | None = None) -> list[Instance]:
    """List the hosts that run, newest first. Records of those that are gone are taken away.

    Raises:
        StartError: The folder of the running hosts is not ours.
    """
    found = []
    for file in folder(runtime).glob("*.json"):
        instance = _read(file)
        lock = file.with_suffix(".lock")
        if instance is not None and is_held(lock):
            found.append(instance)
        elif instance is not None:
            _remove(file, lock)
    return sorted(found, key=lambda one: -one.started)


def _read(file: Path) -> Instance | None:
    """Read a record, or give None for one that has just gone or is not ours."""
    try:
        return Instance(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _remove(*files: Path) -> None:
    for file in files:
        with suppress(OSError):  # somebody else did, or reads it in this moment
            file.unlink()
