"""Starts and stops a warm host, and connects to it: a real client over loopback. Any thread."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge.cli import interpreter
from dcc_bridge.cli.hosts import running_in
from dcc_bridge.spi.batch import private_files

from . import files, host_job
from .host_job import JOB, MODULE, REPORT, STOP, Job
from .plan import PlanError

if TYPE_CHECKING:
    from dcc_bridge.client.agent import Agent, Result

LOG: Final = "host.log"  # what the host prints, in its session's folder
START: Final = 180.0  # seconds for a start; an application that starts for the first time is slow
_END: Final = 20.0  # seconds for its end; then it is killed
_POLL: Final = 0.02
_TAIL: Final = 1500  # characters of its output that are shown


class HostFailed(Exception):
    """A host could not be started, or is gone. A sentence for the person."""


def start(job: Job, program: str | None = None) -> subprocess.Popen[bytes]:
    """Start a host in a session of its own, and return at once; see `wait_until_ready`.

    exits.Failure: there is no such interpreter. The host outlives this process, until `stop`.
    """
    folder = private_files.folder(Path(job.folder))
    (folder / STOP).unlink(missing_ok=True)
    (folder / REPORT).unlink(missing_ok=True)
    env = {**interpreter.environment(), JOB: str(host_job.write_job(job))}
    command = interpreter.command(job.host, program, folder, MODULE)
    with open(folder / LOG, "ab") as output:
        return subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl+C is for who started it, and it ends in its own way
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )


def wait_until_ready(folder: Path, process: subprocess.Popen[bytes], limit: float = START) -> str:
    """Wait until it takes calls, and give its URL; HostFailed says in its own words why not.

    PlanError: it would not, however often it is started.
    """
    end = time.monotonic() + limit
    while True:
        has_ended = process.poll() is not None
        with suppress(OSError, ValueError):
            report = files.read_json(folder / REPORT)
            if "is_final" in report:
                raise PlanError(report["error"])
            if "error" in report:
                raise HostFailed(report["error"])
            return str(report["url"])
        if has_ended:
            raise HostFailed(f"The host ended as it started. It said:\n{_output(folder)}")
        if time.monotonic() > end:
            raise HostFailed(f"The host was not ready after {limit:g} s:\n{_output(folder)}")
        time.sleep(_POLL)


def _output(folder: Path) -> str:
    with suppress(OSError):
        return (folder / LOG).read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip()
    return ""


def stop(folder: Path, process: subprocess.Popen[bytes] | None = None) -> None:
    """Have a host end, and wait for it; one that hangs is killed.

    Without its process, which another one has started, it is known by its lock, and by its number.
    """
    with suppress(OSError):
        (folder / STOP).touch()
    end = time.monotonic() + _END
    if process is not None:
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return
    while running := running_in(folder / "runtime"):
        if time.monotonic() > end:
            for instance in running:  # it holds its lock, so the number is its own still
                with suppress(OSError):
                    os.kill(instance.pid, 9 if sys.platform != "win32" else 15)
            return
        time.sleep(_POLL)


@contextmanager
def warm(job: Job, program: str | None = None) -> Iterator[str]:
    """Have a host run as long as the block lasts; gives its URL. HostFailed, exits.Failure."""
    process = start(replace(job, owner=os.getpid()), program)
    folder = Path(job.folder)
    try:
        yield wait_until_ready(folder, process)
    finally:
        stop(folder, process)


class WarmHost:
    """A connected client of a warm host."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call one of the batch's own tools; HostFailed says what went wrong.

        The host going away is Unreachable.
        """
        result = await self._agent.call(name, arguments)
        value = result.value
        if result.is_error or not isinstance(value, dict):
            raise HostFailed(_sentence(result))
        if "error" in value:
            raise HostFailed(value["error"])
        return value

    async def skill(self, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
        """Call the skill; give its status, as the runner names it, and its sentence if it failed.

        The host going away is Unreachable.
        """
        result = await self._agent.call(name, arguments)
        status = result.status or ("failed" if result.is_error else "done")
        return status, _sentence(result) if result.is_error else ""


def _sentence(result: Result) -> str:
    return " ".join(" ".join(result.texts).split()) or "The host gave no reason."


@asynccontextmanager
async def connected(folder: Path, url: str, label: str) -> AsyncIterator[WarmHost]:
    """Connect to a host of a session; HostFailed: it is not there. Unreachable: it went away."""
    from dcc_bridge.client.connection import connect

    running = [it for it in running_in(folder / "runtime") if it.url == url]
    if not running:
        raise HostFailed("The host of this session is not running any more.")
    async with connect(url, running[0].token(label)) as agent:
        yield WarmHost(agent)
