"""The Qt binding is the one that the host has loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dcc_bridge.qt import binding

LOADED = """
import sys, types
for name in ("PySide2", "PySide2.QtCore", "PySide2.QtGui", "PySide2.QtWidgets", "shiboken2"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["PySide2.QtWidgets"].QAction = "Qt 5 has it here"
sys.modules["shiboken2"].isValid = sys.modules["shiboken2"].delete = print
"""
TELL = """
from dcc_bridge.qt import binding
print(binding.NAME, binding.QAction, sorted(n for n in sys.modules if n in binding._SHIBOKENS))
"""
DELETE = """
core = sys.modules["PySide2.QtCore"]
core.QEvent = lambda kind: kind
core.QEvent.DeferredDelete = "deleted"
core.QCoreApplication = types.SimpleNamespace(sendEvent=lambda *told: print(*told))
from dcc_bridge.qt.binding import delete
sys.modules["shiboken2"].delete = None
delete("it")
"""


def told(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_binding_that_the_host_loaded_is_taken_and_no_other_one_imported() -> None:
    assert told(LOADED + TELL) == "PySide2 Qt 5 has it here ['PySide2']\n"


def test_pyside2_deletes_by_an_event_and_not_by_shiboken() -> None:
    """Which now and then deletes the application instead of what it is given."""
    assert told(LOADED + DELETE) == "it deleted\n"


def test_where_there_is_none_it_is_pyside6() -> None:
    assert told("import sys\n" + TELL) == "PySide6 <class 'PySide6.QtGui.QAction'> ['PySide6']\n"


def test_what_the_binding_does_not_have_is_said() -> None:
    with pytest.raises(AttributeError, match="PySide6 has no QWibble in QtCore, QtGui, QtWidgets"):
        _ = binding.QWibble  # type: ignore[attr-defined]  # that is the point
