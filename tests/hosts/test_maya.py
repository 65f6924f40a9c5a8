"""Maya, as its documents say it is: what the bridge relies on, and each documented trap."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dcc_bridge.host import Host
from tests.hosts.contract import HostContract, Stand
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import fill

CAMERA = "|cameras|shot_000"


@pytest.fixture(params=[True, False], ids=["batch", "window"])
def maya(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Maya:
    maya = Maya(monkeypatch, batch=request.param)
    fill(maya, tmp_path)
    return maya


@pytest.fixture
def host(maya: Maya) -> Host:
    made: Host = import_module("dcc_bridge.hosts.maya").MayaHost()
    return made


@pytest.fixture
def cmds(maya: Maya) -> ModuleType:
    return sys.modules["maya.cmds"]


class TestMaya(HostContract):
    @pytest.fixture
    def stand(self, host: Host, cmds: Any) -> Stand:
        def edit() -> None:
            cmds.setAttr("key.translateX", cmds.getAttr("key.translateX") + 1)

        def save() -> None:
            cmds.file(save=True)

        return Stand(host, (CAMERA, "|key"), edit, cmds.delete, save)


def test_deferral_never_runs_in_batch_and_is_not_relied_on(maya: Maya, host: Host) -> None:
    """Python and threading: it rides on idle events; in batch the start is at once."""
    started: list[str] = []
    deferred: list[str] = []

    sys.modules["maya.utils"].executeDeferred(deferred.append, "ran")
    host.when_ready(lambda: started.append("started"))
    for _ in range(3):
        maya.turn()

    assert deferred == ([] if maya.batch else ["ran"])
    assert started == (["started"] if maya.batch else [])  # its window is not up yet


def test_our_chunk_is_closed_whatever_is_raised(maya: Maya, host: Host, cmds: Any) -> None:
    """So nothing that follows is swallowed, whether the exception is ordinary or not."""

    def edit(error: type[BaseException]) -> None:
        with host.undo_step("Ours"):
            cmds.setAttr("key.translateX", 1.0)
            raise error

    for error in (ValueError, KeyboardInterrupt, GeneratorExit):
        with pytest.raises(error):
            edit(error)

        assert maya.undo.depth == 0


def test_undo_that_is_off_is_refused(maya: Maya, host: Host, cmds: Any) -> None:
    """A step that nobody could undo does not begin; in batch, where it begins off, it is on."""
    assert cmds.undoInfo(query=True, state=True)
    cmds.undoInfo(state=False)

    with pytest.raises(RuntimeError, match=r"switched off.*Preferences"), host.undo_step("Ours"):
        pytest.fail("it began")


def test_recording_that_a_skill_left_off_is_put_back(maya: Maya, host: Host, cmds: Any) -> None:
    """undoInfo: undo past what was destroyed with ``stateWithoutFlush`` off is unstable."""
    cmds.setAttr("key.translateX", 5.0)

    def careless() -> None:
        with host.undo_step("Ours"):
            cmds.undoInfo(stateWithoutFlush=False)
            cmds.delete(CAMERA)

    with pytest.raises(RuntimeError, match="switched off in the middle"):
        careless()

    assert maya.undo.depth == 0
    assert host.undo_mark().label is None
    with host.undo_step("Goes on"):
        cmds.setAttr("key.translateX", 6.0)
    assert host.undo_mark().label == "Goes on"


def test_selecting_and_framing_leave_no_entry(maya: Maya, host: Host, cmds: Any) -> None:
    """Select and viewFit are undoable: they would hide our label, and with it the rollback."""
    with host.undo_step("Ours"):
        cmds.setAttr("key.translateX", 1.0)
    host.select(["|key"])

    host.frame([CAMERA])

    assert host.undo_mark().label == "Ours"
    assert host.selection == ["|key"]
    assert maya.framed == ([] if maya.batch else [CAMERA])
    host.undo()
    assert cmds.getAttr("key.translateX") == 0.0


def test_a_copy_leaves_the_scene_its_name_and_its_mark(
    maya: Maya, host: Host, cmds: Any, tmp_path: Path
) -> None:
    """file: a save under another name would change both; references stay references."""
    cmds.setAttr("key.translateX", 1.0)
    before = host.file()

    host.save_copy(tmp_path / "copy.ma")

    assert (tmp_path / "copy.ma").stat().st_size > 0
    assert (host.file(), host.modified) == (before, True)
    with pytest.raises(RuntimeError, match="not save"):
        host.save_copy(tmp_path / "nowhere" / "copy.ma")


def test_a_fingerprint_notices_locks_references_parents_and_ids(maya: Maya, host: Host) -> None:
    """Whatever a person could have seen as different makes it another one."""
    node = maya.scene.find(CAMERA)[0]
    seen = {host.fingerprint([CAMERA])}

    node.locked = True
    seen.add(host.fingerprint([CAMERA]))
    node.referenced = True
    seen.add(host.fingerprint([CAMERA]))
    below = maya.scene.add("below", "transform", node)
    seen.add(host.fingerprint([CAMERA]))
    maya.scene.nodes.pop(below.uuid)
    maya.scene.add("below", "transform", node)  # the same name, another node
    seen.add(host.fingerprint([CAMERA]))
    maya.scene.name = "/elsewhere/shot.ma"
    seen.add(host.fingerprint([CAMERA]))

    assert len(seen) == 6


def test_a_leaf_is_not_taken_for_all_nodes(maya: Maya, host: Host) -> None:
    """ls: an empty list means every node; a node with nothing below has none below."""
    before = host.fingerprint(["|key"])

    maya.scene.add("unrelated", "transform")

    assert host.fingerprint(["|key"]) == before


def test_a_name_that_two_nodes_have_is_asked_for(maya: Maya, host: Host) -> None:
    """A short name may be anybody's; patterns name nothing."""
    maya.scene.add("key", "transform", maya.scene.find("|cameras")[0])

    with pytest.raises(LookupError, match="give the whole path"):
        host.describe("key")
    with pytest.raises(LookupError, match="no node 'k"):
        host.describe("k*")


def test_leaving_is_told_once_removed(maya: Maya, host: Host) -> None:
    """MSceneMessage: kMayaExiting is told; taking it back twice raises nothing."""
    left: list[str] = []
    undo = host.when_leaving(lambda: left.append("left"))

    maya.exit()
    undo()
    undo()
    maya.exit()

    assert left == ["left"]
    assert maya.heard_by == {}


def test_a_thousand_deletions_are_told_once(maya: Maya, host: Host, cmds: Any) -> None:
    """MDGMessage: it calls for each node; the bridge hears of the step."""
    told: list[str] = []
    host.watch(lambda: told.append("changed"))

    with host.undo_step("Delete"):
        cmds.delete([f"|cameras|shot_{number:03}" for number in range(3)])

    assert len(told) == 1
