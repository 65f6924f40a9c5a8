"""Houdini, as its documents say it is: what the bridge relies on, and each documented trap."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.errors import LostAnyway
from dcc_bridge.host import Host
from tests.hosts.contract import GuardContract, HostContract, Stand, in_a_skill
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.application import MODULE
from tests.hosts.fakes.houdini.nodes import ObjectWasDeleted, OperationFailed, OpNode
from tests.hosts.fakes.houdini.panes import NetworkEditor

CAMERA = "/obj/cam0"
LIGHT = "/obj/key"


@pytest.fixture(params=[True, False], ids=["hython", "window"])
def houdini(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Houdini:
    houdini = Houdini(monkeypatch, batch=request.param)
    fill(houdini, tmp_path)
    return houdini


@pytest.fixture
def host(houdini: Houdini) -> Host:
    made: Host = import_module("dcc_bridge_houdini.host").HoudiniHost()
    return made


@pytest.fixture
def hou(houdini: Houdini) -> Any:
    return sys.modules["hou"]


def fill(houdini: Houdini, folder: Path) -> None:
    scene = houdini.scene
    for number in range(3):
        scene.add(f"/obj/cam{number}", "cam", parms={"tx": 0.0, "focal": 50.0})
    scene.add(LIGHT, "hlight", parms={"tx": 0.0, "comment": ""})
    scene.add("/obj/asset", "crowd", asset=True)
    scene.add("/obj/asset/inner", "cam", parms={"tx": 0.0})
    scene.path, scene.is_new = (folder / "shot.hip").as_posix(), False
    scene.write(folder / "shot.hip")


class TestHoudini(HostContract, GuardContract):
    @pytest.fixture
    def stand(self, host: Host, hou: Any) -> Stand:
        def edit() -> None:
            parm = hou.node(LIGHT).parm("tx")
            parm.set(parm.eval() + 1)

        def delete(path: str) -> None:
            hou.node(path).destroy()

        return Stand(host, (CAMERA, LIGHT), edit, delete, lambda: hou.hipFile.save(), False)


def test_undo_that_is_off_is_refused(host: Host, hou: Any) -> None:
    """hou.undos.disabler: a step that nobody could undo does not begin."""
    with (
        hou.undos.disabler(),
        pytest.raises(RuntimeError, match="switched off"),
        host.undo_step("Ours"),
    ):
        pytest.fail("it began")


def test_no_reference_to_a_node_outlives_its_scene(
    houdini: Houdini, host: Host, hou: Any, tmp_path: Path
) -> None:
    """hou.ObjectWasDeleted: one that was kept raises after a load; the host looks up by name."""
    kept = hou.node(CAMERA)
    told: list[str] = []
    host.watch(lambda: told.append("changed"))
    before = host.describe(CAMERA)

    houdini.load(tmp_path / "shot.hip")

    with pytest.raises(ObjectWasDeleted):
        kept.path()
    assert host.describe(CAMERA) == before
    assert told == ["changed"]


def test_a_posted_callback_runs_once(houdini: Houdini, host: Host) -> None:
    """hou.ui.postEventCallback: once; taken back before, never. In hython there is no loop."""
    started: list[str] = []
    host.when_ready(lambda: started.append("one"))
    host.when_ready(lambda: started.append("two"))()

    houdini.turn()
    houdini.turn()

    assert started == (["one", "two"] if houdini.batch else ["one"])


def test_hdefereval_cannot_be_imported_in_hython_and_is_not_needed(houdini: Houdini) -> None:
    assert not [file.name for file in MODULE.rglob("*.py") if "hdefereval" in file.read_text()]
    if houdini.batch:
        with pytest.raises(ImportError):
            import_module("hdefereval")


def test_hython_has_no_ui_and_none_is_touched(houdini: Houdini, host: Host, hou: Any) -> None:
    """hou.isUIAvailable: in hython there is no hou.ui at all."""
    host.watch(lambda: None)()
    host.frame([CAMERA])

    assert host.has_ui == hasattr(hou, "ui") == (not houdini.batch)
    assert host.main_window() is None
    assert host.summary()["networks"] == {"/obj": 5, "/stage": 0, "/mat": 0}


def test_a_copy_leaves_the_scene_its_name(host: Host, hou: Any, tmp_path: Path) -> None:
    """hou.hipFile.save would change it, and $HIP with it; any path is taken as it stands."""
    hou.node(LIGHT).parm("tx").set(1.0)
    copy = tmp_path / 'a "b" $HIP `c`.hip'
    before = (host.file(), host.modified)

    host.save_copy(copy)

    assert copy.is_file()
    assert (host.file(), host.modified) == before
    with pytest.raises(OSError, match="Unable to open"):
        host.save_copy(tmp_path / "nowhere" / "copy.hip")


def test_a_scene_that_was_never_saved_has_no_file(houdini: Houdini, host: Host) -> None:
    """hou.hipFile.path: it gives one all the same, where there may be no file."""
    houdini.scene.is_new = True

    assert host.file() is None


@pytest.mark.parametrize(
    ("licence", "suffix"), [("Commercial", ".hip"), ("Indie", ".hiplc"), ("Apprentice", ".hipnc")]
)
def test_the_licence_says_what_a_scene_is_called(
    monkeypatch: pytest.MonkeyPatch, licence: str, suffix: str
) -> None:
    """Houdini saves under that name whatever was asked for."""
    Houdini(monkeypatch, batch=True, licence=licence)

    assert import_module("dcc_bridge_houdini.host").HoudiniHost().suffix == suffix


def test_a_fingerprint_notices_locks_and_what_is_inside(houdini: Houdini, host: Host) -> None:
    """An asset that was locked or filled meanwhile is not what was agreed to."""
    kept = houdini.scene.at(CAMERA)
    assert kept is not None
    seen = {host.fingerprint([CAMERA])}

    kept.asset = True
    seen.add(host.fingerprint([CAMERA]))
    houdini.scene.add(f"{CAMERA}/inside", "null")
    seen.add(host.fingerprint([CAMERA]))
    houdini.scene.nodes.pop(kept.id)
    houdini.scene.add(CAMERA, "cam", asset=True)  # the same name, another node
    seen.add(host.fingerprint([CAMERA]))

    assert len(seen) == 4


def test_framing_shows_nodes_where_they_are(houdini: Houdini, host: Host) -> None:
    """The network editor goes to their network; nothing is selected, no entry is made."""
    editor = houdini.tabs[0]
    assert isinstance(editor, NetworkEditor)

    host.frame([CAMERA, LIGHT, "/obj/gone"])

    assert editor.shown == (set() if houdini.batch else {CAMERA, LIGHT})
    assert host.undo_mark().label is None


def test_the_memory_limit_drops_the_oldest_and_ours_is_counted(
    houdini: Houdini, host: Host, hou: Any
) -> None:
    """hou.undos.memoryUsageLimit: the list stays as long as it is; its labels are all alike."""
    houdini.undos.most = 3
    parm = hou.node(LIGHT).parm("tx")
    for value in range(5):
        parm.set(float(value))
    before = host.undo_mark()

    with host.undo_step("Ours"):
        parm.set(9.0)
    ours = host.undo_mark()
    with host.guard([], read=True):
        parm.set(10.0)
        parm.set(11.0)
    read = host.undo_mark()
    host.take_back()
    taken_back = host.undo_mark()
    parm.set(12.0)

    assert ours.depth == before.depth + 1
    assert read.depth == before.depth + 2
    assert taken_back == ours
    assert host.undo_mark().depth == ours.depth + 1
    houdini.undos.performUndo()
    assert host.undo_mark() == ours


def test_a_body_that_undoes_what_others_did_is_seen(host: Host, hou: Any) -> None:
    """hou.undos.performUndo: below our action there is less than before."""
    for number in range(3):
        hou.node(f"/obj/cam{number}").setName(f"shot{number}")
    before = host.undo_mark()

    with host.undo_step("Ours"):
        hou.undos.performUndo()
        hou.undos.performUndo()
        hou.node("/obj/shot0").setName("other")

    assert host.undo_mark().depth < before.depth
    assert host.undo_mark().label == "Ours"


def test_a_read_goes_on_where_undo_is_off(host: Host, hou: Any) -> None:
    """hou.undos.disabler: a step is refused then; reading is fine."""
    with hou.undos.disabler(), host.guard([], read=True):
        assert hou.node(LIGHT).parm("tx").eval() == 0.0


def test_undo_that_a_skill_left_off_is_said(host: Host, hou: Any) -> None:
    """hou.undos.disabler: nobody but its holder can leave it, so the step fails."""
    disabler = hou.undos.disabler()

    def careless() -> None:
        with host.undo_step("Ours"):
            disabler.__enter__()

    with pytest.raises(RuntimeError, match="switched off in the middle"):
        careless()


def test_what_is_inside_goes_with_what_was_agreed_to(
    houdini: Houdini, host: Host, hou: Any
) -> None:
    """hou.nodeBySessionId: a new name is no loss."""
    houdini.scene.add("/obj/net", "subnet")
    houdini.scene.add("/obj/net/a", "null")

    with host.guard([], read=False), host.undo_step("Delete"):
        hou.node(CAMERA).setName("renamed")
        hou.node("/obj/net").destroy()
        hou.node("/obj/asset").destroy()  # nobody can delete something inside

    assert host.lost(["/obj/net"]) == ["/obj/asset"]
    assert host.lost(["/obj"]) == []
    assert host.lost([]) == ["/obj/asset", "/obj/net", "/obj/net/a"]


def test_what_takes_the_name_of_what_was_agreed_to_is_not_agreed_to(host: Host, hou: Any) -> None:
    """hou.OpNode.sessionId: a person agreed to a node, which keeps it under every name."""
    host.fingerprint([CAMERA, "/obj/nowhere"])
    hou.node(CAMERA).setName("away")
    hou.node(LIGHT).setName("cam0")
    hou.node("/obj/cam1").setName("nowhere")

    with host.guard([], read=False), host.undo_step("Delete"):
        for path in (CAMERA, "/obj/away", "/obj/nowhere"):
            hou.node(path).destroy()

    assert host.lost([CAMERA, "/obj/nowhere"]) == ["/obj/nowhere", CAMERA]


def test_only_so_many_nodes_are_compared_and_the_upper_ones_first(
    houdini: Houdini, host: Host, hou: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scene of a million nodes does not make each step wait."""
    monkeypatch.setattr(sys.modules["dcc_bridge_houdini.losses"], "MAX_COMPARED", 7)
    houdini.scene.add(f"{CAMERA}/inside", "null")

    with host.guard([], read=False), host.undo_step("Delete"):
        hou.node(CAMERA).destroy()

    assert host.lost([]) == [CAMERA]


@pytest.mark.parametrize(
    ("what", "lose", "kept"),
    [
        ("open another scene", lambda file, path: file.load(path), "shot.unsaved.hip"),
        ("begin a new scene", lambda file, path: file.clear(), "shot.unsaved.hip"),
        ("merge a file", lambda file, path: file.merge(path), "shot.unsaved.hip"),
        ("write over the scene's file", lambda file, path: file.save(), "shot.hip"),
    ],
)
def test_what_cannot_be_refused_leaves_a_copy(
    host: Host, hou: Any, tmp_path: Path, what: str, lose: Any, kept: str
) -> None:
    """hou.hipFile.addEventCallback: it only tells; the error says where the copy is."""
    file = tmp_path / "shot.hip"
    saved = file.read_bytes()
    hou.node(LIGHT).parm("tx").set(1.0)

    def twice() -> None:
        with in_a_skill(granted=False), host.guard([], read=False):
            lose(hou.hipFile, str(file))
            lose(hou.hipFile, str(file))

    with pytest.raises(LostAnyway, match=what) as caught:
        twice()

    (copy,) = (tmp_path / "shot.hip.checkpoints").iterdir()
    assert str(copy) in str(caught.value)
    assert (copy / kept).is_file()
    assert (copy / "shot.hip").read_bytes() == saved
    hou.hipFile.save()  # nothing of the stretch listens any more
    assert len(list((tmp_path / "shot.hip.checkpoints").iterdir())) == 1


def test_what_no_copy_could_be_kept_of_is_said(host: Host, hou: Any, tmp_path: Path) -> None:
    (tmp_path / "shot.hip.checkpoints").write_text("in the way")

    with (
        pytest.raises(LostAnyway, match=r"No copy could be kept: .*exist"),
        in_a_skill(granted=False),
        host.guard([], read=False),
    ):
        hou.hipFile.clear()


def test_what_the_person_does_passes_in_the_middle_of_a_stretch(
    host: Host, hou: Any, tmp_path: Path
) -> None:
    with host.guard([], read=False):
        hou.hipFile.save()

    assert not (tmp_path / "shot.hip.checkpoints").exists()


def test_the_update_mode_is_put_back(houdini: Houdini, host: Host, hou: Any) -> None:
    """hou.setUpdateMode: a scene that was left in Manual shows the person what is not so."""
    put_back: list[str] = []

    with host.guard(put_back, read=True):
        hou.setUpdateMode("Manual")

    assert houdini.update_mode == "AutoUpdate"
    assert put_back == ["the update mode"]


@pytest.mark.parametrize("fails", ["addEventCallback", "removeEventCallback"])
def test_a_node_that_cannot_be_watched_leaves_no_callback_on_the_others(
    houdini: Houdini, host: Host, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    does = getattr(OpNode, fails)

    def fails_for_the_light(node: OpNode, *args: Any) -> None:
        if node.path() == LIGHT:
            raise OperationFailed("Not for this one.")
        does(node, *args)

    monkeypatch.setattr(OpNode, fails, fails_for_the_light)

    with suppress(OperationFailed), host.changes():
        pass

    (light,) = [it.id for it in houdini.scene.nodes.values() if it.path == LIGHT]
    assert {node for node, fns in houdini.node_events.items() if fns} <= {light}


@pytest.mark.parametrize("houdini", [False], ids=["window"], indirect=True)
def test_a_scene_that_cannot_be_watched_whole_leaves_no_callback(
    houdini: Houdini, host: Host, hou: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(callback: object) -> None:
        raise OperationFailed("Not now.")

    monkeypatch.setattr(hou.ui, "addSelectionCallback", fail, raising=False)
    told: list[int] = []

    with pytest.raises(OperationFailed):
        host.watch(lambda: told.append(1))
    houdini.tell_file("AfterLoad")
    with host.undo_step("Move"):
        hou.node(LIGHT).parm("tx").set(1.0)

    assert told == []
