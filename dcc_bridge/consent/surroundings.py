"""Restores the working folder and the environment, which undo does not bring back. Main thread."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any


class Surroundings:
    """The working folder and the environment of the process, as they were at one moment."""

    def __init__(self) -> None:
        self._folder = _working_folder()
        self._environment = dict(os.environ)

    def put_back(self) -> list[str]:
        """Set the working folder and the environment as they were. Raises nothing.

        Returns:
            The names of those that had changed: "the working folder".
        """
        changed = []
        if _working_folder() != self._folder:
            changed.append("the working folder")
            if self._folder is not None:
                with suppress(OSError):  # the folder is gone
                    os.chdir(self._folder)
        if dict(os.environ) != self._environment:
            changed.append("the environment")
            put_names(os.environ, self._environment)
        return changed


def put_names(names: MutableMapping[str, Any], before: dict[str, Any]) -> None:
    """Set the items of a mapping as they were, and remove all others."""
    for name in set(names) - set(before):
        del names[name]
    names.update(before)


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone
        return None
