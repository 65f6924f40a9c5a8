"""A host's own program, asked which it is. It writes nothing but its answer. Main thread."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from dcc_bridge.install.places.place import Kind, NoPlace, Told

_LIMIT: Final = 180


def ask(kind: Kind, program: str | None = None) -> Told:
    """Ask a host's batch interpreter for its version and its Python.

    Args:
        kind: The host.
        program: Which one; None for the one on PATH, if there is one.

    Raises:
        NoPlace: The program that was named does not answer.
    """
    found = find(kind, program)
    if found is None:
        return Told()
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as home:
        answer = Path(home, "answer.json")
        # It is asked in a home of its own: a host that starts writes settings.
        env = {**environment(), "DCC_BRIDGE_TELL": str(answer)}
        env |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), home)
        with suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(
                kind.asking(str(found), Path(home)),
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIMIT,
                check=False,
            )
        try:
            told = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise NoPlace(f"{found} does not say which {kind.title} it is.") from None
    shared = Path(told["shared"]) if told.get("shared") else None
    return Told(told["version"], told["python"], shared, found)


def environment() -> dict[str, str]:
    """Give an environment in which a host finds its own Python.

    A Blender of a distribution takes the first one on PATH for its own, and then cannot load its
    compiled modules: that must not be the virtual environment from which this was started.
    """
    env = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        ours = os.path.dirname(sys.executable)
        parts = env.get("PATH", "").split(os.pathsep)
        env["PATH"] = os.pathsep.join(one for one in parts if one != ours)
        env.pop("VIRTUAL_ENV", None)
    return env


def find(kind: Kind, program: str | None = None) -> Path | None:
    """Find a host's batch interpreter.

    Raises:
        NoPlace: The one that was named is not there.
    """
    if program is not None:
        named = shutil.which(program)
        if named is None:
            raise NoPlace(f"There is no program {program}.")
        return Path(named)
    found = (shutil.which(name) for name in kind.programs)
    return next((Path(path) for path in found if path), None)


def settled(kind: Kind, told: Told, version: str | None, python: str | None) -> Told:
    """Put together what the person said and what the program did.

    Raises:
        NoPlace: It is not known which Python the host has.
    """
    if version is not None and version != told.version:
        is_same = told.version is not None and told.version.startswith(f"{version}.")
        told = told if is_same else Told(version, None, None, None)
    python = python or told.python or (kind.python(told.version) if told.version else None)
    if python is None:
        raise NoPlace(
            f"Which Python has this {kind.title}? Its program {' or '.join(kind.programs)} was not "
            "found; say --interpreter PATH, or --python 3.11."
        )
    return replace(told, python=python)
