"""Which hosts are running: one record each, in a folder that only its user can read. Any thread.

A record ``<id>.json`` is valid while the process that wrote it holds the lock ``<id>.lock``, which
is created before the record and deleted after it. Any process that sees a record without a held
lock deletes the record.

A host and the process that reads its record may be of different versions: a field that is not known
here is ignored, and one that is not there has its default.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import re
import secrets
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal

import platformdirs

from dcc_bridge import errors, file_locks, held_files, private_files
from dcc_bridge.host import Host
from dcc_bridge.server.host_version import VersionProblem, compare
from dcc_bridge.server.start_problem import StartProblem, overdue

State = Literal["starting", "ready", "failed"]
_OVERDUE_S: Final = 30.0
"""Seconds after which a host that is starting, and does not say why it is not ready, hangs."""


def _new_secret() -> str:
    return secrets.token_hex(32)


@dataclass(frozen=True, slots=True)
class Instance:
    """A running host, as its record describes it.

    Attributes:
        url: The address of the server.
        host: The application.
        version: The application's version.
        scene: The scene that is open in it.
        id: Its name among the hosts of this computer, short enough to be typed.
        pid: Its process.
        state: "starting" until all its tools are listed, then "ready"; "failed" if it cannot become
            ready.
        started: The time of its start, in seconds since the epoch.
        secret: The master secret, which makes tokens.
        file: The full path of the scene's file; None for a scene without a file.
        why: Why its state is "failed", or "".
        mend: What the person can do about that.
        foreign: By their names, the files of modules that it runs in place of its plug-in's own.
        bridge: The version of its bridge, once it is ready; "" if that is too old to say it.
        imported_from: The folder from which it imports the bridge; "" if it does not say that.
    """

    url: str
    host: str
    version: str
    scene: str
    id: str = ""
    pid: int = field(default_factory=os.getpid)
    state: State = "starting"
    started: float = field(default_factory=time.time)
    secret: str = field(default_factory=_new_secret, repr=False)
    file: str | None = None
    why: str = ""
    mend: str = ""
    foreign: dict[str, str] = field(default_factory=dict)
    bridge: str = ""
    imported_from: str = ""

    def __post_init__(self) -> None:
        """Choose an id, if there is none."""
        if not self.id:
            kind = re.sub(r"[^a-z0-9]+", "-", self.host.lower()).strip("-") or "host"
            object.__setattr__(self, "id", f"{kind}-{secrets.token_hex(2)}")

    def token(self, label: str) -> str:
        """Return the token for a client with that label."""
        return issue_token(self.secret, label)

    def start_problem(self) -> StartProblem | None:
        """Return why agents cannot connect to the host; None if they can, or soon will."""
        if self.state == "failed":
            return StartProblem(self.why, self.mend)
        seconds = time.time() - self.started
        if self.state == "starting" and seconds > _OVERDUE_S:  # a live host would have said why
            return overdue(self.host, seconds, "it does not respond")
        return None

    def version_problem(self) -> VersionProblem | None:
        """Return what to do about a bridge of another version there; None if it has this one."""
        if self.state != "ready":  # it does not say its version yet
            return None
        return compare(f"{self.id} ({self.host} {self.version})", self.host, self.bridge)

    def told(self) -> dict[str, Any]:
        """Return the record without its secret, for anybody; a host that hangs is "failed"."""
        facts = {name: value for name, value in asdict(self).items() if name != "secret"}
        problem = self.start_problem()
        if problem is not None:
            facts.update(state="failed", why=problem.what, mend=problem.mend)
        return facts


_FIELDS: Final = tuple(field.name for field in fields(Instance))


def scene_facts(host: Host) -> dict[str, Any]:
    """Return what a record says of the scene that is open in a host. Main thread."""
    file = host.file()
    path = str(file.absolute()) if file is not None else None
    return {"scene": host.scene(), "file": path}


class LockFile:
    """A lock file that shows whether its process is alive."""

    def __init__(self, file: Path) -> None:
        """Create the file and lock it.

        Raises:
            FileExistsError: There is a file of that name.
            OSError: The file cannot be made or locked.
        """
        self._file = file
        self._fd: int | None = private_files.create(file)
        if not file_locks.claim(self._fd, wait=True):
            self.release()
            raise OSError(errno.ENOLCK, "The folder has no locks", str(file))
        if hasattr(os, "register_at_fork"):  # else a child would hold the lock when we are gone
            os.register_at_fork(after_in_child=self._close)

    def release(self) -> None:
        """Unlock the file and delete it; harmless the second time."""
        if self._fd is not None:
            self._close()
            with suppress(OSError):  # another process deletes it, as it has no holder
                held_files.delete(self._file)

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Registration:
    """This process's record, which stands until `withdraw`.

    Attributes:
        instance: The host, as the record is to describe it.
    """

    def __init__(self, instance: Instance, runtime: Path | None = None) -> None:
        """Write down that a host is running.

        Args:
            instance: The host.
            runtime: The folder of the records; None for the user's own.

        Raises:
            StartError: The folder is not ours.
            OSError: The record cannot be written.
        """
        runtime_folder = folder(runtime)
        self.instance = instance
        self._written: Instance | None = None  # the host, as the record describes it
        self._file = runtime_folder / f"{instance.id}.json"
        self._writing = threading.Lock()
        self._lock: LockFile | None = LockFile(runtime_folder / f"{instance.id}.lock")
        try:
            self._write()
        except OSError:
            self.withdraw()
            raise

    def update(self, **facts: Any) -> None:
        """Change fields of the record, such as "scene"; quick where nothing is new.

        Raises:
            OSError: The record cannot be written; the next update tries again.
        """
        with self._writing:
            self.instance = replace(self.instance, **facts)
            if self._lock is not None and self.instance != self._written:
                self._write()

    def withdraw(self) -> None:
        """Delete the record; harmless the second time."""
        with self._writing:
            lock = self._lock
            self._lock = None
        if lock is not None:
            with suppress(OSError):  # another process deletes it, once the lock has no holder
                held_files.delete(self._file)
            lock.release()

    def _write(self) -> None:
        """Replace the record as a whole, so that no process reads half a record."""
        with (
            held_files.replacing(self._file) as new,
            open(private_files.create(new), "w", encoding="utf-8") as out,
        ):
            json.dump(asdict(self.instance), out)
        self._written = self.instance


def issue_token(secret: str, label: str) -> str:
    """Return a client's token, made from the host's master secret and the client's label.

    Args:
        secret: The master secret.
        label: The label, which has no dot.
    """
    code = hmac.new(secret.encode(), label.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"{label}.{code}"


def host_proof(token: str, nonce: str) -> str:
    """Return what proves to a client that we made its token. It gives no secret away.

    Args:
        token: The client's token.
        nonce: A text that the client has chosen.
    """
    key = token.encode("utf-8", "replace")
    return hmac.new(key, nonce.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def token_label(secret: str, token: str) -> str | None:
    """Return the label that a token proves; None for a token that this host did not make."""
    label, dot, _ = token.rpartition(".")
    if not (label and dot and "." not in label):
        return None
    expected = issue_token(secret, label).encode("utf-8", "replace")
    if not hmac.compare_digest(expected, token.encode("utf-8", "replace")):
        return None
    return label


def folder(runtime: Path | None = None) -> Path:
    """Return the folder of the running hosts, made if need be.

    Args:
        runtime: Another folder than the user's own.

    Raises:
        StartError: The folder is not ours.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            # XDG_RUNTIME_DIR need not be set; the folder is checked here.
            return private_files.folder(runtime or platformdirs.user_runtime_path("dcc_bridge"))
    except OSError as error:
        raise errors.StartError(
            f"The folder of running hosts cannot be used: {str(error).rstrip('.')}. Set "
            "DCC_BRIDGE_RUNTIME to a folder of yours."
        ) from error


def running(runtime: Path | None = None) -> list[Instance]:
    """List the hosts that run, the newest first, and delete the records of those that are gone."""
    instances = []
    # The files that hosts were writing when they were killed; the secret is in them.
    for unfinished in folder(runtime).glob(f"*{held_files.NEW_SUFFIX}"):
        id = unfinished.name.partition(".")[0]
        if not is_locked(unfinished.with_name(f"{id}.lock")):
            with suppress(OSError):
                unfinished.unlink()
    for file in folder(runtime).glob("*.json"):
        instance = _read(file)
        lock = file.with_suffix(".lock")
        if instance is not None and is_locked(lock):
            instances.append(instance)
        elif instance is not None:
            for gone in (file, lock):
                with suppress(OSError):  # another process has deleted it, or reads it now
                    gone.unlink()
    return sorted(instances, key=lambda instance: -instance.started)


def is_locked(file: Path) -> bool:
    """Return whether a process that is alive holds a lock file."""
    try:
        fd = private_files.open_own(file)
    except OSError:
        return False
    try:
        return not file_locks.claim(fd, shared=True)
    finally:
        os.close(fd)


def _read(file: Path) -> Instance | None:
    """Return the host of a record; None if the file was deleted, or is no record of ours."""
    try:
        with open(private_files.open_own(file), encoding="utf-8") as record:
            facts = json.load(record)
            return Instance(**{name: facts[name] for name in _FIELDS if name in facts})
    except (OSError, ValueError, TypeError):
        return None
