"""Tells whether a client's entry starts this bridge, another one, or is a person's.

Any thread.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, Final, Literal

from dcc_bridge.client import registration
from dcc_bridge.client.entries import MODULE_WORDS, NAME, ConfigFile
from dcc_bridge.client.temporary import is_start

# The names of a Python, also of an application's own.
_PYTHON: Final = re.compile(r"(python|mayapy|hython)[\dtw.]*(\.exe)?")
_IMPORT: Final = b"from dcc_bridge"
State = Literal["absent", "current", "other", "changed"]


def state(config: ConfigFile, label: str) -> State:
    """Return the state of our entry in a user's file.

    Args:
        config: The client's file.
        label: The label of the client.

    Returns:
        "absent"; "current" for the entry that this bridge writes; "other" for one that a bridge in
        another place, or of another version, has written; "changed" for one that a person changed.
    """
    entry = registration.find(config)
    if entry is None:
        return "absent"
    if registration.is_current(config, label):
        return "current"
    if _is_written_by_a_bridge(entry, label):
        return "other"
    return "changed"


def _is_written_by_a_bridge(entry: Mapping[str, Any], label: str) -> bool:
    """Return whether an entry has the words that a bridge of any version writes for a client."""
    words = entry.get("args")
    program = entry.get("command")
    if not isinstance(words, list) or not isinstance(program, str):
        return False
    if words[-3:] != ["connect", "--label", label]:
        return False
    start = words[:-3]
    name = PurePath(program).name
    if not start:
        return name in (NAME, f"{NAME}.exe") and not _is_made_by_a_person(program)
    if start == list(MODULE_WORDS):
        return _PYTHON.fullmatch(name.lower()) is not None
    return start[-1] == NAME and is_start(program, start[:-1])


def _is_made_by_a_person(program: str) -> bool:
    """Return whether a program of our name is none that a bridge writes into an entry.

    That one is beside the Python that imports it, and pip and uv write the import into it. One that
    is gone is not a person's.
    """
    found = shutil.which(program)
    if found is None:
        return False
    file = Path(found)
    if not any(_PYTHON.fullmatch(beside.name.lower()) for beside in file.parent.iterdir()):
        return True
    return _IMPORT not in file.read_bytes()
