"""Starts processes of this folder and speaks with them, line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

_ROOT: Final = Path(__file__).parents[2]


class Process:
    """A module of this folder in a process of its own."""

    def __init__(self, module: str, *arguments: str, python: str = sys.executable) -> None:
        """Start it.

        Args:
            module: Its name in this folder.
            *arguments: Its command line.
            python: The interpreter, where another environment is meant.
        """
        self._process = subprocess.Popen(
            [python, "-m", f"tests.bench.{module}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        )

    def tell(self, line: str) -> Any:
        """Send a line, and wait for the reply."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.hear()

    def hear(self) -> Any:
        """Wait for a line.

        Raises:
            EOFError: The process has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EOFError(f"{self._process.args!r} ended too soon.")
        return json.loads(line)

    def end(self, limit: float = 30.0) -> str:
        """Close its input, and give the rest of what it says within so many seconds.

        Raises:
            CalledProcessError: It failed.
        """
        rest, _ = self._process.communicate(timeout=limit)
        if self._process.returncode:
            raise subprocess.CalledProcessError(self._process.returncode, self._process.args)
        return rest

    def used(self) -> float:
        """Give the seconds of processor time that its threads have used. Needs /proc."""
        files = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in files) / 1e9

    def kill(self) -> None:
        """End it at once, if it is still there."""
        self._process.kill()
        self._process.wait()


@contextmanager
def bytecode() -> Iterator[None]:
    """Have processes that start in the block keep their bytecode, as an installation does.

    It is kept in a folder of the block's own, so the first process of each kind is slow.
    """
    kept = dict(os.environ)
    with TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(kept)


@contextmanager
def process(module: str, *arguments: str) -> Iterator[Process]:
    """Have a process for as long as the block lasts."""
    running = Process(module, *arguments)
    try:
        yield running
        running.end()
    finally:
        running.kill()
