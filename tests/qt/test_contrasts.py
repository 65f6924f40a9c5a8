"""Text, outlines, check boxes and the focus can be seen, in each theme and at twice the scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiers import sampled

from .contrasts import faint, in_our_window


@pytest.mark.parametrize("scale", sampled([2], [1, 1.5, 2]))
def test_nothing_is_too_faint_in_our_own_window_and_in_the_palettes_of_desktops(
    tmp_path: Path, scale: float
) -> None:
    """In the questions, the panel, its history, the code and the bar; by pictures of them."""
    found = in_our_window(tmp_path, scale)

    assert faint(found) == []
    assert list(found) == ["own", "dark", "light", "contrast"]
