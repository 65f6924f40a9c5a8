"""What our own application promises to skills, and what the example does with it."""

from __future__ import annotations

import gc
import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pxr import Sdf, Usd

from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.headless import Pump
from dcc_bridge.skills.importer import skills
from dcc_bridge.skills.source import Source
from dcc_bridge.threads.main_thread import MainThread
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.prims import rename
from tests.stand_ins import Person, after
from tests.tiers import sampled

pytestmark = pytest.mark.core

EXAMPLE = Path(__file__).parents[2] / "resources" / "skills" / "delete_prims.py"
YES = Reply("accept", {"confirm": True})
NO = Reply("decline")

Delete = Callable[..., dict[str, Any]]
Meanwhile = Callable[[UsdSession], object]
CAMERA = "/World/Cameras/sq010/sh0010_cam"


@pytest.fixture(scope="module")
def delete_prims() -> Callable[..., dict[str, Any]]:
    """The example, as its file has it."""
    (skill,) = skills(Source.of(EXAMPLE, EXAMPLE.read_bytes()))
    return skill.fn


@pytest.fixture
def delete(shot: UsdSession, delete_prims: Callable[..., dict[str, Any]]) -> Delete:
    """Have the example delete cameras, or what else it is told, and ask that person."""

    def delete(person: Person, **more: Any) -> dict[str, Any]:
        remove = context.install(Broker(host=person), Pump().main, shot)
        try:
            return delete_prims(**{"pattern": "*", "type_name": "Camera", **more})
        finally:
            remove()

    return delete


def cameras(session: UsdSession) -> int:
    return sum(prim.GetTypeName() == "Camera" for prim in session.stage.Traverse())


class TestReading:
    """Reading tells what is there and changes nothing."""

    @pytest.fixture(autouse=True)
    def unchanged(self, shot: UsdSession) -> Any:
        before = shot.scene_digest()
        yield
        assert shot.scene_digest() == before

    def test_the_summary_tells_the_scene_at_one_glance(self, shot: UsdSession) -> None:
        shot.selection = [CAMERA]
        told = shot.summary()

        assert told["scene"] == "shot_010_layout.usda"
        assert not told["modified"]
        assert told["types"]["Camera"] == 127
        assert told["prims"] == sum(told["types"].values())
        assert "/World/Cameras" in told["top"]
        assert told["frames"] == [1001, 1120]
        assert told["up"] == "Y"
        assert told["fps"] == 24.0
        assert told["units"] == "0.01 m"
        assert told["selection"] == [CAMERA]
        assert told["undo"] is None
        assert told["layers"] == ["shot_010_layout.usda"]

    def test_a_scene_without_a_file_has_one_name(self, shot: UsdSession) -> None:
        """Its layer is called what the title bar calls the scene, never what USD does."""
        for session in (UsdSession(), UsdSession(shot.path, as_copy=True)):
            told = session.summary()

            assert told["layers"] == [told["scene"]] == [session.scene()]

    def test_an_empty_scene_has_a_summary_too(self, shot: UsdSession) -> None:
        told = UsdSession().summary()

        assert told["file"] is None
        assert told["prims"] == 0
        assert told["default_prim"] is None


class TestRenaming:
    """A renamed prim keeps its place, and what pointed to it follows."""

    @pytest.mark.parametrize(
        ("old", "new", "pointer", "target"),
        [
            ("/World/Characters/Ines", "Inez", f"{CAMERA}.lookAt", "/World/Characters/Inez/Head"),
            (CAMERA, "hero_cam", "/Render/Layout.camera", "/World/Cameras/sq010/hero_cam"),
        ],
    )
    def test_what_points_to_it_or_below_it_follows_from_anywhere_and_it_keeps_its_place(
        self, shot: UsdSession, old: str, new: str, pointer: str, target: str
    ) -> None:
        parent = shot.stage.GetPrimAtPath(old).GetParent()
        names = parent.GetChildrenNames()

        now = rename(shot.stage, shot.stage.GetPrimAtPath(old), new)

        assert now == f"{parent.GetPath()}/{new}"
        assert parent.GetChildrenNames() == [new, *names[1:]]
        assert shot.stage.GetRelationshipAtPath(pointer).GetTargets() == [target]
        assert old not in shot.stage.GetRootLayer().ExportToString()

    @pytest.mark.parametrize(
        ("new_name", "says"),
        [
            ("1st", "cannot be a prim's name"),
            ("a b", "cannot be a prim's name"),
            ("a/b", "cannot be a prim's name"),
            ("", "cannot be a prim's name"),
            ("sh0020_cam", "already exists"),
        ],
    )
    def test_what_is_refused(
        self, shot: UsdSession, capfd: pytest.CaptureFixture[str], new_name: str, says: str
    ) -> None:
        """A bad or taken name changes nothing, and USD does not complain on the console."""
        before = shot.scene_digest()

        with pytest.raises(ValueError, match=says):
            rename(shot.stage, shot.stage.GetPrimAtPath(CAMERA), new_name)

        assert shot.scene_digest() == before
        assert capfd.readouterr().err == ""


class TestDeleting:
    """Nothing is deleted but what a person agreed to."""

    def test_the_question_says_how_many_of_what_which_and_where(self, delete: Delete) -> None:
        person = Person(YES)

        delete(person)

        (asked,) = person.shown
        assert asked.message == "Delete 127 cameras?\nAll of them are under /World/Cameras."
        assert asked.consent is not None
        assert len(asked.items) == 127
        assert set(asked.consent.kinds) == {"Camera"}
        assert asked.form is not None
        assert asked.form.fields[0].title == "Delete 127 cameras"
        assert asked.title == "Delete prims"
        assert asked.undoable

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"pattern": "sh0010_cam", "under": "/World/Cameras/sq010"}, f"It is {CAMERA}."),
            (
                {"type_name": "Capsule"},
                "4 capsules?\nAll of them are under /World/Characters.",
            ),
            ({"type_name": "*", "pattern": "Car_01"}, "below them will go too."),
            (
                {"type_name": "*", "pattern": "Lamp_01*"},
                "2 prims?\nAll of them are under /World",
            ),
        ],
    )
    def test_it_knows_singular_plural_other_types_and_what_goes_with_them(
        self, delete: Delete, arguments: dict[str, Any], message: str
    ) -> None:
        person = Person(YES)

        delete(person, **arguments)

        assert message in person.shown[0].message

    def test_after_a_no_nothing_is_deleted_and_the_agent_told_why(
        self, shot: UsdSession, delete: Delete
    ) -> None:
        before = shot.scene_digest()

        told = delete(Person(NO))

        assert told == {"deleted": 0, "why": "Declined in the app."}
        assert shot.scene_digest() == before

    def test_nobody_is_asked_for_nothing(self, shot: UsdSession, delete: Delete) -> None:
        person = Person(YES)

        told = delete(person, pattern="nobody*", type_name="Mesh")

        assert told == {"deleted": 0, "why": "There are no meshes matching 'nobody*' under /."}
        assert person.shown == []

    @pytest.mark.parametrize(
        ("meanwhile", "count"),
        [
            (lambda s: s.stage.DefinePrim("/World/Mine", "Camera"), 128),
            (lambda s: s.stage.RemovePrim(CAMERA), 126),
            (lambda s: s.stage.DefinePrim(f"{CAMERA}/Rig"), 127),
            (lambda s: s.stage.DefinePrim(CAMERA, "Xform"), 126),
            (lambda s: rename(s.stage, s.stage.GetPrimAtPath(CAMERA), "mine"), 127),
            (lambda s: s.open(shutil.copy(s.path, s.path.with_name("copy.usda"))), 127),
        ],
        ids=["new", "deleted", "given a child", "made something else", "renamed", "another file"],
    )
    def test_what_changed_is_asked_for_again(
        self, shot: UsdSession, delete: Delete, meanwhile: Meanwhile, count: int
    ) -> None:
        person = Person(after(lambda: meanwhile(shot), YES), YES)

        told = delete(person)

        first, second = person.shown
        assert len(first.items) == 127
        assert len(second.items) == count
        assert "changed" in (second.reason or "")
        assert second.message.startswith(f"Delete {count} cameras?")
        assert told["deleted"] == count

    def test_opinions_in_the_session_layer_go_too_and_a_camera_of_another_file_is_hidden(
        self, shot: UsdSession, delete: Delete
    ) -> None:
        with Usd.EditContext(shot.stage, shot.stage.GetSessionLayer()):
            shot.stage.OverridePrim(CAMERA).SetMetadata("comment", "mine")
        shot.stage.DefinePrim("/Rig/cam", "Camera")
        shot.stage.DefinePrim("/World/Rig").GetReferences().AddInternalReference("/Rig")

        told = delete(Person(YES), under="/World")

        assert told["deleted"] == 128
        assert told["only_deactivated"] == ["/World/Rig/cam"]
        assert not shot.stage.GetPrimAtPath(CAMERA)
        assert cameras(shot) == 1

    def test_a_locked_layer(self, shot: UsdSession, delete: Delete) -> None:
        """If a layer cannot be edited, it is named."""
        before = shot.scene_digest()
        shot.stage.GetRootLayer().SetPermissionToEdit(False)

        with pytest.raises(ValueError, match="usda is locked"):
            delete(Person(YES))

        assert shot.scene_digest() == before

    def test_a_camera_below_a_camera_is_counted_and_goes_with_it(
        self, shot: UsdSession, delete: Delete
    ) -> None:
        shot.stage.DefinePrim(f"{CAMERA}/left", "Camera")

        assert delete(Person(YES))["deleted"] == 128
        assert cameras(shot) == 0


MANY = 6000


@pytest.fixture
def forest(monkeypatch: pytest.MonkeyPatch) -> Iterator[UsdSession]:
    """An application with many prims, some below others, whose window paints when it may."""
    session = UsdSession()
    with Sdf.ChangeBlock():
        for number in range(MANY):
            path = f"/World/g{number % 3}/p{number}"
            leaf = Sdf.CreatePrimInLayer(session.stage.GetRootLayer(), path)
            for spec in (leaf.nameParent.nameParent, leaf.nameParent, leaf):
                spec.specifier = Sdf.SpecifierDef
    assert session.undo_labels
    clock = SimpleNamespace(perf_counter=itertools.count().__next__)  # each look at it, a second
    monkeypatch.setattr("dcc_bridge.skills.skill.time", clock)
    # A secret that another test has left is not looked for among thousands of items.
    monkeypatch.setattr("dcc_bridge.elicitation.secret.registered", tuple)
    uninstall = install(session)
    yield session
    uninstall()


def calls(session: UsdSession, work: Callable[[], object]) -> list[int]:
    """Do it on the main thread; count the calls, of functions and of USD's, before each paint."""
    counts = [0]

    def count(frame: object, event: str, function: object) -> None:
        counts[-1] += event in ("call", "c_call")

    def paint(serves_stop: bool) -> bool:
        counts.append(0)
        return False

    def job() -> None:
        sys.setprofile(count)
        try:
            work()
        finally:
            sys.setprofile(None)

    main = MainThread(lambda seconds: None, repaint=paint)
    remove = context.install(Broker(host=Person(YES)), main, session)
    done = main.submit(job)
    gc.disable()  # else what other tests left may end in the middle, and count
    try:
        main.drain()
    finally:
        gc.enable()
    remove()
    done.result()
    return counts


@pytest.mark.parametrize("pattern", sampled(["g*"], ["p*", "g*", "*/g1*"]))
def test_no_part_of_a_large_deletion_goes_through_the_scene_without_a_paint(
    forest: UsdSession, delete_prims: Callable[..., dict[str, Any]], pattern: str
) -> None:
    def delete() -> None:
        with forest.undo_step("Delete"):
            delete_prims(pattern)
        assert forest.lost([])
        forest.lost(["/World/g1"])

    most = max(calls(forest, delete))

    assert forest.undo_labels[-1] == "Delete"
    assert most < MANY / 3


def test_what_the_hosts_own_code_edits_as_it_paints_is_in_a_fingerprint_made_meanwhile(
    forest: UsdSession,
) -> None:
    items = [f"/World/g1/p{at}" for at in range(MANY)]
    edits = [0, 1]
    looks = list[str]()

    def paint(serves_stop: bool) -> bool:
        if edits:
            forest.stage.DefinePrim(f"/World/g1/p1/late{edits.pop()}", "Cube")
        return False

    main = MainThread(lambda seconds: None, repaint=paint)
    remove = context.install(Broker(), main, forest)
    done = main.submit(lambda: looks.append(forest.fingerprint(items)))
    main.drain()
    remove()
    done.result()

    assert edits == []
    assert looks == [forest.fingerprint(items)]


@pytest.mark.parametrize(
    "look",
    [
        lambda session: session.fingerprint([f"/World/g1/p{at}" for at in range(MANY)]),
        lambda session: session.lost([]),
    ],
)
def test_what_nobody_touched_since_is_not_gone_through_again(
    forest: UsdSession, look: Callable[[UsdSession], object]
) -> None:
    children: Any = forest.stage.GetRootLayer().GetPrimAtPath("/World/g0").nameChildren
    with forest.undo_step("Delete"), Sdf.ChangeBlock():
        children.clear()

    first, again = (sum(calls(forest, lambda: look(forest))) for _ in range(2))

    assert again < first / 10
