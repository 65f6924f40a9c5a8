"""Imports whose source PySide does not read.

Once QtCore is there, PySide looks for its name in the source of each Python module that an
``import`` gives anybody (its ``shibokensupport/feature.py``), and `inspect` keeps that source. For
the 600 modules of a server that were 18 MB of a host's memory and 0.3 s of its processor, with the
interpreter's lock (measured, 6.11.3).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any


@contextmanager
def unsearched_imports() -> Iterator[None]:
    """Import what has nothing of Qt; our widgets, and other threads' modules, are read as ever."""
    feature = sys.modules.get("shibokensupport.feature")
    table: dict[str, int] = getattr(feature, "pyside_feature_dict", {})
    for name in list(sys.modules) if feature else ():  # a list: other threads import meanwhile
        if name.partition(".")[0] in sys.stdlib_module_names:
            table.setdefault(name, -1)  # as PySide notes what does not name it
    thread = threading.get_ident()

    def note(name: str, *_: Any) -> None:
        if threading.get_ident() == thread and not name.startswith("dcc_bridge.qt"):
            table.setdefault(name, -1)

    finder: Any = SimpleNamespace(find_spec=note)  # it finds nothing
    sys.meta_path = [finder, *sys.meta_path]
    try:
        yield
    finally:  # a new list: an import that goes through the other one would skip a finder
        sys.meta_path = [it for it in sys.meta_path if it is not finder]
