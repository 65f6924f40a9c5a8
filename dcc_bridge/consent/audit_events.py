"""Tables of Python's audit events: what each does to files, programs and the process. Any thread.

The events are those of PEP 578, https://docs.python.org/3/library/audit_events.html, as Python 3.11
to 3.13 raise them.
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

Row = tuple[str, tuple[int, ...], int | None]
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


_PATHS: Final = type(Path()), type(PurePath())
_COPIES: Final[Any] = (str, str.__str__), (bytes, lambda it: b"".join([it])), (int, int.__index__)


_DATABASE: Final = "open the database"
MAX_PATH: Final = 300  # characters of a path that are shown in a sentence
# A row has a verb, the places of the paths among an event's arguments, and the first of the places
# where their folders' descriptors (`dir_fd`) stand.
NAMES: Final[Mapping[str, Row]] = {  # they concern the name itself, so a link is not followed
    "os.remove": ("remove", (0,), 1),
    "os.rename": ("rename", (0, 1), 2),
    "os.rmdir": ("remove the folder", (0,), 1),
    "os.mkdir": ("make the folder", (0,), 2),
    "os.link": ("make a link between", (0, 1), 2),
    "os.symlink": ("make the link", (1,), 2),
    "shutil.move": ("move", (0, 1), None),
    "shutil.rmtree": ("remove", (0,), 1),
}
FILES: Final[Mapping[str, Row]] = {
    "os.chmod": ("change the permissions of", (0,), 2),
    "os.chown": ("change the owner of", (0,), 3),
    "os.chflags": ("change the flags of", (0,), None),
    "os.truncate": ("cut off", (0,), None),
    "os.utime": ("change the times of", (0,), 3),
    **dict.fromkeys(("os.setxattr", "os.removexattr"), ("change the attributes of", (0,), None)),
    "shutil.copyfile": ("write", (1,), None),
    "shutil.chown": ("change the owner of", (0,), None),
    "sqlite3.connect": (_DATABASE, (0,), None),
}
_PROGRAM: Final = "start another program"
THREAD: Final = "start a thread"
PYTHON: Final = "change how Python itself runs"
NATIVE: Final = "call native code"
ACTS: Final[Mapping[str, str]] = {  # an event, or its first part with a dot
    event: act
    for act, events in {
        _PROGRAM: """subprocess.Popen os.system os.exec os.posix_spawn os.spawn os.fork os.forkpty
            os.startfile pty.spawn _winapi.CreateProcess webbrowser.open
            cpython.PyInterpreterState_New""",
        "use the network": """socket. urllib. ftplib. smtplib. imaplib. poplib. nntplib. telnetlib.
            http.""",
        THREAD: "_thread.start_new_thread _thread.start_joinable_thread",
        PYTHON: "sys.addaudithook sys.settrace sys.setprofile sys.monitoring.register_callback",
        "change the system's settings": """winreg.CreateKey winreg.DeleteKey winreg.DeleteValue
            winreg.SetValue winreg.SaveKey winreg.LoadKey syslog. resource.setrlimit
            resource.prlimit""",
        "end or signal a process": "os.kill os.killpg signal.pthread_kill",
        "open a file": "_winapi.CreateFile _winapi.CreateJunction msvcrt.",
        NATIVE: "ctypes.",
        "wait for input from a terminal": "builtins.input",
        "start a debugger": "builtins.breakpoint",
    }.items()
    for event in events.split()
}
HARMLESS: Final = frozenset({"socket.gethostname"})
WRAPPED: Final = (  # calls that raise no event, in 3.11 at least
    *((_thread, it, THREAD) for it in ("start_new_thread", "start_new")),
    (threading, "_start_new_thread", THREAD),
    (sys, "setswitchinterval", PYTHON),  # it would hold up the thread that ends the code
    *((signal, it, "end or signal a process") for it in ("alarm", "setitimer")),
    *((os, it, "end the application") for it in ("_exit", "abort")),
    *((os, it, "make a file") for it in ("mkfifo", "mknod")),
)


def plain_path(path: Any) -> Any:
    """Return a plain copy of a path, made without its own methods.

    A subclass of str may lie, and `__fspath__` may return something else the second time.
    """
    text = str(path) if type(path) in _PATHS else path
    for kind, copy in _COPIES:
        if issubclass(type(text), kind):
            return copy(text)
    raise TypeError(type(path))


def resolve(path: Any, folder: Any = None, follows: bool = True) -> str:
    """Return a path without links and dots; for a descriptor its file's, where there is /proc."""
    exact = plain_path(path)
    text = _file_of(exact) if isinstance(exact, int) else os.fsdecode(exact)
    if isinstance(folder, int) and folder >= 0:
        text = os.path.join(_file_of(folder), text)
    parent, name = os.path.split(text.rstrip(os.sep))
    if follows or name in ("", os.curdir, os.pardir):
        return os.path.normcase(os.path.realpath(text))
    return os.path.normcase(os.path.join(os.path.realpath(parent), name))


NULL: Final = resolve(os.devnull)


def _file_of(descriptor: int) -> str:
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
        is_written = isinstance(mode, str) and bool(set(mode) & set("wax+"))
        if not is_written and not (flags or 0) & WRITES:
            return None
        return _resolved("write", [path], [None], follows=True)
    row = NAMES.get(event) or FILES.get(event)
    if row is None:
        return None
    verb, places, first_folder = row
    paths = [args[place] for place in places]
    folders = [None, None]
    if first_folder is not None:
        folders = [*args[first_folder:][:2], None, None]
    return _resolved(verb, paths, folders, follows=event in FILES)


def _resolved(
    verb: str, paths: Sequence[Any], folders: Sequence[Any], *, follows: bool
) -> FileAct | None:
    if verb == _DATABASE and plain_path(paths[0]) == ":memory:":
        return None
    try:
        found = [resolve(*pair, follows) for pair in zip(paths, folders, strict=False)]
    except (OSError, TypeError, ValueError):
        found = [""]  # no path at all, or below a folder that cannot be told
    if verb == "write" and found == [NULL]:
        return None
    return FileAct(verb, found)


def act_of(event: str) -> str | None:
    """Return the act of an event that is not about files: "start a thread"; None if harmless."""
    if event in HARMLESS:
        return None
    return ACTS.get(event) or ACTS.get(event.partition(".")[0] + ".")
