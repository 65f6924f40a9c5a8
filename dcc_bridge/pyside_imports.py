"""Imports whose source PySide does not read.

Once QtCore is there, PySide looks for its name in the source of each Python module that an
``import`` gives anybody (`feature_imported` in its ``shibokensupport/feature.py``), and `inspect`
keeps that source in `linecache`. For the 600 modules of a server that were 18 MB of a host's
memory, 0.3 s of its processor and 50 ms in which its window could not paint (measured, 6.11.3).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_UNUSED: Final = -1  # what PySide notes of a module that does not name it, and does not look again


@contextmanager
def unsearched_imports() -> Iterator[None]:
    """Import what has nothing of Qt on this thread; it does nothing where no PySide is.

    What other threads import meanwhile, and our own widgets, are searched as ever.
    """
    feature = sys.modules.get("shibokensupport.feature")
    table: dict[str, int] = getattr(feature, "pyside_feature_dict", {})
    for name in [it for it in sys.modules if it.partition(".")[0] in sys.stdlib_module_names]:
        table.setdefault(name, _UNUSED)
    notes = _Notes(table)
    sys.meta_path.insert(0, notes)
    try:
        yield
    finally:
        sys.meta_path.remove(notes)


class _Notes:
    """A finder that finds nothing: it notes the names of what its thread imports."""

    def __init__(self, table: dict[str, int]) -> None:
        self._table, self._thread = table, threading.get_ident()

    def find_spec(self, name: str, *_: Any) -> None:
        """Note a module before it is looked for."""
        if threading.get_ident() == self._thread and not name.startswith("dcc_bridge.qt"):
            self._table.setdefault(name, _UNUSED)
