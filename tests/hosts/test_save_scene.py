"""Saving cannot be undone: the question says so, and what is written over is kept first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import checkpoints, confirm, confirm_sync, on_main, skill
from dcc_bridge.audit import reader
from dcc_bridge.elicitation.question import Consent, Reply
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.hosts.scenes import SMALL
from tests.live import ERAS, accept, live, status, text
from tests.stand_ins import FakeHost, Person

YES = Reply("accept", {"confirm": True})


@pytest.fixture
def edited(session: UsdSession) -> Iterator[UsdSession]:
    """The small scene, current, with an unsaved edit."""
    uninstall = install(session)
    session.stage.RemovePrim("/World/b")
    yield session
    uninstall()


def test_saved_over_the_checkpoint_holds_the_old_bytes(edited: UsdSession, tmp_path: Path) -> None:
    person, file = Person(YES), tmp_path / "small.usda"

    with live(tmp_path / "run", operations=operations, host=edited, presenter=person) as running:
        told = running.call("save").structured_content or {}
        folder = running.bridge.audit.folder

    (book,) = reader.logs(folder)
    lines = {line.event: line.fields for line in reader.read(book).lines()}
    asked, kept = person.shown[0], Path(told["copies"])
    assert asked.consent is not None
    assert not asked.undoable
    assert asked.message == "Save small.usda, over the file that is there?"
    assert Path(asked.consent.kept or "") == kept.parent == tmp_path / "small.usda.checkpoints"
    assert (kept / "small.usda").read_text() == SMALL != file.read_text()
    assert not edited.modified
    assert lines["asked"]["checkpoint_place"] == str(kept.parent)
    assert lines["end"]["checkpoint"] == str(kept)


def test_without_a_copy_it_is_not_saved(
    edited: UsdSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is short: the agent is told, and the file is as it was."""
    monkeypatch.setattr("shutil.disk_usage", lambda folder: _Usage())

    with live(
        tmp_path / "run", operations=operations, host=edited, presenter=Person(YES)
    ) as running:
        result = running.call("save")

    assert status(result) == "failed"
    assert "the disk has 0 MB left" in text(result)
    assert "so it was not done without a copy" in text(result)
    assert (tmp_path / "small.usda").read_text() == SMALL
    assert edited.modified


class _Usage:
    free = 1000


def test_a_new_file_needs_no_copy(edited: UsdSession, tmp_path: Path) -> None:
    """Nothing is written over, so none is promised and none is made."""
    person = Person(YES)

    with live(tmp_path / "run", operations=operations, host=edited, presenter=person) as running:
        told = running.call("save", {"path": str(tmp_path / "new.usdc")})

    assert told.structured_content == {"file": str(tmp_path / "new.usdc")}
    assert person.shown[0].consent == Consent(undoable=False)
    assert "a new file" in person.shown[0].message


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_draws_the_question_says_so_too(era: str, tmp_path: Path) -> None:
    """Where the person sits at the client, the same words are in its plain text."""
    host = FakeHost(["cam1"], file=tmp_path / "fake.json")
    host.save()
    asked: list[str] = []

    @skill(risk="destructive", undo=False)
    def export() -> str:
        """Write the file that the host has."""
        host.save()
        return "written"

    def answer(params: Any) -> Any:
        asked.append(params.message)
        return accept(confirm=True)(params)

    host.items.append("cam2")
    with live(tmp_path / "run", export, host=host) as running:
        result = running.call("export", era=era, asked=answer)

    (made,) = checkpoints.taken(tmp_path / "fake.json.checkpoints")
    assert status(result) == "done"
    copied = f"This can NOT be undone. A copy of the scene is kept first, in {made.parent}"
    assert copied in asked[0]
    assert (made / "fake.json").read_text() == '["cam1"]'
    assert (made / "fake.unsaved.json").read_text() == '["cam1", "cam2"]'


@pytest.mark.parametrize("kind", ["main", "any", "async", "gated async"])
def test_wherever_a_skill_runs_the_copy_comes_before_its_edit(kind: str, tmp_path: Path) -> None:
    """On the main thread, on a pool thread, in a coroutine, and at the gate before one."""
    host = FakeHost(["cam1"], has_ui=True, file=tmp_path / "fake.json")
    host.save()

    def write(items: Any = ()) -> str:
        assert checkpoints.taken(tmp_path / "fake.json.checkpoints"), "no copy was kept"
        host.items.append("cam2")
        host.save()
        return "written"

    @skill(risk="destructive", confirms=True, thread="any" if kind == "any" else "main")
    def sync() -> str:
        """Write the file."""
        return confirm_sync("Write?", verb="Write", undoable=False).apply_sync(write)

    @skill(risk="destructive", confirms=True)
    async def asynchronous() -> str:
        """Write the file."""
        return await (await confirm("Write?", verb="Write", undoable=False)).apply(write)

    @skill(risk="destructive", undo=False)
    async def gated() -> str:
        """Write the file."""
        return await on_main(write)

    fn: Any = {"async": asynchronous, "gated async": gated}.get(kind, sync)
    person = Person(YES)
    with live(tmp_path / "run", fn, host=host, presenter=person) as running:
        result = running.call(fn.__name__)

    assert status(result) == "done", text(result)
    assert not person.shown[0].undoable
    kept = str(tmp_path / "fake.json.checkpoints")
    assert person.shown[0].consent == Consent(undoable=False, kept=kept)


@pytest.mark.parametrize("undoable", [True, False])
def test_undo_is_offered_only_for_what_it_brings_back(undoable: bool, tmp_path: Path) -> None:
    """A step beside a written file would take back the half of it."""
    host = FakeHost(["cam1"], has_ui=True, file=tmp_path / "fake.json")
    person = Person(YES)

    @skill(risk="destructive", undo=None if undoable else False)
    def rename() -> str:
        """Rename the camera, and perhaps write it down."""
        host.items[0] = "cam2"
        return "renamed"

    with live(tmp_path / "run", rename, host=host, presenter=person) as running:
        told = running.call("rename")
        assert status(told) == "done", text(told)

    assert len(person.undos) == undoable
    assert len(host.labels) == 1
