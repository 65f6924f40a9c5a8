"""In FreeCAD's Qt, which is another one, text, outlines, check boxes and the focus can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.freecad import launch
from tests.qt.contrasts import FREECAD_THEMES, LEAST, faint, in_freecad

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.mark.parametrize("scale", [1, 2])
def test_nothing_is_too_faint_in_freecad_and_the_focus_is_seen_in_its_themes_too(
    tmp_path: Path, scale: float
) -> None:
    """The themes' own style sheets choose the colours of all but the focus."""
    found = in_freecad(tmp_path, scale)

    sheets = [found.pop(name) for name in FREECAD_THEMES]
    assert faint(found) == []
    assert list(found) == ["own", "dark", "light", "contrast"]
    assert [least for least in sheets if least["focus"][0] < LEAST["focus"]] == []
