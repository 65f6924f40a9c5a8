"""Starts and stops a warm host, and connects to it as an MCP client. Any thread."""

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
from dcc_bridge.spi.batch import held_files, private_files

from . import files, host_job
from .host_job import JOB, MODULE, REPORT, STOP, Job
from .plan import PlanError

if TYPE_CHECKING:
    from dcc_bridge.client.agent import Agent, Result

LOG: Final = "host.log"  # the output of the host, in its session's folder
START_TIMEOUT_S: Final = 180.0  # an application that starts for the first time is slow
_END_TIMEOUT_S: Final = 20.0  # after which the host is killed
_POLL_S: Final = 0.02
_MAX_OUTPUT_CHARACTERS: Final = 1500  # of the host's output in an error, the last ones


class HostFailed(Exception):
    """A host could not be started, or has ended. The message is a sentence for the person."""


def start(job: Job, program: str | None = None) -> subprocess.Popen[bytes]:
    """Start a host in a session of its own, and return at once.

    The host outlives this process, until `stop`. `wait_until_ready` waits for its start.

    Args:
        job: The job of the host.
        program: The host's batch interpreter; None for the one on PATH.

    Returns:
        The process of the host.

    Raises:
        exits.Failure: There is no such interpreter.
        OSError: The session's folder cannot be written.
    """
    folder = private_files.folder(Path(job.folder))
    held_files.delete(folder / STOP)
    held_files.delete(folder / REPORT)
    env = {**interpreter.environment(), JOB: str(host_job.write_job(job))}
    command = interpreter.command(job.host, program, folder, MODULE)
    with open(folder / LOG, "ab") as output:
        return subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl+C goes to this process only, which then stops the host
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )


def wait_until_ready(
    folder: Path, process: subprocess.Popen[bytes], limit: float = START_TIMEOUT_S
) -> str:
    """Wait until a host takes calls.

    Args:
        folder: The folder of its session.
        process: The process that `start` returned.
        limit: Seconds to wait.

    Returns:
        The URL of the host.

    Raises:
        HostFailed: The host failed, ended, or was not ready in time. The message says why.
        PlanError: The host cannot run the plan; another start would fail as well.
    """
    end = time.monotonic() + limit
    while True:
        has_ended = process.poll() is not None  # before the report is read, or that may be missed
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
        time.sleep(_POLL_S)


def _output(folder: Path) -> str:
    """Return the end of a host's output; "" where there is none."""
    try:
        output = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return output[-_MAX_OUTPUT_CHARACTERS:].strip()


def stop(folder: Path, process: subprocess.Popen[bytes] | None = None) -> None:
    """Stop a host and wait for its end; a host that hangs is killed.

    Args:
        folder: The folder of its session.
        process: The host's process; None if another process has started it. The host is then known
            by the record in its folder.
    """
    with suppress(OSError):
        (folder / STOP).touch()
    if process is not None:
        try:
            process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return
    end = time.monotonic() + _END_TIMEOUT_S
    while running := running_in(folder / "runtime"):
        if time.monotonic() > end:
            kill_signal = 15 if sys.platform == "win32" else 9
            for instance in running:  # each still holds its lock, so the pid is its own
                with suppress(OSError):
                    os.kill(instance.pid, kill_signal)
            return
        time.sleep(_POLL_S)


@contextmanager
def warm(job: Job, program: str | None = None) -> Iterator[str]:
    """Run a host during the block.

    Args:
        job: The job of the host.
        program: The host's batch interpreter; None for the one on PATH.

    Yields:
        The URL of the host.

    Raises:
        HostFailed: The host could not be started.
        exits.Failure: There is no such interpreter.
    """
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
        """Call one of the batch's own tools, and return its result.

        Raises:
            HostFailed: The tool failed. The message says why.
            Unreachable: The host went away.
        """
        result = await self._agent.call(name, arguments)
        value = result.value
        if result.is_error or not isinstance(value, dict):
            raise HostFailed(_sentence(result))
        if "error" in value:
            raise HostFailed(value["error"])
        return value

    async def skill(self, name: str, arguments: dict[str, Any]) -> tuple[str, str]:
        """Call a skill.

        Returns:
            The status of the call, as the runner names it, and the reason of a failure, or "".

        Raises:
            Unreachable: The host went away.
        """
        result = await self._agent.call(name, arguments)
        if result.is_error:
            return result.status or "failed", _sentence(result)
        return result.status or "done", ""


def _sentence(result: Result) -> str:
    """Return the text of a result in one line."""
    words = " ".join(result.texts).split()
    if not words:
        return "The host gave no reason."
    return " ".join(words)


@asynccontextmanager
async def connected(folder: Path, url: str, label: str) -> AsyncIterator[WarmHost]:
    """Connect to the host of a session.

    Args:
        folder: The folder of the session.
        url: The URL of the host.
        label: The label of the client, which the host must expect.

    Yields:
        The connected client.

    Raises:
        HostFailed: The host is not running any more.
        Unreachable: The host went away.
    """
    from dcc_bridge.client.connection import connect

    running = [instance for instance in running_in(folder / "runtime") if instance.url == url]
    if not running:
        raise HostFailed("The host of this session is not running any more.")
    token = running[0].token(label)
    async with connect(url, token) as agent:
        yield WarmHost(agent)
