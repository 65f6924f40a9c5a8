"""Houdini, as its documents say it is: what the bridge relies on, and each documented trap."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.host import Host
from tests.hosts.contract import HostContract, Stand
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.application import MODULE
from tests.hosts.fakes.houdini.nodes import ObjectWasDeleted
from tests.hosts.fakes.houdini.panes import NetworkEditor

CAMERA, LIGHT = "/obj/cam0", "/obj/key"


@pytest.fixture(params=[True, False], ids=["hython", "window"])
def houdini(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Houdini:
    houdini = Houdini(monkeypatch, batch=request.param)
    fill(houdini, tmp_path)
    return houdini


@pytest.fixture
def host(houdini: Houdini) -> Host:
    made: Host = import_module("dcc_bridge.hosts.houdini").HoudiniHost()
    return made


@pytest.fixture
def hou(houdini: Houdini) -> Any:
    return sys.modules["hou"]


def fill(houdini: Houdini, folder: Path) -> None:
    """Put a shot into it, as saved in a folder."""
    scene = houdini.scene
    for number in range(3):
        scene.add(f"/obj/cam{number}", "cam", parms={"tx": 0.0, "focal": 50.0})
    scene.add(LIGHT, "hlight", parms={"tx": 0.0, "comment": ""})
    scene.add("/obj/asset", "crowd", asset=True)
    scene.add("/obj/asset/inner", "cam", parms={"tx": 0.0})
    scene.path, scene.is_new = (folder / "shot.hip").as_posix(), False
    scene.write(folder / "shot.hip")


class TestHoudini(HostContract):
    @pytest.fixture
    def stand(self, host: Host, hou: Any) -> Stand:
        def edit() -> None:
            parm = hou.node(LIGHT).parm("tx")
            parm.set(parm.eval() + 1)

        def delete(path: str) -> None:
            hou.node(path).destroy()

        return Stand(host, (CAMERA, LIGHT), edit, delete, lambda: hou.hipFile.save())


def test_a_group_inside_a_parameters_callback_has_no_effect(
    houdini: Houdini, host: Host, hou: Any
) -> None:
    """hou.undos.group: so our label is not there, and the bridge undoes nothing of the person's."""

    def callback() -> None:
        with host.undo_step("Ours"):
            hou.node(LIGHT).parm("tx").set(1.0)

    houdini.call_back(callback)

    assert host.undo_mark().label == "Parameter Change"


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


def test_hdefereval_cannot_be_imported_in_hython_and_is_not_needed(
    houdini: Houdini, host: Host
) -> None:
    """It imports the UI; nothing of ours imports it."""
    sources = [*MODULE.rglob("*.py"), Path(sys.modules["dcc_bridge.hosts.houdini"].__file__ or "")]

    assert not [file.name for file in sources if "hdefereval" in file.read_text()]
    if houdini.batch:
        with pytest.raises(ImportError):
            import_module("hdefereval")


def test_hython_has_no_ui_and_none_is_touched(houdini: Houdini, host: Host, hou: Any) -> None:
    """hou.isUIAvailable: in hython there is no hou.ui at all."""
    host.watch(lambda: None)()
    host.frame([CAMERA])

    assert host.has_ui == hasattr(hou, "ui") == (not houdini.batch)
    assert host.main_window() is None
    assert host.summary()["networks"] == {"/obj": 5, "/stage": 0}


def test_a_copy_leaves_the_scene_its_name(
    houdini: Houdini, host: Host, hou: Any, tmp_path: Path
) -> None:
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

    assert import_module("dcc_bridge.hosts.houdini").HoudiniHost().suffix == suffix


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
