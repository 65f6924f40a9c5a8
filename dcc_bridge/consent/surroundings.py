"""What an undo of the scene does not bring back of the process, and is put back. Main thread."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any


class Surroundings:
    """The working folder and the environment as they are now."""

    def __init__(self) -> None:
        self._folder = _working_folder()
        self._environment = dict(os.environ)

    def put_back(self) -> list[str]:
        """Make them as they were, and return which of them were changed. Raises nothing."""
        changed = []
        if _working_folder() != self._folder:
            changed.append("the working folder")
            if self._folder is not None:
                with suppress(OSError):  # it is gone
                    os.chdir(self._folder)
        if dict(os.environ) != self._environment:
            changed.append("the environment")
            put_names(os.environ, self._environment)
        return changed


def put_names(names: MutableMapping[str, Any], before: dict[str, Any]) -> None:
    """Make a mapping hold what it held before, and nothing else."""
    for name in {*names} - {*before}:
        del names[name]
    names.update(before)


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return None
