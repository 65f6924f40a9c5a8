"""A terminal without a person: a pseudo-terminal, and what a test types and reads there."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal, TextIO

import pytest

LIMIT = 60.0
END = "(that was all)"


def _open_terminal() -> tuple[int, int]:
    if sys.platform == "win32":
        pytest.skip("Windows has no pseudo-terminals")
    import pty  # not there on Windows

    return pty.openpty()


class Tty:
    """The person's end of a terminal."""

    def __init__(self) -> None:
        self.master, self.slave = _open_terminal()
        self._open = [self.slave, self.master]
        self.seen = ""
        self._read_to = 0

    def until(self, text: str, limit: float = LIMIT) -> str:
        """Read on until a text has come; give what came up to its end."""
        end = time.monotonic() + limit
        while text not in self.seen[self._read_to :]:
            assert time.monotonic() < end, f"{text!r} did not come: {self.seen[self._read_to :]!r}"
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                self.seen += self._read()
        begin, self._read_to = self._read_to, self.seen.index(text, self._read_to) + len(text)
        return self.seen[begin : self._read_to]

    def rest(self) -> None:
        """Read all that was written to it; whoever writes there has ended."""
        with self.open("w") as screen:
            screen.write(END)
        self.until(END)

    def type(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def answer(self, prompt: str, line: str) -> str:
        """Type a line once a text has come; give what came up to its end."""
        shown = self.until(prompt)
        self.type(line)
        return shown

    def press(self, key: str) -> None:
        os.write(self.master, key.encode())

    @contextmanager
    def open(self, mode: Literal["r", "w"]) -> Iterator[TextIO]:
        if sys.platform == "win32":
            raise NotImplementedError
        path = os.ttyname(self.slave)
        end = open(path, mode, encoding="utf-8")  # noqa: SIM115 - closed below
        try:
            yield end
        finally:
            with suppress(OSError):  # it may be hung up
                end.close()

    def close(self) -> None:
        """Hang up; a second time closes nothing, as its numbers may be somebody else's by then."""
        while self._open:
            os.close(self._open.pop(0))

    def _read(self) -> str:
        return os.read(self.master, 4096).decode("utf-8", "replace").replace("\r\n", "\n")


@contextmanager
def tty() -> Iterator[Tty]:
    terminal = Tty()
    try:
        yield terminal
    finally:
        terminal.close()


@contextmanager
def at_terminal(
    command: Sequence[str], env: dict[str, str]
) -> Iterator[tuple[Tty, subprocess.Popen[str]]]:
    """Run a command with a terminal for its keyboard and screen; its stdout is piped."""
    with tty() as terminal:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=terminal.slave,
            stdout=subprocess.PIPE,
            stderr=terminal.slave,
            text=True,
        )
        with process:
            try:
                yield terminal, process
            finally:
                process.kill()
