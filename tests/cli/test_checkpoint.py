"""A person finds the copies that were kept, and brings one back."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from dcc_bridge import checkpoints, cli
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.server.discovery import Instance, Registration


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene that a skill has written over, with a copy of what it was."""
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # copies of scenes without a file
    scene = tmp_path / "shot.usda"
    scene.write_text("as it was")
    copy = checkpoints.take(tmp_path / "shot.usda.checkpoints", [scene])
    scene.write_text("written over")
    book = AuditLog(tmp_path / "audit", {"host": "Maya", "version": "2026"})
    call = {"call": "aaaa", "skill": "save_scene", "client": "claude"}
    book(("end", call | {"status": "done", "checkpoint": str(copy), "lost": ["write over shot"]}))
    book.close()
    return scene


def copies(scene: Path) -> list[Path]:
    """Give the copies of a scene's file."""
    return [
        copy / scene.name for copy in checkpoints.taken(scene.with_name("shot.usda.checkpoints"))
    ]


def test_a_copy_is_listed_with_its_call_and_its_size(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["checkpoint", "list"]) == 0
    every = capsys.readouterr().out
    assert cli.main(["checkpoint", "list", str(scene)]) == 0
    assert capsys.readouterr().out == every
    assert cli.main(["checkpoint", "list", "other.usda"]) == 0
    none = capsys.readouterr().out
    assert cli.main(["audit", "show"]) == 0

    assert "save_scene for claude, call aaaa" in every
    assert f"0.0 MB  {copies(scene)[0]}" in every
    assert none == "There are no copies.\n"
    place = copies(scene)[0].parent
    saved = f"done, without undo: write over shot; what was there is in {place}"
    assert saved in capsys.readouterr().out


def test_a_folder_that_cannot_be_read_hides_no_copy(
    scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a process that has ended, or of a server that does not answer."""
    (broken := scene.parent / "broken").mkdir()
    scandir = os.scandir

    def scan(path: Any) -> Any:
        if os.path.abspath(os.fsdecode(path)) == str(broken):
            raise OSError(errno.ESTALE, "Stale file handle")
        return scandir(path)

    monkeypatch.chdir(scene.parent)
    monkeypatch.setattr(os, "scandir", scan)

    assert cli.main(["checkpoint", "list"]) == 0
    assert str(copies(scene)[0]) in capsys.readouterr().out


def test_without_a_scene_the_copies_of_all_scenes_are_listed_though_none_is_on_record(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (recorded := AuditLog(tmp_path / "other", {"host": "Maya"}))(
        ("begin", {"call": "bbbb", "skill": "rename", "client": "", "file": str(scene)})
    )
    recorded.close()
    below = tmp_path / "show" / "sq010" / "anim.usda"
    untitled = tmp_path / "state" / "checkpoints" / "Maya" / "0001-20260131T140509Z"
    for file in (below, untitled / "untitled.ma"):
        file.parent.mkdir(parents=True)
        file.write_text("as it was")
    checkpoints.take(below.with_name("anim.usda.checkpoints"), [below])
    monkeypatch.setattr("platformdirs.user_state_path", lambda name: tmp_path / "state")
    opened = tmp_path / "opened"
    opened.mkdir()
    checkpoints.take(opened / "open.ma.checkpoints", [below])
    maya = Instance("http://127.0.0.1:1/mcp", "Maya", "1", "open.ma", file=str(opened / "open.ma"))
    record = Registration(maya, tmp_path / "runtime")

    def listed(folder: Path, audit: str) -> list[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / audit))
        assert cli.main(["checkpoint", "list"]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]

    no_record = listed(tmp_path, "none")
    elsewhere = listed(opened, "other")
    record.withdraw()

    untitled_scenes = "scenes of Maya that have no file"
    assert no_record == [*map(str, (opened / "open.ma", scene, below)), untitled_scenes]
    assert elsewhere == [str(opened / "open.ma"), str(scene), untitled_scenes]


def test_a_copy_is_restored_over_its_scene_and_what_was_there_is_kept(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["checkpoint", "restore", str(copies(scene)[0]), "--yes"]) == 0

    assert scene.read_text() == "as it was"
    assert [file.read_text() for file in copies(scene)] == ["as it was", "written over"]
    assert f"what was there is in {copies(scene)[1].parent}" in capsys.readouterr().out


def test_what_was_restored_is_on_record_with_the_copy_of_what_was_there(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    restored = copies(scene)[0]
    assert cli.main(["checkpoint", "restore", str(restored), "--yes"]) == 0
    capsys.readouterr()

    assert cli.main(["audit", "show"]) == 0
    shown = capsys.readouterr().out
    assert cli.main(["checkpoint", "list"]) == 0
    listed = capsys.readouterr().out
    assert cli.main(["audit", "verify"]) == 0

    assert "checkpoint restore for cli  call " in shown
    written = f"done, without undo: write {scene.name} as of {restored.parent.name}"
    assert f"{written}; what was there is in {copies(scene)[1].parent}" in shown
    assert "checkpoint restore for cli, call " in listed


def test_what_was_restored_and_cannot_be_recorded_is_told(
    scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dcc_bridge.audit.log.Disk.write", Mock(side_effect=OSError("disk full")))

    assert cli.main(["checkpoint", "restore", str(copies(scene)[0]), "--yes"]) == 2

    said = capsys.readouterr()
    assert f"{scene} is the copy of" in said.out
    assert "The audit record cannot be written" in said.err


def test_a_copy_is_restored_to_another_file_without_a_question(scene: Path) -> None:
    other = scene.with_name("other.usda")

    assert cli.main(["checkpoint", "restore", str(copies(scene)[0]), "--to", str(other)]) == 0

    assert (other.read_text(), scene.read_text()) == ("as it was", "written over")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 3)])
def test_nothing_is_written_over_unasked(
    scene: Path, answer: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["checkpoint", "restore", str(copies(scene)[0])]
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    assert cli.main(words) == 2
    asked = Mock(return_value=answer)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", asked)

    assert cli.main(words) == code

    assert scene.read_text() == ("written over" if code else "as it was")
    asked.assert_called_once_with(f"Overwrite {scene}? A copy of it is kept. [y/N] ")


def test_an_end_of_input_at_the_question_is_a_no(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", Mock(side_effect=EOFError))

    assert cli.main(["checkpoint", "restore", str(copies(scene)[0])]) == 3

    assert scene.read_text() == "written over"


def test_through_a_symbolic_link_the_file_behind_it_is_restored(scene: Path) -> None:
    link = scene.with_name("link.usda")
    link.symlink_to(scene)

    assert (
        cli.main(["checkpoint", "restore", str(copies(scene)[0]), "--to", str(link), "--yes"]) == 0
    )

    assert (link.is_symlink(), scene.read_text()) == (True, "as it was")


def test_no_copy_is_written_over(scene: Path) -> None:
    copy = copies(scene)[0]

    assert cli.main(["checkpoint", "restore", str(copy), "--to", str(copy), "--yes"]) == 2

    assert copy.read_text() == "as it was"


def test_a_host_that_has_the_scene_open_is_named(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    maya = Instance("http://127.0.0.1:1/mcp", "Maya", "2026", scene.name, file=str(scene))
    record = Registration(maya, tmp_path / "runtime")

    assert cli.main(["checkpoint", "restore", str(copies(scene)[0]), "--yes"]) == 0

    record.withdraw()
    warned = capsys.readouterr().err
    assert f"has {scene.name} open: unsaved work there is in no copy" in warned
    assert "without a window, end it, and: dcc-bridge serve --scene FILE" in warned


@pytest.mark.parametrize("name", ["shot.usda", "nothing"])
def test_what_is_no_copy_is_refused(
    scene: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["checkpoint", "restore", str(scene.with_name(name)), "--yes"]) == 2

    assert "is not a copy; see: dcc-bridge checkpoint list" in capsys.readouterr().err


def test_where_another_file_of_a_copy_was_has_to_be_said(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sublayer = copies(scene)[0].with_name("anim.usda")
    sublayer.write_text("anim")

    assert cli.main(["checkpoint", "restore", str(sublayer)]) == 2

    assert "It is not known where anim.usda was: give --to PATH." in capsys.readouterr().err
