"""Copies of what undo does not bring back: whole or not at all, ten of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcc_bridge import checkpoints
from dcc_bridge.errors import NoCheckpoint
from dcc_bridge_usd.host import UsdSession
from tests import homes
from tests.hosts.scenes import SMALL


def test_a_sublayer_that_would_be_written_is_kept(session: UsdSession, tmp_path: Path) -> None:
    sub = session.stage.GetLayerStack(False)[1]
    session.stage.SetEditTarget(sub)
    session.stage.DefinePrim("/World/added")

    made = checkpoints.keep(session)
    session.save()

    assert made is not None
    assert (made / "sub.usda").read_text() == "#usda 1.0\n" != (tmp_path / "sub.usda").read_text()


def test_two_scenes_whose_names_differ_in_the_ending_alone_have_each_their_own(
    tmp_path: Path,
) -> None:
    """What an older version kept for both of them stays as it is, and drops none."""
    older = tmp_path / "shot.checkpoints" / "0001-20260131T140509Z"
    older.mkdir(parents=True)
    scenes = [tmp_path / f"shot.{ending}" for ending in ("usda", "usdc")]
    for scene in scenes:
        UsdSession().save(scene)

    for scene in scenes:
        session = UsdSession(scene)
        for _ in range(checkpoints.MAX_CHECKPOINTS):
            checkpoints.keep(session)

    for scene in scenes:
        kept = checkpoints.taken(tmp_path / f"{scene.name}.checkpoints")
        assert [file.name for one in kept for file in one.iterdir()] == [scene.name] * 10
    assert list(older.parent.iterdir()) == [older]


def test_what_was_never_saved_is_kept_whole(session: UsdSession) -> None:
    """The scene as it is in the application, and its relative paths still lead somewhere."""
    session.stage.DefinePrim("/World/added")

    made = checkpoints.keep(session)

    assert made is not None
    copy = UsdSession(made / "small.unsaved.usda")
    assert copy.stage.GetPrimAtPath("/World/added")
    assert len(copy.stage.GetLayerStack(False)) == 2


def test_a_scene_that_is_as_on_disk_is_copied_once(session: UsdSession) -> None:
    made = checkpoints.keep(session)

    assert made is not None
    assert [file.name for file in made.iterdir()] == ["small.usda"]


def test_an_untitled_scene_goes_to_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes.set_all(monkeypatch, homes.state(tmp_path))
    session = UsdSession()
    session.stage.DefinePrim("/World")

    made = checkpoints.keep(session)

    assert made is not None
    assert made.is_relative_to(tmp_path)
    assert UsdSession(made / "untitled.usda").stage.GetPrimAtPath("/World")


def test_nothing_to_lose_makes_no_folder(tmp_path: Path) -> None:
    assert checkpoints.take(tmp_path / "kept", [tmp_path / "new.usda"]) is None
    assert list(tmp_path.iterdir()) == []


def test_a_short_disk_is_refused(tmp_path: Path) -> None:
    """With less room than the copy and the save need; the older checkpoints stay."""
    file = tmp_path / "big.usda"
    file.write_bytes(b"x" * 1_000_000)
    where = tmp_path / "kept"
    older = checkpoints.take(where, [file])

    with pytest.raises(NoCheckpoint, match=r"the disk has 18 MB left, and 19 are needed"):
        checkpoints.take(where, [file], free=lambda folder: 18_000_000)

    assert list(where.iterdir()) == [older]


def test_a_copy_for_which_the_disk_is_full_says_so_and_leaves_no_part(tmp_path: Path) -> None:
    file = tmp_path / "a.usda"
    file.write_text(SMALL)
    where = tmp_path / "kept"

    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(NoCheckpoint, match="No space left on device"):
        checkpoints.take(where, [file], ("b.usda", fail))

    assert list(where.iterdir()) == []


def test_two_files_of_one_name_are_both_kept(tmp_path: Path) -> None:
    files = [tmp_path / "a" / "layer.usda", tmp_path / "b" / "layer.usda"]
    for number, file in enumerate(files):
        file.parent.mkdir()
        file.write_text(str(number))

    made = checkpoints.take(tmp_path / "kept", files)

    assert made is not None
    assert {f.name: f.read_text() for f in made.iterdir()} == {
        "layer.usda": "0",
        "layer (2).usda": "1",
    }


def test_a_checkpoint_is_dropped_as_a_whole_or_not_while_a_program_has_a_copy_open(
    tmp_path: Path,
) -> None:
    """Windows deletes all of a folder but the open file."""
    files = [tmp_path / name for name in ("a.usda", "b.usda", "c.usda")]
    for file in files:
        file.write_text(SMALL)
    where = tmp_path / "kept"
    oldest = checkpoints.take(where, files)
    assert oldest is not None

    with (oldest / "b.usda").open("rb"):
        for _ in range(10):
            checkpoints.take(where, files)
        sizes = {len(list(kept.iterdir())) for kept in checkpoints.taken(where)}
    checkpoints.take(where, files)

    assert sizes == {3}
    assert len(list(where.iterdir())) == 10


def test_only_checkpoints_are_tidied_up(tmp_path: Path) -> None:
    file, where = tmp_path / "a.usda", tmp_path / "kept"
    file.write_text(SMALL)
    (where / "mine").mkdir(parents=True)
    for _ in range(12):
        checkpoints.take(where, [file])
    assert (where / "mine").is_dir()
    assert len(checkpoints.taken(where)) == 10


@pytest.mark.skipif(sys.platform == "win32", reason="not everybody can make a link there")
def test_no_link_is_followed_to_checkpoints(tmp_path: Path) -> None:
    (file := tmp_path / "a.usda").write_text(SMALL)
    (where := tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(where)

    with pytest.raises(NoCheckpoint, match="is a link"):
        checkpoints.take(tmp_path / "link", [file])
