"""What several modules of tests of the verbs need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts import blender_window
from tests.hosts.blender_seat import Seat
from tests.hosts.screen import missing, screen

pytest.register_assert_rewrite("tests.verbs.operations_contract")


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    """Give Blender 3.4 in a window, which must end well, and a person before it."""
    if blender_window.PROGRAM is None or missing():
        pytest.skip(f"not installed: {missing() or 'Blender'}")
    size = blender_window.SIZE
    with screen(*size) as shown, blender_window.blender(tmp_path, shown) as application:
        yield (seat := Seat(application, shown))
        assert seat.close() == 0
