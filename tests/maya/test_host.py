"""Maya, as its documents say it is: what the bridge relies on, and each documented trap."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.errors import LostAnyway, NotGranted
from dcc_bridge.host import Host
from tests.hosts.contract import GuardContract, HostContract, Stand, in_a_skill
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
    made: Host = import_module("dcc_bridge_maya.host").MayaHost()
    return made


class TestMaya(HostContract, GuardContract):
    @pytest.fixture
    def stand(self, host: Host, cmds: Any) -> Stand:
        def edit() -> None:
            cmds.setAttr("key.translateX", cmds.getAttr("key.translateX") + 1)

        def save() -> None:
            cmds.file(save=True)

        return Stand(host, (CAMERA, "|key"), edit, cmds.delete, save)


def test_a_start_that_is_taken_back_before_the_window_is_up_is_waited_for_no_more(
    maya: Maya, host: Host, monkeypatch: pytest.MonkeyPatch, cmds: Any
) -> None:
    defer = cmds.evalDeferred
    deferred = list[object]()
    started = list[str]()

    def note(fn: object, **how: bool) -> None:
        deferred.append(fn)
        defer(fn, **how)

    monkeypatch.setattr(cmds, "evalDeferred", note)

    take_back = host.when_ready(lambda: started.append("started"))
    maya.turn()
    looked = len(deferred)
    take_back()
    for _ in range(3):
        maya.turn()

    assert (looked, len(deferred), started) == ((0, 0, ["started"]) if maya.batch else (2, 2, []))


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


def test_undo_that_is_off_is_refused(host: Host, cmds: Any) -> None:
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
    host: Host, cmds: Any, tmp_path: Path
) -> None:
    """file: a save under another name would change both; references stay references."""
    cmds.setAttr("key.translateX", 1.0)
    before = host.file()

    host.save_copy(tmp_path / "copy.ma")

    assert (tmp_path / "copy.ma").stat().st_size > 0
    assert host.file() == before
    assert host.modified
    with pytest.raises(RuntimeError, match="not save"):
        host.save_copy(tmp_path / "nowhere" / "copy.ma")


def test_a_fingerprint_notices_locks_references_parents_and_ids(maya: Maya, host: Host) -> None:
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


def test_a_thousand_deletions_are_told_once(host: Host, cmds: Any) -> None:
    """MDGMessage: it calls for each node; the bridge hears of the step."""
    told: list[str] = []
    host.watch(lambda: told.append("changed"))

    with host.undo_step("Delete"):
        cmds.delete([f"|cameras|shot_{number:03}" for number in range(3)])

    assert len(told) == 1


def test_a_full_queue_drops_its_oldest_entry_and_ours_is_counted(
    maya: Maya, host: Host, cmds: Any
) -> None:
    """undoInfo: a queue of a fixed length stays as long as it is; a step is one more still."""
    maya.undo.most = 3
    for value in range(5):
        cmds.setAttr("key.translateX", float(value))
    before = host.undo_mark()

    with host.undo_step("Ours"):
        cmds.setAttr("key.translateX", 9.0)
    ours = host.undo_mark()
    with host.guard([], read=True):
        cmds.setAttr("key.translateX", 10.0)
    read = host.undo_mark()
    host.take_back()
    taken_back = host.undo_mark()
    host.take_back()

    assert ours.depth == before.depth + 1
    assert read.depth == before.depth + 2
    assert taken_back == ours
    assert host.undo_mark() == before
    assert cmds.getAttr("key.translateX") == 4.0


def test_a_body_that_undoes_what_others_did_is_seen(host: Host, cmds: Any) -> None:
    """undoInfo: the queue is shorter than it was, however much was done on top."""
    for value in (1.0, 2.0):
        cmds.setAttr("key.translateX", value)
    before = host.undo_mark()

    with host.undo_step("Ours"):
        cmds.undo()
        cmds.undo()
        cmds.setAttr("key.translateX", 3.0)

    assert host.undo_mark().depth < before.depth
    assert host.undo_mark().label == "Ours"


def test_what_the_person_undid_and_did_again_is_told_from_before(host: Host, cmds: Any) -> None:
    """MEventMessage: Maya tells of their undo; undoing and redoing our step changes nothing."""
    host.watch(lambda: None)
    cmds.setAttr("key.translateX", 1.0)
    theirs = host.undo_mark()
    with host.undo_step("Ours"):
        cmds.setAttr("key.translateX", 2.0)
    ours = host.undo_mark()

    cmds.undo()
    cmds.redo()
    redone = host.undo_mark()
    cmds.undo()
    below = host.undo_mark()
    cmds.undo()
    cmds.setAttr("key.translateX", 1.0)

    assert redone == ours
    assert below == theirs
    assert host.undo_mark() != theirs


def test_a_read_goes_on_where_undo_is_off(maya: Maya, host: Host, cmds: Any) -> None:
    """A step is refused then, and nothing is recorded; reading is fine."""
    cmds.undoInfo(state=False)

    with host.guard([], read=True):
        read = cmds.getAttr("key.translateX")

    assert read == 0.0
    assert maya.undo.depth == 0


@pytest.mark.parametrize("agreed", ["|cameras", "cameras", "uuid"])
def test_what_was_below_and_what_hung_on_goes_with_what_was_agreed_to(
    maya: Maya, host: Host, cmds: Any, agreed: str
) -> None:
    """MDGMessage: children may be told of after their parent is gone, and curves have no path."""
    for number in range(3):
        camera = maya.scene.find(f"shot_{number:03}")[0]
        maya.scene.add(f"curve{number}", "animCurveTL", drives=camera.uuid)
    maya.scene.add("paint", "lambert")
    for name in ("shot_locked", "shot_ref"):
        node = maya.scene.find(name)[0]
        node.locked = node.referenced = False
    item = maya.scene.find("|cameras")[0].uuid if agreed == "uuid" else agreed
    host.fingerprint([item])

    with host.guard([], read=False), host.undo_step("Delete"):
        cmds.createNode("transform", name="passing")
        cmds.delete(["|cameras", "|passing", "paint"])

    assert host.lost([item]) == ["paint"]
    assert host.lost([item, "paint"]) == []
    assert set(host.lost([])) > {"|cameras", "|cameras|shot_000", "curve2", "paint"}


def test_what_takes_the_name_of_what_was_agreed_to_is_not_agreed_to(host: Host, cmds: Any) -> None:
    """A person agreed to a node, which Maya knows by its UUID under every name."""
    host.fingerprint(["|key", "|nowhere"])

    with host.guard([], read=False), host.undo_step("Delete"):
        cmds.rename("|key", "away")
        for number, name in enumerate(("key", "nowhere")):
            cmds.rename(f"|cameras|shot_00{number}", name)
            cmds.delete(f"|cameras|{name}")
        cmds.delete("|away")

    assert host.lost(["|key", "|nowhere"]) == [
        *("|cameras|key", "|cameras|key|keyShape"),  # rename: a shape goes along
        *("|cameras|nowhere", "|cameras|nowhere|nowhereShape"),
    ]


@pytest.mark.parametrize("saved", [True, False])
def test_the_scene_gets_another_file_only_with_a_yes(
    host: Host, cmds: Any, tmp_path: Path, saved: bool
) -> None:
    """Of ``file -rename`` Maya asks nobody; what the person saves next would go elsewhere."""
    cmds.setAttr("key.translateX", 1.0)

    def go_on(name: str, *, granted: bool) -> None:
        with in_a_skill(granted=granted), host.guard([], read=False), host.undo_step("Ours"):
            cmds.file(rename=(tmp_path / name).as_posix())
            if saved:
                cmds.file(save=True)

    with pytest.raises(NotGranted, match=r"switch the scene to another file, new\.ma"):
        go_on("new.ma", granted=False)
    refused = host.scene(), host.modified, (tmp_path / "new.ma").exists()
    go_on("next.ma", granted=True)

    assert refused == ("shot.ma", True, False)
    assert host.scene() == "next.ma"


def test_a_check_refuses_what_undo_does_not_bring_back(
    maya: Maya, host: Host, cmds: Any, tmp_path: Path
) -> None:
    """MSceneMessage: the command may end as if all were well; the stretch ends with the error."""
    file = tmp_path / "shot.ma"
    other = tmp_path / "other.ma"
    other.write_text("not to be written over")
    cmds.setAttr("key.translateX", 1.0)
    saved = file.read_bytes()
    nodes = list(maya.scene.nodes)
    attempts = {
        "begin a new scene in place of shot.ma": {"new": True, "force": True},
        "open other.ma in place of shot.ma": {"open": True, "force": True},
        "write over shot.ma": {"save": True},
        "write over other.ma": {"exportAll": True, "preserveReferences": True, "force": True},
    }

    gone_on: list[str] = []

    def attempt(what: str) -> None:
        with in_a_skill(granted=False), host.guard([], read=False), host.undo_step("Ours"):
            cmds.file(other.as_posix(), **attempts[what])
            gone_on.append(what)

    for what in attempts:
        with pytest.raises(NotGranted, match=what):
            attempt(what)

    assert gone_on == list(attempts)
    assert file.read_bytes() == saved
    assert other.read_text() == "not to be written over"
    assert list(maya.scene.nodes) == nodes
    assert maya.heard_by == {}


def test_a_read_brings_nothing_in_and_an_edit_may(host: Host, cmds: Any) -> None:
    """MSceneMessage: an import loses nothing, but nobody says that undo takes it out."""
    with (
        pytest.raises(NotGranted, match=r"bring in tree\.ma"),
        in_a_skill(granted=False),
        host.guard([], read=True),
    ):
        cmds.file("tree.ma", i=True)
    assert not cmds.objExists("|imported")

    with in_a_skill(granted=False), host.guard([], read=False):
        cmds.file("tree.ma", i=True)
    assert cmds.objExists("|imported")


def test_a_reference_that_is_removed_leaves_a_copy(host: Host, cmds: Any, tmp_path: Path) -> None:
    """MSceneMessage: there is no check before it, so the error says where the copy is."""
    cmds.setAttr("key.translateX", 1.0)

    def twice() -> None:
        with in_a_skill(granted=False), host.guard([], read=False):
            cmds.file("rig.ma", removeReference=True)
            cmds.file("prop.ma", removeReference=True)

    with pytest.raises(LostAnyway, match="remove or unload a reference") as caught:
        twice()

    (copy,) = (tmp_path / "shot.ma.checkpoints").iterdir()
    assert str(copy) in str(caught.value)
    assert (copy / "shot.unsaved.ma").is_file()


def test_the_namespace_and_autokey_are_put_back_without_an_entry(
    maya: Maya, host: Host, cmds: Any
) -> None:
    """The person's next node and next edit go where they expect; the record names both."""
    put_back: list[str] = []

    with host.guard(put_back, read=False), host.undo_step("Ours"):
        cmds.namespace(set=":shot")
        cmds.autoKeyframe(state=True)
        cmds.setAttr("key.translateX", 1.0)

    assert put_back == ["the current namespace", "autokey"]
    assert maya.scene.namespace == ":"
    assert not maya.scene.autokey
    assert [name for name, _, _ in maya.undo.done] == ["Ours"]
    assert maya.undo.on


def test_a_namespace_that_is_gone_is_not_put_back(maya: Maya, host: Host) -> None:
    maya.scene.namespace = ":gone"

    with host.guard([], read=False):
        maya.scene.namespace = ":"

    assert maya.scene.namespace == ":"


def test_a_node_that_cannot_be_watched_leaves_no_callback_on_the_others(
    maya: Maya, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = sys.modules["maya.api.OpenMaya"].MNodeMessage
    before = {*maya.heard_by}
    add = message.addAttributeChangedCallback

    def third_fails(*args: Any) -> int:
        if len({*maya.heard_by} - before) == 2:
            raise RuntimeError("(kFailure): Unexpected Internal Failure")
        number: int = add(*args)
        return number

    monkeypatch.setattr(message, "addAttributeChangedCallback", staticmethod(third_fails))

    with pytest.raises(RuntimeError, match="kFailure"), host.changes():
        pass

    assert {*maya.heard_by} == before
