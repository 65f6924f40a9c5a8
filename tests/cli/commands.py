"""The command in processes of its own, each with a hard time limit."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    contextmanager,
    redirect_stderr,
    redirect_stdout,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from dcc_bridge.cli import main
from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance
from tests.client.tty import Tty, at_terminal

LIMIT = 60.0
if sys.platform == "win32":  # in Wine, where a command takes several times as long
    LIMIT = 240.0
SAID = "said.txt"
SKILLS = Path(__file__).parent / "skills"
_ROOT = Path(__file__).parents[2]
SHOT = Path(__file__).parents[2] / "resources" / "scenes" / "shot_010_layout.usda"
DELETE = ("call", "delete", "--args", '{"pattern": "*", "type": "Camera"}')
COMMAND = (sys.executable, "-W", "error", "-m", "dcc_bridge")


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]  # runs a command in this process, with its own environment


def environment(runtime: Path, **more: str) -> dict[str, str]:
    """Give an environment without a screen, in which hosts are found in a folder of the test's."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    ours = {name: value for name, value in os.environ.items() if not name.startswith("DCC_BRIDGE_")}
    kept = {name: value for name, value in ours.items() if name not in screens}
    return {**kept, "DCC_BRIDGE_RUNTIME": str(runtime), **more}


def run(runtime: Path, *words: str | Path, **more: str) -> Done:
    """Run a command to its end, with nobody at its terminal.

    Those that only connect run in this process: the SDK's import would be most of the test.
    """
    here = words[:1] in [("tools",), ("call",), ("list",), ("token",), ("doctor",)]
    return (_run_here if here else _run)(environment(runtime, **more), [*map(str, words)])


def _run(env: dict[str, str], words: list[str]) -> Done:
    done = subprocess.run(
        [*COMMAND, *words],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _run_here(env: dict[str, str], words: list[str]) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, env, clear=True),
        open(os.devnull) as nobody,
        patch.object(sys, "stdin", nobody),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            code = main(words)
        except SystemExit as ended:  # argparse ends the process itself
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


class Served:
    """``dcc-bridge serve`` in a process, once it is ready."""

    def __init__(self, runtime: Path, process: subprocess.Popen[str]) -> None:
        self.runtime = runtime
        self.process = process
        assert process.stdout is not None
        self.ready = process.stdout.readline()
        found = re.search(r"https?://\S+$", self.ready.strip())
        assert found, f"{self.ready!r} {process.communicate(timeout=LIMIT)[1]}"
        self.url = found[0]

    def run(self, *words: str | Path, **more: str) -> Done:
        """Run another command beside it."""
        return run(self.runtime, *words, **more)

    def at_terminal(self, *words: str) -> AbstractContextManager[tuple[Tty, subprocess.Popen[str]]]:
        """Run another command beside it, at a terminal."""
        return at_terminal([*COMMAND, *words], environment(self.runtime))

    def end(self, number: int = signal.SIGTERM) -> Done:
        """Send a signal, and return how it ended."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=LIMIT)
        return Done(self.process.returncode, self.ready + out, err)

    @property
    def instance(self) -> Instance:
        """What it wrote down of itself."""
        return next(one for one in discovery.running(self.runtime) if one.url == self.url)


@contextmanager
def serve(runtime: Path, *words: str | Path, **more: str) -> Iterator[Served]:
    with background(runtime, "serve", *words, **more) as process:
        yield Served(runtime, process)


@contextmanager
def serve_in(home: Path, limit: float, *words: str | Path, **more: str) -> Iterator[Served]:
    """Serve with a folder as home, in which `SAID` is what it writes: a full pipe would stop it.

    It ends with the block, and is killed if that takes longer than the limit.
    """
    ours = {"DCC_BRIDGE_AUDIT": str(home / "audit"), "HOME": str(home)}
    with (
        open(home / SAID, "w", encoding="utf-8") as said,
        subprocess.Popen(
            [*COMMAND, "serve", *map(str, words)],
            env=environment(home / "runtime", **ours, **more),
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        ) as process,
    ):
        try:
            yield Served(home / "runtime", process)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(limit)
            process.kill()


@contextmanager
def background(runtime: Path, *words: str | Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)],
        env=environment(runtime, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def words_of(pid: int) -> Sequence[str]:
    """Give the words with which a process was started, as anybody on this computer can see them."""
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
