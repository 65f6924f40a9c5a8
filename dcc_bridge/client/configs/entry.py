"""What a client is told: the command that joins it to the hosts. Any thread.

There is no token in it: ``dcc-bridge connect`` finds each host's own, when it is needed.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

NAME: Final = "dcc-bridge"
"""The name of the entry."""
_RUNTIME: Final = "DCC_BRIDGE_RUNTIME"


@dataclass(frozen=True, slots=True)
class Entry:
    """How a client starts us.

    Attributes:
        command: A program, by its whole path: a client's search path is not the shell's.
        args: Its words.
        env: What it must see of the environment; clients pass hardly any of theirs on.
    """

    command: str
    args: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


def make(label: str) -> Entry:
    """Make the entry of a client.

    Args:
        label: The name under which hosts will know it.
    """
    env = {_RUNTIME: os.environ[_RUNTIME]} if os.environ.get(_RUNTIME) else {}
    program, *words = _command()
    return Entry(program, (*words, "connect", "--label", label), env)


def _command() -> list[str]:
    """Give the command of this installation.

    Without the installed script the interpreter must not look in the client's folder, which may
    hold a module of our name (``-P``).
    """
    script = Path(sys.executable).with_name(f"{NAME}.exe" if os.name == "nt" else NAME)
    if script.is_file():
        return [str(script)]
    return [sys.executable, "-P", "-m", "dcc_bridge"]
