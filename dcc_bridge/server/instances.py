"""Which hosts are running: one file each, in a folder that only its user can read. Any thread."""

from __future__ import annotations

import json
import os
import secrets
import stat
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import platformdirs

from dcc_bridge.errors import StartError
from dcc_bridge.server import tokens


@dataclass(frozen=True, slots=True)
class Instance:
    """A running host.

    Attributes:
        url: Where its server is.
        host: The application's name.
        version: The application's version.
        scene: The scene that was open when it started.
        pid: Its process.
        secret: The master secret, from which tokens are made.
        started: When, in seconds since the epoch.
    """

    url: str
    host: str
    version: str
    scene: str
    pid: int = field(default_factory=os.getpid)
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    started: float = field(default_factory=time.time)

    def token(self, label: str) -> str:
        """Make the token for a client with that label."""
        return tokens.issue(self.secret, label)


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
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix":
        found = path.lstat()
        if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
            raise StartError(
                f"The folder {path} is not yours; set DCC_BRIDGE_RUNTIME to one that is."
            )
        path.chmod(0o700)
    return path


def register(instance: Instance, runtime: Path | None = None) -> Callable[[], None]:
    """Write down that a host is running.

    Returns:
        What takes the file away again.
    """
    file = folder(runtime) / f"{instance.pid}-{secrets.token_hex(4)}.json"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(file, flags, 0o600), "w", encoding="utf-8") as out:
        json.dump(asdict(instance), out)
    return lambda: file.unlink(missing_ok=True)


def running(runtime: Path | None = None) -> list[Instance]:
    """List the hosts that run, newest first. Files of those that are gone are taken away."""
    found = []
    for file in folder(runtime).glob("*.json"):
        instance = _read(file)
        if instance is not None and _is_alive(instance.pid):
            found.append(instance)
        elif instance is not None:
            file.unlink(missing_ok=True)
    return sorted(found, key=lambda one: -one.started)


def _read(file: Path) -> Instance | None:
    """Read a file, or give None for one that is being written or is not ours."""
    try:
        return Instance(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, os.kill would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
