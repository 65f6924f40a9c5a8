"""Files that an agent writes from Blender, over HTTP by a real client, in its module and window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.blender import bpy_module
from tests.blender.seat import Seat
from tests.hosts.application import Application
from tests.live import text
from tests.verbs.steps import step
from tests.verbs.words import blender

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]
SUFFIXES = (".obj", ".stl", ".ply", ".glb", ".usda", ".abc", ".fbx", ".blend")


def export_all(running: Application, folder: Path) -> dict[str, str]:
    """Write a new file of each format that this Blender has; gives what went wrong."""
    wrong = {}
    before = running.call("summary", {}).structured_content
    for suffix in SUFFIXES:
        for items in (["Cube"], []):
            file = folder / f"new_{len(items)}{suffix}"
            done = running.call("export_file", {"path": str(file), "items": items})
            if done.is_error and "what can" in text(done):
                continue
            if done.is_error or not file.stat().st_size:
                wrong[file.name] = text(done)
    after = running.call("summary", {}).structured_content
    return wrong | ({} if after == before else {"summary": f"{before} became {after}"})


@pytest.fixture(params=bpy_module.VERSIONS)
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Application]:
    """Give Blender as the module ``bpy``, which must end well."""
    home = tmp_path / "home"
    home.mkdir()
    with blender(request.param, home) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


def test_new_files_of_every_format_are_written_without_a_question_and_change_nothing(
    running: Application, tmp_path: Path
) -> None:
    """There is no undo step either, and the selection and the mode are as before."""
    assert export_all(running, tmp_path) == {}


def test_in_the_window_too_new_files_are_written_and_change_nothing(
    seat: Seat, tmp_path: Path
) -> None:
    seat.do("write")

    assert export_all(seat.application, tmp_path) == {}


def test_after_a_failed_export_that_was_undone_it_ends_well(
    running: Application, tmp_path: Path
) -> None:
    """What was changed before it is taken back, and says nothing of it as it quits."""
    (tmp_path / "there.usda").mkdir()
    things = [{"type": "CUBE", "name": "New"}]
    steps = [
        step("create", things=things),
        step("export_file", path=str(tmp_path / "there.usda")),
    ]
    failed = running.call("batch", {"steps": steps})

    assert failed.is_error
    assert "Nothing was changed" in text(failed)
