"""What an edit takes away is seen and reverted, in freecadcmd and in a window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.freecad import launch

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
]


def test_every_kind_of_loss_is_named_and_reverted(tmp_path: Path) -> None:
    losses = "from tests.freecad.losses import run; assert run() == 0"
    done = launch.in_console(losses, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_every_kind_of_loss_is_named_and_reverted_in_a_window(tmp_path: Path) -> None:
    """There views are recorded as well, faces are selected, and a document may be modified."""
    launch.in_window("tests.freecad.losses", tmp_path)
