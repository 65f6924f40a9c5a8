"""A host's own batch interpreter with the bridge in it, until it is told to stop. Main thread."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from dcc_bridge.batch import JOB
from dcc_bridge.cli import interpreter, signals, unattended
from dcc_bridge.cli.answers import tell
from dcc_bridge.cli.exits import SUCCESS, TOOL_ERROR, Failure
from dcc_bridge.config import data_folder
from dcc_bridge.install import probe
from dcc_bridge.serving import Serving

_LOOK: Final = 0.05
_GRACE: Final = 15.0
"""Seconds for its end; then it is ended."""
_HOW: Final = (
    "Nobody sits there: a question goes to the client that calls, and what that cannot ask is "
    "answered as --unattended says. Agents find it through `dcc-bridge client add NAME`, you with "
    "`dcc-bridge tools` and `dcc-bridge call`. Ctrl+C ends it."
)


def run(options: argparse.Namespace) -> int:
    """Start it, say where agents reach it, and wait for its end.

    What the host itself writes goes to the standard error stream.

    Raises:
        Failure: It could not be started, or ended by itself.
    """
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        job = _job(options, Path(folder, "said.json"))
        command = interpreter.command(job.host, options.interpreter, Path(folder), "serving")
        with _started(command, job, Path(folder)) as child:
            with signals.calling(child.stop):
                ready = _wait_for(child, Path(job.said))
                if ready:
                    print(ready, flush=True)
                    tell(_HOW)
                else:  # freecadcmd goes on, and waits for somebody who types
                    child.end()
                code = child.process.wait()
            return _ended(child, code, Path(job.said), bool(ready))


class _Child:
    """The interpreter.

    Attributes:
        process: It.
        stopping: It was told to end.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.stopping = threading.Event()
        self._late = threading.Timer(_GRACE, process.kill)
        self._late.daemon = True

    def stop(self) -> None:
        """Tell it to end. Any thread."""
        self.stopping.set()
        self.end()

    def end(self) -> None:
        """Have it end, if it does not by itself; one that hangs is ended. Any thread."""
        assert self.process.stdin is not None
        with suppress(OSError):  # it is gone
            self.process.stdin.close()
        with suppress(RuntimeError):  # it was told before
            self._late.start()

    def close(self) -> None:
        """Leave nothing of it."""
        self._late.cancel()
        self.process.kill()


def _job(options: argparse.Namespace, said: Path) -> Serving:
    rule, allow_list = unattended.read(options.unattended)
    ours = data_folder("plugins") / options.host / "skills"
    return Serving(
        host=options.host,
        scene=str(options.scene.absolute()) if options.scene else None,
        skills=[str(ours), *(str(one.absolute()) for one in options.skills)],
        port=options.port,
        unattended=rule,
        allow_list=str(allow_list) if allow_list else None,
        said=str(said),
    )


@contextmanager
def _started(command: list[str], job: Serving, folder: Path) -> Iterator[_Child]:
    file = folder / "job.json"
    file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    process = subprocess.Popen(
        command,
        env={**probe.environment(), JOB: str(file), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=sys.stderr,
        bufsize=0,
        # Ctrl+C is for this process, which then tells it to end in its own way.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    child = _Child(process)
    with process:
        try:
            yield child
        finally:
            child.close()


def _wait_for(child: _Child, said: Path) -> str | None:
    """Give the line that says where agents reach it; None if that will not be."""
    while child.process.poll() is None and not child.stopping.wait(_LOOK):
        if said.exists():
            told = _told(said)
            if "error" in told:
                return None
            return f"Ready: {told['host']}, {told['scene']}, without a window, at {told['url']}"
    return None


def _told(said: Path) -> dict[str, str]:
    try:
        told: dict[str, str] = json.loads(said.read_text(encoding="utf-8"))
    except OSError:
        return {}
    return told


def _ended(child: _Child, code: int, said: Path, was_ready: bool) -> int:
    """Give the exit code.

    Raises:
        Failure: It was not told to end, or did not end well.
    """
    wrong = _told(said).get("error")
    if wrong is not None:
        raise Failure(wrong, TOOL_ERROR if was_ready else Failure("").code)
    if child.stopping.is_set() and code == 0:
        return SUCCESS
    program = str(child.process.args[0])  # type: ignore[index]  # it was started with a list
    when = "when it was told to" if child.stopping.is_set() else "by itself"
    raise Failure(f"{program} ended {when}, with {code}. What it said stands above.", TOOL_ERROR)
