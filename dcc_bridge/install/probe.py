"""Asks an application's own program which version it is. It writes nothing but its answer.

Main thread.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from dcc_bridge.install.locations import Facts, InstallTarget, UnknownLocation

_TIMEOUT: Final = 180  # seconds; an application that starts for the first time is slow
_SCRIPT: Final = """\
import json, os, sys
{imports}
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    python = "%d.%d" % sys.version_info[:2]
    json.dump({{"version": {version}, "python": python, "shared": {shared}}}, out)
"""


def probe(application: InstallTarget, program: str | None = None) -> Facts:
    """Ask an application's batch interpreter, a named one or that on PATH, what it is.

    UnknownLocation says that the one that was named does not answer.
    """
    path = find_program(application, program)
    if path is None:
        return Facts()
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as home:
        answer, script = Path(home, "answer.json"), Path(home, "probe.py")
        script.write_text(_SCRIPT.format(**asdict(application.probe)), encoding="utf-8")
        # It is asked in a home of its own: an application that starts writes settings.
        env = {**environment(), "DCC_BRIDGE_TELL": str(answer)}
        env |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), home)
        with suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(
                [str(path), *([] if is_python(path) else application.script_option), str(script)],
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT,
                check=False,
            )
        try:
            payload = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UnknownLocation(f"{path} does not say which {application.title} it is.") from None
    shared = Path(payload["shared"]) if payload.get("shared") else None
    return Facts(payload["version"], payload["python"], shared, path)


def environment() -> dict[str, str]:
    """Give an environment in which an application finds its own Python.

    A Blender of a distribution takes the first one on PATH for its own, and then cannot load its
    compiled modules: that must not be the virtual environment from which this was started.
    """
    env = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        ours = os.path.dirname(sys.executable)
        folders = env.get("PATH", "").split(os.pathsep)
        env["PATH"] = os.pathsep.join(folder for folder in folders if folder != ours)
        env.pop("VIRTUAL_ENV", None)
    return env


def find_program(application: InstallTarget, program: str | None = None) -> Path | None:
    """Find an application's batch interpreter; UnknownLocation where a named one is not there."""
    if program is not None:
        path = shutil.which(program)
        if path is None:
            raise UnknownLocation(f"There is no program at {program}.")
        return Path(path)
    paths = (shutil.which(name) for name in application.programs)
    return next((Path(path) for path in paths if path), None)


def is_python(program: Path) -> bool:
    """Whether a program is a Python, which may have the application as a module."""
    return re.fullmatch(r"python[\d.]*(\.exe)?", program.name.lower()) is not None


def complete(
    application: InstallTarget, facts: Facts, version: str | None, python: str | None
) -> Facts:
    """Put together what person and program said; UnknownLocation where no Python is known."""
    if version is not None and version != facts.version:
        is_same = facts.version is not None and facts.version.startswith(f"{version}.")
        facts = facts if is_same else Facts(version)
    python = python or facts.python or application.python(facts.version or "")
    if python is None:
        raise UnknownLocation(
            f"Which Python has this {application.title}? Its program "
            f"{' or '.join(application.programs)} was not found; say "
            f"{'' if version else f'--version {application.example}, '}--interpreter PATH, or "
            "--python 3.11."
        )
    return replace(facts, python=python)
