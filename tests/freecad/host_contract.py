"""What the bridge relies on, in FreeCAD: run by its own Python, in and without a window.

`tests/freecad/test_plugin.py` starts it there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import FreeCAD
import pytest

from dcc_bridge.errors import Busy, LostAnyway, NotUndoable
from dcc_bridge.verbs import names
from dcc_bridge_freecad.host import FreeCADHost
from tests.hosts.contract import GuardContract, HostContract, Stand, careless, folder_named
from tests.hosts.digests import scene_digest


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
        document.recompute()
        if not is_open:
            document.commitTransaction()

    yield Stand(FreeCADHost(), ("Box", "Other"), edit, document.removeObject, document.save)
    FreeCAD.closeDocument(document.Name)


class TestFreeCAD(HostContract, GuardContract):
    """Every promise, and those that only FreeCAD needs."""

    def test_nothing_is_edited_while_the_person_is_in_a_task(self, stand: Stand) -> None:
        """A task panel keeps one open for minutes; its Cancel must take back no edit of ours."""
        document = FreeCAD.ActiveDocument
        document.openTransaction("Edit Pad")

        with pytest.raises(Busy, match="Edit Pad"), stand.host.undo_step("Ours"):
            stand.edit()

        assert FreeCAD.getActiveTransaction()[0] == "Edit Pad"
        document.abortTransaction()

    def test_what_a_skill_edits_in_another_document_is_seen_and_taken_back(
        self, stand: Stand
    ) -> None:
        """One undo takes back what one transaction changed in both."""
        before = stand.host.undo_mark()
        other = FreeCAD.newDocument("Second", hidden=True)
        FreeCAD.setActiveDocument("Scene")

        with stand.host.undo_step("Ours"):
            stand.edit()
            other.addObject("Part::Box", "Far")
        after = stand.host.undo_mark()
        stand.host.undo()
        left = other.Objects
        FreeCAD.closeDocument(other.Name)

        assert after.label == "Ours"
        assert after.depth == before.depth + 2
        assert left == []
        assert stand.host.undo_mark() == before

    @pytest.mark.parametrize("way", ["openTransaction", "commitTransaction", "abortTransaction"])
    def test_what_a_skill_edits_after_it_closed_our_transaction_is_undone(
        self, stand: Stand, way: str
    ) -> None:
        """FreeCAD records nothing where none is open."""
        host = stand.host
        document = FreeCAD.ActiveDocument
        before = host.undo_mark()
        digest = scene_digest(stand.host)

        with host.undo_step("Ours"):
            document.Box.Width = 77
            getattr(document, way)(*(["Theirs"] if way == "openTransaction" else []))
            document.commitTransaction()
            document.addObject("Part::Box", "Late")
            document.Box.Height = 78
        for _ in range(host.undo_mark().depth - before.depth):
            host.take_back()

        assert host.undo_mark() == before
        assert scene_digest(host) == digest

    @pytest.mark.parametrize("times", [1, 2])
    def test_what_a_skill_edits_and_undoes_itself_cannot_be_redone(
        self, stand: Stand, times: int
    ) -> None:
        """Nobody agreed to it, and the next redo would do it."""
        host = stand.host
        document = FreeCAD.ActiveDocument
        before = host.undo_mark()
        digest = scene_digest(host)

        with host.undo_step("Ours"):
            for number in range(times):
                document.openTransaction(f"Part {number}")
                document.removeObject(("Box", "Other")[number])
            for _ in range(times):
                document.undo()

        assert document.RedoNames == []
        assert host.undo_mark() == before
        assert scene_digest(host) == digest

    def test_what_a_skill_undid_of_the_persons_is_redone_and_nothing_else_can_be(
        self, stand: Stand
    ) -> None:
        host = stand.host
        document = FreeCAD.ActiveDocument
        stand.edit()
        before = host.undo_mark()
        digest = scene_digest(host)

        with host.undo_step("Ours"):
            document.removeObject("Other")
            document.undo()
            document.undo()
        undone = document.RedoNames
        host.redo()

        assert undone == ["Edit Length", "Ours"]
        assert document.RedoNames == []
        assert host.undo_mark() == before
        assert scene_digest(host) == digest

    def test_a_step_that_is_taken_back_cannot_be_redone_and_one_that_is_undone_can(
        self, stand: Stand
    ) -> None:
        host = stand.host
        document = FreeCAD.ActiveDocument

        with host.undo_step("Ours"):
            document.removeObject("Other")
            document.commitTransaction()
        host.undo()
        undone = document.RedoNames
        host.redo()
        host.take_back()

        assert undone == ["Ours"]
        assert document.RedoNames == []
        assert document.Other.Name == "Other"

    def test_what_the_person_can_redo_stays_where_a_skill_edits_nothing(self, stand: Stand) -> None:
        host = stand.host
        document = FreeCAD.ActiveDocument
        stand.edit()
        document.undo()

        with host.undo_step("Ours"):
            document.redo()
            document.undo()

        assert document.RedoNames == ["Edit Length"]

    def test_what_is_in_an_agreed_group_may_go_with_it(self, stand: Stand) -> None:
        """In which order they are deleted does not matter; what is put into it later may not."""
        document = FreeCAD.ActiveDocument
        for name, members in (("Inner", ["Box"]), ("Outer", ["Inner", "Other"])):
            group = document.addObject("App::DocumentObjectGroup", name)
            group.Group = [document.getObject(member) for member in members]
        document.addObject("Part::Box", "Late")
        stand.host.fingerprint(["Inner", "Outer"])

        with stand.host.undo_step("Delete"):
            document.Inner.addObject(document.Late)
            for name in ("Box", "Outer", "Inner", "Other", "Late"):
                document.removeObject(name)

        assert stand.host.lost(["Outer"]) == ["Late"]
        assert stand.host.lost(["Inner"]) == ["Outer", "Other", "Late"]

    def test_the_kind_of_what_is_gone_is_told_without_a_look_at_all_other_names(
        self, stand: Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A look took 16 ms among 2,000 objects, and a deletion asks for each."""
        monkeypatch.delattr(names, "get_close_matches")
        FreeCAD.ActiveDocument.Other.Label = "The other"

        kinds = stand.host.kinds(["Box", "The other", "Gone"])

        assert kinds == ["Part::Box", "Part::Box", "gone"]
        nouns = stand.host.nouns(["Box", "The other", "Gone"])
        assert nouns == ["box", "box", "object"]

    def test_a_document_that_a_skill_closes_is_copied_and_that_is_not_rolled_back(
        self, stand: Stand
    ) -> None:
        other = FreeCAD.newDocument("Second", hidden=True)
        other.addObject("Part::Box", "Only")
        FreeCAD.setActiveDocument("Scene")
        before = stand.host.undo_mark()

        with pytest.raises(LostAnyway, match="close Second") as told, careless(stand.host):
            FreeCAD.closeDocument("Second")
        copies = list(folder_named(told.value).iterdir())

        assert [copy.name for copy in copies] == ["Second.unsaved.FCStd"]
        assert stand.host.undo_mark().depth > before.depth
        with pytest.raises(NotUndoable, match="close Second"):
            stand.host.take_back()

    def test_another_file_that_a_skill_goes_on_in_is_told_of(
        self, stand: Stand, tmp_path: Path
    ) -> None:
        """FreeCAD cannot be kept from it; a copy is another matter."""
        document = FreeCAD.ActiveDocument

        with careless(stand.host):
            document.saveCopy(str(tmp_path / "copy.FCStd"))
        told = pytest.raises(LostAnyway, match=r"new\.FCStd.*Save as .*scene\.FCStd")
        with told, careless(stand.host):
            document.saveAs(str(tmp_path / "new.FCStd"))

    def test_a_document_of_the_skills_own_may_be_closed(self, stand: Stand) -> None:
        before = stand.host.undo_mark()

        with careless(stand.host), stand.host.undo_step("Ours"):
            FreeCAD.newDocument("Scratch", hidden=True).addObject("Part::Box", "Only")
            FreeCAD.closeDocument("Scratch")

        assert stand.host.undo_mark() == before

    def test_the_active_document_and_undo_are_put_back(self, stand: Stand) -> None:
        """Else the person's next edits go elsewhere, or cannot be undone."""
        other = FreeCAD.newDocument("Second", hidden=True)
        put_back = list[str]()
        FreeCAD.setActiveDocument("Scene")

        with stand.host.guard(put_back, read=False):
            FreeCAD.ActiveDocument.UndoMode = 0
            FreeCAD.setActiveDocument(other.Name)
        found = FreeCAD.ActiveDocument.Name, FreeCAD.ActiveDocument.UndoMode
        FreeCAD.closeDocument(other.Name)

        assert found == ("Scene", 1)
        assert put_back == ["the undo of scene", "which document is active"]


def run() -> int:
    sys.dont_write_bytecode = True
    # Of FreeCAD's importers one is so old that Python warns of it, and plug-ins may not warn.
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:anyio", "--noconftest", "-q"]
    return int(pytest.main([*options, __file__]))
