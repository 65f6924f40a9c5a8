"""In FreeCAD's Qt, which is another one, text, outlines, check boxes and the focus can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.freecad import launch
from tests.qt.contrasts import faint, in_freecad

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.mark.parametrize("scale", [1, 2])
def test_nothing_is_too_faint_in_freecads_themes(tmp_path: Path, scale: float) -> None:
    found = in_freecad(tmp_path, scale)

    assert faint(found) == []
