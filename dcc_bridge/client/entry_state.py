"""Tells whether a client's entry starts this bridge, another one, or is a person's.

Any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal

from dcc_bridge.client import registration
from dcc_bridge.client.entries import MODULE_WORDS, NAME, ConfigFile
from dcc_bridge.client.temporary import is_start

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
    if not start:
        return PurePath(program).name in (NAME, f"{NAME}.exe")
    if start == list(MODULE_WORDS):
        return True
    return start[-1] == NAME and is_start(program, start[:-1])
