"""A person finds the copies that were kept, and brings one back."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from dcc_bridge import checkpoints
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.server.discovery import Instance, Registration
from tests import homes
from tests.cli.commands import Command


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene that a skill has written over, with a copy of what it was."""
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    homes.set_all(monkeypatch, homes.state(tmp_path / "state"))  # copies of scenes without a file
    scene = tmp_path / "shot.usda"
    scene.write_text("as it was")
    copy = checkpoints.take(tmp_path / "shot.usda.checkpoints", [scene])
    scene.write_text("was overwritten")
    book = AuditLog(tmp_path / "audit", {"host": "Maya", "version": "2026"})
    call = {"call": "aaaa", "skill": "save", "client": "claude"}
    book(("end", call | {"status": "done", "checkpoint": str(copy), "lost": ["write over shot"]}))
    book.close()
    return scene


def copies(scene: Path) -> list[Path]:
    return [
        copy / scene.name for copy in checkpoints.taken(scene.with_name("shot.usda.checkpoints"))
    ]


def test_a_copy_is_listed_with_its_call_and_its_size(scene: Path, command: Command) -> None:
    every = command("checkpoint", "list")
    none = command("checkpoint", "list", "other.usda")
    (told,) = json.loads(command("checkpoint", "list", "--json").out)

    assert every.code == none.code == 0
    assert command("checkpoint", "list", scene) == every
    assert "save for claude, call aaaa" in every.out
    assert f"0.0 MB  {copies(scene)[0]}" in every.out
    assert none.out == "There are no copies of other.usda.\n"
    assert told["scene"] == str(scene)
    assert "save for claude" in told["call"]
    assert told["files"] == {str(copies(scene)[0]): copies(scene)[0].stat().st_size}
    place = copies(scene)[0].parent
    saved = f"done, cannot be undone: write over shot; the previous version is in {place}"
    assert saved in command("audit", "show").out


def test_a_folder_that_cannot_be_read_hides_no_copy(
    scene: Path, monkeypatch: pytest.MonkeyPatch, command: Command
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

    done = command("checkpoint", "list")
    assert (done.code, str(copies(scene)[0]) in done.out) == (0, True)


def test_without_a_scene_the_copies_of_all_scenes_are_listed_though_none_is_on_record(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
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
        lines = command("checkpoint", "list").out.splitlines()
        return [line for line in lines if not line.startswith(" ")]

    no_record = listed(tmp_path, "none")
    elsewhere = listed(opened, "other")
    record.withdraw()

    untitled_scenes = "scenes of Maya that have no file"
    assert no_record == [*map(str, (opened / "open.ma", scene, below)), untitled_scenes]
    assert elsewhere == [str(opened / "open.ma"), str(scene), untitled_scenes]


@pytest.mark.core
def test_a_copy_is_restored_over_its_scene_and_what_was_there_is_kept_and_on_record(
    scene: Path, command: Command
) -> None:
    restored = copies(scene)[0]

    done = command("checkpoint", "restore", restored, "--yes")

    assert (done.code, scene.read_text()) == (0, "as it was")
    assert [file.read_text() for file in copies(scene)] == ["as it was", "was overwritten"]
    kept = f"the previous version is in {copies(scene)[1].parent}"
    assert kept in done.out
    shown = command("audit", "show").out
    assert "checkpoint restore for cli  call " in shown
    assert (
        f"done, cannot be undone: write {scene.name} as of {restored.parent.name}; {kept}" in shown
    )
    assert "checkpoint restore for cli, call " in command("checkpoint", "list").out
    assert command("audit", "verify").code == 0


def test_what_was_restored_and_cannot_be_recorded_is_told(
    scene: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setattr("dcc_bridge.audit.log.Disk.write", Mock(side_effect=OSError("disk full")))

    said = command("checkpoint", "restore", copies(scene)[0], "--yes")

    assert said.code == 1
    assert f"{scene} is the copy of" in said.out
    assert "The audit record cannot be written" in said.err


def test_a_copy_is_restored_to_another_file_without_a_question(
    scene: Path, command: Command
) -> None:
    other = scene.with_name("other.usda")

    assert command("checkpoint", "restore", copies(scene)[0], "--to", other).code == 0

    assert (other.read_text(), scene.read_text()) == ("as it was", "was overwritten")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("", 3), (EOFError, 3)])
def test_nothing_is_written_over_unasked(
    scene: Path, answer: Any, code: int, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """The end of the input is a no."""
    words = ("checkpoint", "restore", copies(scene)[0])
    monkeypatch.setattr("dcc_bridge.client.terminal_io.is_terminal", lambda stream: False)
    assert command(*words).code == 3
    asked = Mock(side_effect=[answer])
    monkeypatch.setattr("dcc_bridge.client.terminal_io.is_terminal", lambda stream: True)
    monkeypatch.setattr("builtins.input", asked)

    assert command(*words).code == code

    assert scene.read_text() == ("was overwritten" if code else "as it was")
    asked.assert_called_once_with(f"Overwrite {scene}? A copy of it is kept. [y/N] ")


@pytest.mark.skipif(sys.platform == "win32", reason="not everybody can make a link there")
def test_through_a_symbolic_link_the_file_behind_it_is_restored(
    scene: Path, command: Command
) -> None:
    link = scene.with_name("link.usda")
    link.symlink_to(scene)

    assert command("checkpoint", "restore", copies(scene)[0], "--to", link, "--yes").code == 0

    assert (link.is_symlink(), scene.read_text()) == (True, "as it was")


def test_no_copy_is_written_over(scene: Path, command: Command) -> None:
    copy = copies(scene)[0]

    assert command("checkpoint", "restore", copy, "--to", copy, "--yes").code == 2

    assert copy.read_text() == "as it was"


def test_a_host_that_has_the_scene_open_is_named(
    scene: Path, tmp_path: Path, command: Command
) -> None:
    maya = Instance("http://127.0.0.1:1/mcp", "Maya", "2026", scene.name, file=str(scene))
    record = Registration(maya, tmp_path / "runtime")

    done = command("checkpoint", "restore", copies(scene)[0], "--yes")

    record.withdraw()
    assert done.code == 0
    assert f"has {scene.name} open. No copy has its unsaved work" in done.err
    assert "Without a window, stop the host and run: dcc-bridge serve --scene FILE" in done.err


@pytest.mark.parametrize("name", ["shot.usda", "nothing"])
def test_what_is_no_copy_is_refused(scene: Path, name: str, command: Command) -> None:
    done = command("checkpoint", "restore", scene.with_name(name), "--yes")

    assert done.code == 2
    assert "is not a copy; see: dcc-bridge checkpoint list" in done.err


def test_a_folder_is_told_from_a_copy_and_from_a_place(scene: Path, command: Command) -> None:
    (copy,) = copies(scene)

    folder = command("checkpoint", "restore", copy.parent)
    to_folder = command("checkpoint", "restore", copy, "--to", scene.parent)
    nowhere = command("checkpoint", "restore", copy, "--to", scene.parent / "none" / "x.usda")

    assert [done.code for done in (folder, to_folder, nowhere)] == [2, 2, 2]
    assert "is a folder. Name the file in it" in folder.err
    assert "is a folder. Name a file with --to" in to_folder.err
    assert f"There is no folder {scene.parent / 'none'}" in nowhere.err


def test_where_another_file_of_a_copy_was_has_to_be_said(scene: Path, command: Command) -> None:
    sublayer = copies(scene)[0].with_name("anim.usda")
    sublayer.write_text("anim")

    done = command("checkpoint", "restore", sublayer)

    assert done.code == 2
    assert "The original place of anim.usda is unknown. Use --to PATH." in done.err


def test_a_copy_of_a_file_in_a_folder_is_listed_and_restored(
    scene: Path, tmp_path: Path, command: Command
) -> None:
    """As code leaves it that has declared the folder."""
    place = checkpoints.folder_beside(scene)
    frame = tmp_path / "renders" / "a" / "0001.png"
    frame.parent.mkdir(parents=True)
    frame.write_text("as it was")
    kept = checkpoints.FolderCopies(place, [tmp_path / "renders"])
    kept.before_change(os.path.normcase(frame))
    frame.write_text("was overwritten")
    assert kept.checkpoint is not None
    copy = kept.checkpoint / "renders" / "a" / "0001.png"

    listed = command("checkpoint", "list", scene)
    nowhere = command("checkpoint", "restore", copy, "--yes")
    done = command("checkpoint", "restore", copy, "--to", frame, "--yes")

    assert f"0.0 MB  {copy}\n" in listed.out
    assert "The original place of 0001.png is unknown. Use --to PATH." in nowhere.err
    assert done.code == 0
    assert frame.read_text() == "as it was"
