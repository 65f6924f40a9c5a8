"""The standalone application's window. Without Qt's widgets there is nothing to test."""

import pytest

try:
    import PySide6.QtWidgets  # noqa: F401
except ImportError as missing:
    pytest.skip(f"PySide6.QtWidgets cannot be imported: {missing}", allow_module_level=True)
