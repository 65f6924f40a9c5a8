"""What a session promises besides undo and files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd

from dcc_bridge.audit import reader
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import WrongThread
from dcc_bridge_usd import current, host, install
from dcc_bridge_usd.host import UsdSession
from tests.hosts.scenes import Failed, fail_after
from tests.live import Live, live, status, text
from tests.stand_ins import Person, after

pytestmark = pytest.mark.core

CALLS: dict[str, Callable[[UsdSession], object]] = {
    "stage": lambda s: s.stage,
    "open": lambda s: s.open("x.usda"),
    "save": lambda s: s.save(),
    "undo_step": lambda s: s.undo_step("x").__enter__(),
    "undo": lambda s: s.undo(),
    "redo": lambda s: s.redo(),
    "undo_label": lambda s: s.undo_mark().label,
    "redo_labels": lambda s: s.redo_labels,
    "on_change": lambda s: s.on_change(lambda: None),
    "selection": lambda s: setattr(s, "selection", ["/World"]),
    "modified": lambda s: s.modified,
    "scene": lambda s: s.scene(),
    "fingerprint": lambda s: s.fingerprint(["/World"]),
    "scene_digest": lambda s: s.scene_digest(),
}


def on_another_thread(call: Callable[[], object]) -> list[BaseException]:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except WrongThread as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_other_threads_are_refused(
    session: UsdSession, call: Callable[[UsdSession], object]
) -> None:
    """Whatever touches the scene raises on another thread than the session's own."""
    before = session.scene_digest()

    (error,) = on_another_thread(lambda: call(session))

    assert "main" in str(error)
    assert session.scene_digest() == before
    with session.undo_step("Still works"):
        session.stage.DefinePrim("/World/d")


def test_other_threads_may_ask_its_name_version_and_has_ui(session: UsdSession) -> None:
    assert on_another_thread(lambda: (session.name, session.version, session.has_ui)) == []


def test_there_is_one_current_session() -> None:
    """Installing returns the undo; without a session it says so."""
    with pytest.raises(RuntimeError, match="no USD session"):
        current.session()
    one = UsdSession()
    two = UsdSession()

    undo_one = install(one)
    undo_two = install(two)
    assert current.session() is two
    undo_two()
    assert current.session() is one
    undo_one()
    with pytest.raises(RuntimeError):
        current.session()


class TestChanges:
    """Listeners hear of a change once, when all is done."""

    @pytest.fixture
    def heard(self, session: UsdSession) -> list[object]:
        heard: list[object] = []
        session.on_change(lambda: heard.append((session.undo_mark().label, session.modified)))
        return heard

    def test_step_undo_redo_save_and_open_are_told_once_each_with_the_state_they_led_to(
        self, session: UsdSession, heard: list[object]
    ) -> None:
        with session.undo_step("Many"):
            for number in range(20):
                session.stage.DefinePrim(f"/World/p{number}")
        session.undo()
        session.redo()
        session.save()
        session.open(session.path or "")

        many = "Many"
        assert heard == [(many, True), (None, False), (many, True), (many, False), (None, False)]

    def test_rollback_is_told(self, session: UsdSession, heard: list[object]) -> None:
        """A window may hold prims that died in between, so it hears of a rollback too."""
        with pytest.raises(Failed):
            fail_after(session, lambda stage: stage.DefinePrim("/World/d"))

        assert heard == [(None, False)]

    def test_an_empty_step_an_empty_rollback_and_the_same_selection_are_not_told(
        self, session: UsdSession, heard: list[object]
    ) -> None:
        with session.undo_step("Empty"):
            pass
        with pytest.raises(Failed):
            fail_after(session, lambda stage: None)
        session.selection = []

        assert heard == []

    def test_selection_is_told(self, session: UsdSession, heard: list[object]) -> None:
        session.selection = ["/World/a"]

        assert len(heard) == 1

    def test_a_listener_that_is_ended_twice_is_not_called_and_others_are(
        self, session: UsdSession
    ) -> None:
        heard: list[str] = []
        first = session.on_change(lambda: heard.append("first"))
        session.on_change(lambda: heard.append("second"))
        first()
        first()
        session.selection = ["/World/a"]

        assert heard == ["second"]


class TestSelection:
    """The selection holds what is there."""

    def test_doubles_what_is_no_path_and_what_is_no_prim_are_dropped(
        self, session: UsdSession
    ) -> None:
        session.selection = [
            "/World/b",
            "/World/a",
            "/World/b",
            "/World/gone",
            "/World/a.focalLength",
            "not a path",
            "World/a",
            "",
            "/",
        ]

        assert session.selection == ["/World/b", "/World/a"]

    def test_a_deleted_prim_leaves_it_and_undo_does_not_select_it_again(
        self, session: UsdSession
    ) -> None:
        session.selection = ["/World/b", "/World/a"]
        with session.undo_step("Delete a"):
            session.stage.RemovePrim("/World/a")
        session.undo()

        assert session.selection == ["/World/b"]

    def test_an_edit_of_a_value_looks_up_none_of_it(
        self, session: UsdSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session.selection = ["/World/b"]
        monkeypatch.delattr(host, "prim_at")

        with session.undo_step("Lens"):
            session.stage.GetAttributeAtPath("/World/a.focalLength").Set(85.0)

        assert session.selection == ["/World/b"]


class TestFingerprint:
    """It differs as soon as what a person agreed to does."""

    @pytest.mark.parametrize(
        "edit",
        [
            lambda s: s.stage.RemovePrim("/World/c"),
            lambda s: s.stage.DefinePrim("/World/c", "Scope"),
            lambda s: s.stage.DefinePrim("/World/c/below/more"),
            lambda s: s.stage.RemovePrim("/World/c/below"),
            lambda s: s.stage.DefinePrim("/World/c/below", "Cube"),
            lambda s: s.stage.GetPrimAtPath("/World/c").SetActive(False),
            lambda s: s.stage.GetRootLayer().SetPermissionToEdit(False),
            lambda s: s.save(s.path.with_name("other.usda")),
        ],
        ids=["gone", "type", "child", "no child", "child's type", "off", "locked", "other scene"],
    )
    def test_it_differs(self, session: UsdSession, edit: Callable[[UsdSession], object]) -> None:
        before = session.fingerprint(["/World/c", "/World/a"])
        edit(session)

        assert session.fingerprint(["/World/c", "/World/a"]) != before

    def test_a_prim_with_another_parent_differs_at_its_old_path_and_its_new(
        self, session: UsdSession
    ) -> None:
        before = session.fingerprint(["/World/c"])
        batch = Sdf.BatchNamespaceEdit()
        batch.Add(Sdf.NamespaceEdit.Reparent("/World/c", "/World/a", 0))
        assert session.stage.GetRootLayer().Apply(batch)

        assert before not in (
            session.fingerprint(["/World/c"]),
            session.fingerprint(["/World/a/c"]),
        )

    def test_values_what_is_elsewhere_and_the_order_of_items_do_not_matter(
        self, session: UsdSession
    ) -> None:
        before = session.fingerprint(["/World/c", "/World/a", "no such thing"])
        session.stage.GetAttributeAtPath("/World/a.focalLength").Set(20.0)
        session.stage.DefinePrim("/World/elsewhere")

        assert session.fingerprint(["no such thing", "/World/a", "/World/c"]) == before

    def test_a_property_is_known_by_its_kind_and_type_and_by_being_there(
        self, session: UsdSession
    ) -> None:
        stage = session.stage
        seen = {session.fingerprint(["/World/a.lookAt"]), session.fingerprint(["/World/a.gone"])}
        stage.GetPrimAtPath("/World/a").CreateAttribute("x", Sdf.ValueTypeNames.Int)
        seen.add(session.fingerprint(["/World/a.x"]))
        stage.GetPrimAtPath("/World/a").RemoveProperty("x")
        seen.add(session.fingerprint(["/World/a.x"]))

        assert len(seen) == 4


def test_a_digest_covers_every_layer(session: UsdSession, tmp_path: Path) -> None:
    """The same scene read twice has one digest; an edit in any layer changes it."""
    seen = {session.scene_digest(), UsdSession(tmp_path / "small.usda").scene_digest()}
    assert len(seen) == 1

    for layer in session.stage.GetLayerStack(includeSessionLayers=True):
        Sdf.CreatePrimInLayer(layer, "/Mark")
        seen.add(session.scene_digest())
    assert len(seen) == 4


def test_a_copy_is_never_saved_over_what_it_is_of(session: UsdSession, tmp_path: Path) -> None:
    """Untitled and unmodified, the same with its sublayers; to be saved it wants a name."""
    file = tmp_path / "small.usda"
    before = file.read_bytes()

    copy = UsdSession(file, as_copy=True)

    assert copy.scene() == "untitled copy of small.usda"
    assert copy.file() is None
    assert not copy.modified
    assert copy.undo_mark().label is None
    assert copy.stage.GetPrimAtPath("/World/c/below")
    assert len(copy.stage.GetLayerStack(False)) == 2
    with pytest.raises(ValueError, match="never saved"):
        copy.save()
    copy.stage.RemovePrim("/World/a")
    copy.save(tmp_path / "mine.usda")
    assert copy.scene() == "mine.usda"
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("edit", "read", "way"),
    [
        (lambda layer: layer.Save(force=True), False, r"saves by session\(\)\.save\(\)"),
        (lambda layer: Sdf.CreatePrimInLayer(layer, "/new"), True, 'where it says risk="edit"'),
    ],
)
def test_what_a_lock_of_ours_refuses_says_what_to_do_instead(
    session: UsdSession, edit: Callable[[Sdf.Layer], object], read: bool, way: str
) -> None:
    with pytest.raises(ValueError, match=way), session.guard([], read=read):
        edit(session.stage.GetRootLayer())


@pytest.mark.parametrize(
    ("agreed", "beside"),
    [
        (["/"], []),
        (["/World", "not a path", "relative"], ["/Worldly"]),
        (["/World/b", "/World/b/c"], ["/World", "/World/bb", "/Worldly"]),
        (
            ["World", "", "/World/b.size"],
            ["/World", "/World/b", "/World/b/c", "/World/bb", "/Worldly"],
        ),
    ],
)
def test_what_is_below_an_agreed_prim_was_agreed_to_and_nothing_else(
    agreed: list[str], beside: list[str]
) -> None:
    session = UsdSession()
    for path in ("/World/b/c", "/World/bb", "/Worldly"):
        session.stage.DefinePrim(path)

    with session.undo_step("Remove all"):
        session.stage.RemovePrim("/World")
        session.stage.RemovePrim("/Worldly")

    assert session.lost(agreed) == beside


def remade(prim: Usd.Prim) -> None:
    children: Any = prim.GetStage().GetRootLayer().GetPrimAtPath(prim.GetPath()).nameParent
    with Sdf.ChangeBlock():
        del children.nameChildren[prim.GetName()]
        Sdf.PrimSpec(children, "b", Sdf.SpecifierDef, "Camera")


@pytest.mark.parametrize(
    "lose",
    [
        remade,
        lambda prim: prim.GetPrimStack()[0].properties.clear(),
        lambda prim: prim.RemoveProperty("held"),
        lambda prim: prim.GetAttribute("held").ClearAtTime(1),
        lambda prim: prim.GetAttribute("held").ClearDefault(),
        lambda prim: prim.GetAttribute("held").Block(),
    ],
)
def test_a_property_that_lost_itself_a_key_or_its_value_is_counted_as_deleted(
    session: UsdSession, lose: Callable[[Usd.Prim], object]
) -> None:
    prim = session.stage.GetPrimAtPath("/World/b")
    held = prim.CreateAttribute("held", Sdf.ValueTypeNames.Int)
    for frame in (Usd.TimeCode.Default(), 1, 2):
        held.Set(1, frame)

    with session.undo_step("Lose"), session.changes() as count:
        held.Set(2)
        held.Set(2, 3)
        before = count()
        lose(prim)
        after = count()

    assert before.deleted == []
    assert before.is_exact
    assert "/World/b.held" in after.deleted


def test_what_another_file_or_too_much_lost_is_no_exact_count(session: UsdSession) -> None:
    other = Sdf.Layer.CreateAnonymous()
    spec = Sdf.AttributeSpec(Sdf.CreatePrimInLayer(other, "/Lamp"), "held", Sdf.ValueTypeNames.Int)
    prim = session.stage.GetPrimAtPath("/World/b")
    prim.GetReferences().AddReference(other.identifier, "/Lamp")

    with session.undo_step("Edit"), session.changes() as count:
        spec.default = 1
        elsewhere = count()
        for number in range(2_000):
            prim.CreateAttribute(f"a{number}", Sdf.ValueTypeNames.Int)

    assert not elsewhere.is_exact
    assert not count().is_exact


def test_what_takes_the_name_of_something_agreed_to_is_asked_about_anew(tmp_path: Path) -> None:
    """The person puts another prim there while the question about the first one is open."""
    session = UsdSession(has_ui=True)
    session.stage.DefinePrim("/World/box", "Cube")

    def drop_box() -> None:
        """Delete the box."""
        session.stage.RemovePrim("/World/box")

    def exchange() -> None:
        with session.undo_step("By hand"):
            session.stage.RemovePrim("/World/box")
            session.stage.DefinePrim("/World/box/inner", "Cone")

    person = Person(after(exchange, Reply("accept", {"confirm": True})), Reply("decline"))
    with live(tmp_path / "run", drop_box, host=session, presenter=person) as running:
        result = running.call("drop_box")

    assert status(result) == "refused", text(result)
    assert len(person.shown) == 2
    assert session.stage.GetPrimAtPath("/World/box/inner")


def test_what_the_person_undoes_and_redoes_is_in_the_history_and_on_record(
    tmp_path: Path,
) -> None:
    session = UsdSession(has_ui=True)

    def add_box() -> None:
        """Add a box."""
        session.stage.DefinePrim("/World/box", "Cube")

    def undone_by(running: Live) -> str:
        (record,) = [one for one in running.bridge.recent.records() if one.skill == "add_box"]
        return record.effect.undone_by

    with live(tmp_path / "run", add_box, host=session) as running:
        running.call("add_box")
        session.undo()
        running.until(lambda: undone_by(running) == "host")
        session.redo()
        running.until(lambda: undone_by(running) == "")
        (log,) = reader.logs(running.bridge.audit.folder)
        events = [line.fields["event"] for line in reader.read(log).lines()]

    assert events[-2:] == ["undone", "redone"]
