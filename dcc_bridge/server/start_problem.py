"""Explains why a host does not become ready for agents, and what to do about that. Any thread.

A plug-in brings its dependencies in a *vendor* folder. If the host finds a dependency elsewhere
first, such as in the virtual environment of the terminal that started it, that *foreign* module
runs instead, and may not fit the host's Python.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from dcc_bridge.errors import BridgeError


@dataclass(frozen=True, slots=True)
class StartProblem:
    """Why agents cannot connect to a host.

    Attributes:
        what: The problem, in sentences.
        mend: What the person can do, in sentences.
    """

    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.what} {self.mend}"


def foreign_modules(vendor: Path) -> dict[str, str]:
    """Return the modules of a plug-in's vendor folder that the host has loaded from elsewhere.

    Args:
        vendor: The vendor folder.

    Returns:
        The file of each such module by the module's name.
    """
    foreign = {}
    for name in _module_names(vendor):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and not Path(file).is_relative_to(vendor):
            foreign[name] = file
    return foreign


def _module_names(vendor: Path) -> list[str]:
    """Return the names of the modules in a folder; [] if it cannot be read."""
    try:
        names = {path.name.partition(".")[0] for path in vendor.iterdir()}
    except OSError:
        return []
    # The metadata of a package, such as "anyio-4.9.0.dist-info", is no module.
    return sorted(name for name in names if name.isidentifier())


def name_foreign(host: str, foreign: dict[str, str]) -> str:
    """Return a sentence that names the files that are not the plug-in's own."""
    files = ", ".join(f"{name} from {file}" for name, file in foreign.items())
    return f"{host} runs files that its plug-in did not bring: {files}."


def explain(error: BaseException, host: str, vendor: Path | None = None) -> StartProblem:
    """Return why a bridge did not start, for the person. It raises nothing.

    Args:
        error: The exception that the start raised.
        host: The name of the application.
        vendor: The vendor folder of the plug-in; None for a host that uses the packages installed
            in its Python.

    Returns:
        The problem, whose `str` says what is wrong and what to do.
    """
    if isinstance(error, BridgeError):
        what = f"The bridge did not start. {str(error).rstrip('.')}."
        return StartProblem(what, f"Then restart {host}.")
    reason = f"{type(error).__name__}: {error}".rstrip(".")
    if vendor is None or not isinstance(error, ImportError):
        what = f"The bridge did not start. {reason}."
        return StartProblem(what, f"Look at what {host} printed, and restart it.")
    foreign = foreign_modules(vendor)
    is_in_venv = sys.prefix != sys.base_prefix
    if is_in_venv and (foreign or _is_file_of_python(error, vendor)):
        what = (
            f"The bridge did not start: {host} runs with the Python files of the virtual "
            f"environment {sys.prefix}, and they do not fit ({reason})."
        )
        mend = (
            f"Quit {host}, run `deactivate` in the terminal from which you started it, and start "
            "it again."
        )
    elif foreign:
        what = f"The bridge did not start. {name_foreign(host, foreign)} {reason}."
        mend = f"Remove them from the path of {host}'s Python (see PYTHONPATH), and restart {host}."
    else:
        what = f"The bridge did not start. {reason}."
        mend = f"Install the plug-in again, and restart {host}."
    return StartProblem(what, mend)


def _is_file_of_python(error: ImportError, vendor: Path) -> bool:
    """Return whether the file that failed is in the virtual environment or in its base Python."""
    file = _failed_file(error)
    if file is None or file.is_relative_to(vendor):
        return False
    return file.is_relative_to(sys.prefix) or file.is_relative_to(sys.base_prefix)


def _failed_file(error: ImportError) -> Path | None:
    """Return the file that could not be loaded, or else the file that imported it."""
    if error.path is not None:
        return Path(error.path)
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    # `import_module` has a frame in importlib's file, which has not failed.
    importing = [file for file in files if file != importlib.__file__]
    if not importing:
        return None
    return Path(importing[-1])


def overdue(host: str, seconds: float, cause: str) -> StartProblem:
    """Return the problem of a host that has been starting for too long.

    Args:
        host: The name of the application.
        seconds: The time since its start.
        cause: What the host waits for, as half a sentence.
    """
    what = f"{host} has been starting for {seconds:.0f} s: {cause}."
    mend = (
        "Close its open dialogs or wait until it has finished its work. If that "
        "does not help, restart it."
    )
    return StartProblem(what, mend)
