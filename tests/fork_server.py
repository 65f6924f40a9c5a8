"""Starts ``python -m MODULE`` by forking an interpreter that has imported the large packages.

An import of the MCP SDK takes a second of processor time, a fork some milliseconds. `Popen` stands
in for ``subprocess.Popen`` in every test (see `conftest`). What it starts is a child of the
process that asked for it, so waiting, signals and pipes are the operating system's. Whatever cannot
be forked is started as usual: other programs, ``-c``, and variables that an interpreter reads as
it starts. A command that itself starts Python commands keeps a copy of the warm interpreter, from
which those are forked. Linux only.

``python -m tests.fork_server DESCRIPTOR`` is the warm interpreter.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import io
import json
import os
import re
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

IMPORTED: Final = (
    *("dcc_bridge.bridge", "dcc_bridge.headless", "dcc_bridge_usd.host"),
    *("tests.stand_ins", "mcp", "uvicorn", "uvicorn.protocols.http.h11_impl", "pxr.UsdUtils"),
    *("anyio._backends._asyncio", "httpcore2", "jsonschema", "rich.logging"),
    "trio",  # which httpcore2 imports at its first request, where there is one
    # What a bridge imports as it starts.
    *(f"dcc_bridge.server.{name}" for name in ("auth", "mcp_server", "resources", "service")),
    *("pxr.UsdLux", "rich.console", "uvicorn.lifespan.on"),
)
"""Neither Qt nor anything that starts a thread: a fork takes only one thread along."""

_READ_AT_START: Final = ("PYTHON", "LC_", "LANG", "LD_", "PXR_")
_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"  # read at the start, and settable later
_SCRIPT: Final = re.compile(r"#!/bin/sh\nPYTHONPATH='[^']*' exec (.*) \"\$@\"\n")
_MOST_SCRIPT: Final = 1000  # characters
_SET_CHILD_SUBREAPER: Final = 36
_HEADER: Final = 8


@dataclass(frozen=True)
class Command:
    """What a forked interpreter runs."""

    module: str
    words: list[str]
    env: dict[str, str]
    cwd: str
    warnings_are_errors: bool
    new_session: bool


class Popen(subprocess.Popen[Any]):
    """``subprocess.Popen``, whose Python commands come from a warm interpreter."""

    def _execute_child(self, args: Any, executable: Any, *more: Any) -> None:
        # The signature is the same from Python 3.11 to 3.14.
        preexec_fn, _, pass_fds, cwd, env, _, _, shell, *rest = more
        (stdin, stdin_end, stdout_end, stdout, stderr_end, stderr), limits = rest[:6], rest[7:]
        *owner, new_session, group = limits
        plain = not (executable or preexec_fn or pass_fds or shell)
        if plain and owner == [None, None, None, -1] and group == -1:
            command = _command(args, cwd, env, bool(new_session))
            if command is not None:
                files = [stdin, stdout, stderr]
                files = [standard if file == -1 else file for standard, file in enumerate(files)]
                self.pid = _server().start(command, files)
                self._child_created = True
                self._close_pipe_fds(stdin, stdin_end, stdout_end, stdout, stderr_end, stderr)  # type: ignore[attr-defined]  # the standard library's own
                return
        super()._execute_child(args, executable, *more)  # type: ignore[misc]  # the same


class Server:
    """The warm interpreter, as the process that uses it sees it."""

    def __init__(self, connection: socket.socket, process: subprocess.Popen[Any] | None) -> None:
        self._lock = threading.Lock()
        self._socket = connection
        self._process = process

    @classmethod
    def begin(cls) -> Server:
        """Start a warm interpreter."""
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            process = _Cold(
                [sys.executable, "-W", "error", "-m", "tests.fork_server", str(number)],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
            )
        return cls(ours, process)

    def start(self, command: Command, files: list[int]) -> int:
        """Start a command with those standard streams; give the number of its process."""
        if sys.platform != "linux":
            raise NotImplementedError
        payload = json.dumps(asdict(command)).encode()
        with self._lock:
            # The process that forked it has ended by the time its number comes: it then belongs
            # to the nearest ancestor that adopts orphans.
            _adopt_orphans(True)
            try:
                header = len(payload).to_bytes(_HEADER, "big")
                socket.send_fds(self._socket, [header], files)
                self._socket.sendall(payload)
                return int.from_bytes(_read(self._socket, _HEADER), "big")
            finally:
                _adopt_orphans(False)

    def close(self) -> None:
        """Let it end."""
        self._socket.close()
        if self._process is not None:
            self._process.wait()


_Cold: Final = subprocess.Popen
_running: list[Server] = []


def share_trust() -> None:
    """Have all HTTP clients share what they trust: each would read the system's certificates."""
    httpcore2: Any = import_module("httpcore2")
    httpcore2.default_ssl_context = trusted = cache(httpcore2.default_ssl_context)
    trusted(_trust_env=False)


def close() -> None:
    """Let the warm interpreter end, if there is one."""
    while _running:
        _running.pop().close()


def _server() -> Server:
    if not _running:
        _running.append(Server.begin())
    return _running[0]


def _command(args: Any, cwd: Any, env: Any, new_session: bool) -> Command | None:
    """Read a command line; None where it takes an interpreter of its own."""
    if sys.platform != "linux" or isinstance(args, str | bytes | os.PathLike):
        return None
    program, *words = _unwrapped(*map(os.fspath, args))
    strict = words[:2] == ["-W", "error"]
    words = words[2:] if strict else words
    env = dict(os.environ if env is None else env)
    if program != sys.executable or words[:1] != ["-m"] or _at_start(env) != _at_start(os.environ):
        return None
    return Command(words[1], words[2:], env, os.fspath(cwd or os.getcwd()), strict, new_session)


def _unwrapped(program: str, *words: str) -> tuple[str, ...]:
    """Read a script that does no more than start a module, as the stand-in for mayapy does."""
    try:
        with open(program, encoding="utf-8") as file:
            starts = _SCRIPT.fullmatch(file.read(_MOST_SCRIPT))
    except (OSError, UnicodeDecodeError):
        return program, *words
    return (*shlex.split(starts[1]), *words) if starts else (program, *words)


def _at_start(env: Any) -> dict[str, str]:
    names = {name for name in env if name.startswith(_READ_AT_START)} - {_NO_BYTECODE}
    return {name: env[name] for name in names}


def _adopt_orphans(is_on: bool) -> None:
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(is_on), 0, 0, 0)


def _read(connection: socket.socket, size: int) -> bytes:
    payload = b""
    while len(payload) < size:
        part = connection.recv(size - len(payload))
        if not part:
            raise EOFError
        payload += part
    return payload


def _receive(connection: socket.socket) -> tuple[Command, list[int]]:
    """Give a command and its standard streams, as soon as somebody starts one."""
    if sys.platform != "linux":
        raise NotImplementedError
    header, files, _, _ = socket.recv_fds(connection, _HEADER, 3)
    if not header:
        raise EOFError
    return Command(**json.loads(_read(connection, int.from_bytes(header, "big")))), files


def _next_command(connection: socket.socket) -> Command:
    """Serve until there is a command to run; this returns in the forked process only."""
    if sys.platform != "linux":
        raise NotImplementedError
    while True:
        command, files = _receive(connection)
        reader, writer = os.pipe()
        between = os.fork()
        if not between:
            if os.fork():
                os._exit(0)
            if command.new_session:
                os.setsid()
            os.write(writer, os.getpid().to_bytes(_HEADER, "big"))
            for standard, file in enumerate(files):
                os.dup2(file, standard)
            connection.detach()
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            return command
        for file in (writer, *files):
            os.close(file)
        os.waitpid(between, 0)  # whose child is now adopted by whoever asked for it
        connection.sendall(os.read(reader, _HEADER))
        os.close(reader)


def _run(command: Command) -> None:
    """Make this process what a new interpreter would be, and run the module."""
    os.chdir(command.cwd)
    os.environ.clear()
    os.environ.update(command.env)
    sys.dont_write_bytecode = bool(command.env.get(_NO_BYTECODE))
    tempfile.tempdir = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not command.warnings_are_errors:
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
    sys.argv = [command.module, *command.words]
    unbuffered = bool(command.env.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", closefd=False)  # type: ignore[misc]  # as at a start
    sys.stdout = sys.__stdout__ = _stream(1, "strict", unbuffered)  # type: ignore[misc]  # as at a start
    sys.stderr = sys.__stderr__ = _stream(2, "backslashreplace", unbuffered)  # type: ignore[misc]  # as at a start
    gc.enable()
    try:
        runpy.run_module(command.module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, int):
            _end(ended.code)
        raise
    _end(0)


def _end(code: int) -> None:
    """End as an interpreter does, without taking apart what the warm one has imported.

    That would be most of a short command. Where Qt or an output fails only then, it is done.
    """
    if "PySide6" in sys.modules:
        sys.exit(code)
    vars(threading)["_shutdown"]()
    atexit._run_exitfuncs()
    gc.collect()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)


def _starts_others(command: Command) -> bool:
    """Tell whether it starts Python commands itself."""
    return command.words[:1] == ["run"] or "--host" in command.words


def _stream(number: int, errors: str, unbuffered: bool) -> Any:
    raw: Any = os.fdopen(number, "wb", buffering=0 if unbuffered else -1, closefd=False)
    lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(raw, "utf-8", errors, line_buffering=lines, write_through=unbuffered)


def _main() -> None:
    if sys.platform != "linux":
        raise OSError("there is no fork here")
    connection = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # nothing is collected, so that the pages stay shared
    for name in IMPORTED:
        import_module(name)
    share_trust()
    cli = import_module("dcc_bridge.cli")
    for command in cli.COMMANDS.values():
        import_module(f"dcc_bridge.cli.{command.module}")
    leaves = import_module("dcc_bridge.cli.leaves")
    leaves.commands()
    leaves.targets()
    gc.freeze()
    try:
        command = _next_command(connection)
        while _starts_others(command):
            ours, connection = socket.socketpair()
            if os.fork():
                connection.close()
                _running.append(Server(ours, None))
                subprocess.Popen = Popen  # type: ignore[misc]  # what the command starts is forked too
                break
            ours.close()
            command = _next_command(connection)
    except (EOFError, KeyboardInterrupt):
        os._exit(0)
    _run(command)


if __name__ == "__main__":
    _main()
