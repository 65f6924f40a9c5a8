"""Which hosts are running: one record each, in a folder that only its user can read. Any thread.

A record ``<id>.json`` counts for as long as the process that wrote it holds ``<id>.lock``, which is
there before the record and goes after it. One that nobody holds is taken away by whoever sees it.

The system releases the lock when the process ends, however it ends: there is no process id that a
later process could have too, and nothing to clean up. The library `filelock` is not used, because
importing it leaves more in a host than one lock: hooks at each fork, which may end the child, and
from Python 3.12 on an audit hook that cannot be removed (`filelock/_api.py` of 3.32 and 4.2). Up to
3.29 it lets a child that outlives its host hold the lock.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import platformdirs

from dcc_bridge import errors, private_files
from dcc_bridge.host import Host
from dcc_bridge.server.start_problem import StartProblem, overdue

if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int, *, shared: bool = False) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(fd: int, *, shared: bool = False) -> None:
        # not `lockf`, whose lock is lost as soon as its process opens and closes the file once more
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


State = Literal["starting", "ready", "failed"]
_OVERDUE_S: Final = 30.0
"""Seconds after which a host that is starting, and does not say why it is not ready, hangs."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A running host."""

    url: str  # where its server is
    host: str
    version: str
    scene: str  # the scene that is open in it
    id: str = ""  # its name among the hosts of this computer, short enough to be typed
    pid: int = field(default_factory=os.getpid)
    # "starting" until all its tools are there, then "ready"; "failed" where that does not come.
    state: State = "starting"
    started: float = field(default_factory=time.time)  # when, in seconds since the epoch
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)  # makes tokens
    file: str | None = None  # the full path of the scene's file, or None for a scene without one
    why: str = ""  # why it is not ready, where it "failed"
    mend: str = ""  # what the person does about that
    # The modules that it runs from elsewhere than where its plug-in brought them, and their files.
    foreign: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give it a name, if it has none."""
        if not self.id:
            kind = re.sub(r"[^a-z0-9]+", "-", self.host.lower()).strip("-") or "host"
            object.__setattr__(self, "id", f"{kind}-{secrets.token_hex(2)}")

    def token(self, label: str) -> str:
        """Make the token for a client with that label."""
        return issue_token(self.secret, label)

    def start_problem(self) -> StartProblem | None:
        """Return why agents cannot connect to it; None where they can, or can in a moment."""
        if self.state == "failed":
            return StartProblem(self.why, self.mend)
        seconds = time.time() - self.started
        if self.state == "starting" and seconds > _OVERDUE_S:  # it would have said why
            return overdue(self.host, seconds, "it does not respond")
        return None

    def told(self) -> dict[str, Any]:
        """Give what anybody may see of it, and wants to; one that hangs "failed", too."""
        facts = {name: value for name, value in asdict(self).items() if name != "secret"}
        problem = self.start_problem()
        if problem is not None:
            facts.update(state="failed", why=problem.what, mend=problem.mend)
        return facts


def scene_facts(host: Host) -> dict[str, Any]:
    """Return what a record says of the scene that is open in a host. Main thread."""
    file = host.file()
    path = str(file.absolute()) if file is not None else None
    return {"scene": host.scene(), "file": path}


class LockFile:
    """A lock file that shows whether its process is alive."""

    def __init__(self, file: Path) -> None:
        """Create the file and lock it; FileExistsError where there is one of that name."""
        self._file = file
        self._fd: int | None = private_files.create(file)
        _lock(self._fd)
        if hasattr(os, "register_at_fork"):  # else a child would hold it when we are gone
            os.register_at_fork(after_in_child=self._close)

    def release(self) -> None:
        """Unlock the file and delete it; harmless the second time."""
        if self._fd is not None:
            self._close()
            with suppress(OSError):  # who sees it deletes it: nobody holds it
                private_files.delete(self._file)

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Registration:
    """This process's record, which stands until `withdraw`."""

    def __init__(self, instance: Instance, runtime: Path | None = None) -> None:
        """Write down that a host is running; StartError where the folder is not ours."""
        runtime_folder = folder(runtime)
        self.instance = instance
        self._written: Instance | None = None  # what the record says
        self._file = runtime_folder / f"{instance.id}.json"
        self._writing = threading.Lock()
        self._lock: LockFile | None = LockFile(runtime_folder / f"{instance.id}.lock")
        try:
            self._write()
        except OSError:
            self.withdraw()
            raise

    def update(self, **facts: Any) -> None:
        """Write down a new "scene", "file" or "state"; quick where nothing is new.

        Raises:
            OSError: It cannot be written; the next update writes it, too.
        """
        with self._writing:
            self.instance = replace(self.instance, **facts)
            if self._lock is not None and self.instance != self._written:
                self._write()

    def withdraw(self) -> None:
        """Take the record away; harmless the second time."""
        with self._writing:
            lock, self._lock = self._lock, None
        if lock is not None:
            with suppress(OSError):  # who sees it deletes it, once nobody holds the lock
                private_files.delete(self._file)
            lock.release()

    def _write(self) -> None:
        """Put a whole record in the old one's place, so that nobody reads half of one."""
        new = self._file.with_name(f"{self._file.stem}.{secrets.token_hex(4)}.new")
        try:
            with open(private_files.create(new), "w", encoding="utf-8") as out:
                json.dump(asdict(self.instance), out)
            private_files.replace(new, self._file)
        except OSError:
            with suppress(OSError):
                private_files.delete(new)  # the secret is in it
            raise
        self._written = self.instance


def issue_token(secret: str, label: str) -> str:
    """Make a client's token from the host's master secret and its label, which has no dot."""
    code = hmac.new(secret.encode(), label.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"{label}.{code}"


def host_proof(token: str, nonce: str) -> str:
    """Prove to a client, by a nonce of its own, that we made its token; gives no secret away."""
    key = token.encode("utf-8", "replace")
    return hmac.new(key, nonce.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def token_label(secret: str, token: str) -> str | None:
    """Give the label that a token proves, or None for one that this host did not make."""
    label, dot, _ = token.rpartition(".")
    if not (label and dot and "." not in label):
        return None
    wanted = issue_token(secret, label).encode("utf-8", "replace")
    return label if hmac.compare_digest(wanted, token.encode("utf-8", "replace")) else None


def folder(runtime: Path | None = None) -> Path:
    """Give the folder of the running hosts, made if need be; StartError where it is not ours."""
    try:
        with warnings.catch_warnings(action="ignore"):
            # XDG_RUNTIME_DIR need not be set; the folder is checked here
            return private_files.folder(runtime or platformdirs.user_runtime_path("dcc_bridge"))
    except OSError as error:
        raise errors.StartError(
            f"Where running hosts are written down cannot be used: {str(error).rstrip('.')}. Set "
            "DCC_BRIDGE_RUNTIME to a folder of yours."
        ) from error


def running(runtime: Path | None = None) -> list[Instance]:
    """List the hosts that run, newest first, and delete the records of those that are gone."""
    instances = []
    for half in folder(runtime).glob("*.new"):  # of a host that was killed while it wrote
        if not is_locked(half.with_name(f"{half.name.partition('.')[0]}.lock")):
            with suppress(OSError):
                half.unlink()
    for file in folder(runtime).glob("*.json"):
        instance = _read(file)
        lock = file.with_suffix(".lock")
        if instance is not None and is_locked(lock):
            instances.append(instance)
        elif instance is not None:
            for gone in (file, lock):
                with suppress(OSError):  # somebody else did, or reads it in this moment
                    gone.unlink()
    return sorted(instances, key=lambda instance: -instance.started)


def is_locked(file: Path) -> bool:
    """Tell whether a process that is alive holds a lock file."""
    try:
        fd = private_files.open_own(file)
    except OSError:
        return False
    try:
        _lock(fd, shared=True)  # so that two who ask do not take each other for the holder
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _read(file: Path) -> Instance | None:
    """Read a record, or give None for one that has just gone or is not ours."""
    try:
        if sys.platform == "win32":  # it may be replaced in this moment
            opened = private_files.retry_while_held(lambda: private_files.open_own(file))
        else:
            opened = private_files.open_own(file)
        with open(opened, encoding="utf-8") as record:
            return Instance(**json.load(record))
    except (OSError, ValueError, TypeError):
        return None
