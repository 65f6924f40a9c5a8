"""A user's own folders below one of the test's, on every system.

Where Windows keeps them, `platformdirs` asks the system itself, which no variable changes but those
that `platformdirs` has for this.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_LOCAL = "WIN_PD_OVERRIDE_LOCAL_APPDATA"
_DOCUMENTS = "WIN_PD_OVERRIDE_PERSONAL"


def home(folder: Path) -> dict[str, str]:
    """Return the variables that make a folder the user's home."""
    local = str(folder / "AppData" / "Local")
    return {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "APPDATA": str(folder / "AppData" / "Roaming"),
        "LOCALAPPDATA": local,
        _LOCAL: local,
        _DOCUMENTS: str(folder / "Documents"),
    }


def state(folder: Path) -> dict[str, str]:
    """Return the variables that have the user's records, logs and copies kept in a folder."""
    return {"XDG_STATE_HOME": str(folder), _LOCAL: str(folder)}


def set_all(patch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """Set variables of the environment for as long as a patch holds."""
    for name, value in variables.items():
        patch.setenv(name, value)
