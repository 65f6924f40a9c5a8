"""Says why a host does not become ready for agents, and what to do about it. Any thread.

A plug-in brings what it depends on in a folder of its own. Where the host found some of it
elsewhere, as in the virtual environment of the terminal from which it was started, it is that which
runs, and it may not fit the host's Python.
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
        what: What went wrong, in sentences.
        mend: What the person does about it, in sentences.
    """

    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.what} {self.mend}"


def foreign_modules(vendor: Path) -> dict[str, str]:
    """Return the modules that a plug-in brought and the host runs from elsewhere.

    Args:
        vendor: The folder in which the plug-in brought them.

    Returns:
        The file of each by its name; empty where the host runs what the plug-in brought.
    """
    foreign = {}
    for name in _brought(vendor):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and not Path(file).is_relative_to(vendor):
            foreign[name] = file
    return foreign


def _brought(vendor: Path) -> list[str]:
    """Return the names of the modules in a folder; none where it cannot be read."""
    try:
        names = {path.name.partition(".")[0] for path in vendor.iterdir()}
    except OSError:
        return []
    # A package's description, such as "anyio-4.9.0.dist-info", is no module.
    return sorted(name for name in names if name.isidentifier())


def name_foreign(host: str, foreign: dict[str, str]) -> str:
    """Return a sentence that names the files that are not the plug-in's own."""
    files = ", ".join(f"{name} from {file}" for name, file in foreign.items())
    return f"{host} runs files that its plug-in did not bring: {files}."


def explain(error: BaseException, host: str, vendor: Path | None = None) -> StartProblem:
    """Return why a bridge did not start, for the person. It raises nothing.

    Args:
        error: The exception that its start raised.
        host: The name of the application.
        vendor: The folder in which its plug-in brought the packages that it depends on; None for a
            host that uses the packages installed in its Python.

    Returns:
        The problem; `str` of it says both what is wrong and what to do.
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
    if is_in_venv and (foreign or _is_of_python(error, vendor)):
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


def _is_of_python(error: ImportError, vendor: Path) -> bool:
    """Return whether the file that failed is the environment's, or that of the Python below it."""
    file = _failed_file(error)
    if file is None or file.is_relative_to(vendor):
        return False
    return file.is_relative_to(sys.prefix) or file.is_relative_to(sys.base_prefix)


def _failed_file(error: ImportError) -> Path | None:
    """Return the file that could not be loaded, or else the file that imported it."""
    if error.path is not None:
        return Path(error.path)
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    # `import_module` is in importlib's file, which is neither.
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
