"""The clients on this computer, as a panel offers them: which there are, and setting one up.

Our own command does the work, in processes on a thread of their own: a host's main thread never
waits, and parsing what may be megabytes of a client's settings does not hold Python's lock there.
The Python of such a process can import us, as is thereby proven: the entry that it writes names it.
It has to be looked for, since in a host `sys.executable` may be the host itself. Any thread.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import platformdirs

_FOLDER: Final = Path(__file__).absolute().parents[1]  # where we are imported from
_TIMEOUT: Final = 180  # seconds for a process: a client's own command may start a whole runtime
_COMMANDS: Final = {
    "look": (),
    "add": ("client", "add", "{label}"),
    "link": ("client", "link", "{label}", "--open"),
    "bundle": ("pack", "{label}", "--open", "--into", "{folder}"),
}
VERBS: Final = tuple(_COMMANDS)  # what `LocalClients.act` does


@dataclass(frozen=True, slots=True)
class LocalClient:
    """A client on this computer."""

    label: str  # as in `known_clients.CLIENTS`
    file: str  # its configuration
    is_set_up: bool  # our entry is in it
    is_writable: bool  # our entry can be added to it, or else a person pastes it
    entry: str  # our entry as they paste it


@dataclass(frozen=True, slots=True)
class LocalState:
    """What is known of the clients on this computer."""

    clients: tuple[LocalClient, ...] = ()
    step: Literal["new", "looking", "done", "failed"] = "new"  # of looking for them
    label: str = ""  # the client that was acted on last
    verb: str = ""  # what was done to it
    error: str = ""  # why it could not be done


class LocalClients:
    """Looks for the clients and sets them up, one after the other."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.now = LocalState()
        self._changed = changed  # called on any thread when `now` is another
        self._python: Path | None = None  # the one that can import us, once it is known
        self._lock = threading.Lock()  # one process at a time

    def act(self, label: str, verb: str) -> None:
        """Do one of the `VERBS`, all but "look" for the client of a label; returns at once."""
        threading.Thread(target=self._act, args=(label, verb), daemon=True).start()

    def _act(self, label: str, verb: str) -> None:
        with self._lock:
            self._note(LocalState(self.now.clients, "looking", label, verb))
            folder = platformdirs.user_cache_path("dcc_bridge")
            words = [word.format(label=label, folder=folder) for word in _COMMANDS[verb]]
            done = self._run(*words) if words else None
            error = "" if done or not words else f"It took more than {_TIMEOUT} seconds."
            if done and done.returncode:
                error = done.stderr.strip().removeprefix("dcc-bridge: ")
            listing = self._run("client", "list", "--json")
            try:
                facts = json.loads(listing.stdout if listing else "")
            except ValueError:  # also where no Python was found
                self._note(LocalState(step="failed"))
                return
            present = [it for it in facts if it.pop("is_there") or it["is_set_up"]]
            clients = tuple(LocalClient(**it) for it in present)
            self._note(LocalState(clients, "done", label, verb, error))

    def _note(self, state: LocalState) -> None:
        self.now = state
        self._changed()

    def _run(self, *words: str) -> subprocess.CompletedProcess[str] | None:
        """Run our command, once; None where no Python was found that can, or it took too long."""
        with suppress(subprocess.TimeoutExpired):
            return self._run_once(*words)
        return None

    def _run_once(self, *words: str) -> subprocess.CompletedProcess[str] | None:
        for python in _pythons() if self._python is None else [self._python]:
            with suppress(OSError):
                done = subprocess.run(
                    [str(python), "-P", "-m", "dcc_bridge", *words],
                    env={**os.environ, "PYTHONPATH": str(_FOLDER), "PYTHONUTF8": "1"},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    encoding="utf-8",
                    timeout=_TIMEOUT,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
                if done.returncode in (0, 2):  # what cannot import us ends with 1
                    self._python = python
                    return done
        return None


def _pythons() -> Iterator[Path]:
    """Give the Pythons that may be this one's: the host's, by the names that they have there."""
    this = Path(sys.executable or sys.base_prefix)
    if re.match(r"python|mayapy", this.name):
        yield this
    end = ".exe" if sys.platform == "win32" else ""
    names = ("mayapy", "python{}.{}".format(*sys.version_info), "python3", "python")
    for folder in (this.parent, Path(sys.base_prefix, "bin"), Path(sys.base_prefix)):
        files = (folder / f"{name}{end}" for name in names)
        yield from (file for file in files if file.is_file() and file != this)
