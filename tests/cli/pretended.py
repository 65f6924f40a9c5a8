"""A user's home with pretended applications in it. For systems on which a script is a program."""

from __future__ import annotations

import json
from pathlib import Path

from tests import homes
from tests.cli.commands import environment


def put(file: Path, text: str) -> Path:
    """Write a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def application(program: Path, version: str, python: str = "3.11") -> Path:
    """Write a batch interpreter that tells its version and its Python to whoever starts it."""
    facts = json.dumps({"version": version, "python": python, "shared": None})
    script = f"#!/bin/sh\nprintf '%s' '{facts}' > \"$DCC_BRIDGE_TELL\"\n"
    put(program, script).chmod(0o755)
    return program


def variables(home: Path) -> dict[str, str]:
    """Return the environment of a user with that home folder, and ``bin`` beside it on PATH."""
    env = environment(home.parent / "runtime", PATH=str(home.parent / "bin"), **homes.home(home))
    return {name: value for name, value in env.items() if not name.startswith("XDG_")}
