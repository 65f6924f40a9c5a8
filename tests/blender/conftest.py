"""Blender in a window, for several modules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.blender import window
from tests.blender.seat import Seat
from tests.hosts.screen import missing, screen


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    """Give Blender 3.4 in a window, which must end well, and a person before it."""
    if window.PROGRAM is None or missing():
        pytest.skip(f"not installed: {missing() or 'Blender'}")
    size = window.SIZE
    with screen(*size) as shown, window.blender(tmp_path, shown) as application:
        yield (seat := Seat(application, shown))
        assert seat.close() == 0
