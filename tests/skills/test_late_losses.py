"""Losses that a host reports too late: copies are kept, and one error names them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dcc_bridge.consent.late_losses import Losses
from dcc_bridge.errors import LostAnyway, NotGranted
from dcc_bridge.host import loss_check
from tests.stand_ins import FakeHost


@pytest.fixture
def losses(tmp_path: Path) -> Iterator[Losses]:
    """Return the losses of a body that nobody allowed any loss."""

    def refuse(what: str, files: Sequence[Path]) -> None:
        raise NotGranted("careless", what)

    token = loss_check.set(refuse)
    yield Losses(FakeHost(file=tmp_path / "shot.fake"), lambda: True)
    loss_check.reset(token)


def written(folder: Path, name: str) -> Path:
    """Return a file that was written before the body."""
    file = folder / name
    file.write_text("before", encoding="utf-8")
    return file


def write_over(losses: Losses, *files: Path) -> None:
    """Write files as an application does that only reports them."""
    for file in files:
        losses.writing(file)
        file.write_text("after, by the body", encoding="utf-8")


def close_scene_and_write_over(losses: Losses, file: Path) -> None:
    """Close a scene without unsaved changes, and write a file."""
    note_closed = losses.ending("close the scene", None)
    assert note_closed is not None
    note_closed()
    write_over(losses, file)


def test_one_error_names_each_file_that_was_written_over(losses: Losses, tmp_path: Path) -> None:
    files = [written(tmp_path, "first.abc"), written(tmp_path, "second.abc")]

    with pytest.raises(LostAnyway) as raised, losses.judged():
        write_over(losses, *files)

    message = str(raised.value)
    assert f"went on to write over {files[0]} and write over {files[1]}." in message
    assert [message.count(f"Write over {file}: The previous version") for file in files] == [1, 1]
    assert [file.read_text(encoding="utf-8") for file in files] == ["before", "before"]


def test_one_error_names_a_closed_scene_beside_a_file(losses: Losses, tmp_path: Path) -> None:
    file = written(tmp_path, "first.abc")

    with pytest.raises(LostAnyway) as raised, losses.judged():
        close_scene_and_write_over(losses, file)

    assert f"went on to close the scene and write over {file}." in str(raised.value)
    assert "Close the scene: It had no unsaved changes." in str(raised.value)


def test_a_single_loss_is_told_without_a_list(losses: Losses, tmp_path: Path) -> None:
    file = written(tmp_path, "only.abc")

    with pytest.raises(LostAnyway) as raised, losses.judged():
        write_over(losses, file)

    assert "cannot reverse it. The previous version of the file was restored." in str(raised.value)
    assert str(raised.value).count("write over") == 1


def test_a_file_that_was_only_about_to_be_written_is_no_loss(
    losses: Losses, tmp_path: Path
) -> None:
    file = written(tmp_path, "only.abc")

    with losses.judged():
        losses.writing(file)
