"""Imports whose source PySide does not read. Any thread.

Once QtCore is imported, PySide searches the source of each Python module that is imported for its
own name (in ``shibokensupport/feature.py``), and `inspect` keeps the source. For the 600 modules of
a server that took 18 MB of memory and 0.3 s with the interpreter's lock (measured, 6.11.3).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

_DOES_NOT_NAME_PYSIDE: Final = -1  # as PySide notes such a module


@contextmanager
def unsearched_imports() -> Iterator[None]:
    """Import modules without Qt on this thread during the block.

    PySide still reads our widgets and the modules that other threads import.
    """
    feature = sys.modules.get("shibokensupport.feature")
    table: dict[str, int] = getattr(feature, "pyside_feature_dict", {})
    if feature is not None:
        for name in list(sys.modules):  # a list, because other threads import meanwhile
            if name.partition(".")[0] in sys.stdlib_module_names:
                table.setdefault(name, _DOES_NOT_NAME_PYSIDE)
    thread = threading.get_ident()

    def note(name: str, *_: Any) -> None:
        if threading.get_ident() == thread and not name.startswith("dcc_bridge.qt"):
            table.setdefault(name, _DOES_NOT_NAME_PYSIDE)

    finder: Any = SimpleNamespace(find_spec=note)  # it finds nothing
    sys.meta_path = [finder, *sys.meta_path]
    try:
        yield
    finally:  # a new list: an import that is walking the old one would skip a finder
        sys.meta_path = [other for other in sys.meta_path if other is not finder]
