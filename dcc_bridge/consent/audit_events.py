"""Tables of Python's audit events: the act on files, programs and the process. Any thread.

The events are those of PEP 578, https://docs.python.org/3/library/audit_events.html, as Python 3.11
to 3.14 raise them.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MAX_PATH: Final = 300  # characters of a path that are shown in a sentence
_DATABASE: Final = "open the database"
_PATH_TYPES: Final = (type(Path()), type(PurePath()))


class FileEvent(NamedTuple):
    """The meaning of an audit event about files.

    Attributes:
        verb: The act: "remove".
        paths: The places of the paths among the event's arguments.
        folders: The first of the places where the descriptors of the paths' folders (`dir_fd`)
            stand; None for an event without them.
    """

    verb: str
    paths: tuple[int, ...]
    folders: int | None


# These events concern the name itself, so a link is not followed.
NAMES: Final[Mapping[str, FileEvent]] = {
    "os.remove": FileEvent("remove", (0,), 1),
    "os.rename": FileEvent("rename", (0, 1), 2),
    "os.rmdir": FileEvent("remove the folder", (0,), 1),
    "os.mkdir": FileEvent("make the folder", (0,), 2),
    "os.link": FileEvent("make a link between", (0, 1), 2),
    "os.symlink": FileEvent("make the link", (1,), 2),
    "shutil.move": FileEvent("move", (0, 1), None),
    "shutil.rmtree": FileEvent("remove", (0,), 1),
}
# These events concern the file, so a link is followed.
FILES: Final[Mapping[str, FileEvent]] = {
    "os.chmod": FileEvent("change the permissions of", (0,), 2),
    "os.chown": FileEvent("change the owner of", (0,), 3),
    "os.chflags": FileEvent("change the flags of", (0,), None),
    "os.truncate": FileEvent("cut off", (0,), None),
    "os.utime": FileEvent("change the times of", (0,), 3),
    "os.setxattr": FileEvent("change the attributes of", (0,), None),
    "os.removexattr": FileEvent("change the attributes of", (0,), None),
    "shutil.copyfile": FileEvent("write", (1,), None),
    "shutil.chown": FileEvent("change the owner of", (0,), None),
    "sqlite3.connect": FileEvent(_DATABASE, (0,), None),
}
THREAD: Final = "start a thread"
PYTHON: Final = "change how Python itself runs"
NATIVE: Final = "call native code"
_PROGRAM: Final = "start another program"
_NETWORK: Final = "use the network"
_SYSTEM: Final = "change the system's settings"
_PROCESS: Final = "end or signal a process"
_FILE: Final = "open a file"
_END: Final = "end the application"
_MAKE_FILE: Final = "make a file"
# The act of an event. A name with a dot at the end stands for all events that begin so.
ACTS: Final[Mapping[str, str]] = {
    "subprocess.Popen": _PROGRAM,
    "os.system": _PROGRAM,
    "os.exec": _PROGRAM,
    "os.posix_spawn": _PROGRAM,
    "os.spawn": _PROGRAM,
    "os.fork": _PROGRAM,
    "os.forkpty": _PROGRAM,
    "os.startfile": _PROGRAM,
    "pty.spawn": _PROGRAM,
    "_winapi.CreateProcess": _PROGRAM,
    "webbrowser.open": _PROGRAM,
    "cpython.PyInterpreterState_New": _PROGRAM,
    "socket.": _NETWORK,
    "urllib.": _NETWORK,
    "ftplib.": _NETWORK,
    "smtplib.": _NETWORK,
    "imaplib.": _NETWORK,
    "poplib.": _NETWORK,
    "nntplib.": _NETWORK,
    "telnetlib.": _NETWORK,
    "http.": _NETWORK,
    "_thread.start_new_thread": THREAD,
    "_thread.start_joinable_thread": THREAD,
    "sys.addaudithook": PYTHON,
    "sys.settrace": PYTHON,
    "sys.setprofile": PYTHON,
    "sys.remote_exec": PYTHON,
    "sys.monitoring.register_callback": PYTHON,
    "winreg.CreateKey": _SYSTEM,
    "winreg.DeleteKey": _SYSTEM,
    "winreg.DeleteValue": _SYSTEM,
    "winreg.SetValue": _SYSTEM,
    "winreg.SaveKey": _SYSTEM,
    "winreg.LoadKey": _SYSTEM,
    "syslog.": _SYSTEM,
    "resource.setrlimit": _SYSTEM,
    "resource.prlimit": _SYSTEM,
    "os.kill": _PROCESS,
    "os.killpg": _PROCESS,
    "signal.pthread_kill": _PROCESS,
    "_winapi.CreateFile": _FILE,
    "_winapi.CreateJunction": _FILE,
    "msvcrt.": _FILE,
    "ctypes.": NATIVE,
    "builtins.input": "wait for input from a terminal",
    "builtins.breakpoint": "start a debugger",
}
HARMLESS: Final = frozenset({"socket.gethostname"})
# Functions that raise no event, in 3.11 at least: the owner, the name there, and the act.
WRAPPED: Final = (
    (_thread, "start_new_thread", THREAD),
    (_thread, "start_new", THREAD),
    (threading, "_start_new_thread", THREAD),
    (sys, "setswitchinterval", PYTHON),  # it would hold up the thread that ends the code
    (signal, "alarm", _PROCESS),
    (signal, "setitimer", _PROCESS),
    (os, "_exit", _END),
    (os, "abort", _END),
    (os, "mkfifo", _MAKE_FILE),
    (os, "mknod", _MAKE_FILE),
)


def plain_path(path: Any) -> Any:
    """Return a plain copy of a path, made without its own methods.

    A subclass of str may lie, and `__fspath__` may return another path the second time.

    Args:
        path: A path or a descriptor, as an audit event has it.

    Returns:
        A str, bytes or int.

    Raises:
        TypeError: The object is of another type.
    """
    kind = type(path)
    if kind in _PATH_TYPES:
        return str(path)
    if issubclass(kind, str):
        return str.__str__(path)
    if issubclass(kind, bytes):
        return b"".join([path])
    if issubclass(kind, int):
        return int.__index__(path)
    raise TypeError(kind)


def resolve(path: Any, folder: Any = None, follows: bool = True) -> str:
    """Return an absolute path without links and dots.

    Args:
        path: A path, or the descriptor of an open file.
        folder: The descriptor of the folder that the path is relative to, if it is an int.
        follows: Whether a link at the end of the path is followed.

    Raises:
        OSError: The descriptor is not open, or the system has no /proc.
        TypeError: The path is no path.
        ValueError: The descriptor is that of a pipe or a socket, or the path has a null character.
    """
    exact = plain_path(path)
    text = _file_of(exact) if isinstance(exact, int) else os.fsdecode(exact)
    if isinstance(folder, int) and folder >= 0:
        text = os.path.join(_file_of(folder), text)
    parent, name = os.path.split(text.rstrip(os.sep))
    if follows or name in ("", os.curdir, os.pardir):
        return os.path.realpath(text)
    return os.path.join(os.path.realpath(parent), name)


NULL: Final = resolve(os.devnull)


def _file_of(descriptor: int) -> str:
    """Return the path of an open file or folder."""
    file = os.readlink(f"/proc/self/fd/{descriptor}")
    if not os.path.isabs(file):
        raise ValueError(file)  # a pipe or a socket
    return file


class FileAct(NamedTuple):
    """An act on files, as an audit event reports it.

    Attributes:
        verb: The act: "write", "remove".
        paths: Absolute paths without links; "" for one that cannot be resolved.
    """

    verb: str
    paths: list[str]

    @property
    def text(self) -> str:
        """The act in words: "write /shots/a.usda"."""
        named = " and ".join(path[-MAX_PATH:] for path in self.paths if path)
        return f"{self.verb} {named or 'an open file'}"


def file_act(event: str, args: tuple[Any, ...]) -> FileAct | None:
    """Return the act on files that an event reports; None if it reports none."""
    if event == "open":
        path, mode, flags = args[:3]
        has_write_mode = isinstance(mode, str) and not set(mode).isdisjoint("wax+")
        has_write_flags = bool((flags or 0) & WRITE_FLAGS)
        if not has_write_mode and not has_write_flags:
            return None
        return _resolved("write", [path], [None], follows=True)
    meaning = NAMES.get(event) or FILES.get(event)
    if meaning is None:
        return None
    paths = [args[place] for place in meaning.paths]
    folders = [None, None]
    if meaning.folders is not None:
        folders = [*args[meaning.folders :][:2], None, None]
    return _resolved(meaning.verb, paths, folders, follows=event in FILES)


def _resolved(
    verb: str, paths: Sequence[Any], folders: Sequence[Any], *, follows: bool
) -> FileAct | None:
    """Return an act with its paths resolved; None if nothing is written to a disk."""
    if verb == _DATABASE and plain_path(paths[0]) == ":memory:":
        return None
    try:
        resolved = [
            resolve(path, folder, follows) for path, folder in zip(paths, folders, strict=False)
        ]
    except (OSError, TypeError, ValueError):
        resolved = [""]  # no path at all, or one below an unknown folder
    if verb == "write" and resolved == [NULL]:
        return None
    return FileAct(verb, resolved)


def act_of(event: str) -> str | None:
    """Return the act of an event that is not about files: "start a thread"; None if harmless."""
    if event in HARMLESS:
        return None
    act = ACTS.get(event)
    if act is not None:
        return act
    family = event.partition(".")[0] + "."
    return ACTS.get(family)
