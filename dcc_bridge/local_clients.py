"""Finds the clients on this computer and sets them up, for a panel. Any thread.

A panel shows `LocalClients.now`, and calls `act` when a person presses a button. The work is done
by our own command in another process: so the host's main thread never waits, and does not lose
Python's lock to the parsing of a client's settings, which may be megabytes. The entry that is added
to a client's settings names the Python of that process, as this Python can import our package. In a
host that Python has to be found first, because `sys.executable` may be the host itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import platformdirs

_FOLDER: Final = Path(__file__).absolute().parents[1]  # the folder that has our package
_TIMEOUT_S: Final = 180  # for a process: a client's own command may start a whole runtime
_SAID: Final = "dcc-bridge: "  # before a failure of our command; no other Python says that
_COMMANDS: Final = {  # the arguments of our own command for each verb; "look" only lists
    "look": (),
    "add": ("client", "add", "{label}"),
    "link": ("client", "link", "{label}", "--open"),
    "bundle": ("pack", "{label}", "--open", "--into", "{folder}"),
}
VERBS: Final = tuple(_COMMANDS)  # of `LocalClients.act`


@dataclass(frozen=True, slots=True)
class LocalClient:
    """A client on this computer.

    Attributes:
        label: A key of `known_clients.CLIENTS`.
        file: The file of its settings.
        is_set_up: Whether our entry is in that file.
        is_writable: Whether our entry can be added to the file; else a person pastes the entry.
        entry: Our entry as a person pastes it.
    """

    label: str
    file: str
    is_set_up: bool
    is_writable: bool
    entry: str


@dataclass(frozen=True, slots=True)
class LocalState:
    """The clients on this computer, as far as they are known.

    Attributes:
        clients: The clients that were found.
        step: How far the search for the clients is.
        label: The label of the client of the last `act`, or "".
        verb: The verb of the last `act`, or "".
        error: Why the last `act` failed, or "".
    """

    clients: tuple[LocalClient, ...] = ()
    step: Literal["new", "looking", "done", "failed"] = "new"
    label: str = ""
    verb: str = ""
    error: str = ""


class LocalClients:
    """Finds the clients and sets them up, one after the other. Any thread.

    Attributes:
        now: The latest state.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        """Prepare; no client is looked for before `act`.

        Args:
            changed: Called on any thread when `now` has changed.
        """
        self.now = LocalState()
        self._changed = changed
        self._python: Path | None = None  # that can import our package, once one is found
        self._lock = threading.Lock()  # one process at a time

    def act(self, label: str, verb: str) -> None:
        """Begin one of the `VERBS` on another thread, and then look for the clients again.

        Args:
            label: The label of the client; any text for "look".
            verb: The verb.
        """
        threading.Thread(target=self._act, args=(label, verb), daemon=True).start()

    def _act(self, label: str, verb: str) -> None:
        with self._lock:
            self._set_state(LocalState(self.now.clients, "looking", label, verb))
            error = self._run_verb(label, verb)
            listing = self._run("client", "list", "--json")
            text = listing.stdout if listing is not None else ""
            try:
                rows = json.loads(text)
            except ValueError:  # also where no Python was found
                self._set_state(LocalState(step="failed"))
                return
            clients = []
            for row in rows:
                is_there = row.pop("is_there")
                if is_there or row["is_set_up"]:
                    clients.append(LocalClient(**row))
            self._set_state(LocalState(tuple(clients), "done", label, verb, error))

    def _run_verb(self, label: str, verb: str) -> str:
        """Run the command of a verb, if there is one, and return why the command failed, or ""."""
        folder = platformdirs.user_cache_path("dcc_bridge")
        words = [word.format(label=label, folder=folder) for word in _COMMANDS[verb]]
        if not words:
            return ""
        process = self._run(*words)
        if process is None:
            return f"It took more than {_TIMEOUT_S} seconds."
        if process.returncode == 0:
            return ""
        return process.stderr.strip().removeprefix(_SAID)

    def _set_state(self, state: LocalState) -> None:
        self.now = state
        self._changed()

    def _run(self, *words: str) -> subprocess.CompletedProcess[str] | None:
        """Run our own command; None if no Python can run it, or it took too long."""
        pythons = _pythons() if self._python is None else [self._python]
        for python in pythons:
            try:
                process = _run_with(python, words)
            except subprocess.TimeoutExpired:
                return None
            except OSError:
                continue
            if process.returncode == 0 or _SAID in process.stderr:
                self._python = python
                return process
        return None


def _run_with(python: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-P", "-m", "dcc_bridge", *words],
        env={**os.environ, "PYTHONPATH": str(_FOLDER), "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT_S,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _pythons() -> Iterator[Path]:
    """Yield the programs that may be the host's Python, by the names that are usual in hosts."""
    executable = Path(sys.executable or sys.base_prefix)
    if re.match(r"python|mayapy", executable.name):
        yield executable
    suffix = ".exe" if sys.platform == "win32" else ""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for folder in (executable.parent, Path(sys.base_prefix, "bin"), Path(sys.base_prefix)):
        for name in ("mayapy", f"python{version}", "python3", "python"):
            file = folder / f"{name}{suffix}"
            if file.is_file() and file != executable:
                yield file
