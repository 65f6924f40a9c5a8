"""What the bridge relies on, in FreeCAD: run by its own Python, in and without a window.

`tests/hosts/test_freecad.py` starts it there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import FreeCAD
import pytest

from dcc_bridge.errors import Busy
from dcc_bridge.hosts.freecad import FreeCADHost
from tests.hosts.contract import HostContract, Stand


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    # A visible one makes a 3D view, which crashes where there is no screen.
    document = FreeCAD.newDocument("Scene", hidden=True)
    document.UndoMode = 1
    for name in ("Box", "Other"):
        document.addObject("Part::Box", name)
    document.recompute()
    document.saveAs(str(tmp_path / "scene.FCStd"))
    document.clearUndos()
    box = document.Box

    def edit() -> None:
        """As its property editor does: in an entry of its own, unless one is open."""
        is_open = FreeCAD.getActiveTransaction() is not None
        if not is_open:
            document.openTransaction("Edit Length")
        box.Length = box.Length.Value + 1
        if not is_open:
            document.commitTransaction()

    yield Stand(FreeCADHost(), ("Box", "Other"), edit, document.removeObject, document.save)
    FreeCAD.closeDocument(document.Name)


class TestFreeCAD(HostContract):
    """Every promise, and one that only FreeCAD needs."""

    def test_nothing_is_edited_while_the_person_is_in_a_task(self, stand: Stand) -> None:
        """A task panel keeps one open for minutes; its Cancel must take back no edit of ours."""
        document = FreeCAD.ActiveDocument
        document.openTransaction("Edit Pad")

        with pytest.raises(Busy, match="Edit Pad"), stand.host.undo_step("Ours"):
            stand.edit()

        assert FreeCAD.getActiveTransaction()[0] == "Edit Pad"
        document.abortTransaction()


def run() -> int:
    """Run the promises; give pytest's exit code."""
    sys.dont_write_bytecode = True
    # Of FreeCAD's importers one is so old that Python warns of it, and plug-ins may not warn.
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, __file__]))
