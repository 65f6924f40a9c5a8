"""A yes reaches as far as it was given, and nothing else changes a scene or what is on disk.

The skills are careless, not hostile: they forget to ask, ask and do not listen, or do more than
they asked for. Each runs by the real runner in our own application, on a real USD scene.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from pxr import Sdf, Tf, Usd

from dcc_bridge import carry, confirm, confirm_sync, elicit_form_sync, on_main, skill
from dcc_bridge.audit.log import Event
from dcc_bridge.consent.call import current_call
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import BridgeError, Ended, LostAnyway, NotConfirmed
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.skill import describe
from dcc_bridge_usd.host import UsdSession
from tests.live import live, status, text
from tests.one_run import one_run
from tests.stand_ins import Answer, FakeHost, Person, after

YES: Final = Reply("accept", {"confirm": True})
NO: Final = Reply("decline")
ASKS: Final[dict[str, Any]] = {"risk": "destructive", "confirms": True}
FINAL: Final[dict[str, Any]] = {"risk": "destructive", "undo": False}
FORM: Final = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean"}},
    "required": ["confirm"],
}
SCENE: Final = """#usda 1.0
(subLayers = [@below.usda@])
def Xform "World" {
    def Camera "a" {
    }
    def Camera "b" {
        custom string note = "keep"
        float focalLength = 35
    }
    def Xform "set" (references = @asset.usda@</Asset>) {
    }
}
"""
ASSET: Final = '#usda 1.0\ndef Xform "Asset" {\n    def Sphere "ball" {\n    }\n}\n'
BELOW: Final = '#usda 1.0\nover "World" {\n    def "low" {\n    }\n}\n'
A, B = "/World/a", "/World/b"


@dataclass
class Studio:
    """A scene on disk, open, and one person who answers in turn.

    Attributes:
        session: The open scene.
        folder: Where its files are.
        person: Who is asked.
        record: The audit log's events.
    """

    session: UsdSession
    folder: Path
    person: Person = field(default_factory=Person)
    record: list[Event] = field(default_factory=list)

    @property
    def stage(self) -> Usd.Stage:
        return self.session.stage

    @property
    def other(self) -> Path:
        """The file of another scene."""
        return self.folder / "other.usda"

    def run(
        self,
        fn: Callable[..., Any],
        *answers: Answer,
        late: Callable[[], threading.Thread] | None = None,
        **marks: Any,
    ) -> Outcome:
        """Run a skill with these marks on the main thread to its end.

        The main thread is served until the thread ends that is begun late.
        """
        self.person = Person(*answers)
        with one_run(self.session, self.person, auditor=self.write) as one:
            run = one.start(describe(marked_as(fn, **marks)))
            while not run.outcome.done():
                one.main.drain()
            thread = late() if late is not None else None
            while thread is not None and thread.is_alive():
                one.main.drain()
            return run.outcome.result()

    def vain(self, fn: Callable[..., Any], *answers: Answer, **marks: Any) -> str:
        """Run a skill that has to leave all as it was; gives how it ended."""
        before = self.state()
        ended = self.run(fn, *answers, **marks)
        assert self.state() == before, ended
        return ended.status

    def wiping(self) -> Callable[[str], None]:
        """Make a destructive skill that does not ask by itself."""

        @skill(risk="destructive")
        def wipe(path: str) -> None:
            """Wipe."""
            self.stage.RemovePrim(path)

        return wipe

    def layer(self, name: str) -> Sdf.Layer:
        """Give a layer that is in memory."""
        layer = Sdf.Layer.Find(str(self.folder / name))
        assert layer is not None
        return layer

    def copies(self, pattern: str = "*") -> list[tuple[str, str]]:
        """Give the name and the text of each copy that was kept of what was lost."""
        files = self.folder.glob(f"*.checkpoints/*/{pattern}")
        return [(file.name, file.read_text()) for file in files]

    def write(self, *events: Event, durable: bool = False) -> None:
        """Keep the record."""
        self.record += events

    def state(self) -> tuple[Any, ...]:
        """Look at all that a skill could have changed: scene, view, stacks and files."""
        stage, session = self.stage, self.session
        files = {file.name: file.read_bytes() for file in self.folder.glob("*.usda")}
        view = (
            stage.GetEditTarget().GetLayer().identifier,
            tuple(stage.GetMutedLayers()),
            str(stage.GetLoadRules()),
            {it.identifier: it.permissionToEdit for it in stage.GetUsedLayers()},
            {it.identifier: it.permissionToSave for it in stage.GetUsedLayers()},
            {it.identifier: it.ExportToString() for it in stage.GetUsedLayers()},
        )
        return (session.scene_digest(), session.undo_labels, session.redo_labels, files, view)


def marked_as(fn: Callable[..., Any], **marks: Any) -> Callable[..., Any]:
    """Mark a function as a skill."""
    fn.__doc__ = "Do something."
    return skill(name="careless", **marks)(fn)


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    """The scene, with unsaved work, and a step of the person's to undo and one to redo."""
    for name, content in (("shot", SCENE), ("asset", ASSET), ("below", BELOW), ("other", ASSET)):
        (tmp_path / f"{name}.usda").write_text(content)
    session = UsdSession(tmp_path / "shot.usda", has_ui=True)
    for label in ("first", "second"):
        with session.undo_step(f"The person's {label}"):
            session.stage.DefinePrim(f"/World/{label}")
    session.undo()
    return Studio(session, tmp_path)


def called(
    folder: Path, host: FakeHost, fn: Callable[..., Any], *answers: Reply, **marks: Any
) -> tuple[str, str]:
    """Have a client call a skill with these marks; gives how that ended, and what it was told."""
    person = Person(*answers) if answers else None
    with live(folder, marked_as(fn, **marks), host=host, presenter=person) as running:
        result = running.call("careless")
    return status(result), text(result)


# ---- what is taken back: all is as before then, files, stacks and view


CASES: list[Any] = []
Body = Callable[[Studio], object]


def taken_back(ends: str, *answers: Reply, **marks: Any) -> Callable[[Body], Body]:
    """Note the body of a skill, how it has to end, and what it is answered."""

    def note(body: Body) -> Body:
        CASES.append(pytest.param(body, marks, answers, ends, id=body.__name__))
        return body

    return note


@taken_back("no_consent", YES, **ASKS)
def a_property_that_is_deleted_counts_as_well(studio: Studio) -> None:
    confirm_sync("Delete it?", items=[A])
    studio.stage.GetPrimAtPath(B).RemoveProperty("note")


@taken_back("no_consent", YES, YES, YES, **ASKS)
def an_item_may_be_lost_once_and_what_is_made_under_its_name_is_another_thing(
    studio: Studio,
) -> None:
    confirm_sync("Delete it?", items=[A])
    studio.stage.RemovePrim(A)
    elicit_form_sync("And a name?", FORM, consent=False)
    studio.stage.DefinePrim(A)
    elicit_form_sync("Another?", FORM, consent=False)
    studio.stage.RemovePrim(A)


@taken_back("no_consent", YES, NO, **ASKS)
def a_no_to_the_second_list_withdraws_the_first(studio: Studio) -> None:
    confirm_sync("Delete it?", items=[A])
    studio.stage.RemovePrim(A)
    with suppress(NotConfirmed):
        confirm_sync("And this?", items=[B])
    studio.stage.RemovePrim(B)


@taken_back("no_consent", NO, YES, NO, risk="edit")
def a_no_to_a_question_that_a_look_up_asks_outlasts_the_yes_around_it(studio: Studio) -> None:
    def look() -> list[str]:
        with suppress(NotConfirmed):
            confirm_sync("Really?")
        return [A]

    confirm_sync("Delete it?", items=look)
    studio.stage.RemovePrim(A)


@taken_back("no_consent", NO, risk="edit")
def an_edit_whose_question_a_person_declined_changes_nothing_any_more(studio: Studio) -> None:
    elicit_form_sync("Shall I?", FORM)
    studio.stage.DefinePrim("/World/new")


@taken_back("no_consent", risk="edit")
def one_that_says_it_asks_and_does_not_is_undone_in_an_edit_too(studio: Studio) -> None:
    marked_as(lambda: studio.stage.RemovePrim(A), **ASKS)()


@taken_back("failed", risk="edit")
def a_layer_of_the_scene_is_saved_by_the_host_alone(studio: Studio) -> None:
    studio.stage.DefinePrim("/World/new")
    studio.stage.GetRootLayer().Save()


@taken_back("failed", risk="read")
def a_read_that_unlocks_all_layers_undoes_nothing_of_the_persons(studio: Studio) -> None:
    for layer in studio.stage.GetUsedLayers():
        layer.SetPermissionToEdit(True)
    studio.session.undo()


@taken_back("failed", risk="read")
def a_read_cannot_edit_and_usd_itself_says_so(studio: Studio) -> None:
    studio.stage.RemovePrim(A)


@taken_back("failed", YES, risk="read")
def a_read_that_asked_something_may_edit_as_little_as_before(studio: Studio) -> None:
    elicit_form_sync("Look?", FORM)
    studio.stage.RemovePrim(A)


@pytest.mark.parametrize(("body", "marks", "answers", "ends"), CASES)
def test_what_nobody_agreed_to_is_taken_back(
    studio: Studio, body: Body, marks: dict[str, Any], answers: tuple[Reply, ...], ends: str
) -> None:
    assert studio.vain(lambda: body(studio), *answers, **marks) == ends


# ---- a destructive skill is one wherever it is called


def test_a_destructive_skill_that_an_edit_calls_is_asked_for_with_what_it_loses(
    studio: Studio,
) -> None:
    wipe = studio.wiping()

    def tidy() -> None:
        wipe(A)

    assert studio.vain(tidy, NO, risk="edit") == "refused"
    (question,) = studio.person.shown
    assert question.items == (A,)
    assert studio.run(tidy, YES, risk="edit").status == "done"
    assert not studio.stage.GetPrimAtPath(A)


def test_a_destructive_skill_that_a_coroutine_calls_on_the_main_thread_is_asked_for(
    tmp_path: Path,
) -> None:
    host, person = FakeHost(["cam0"], has_ui=True), Person(NO)
    wipe = marked_as(lambda: host.items.clear(), risk="destructive")

    async def tidy() -> None:
        await on_main(wipe)

    with live(tmp_path, marked_as(tidy, risk="edit"), host=host, presenter=person) as running:
        result = running.call("careless")

    assert (status(result), host.items, len(person.shown)) == ("refused", ["cam0"], 1)


def test_what_a_coroutine_lost_once_it_may_not_lose_again_in_a_later_part(tmp_path: Path) -> None:
    host, person = FakeHost(["cam0"], has_ui=True), Person(YES)

    async def tidy() -> None:
        await confirm("Delete it?", items=["cam0"])
        await on_main(host.items.clear)
        await on_main(host.items.append, "cam0")
        await on_main(host.items.clear)

    with live(tmp_path, marked_as(tidy, **ASKS), host=host, presenter=person) as running:
        result = running.call("careless")

    assert (status(result), host.items, host.labels) == ("no_consent", ["cam0"], [])


def test_what_a_person_agreed_to_as_a_whole_is_not_asked_again_for_its_parts(
    studio: Studio,
) -> None:
    wipe = studio.wiping()

    def wipe_both() -> None:
        wipe(A)
        wipe(B)

    assert studio.run(wipe_both, YES, risk="destructive").status == "done"
    assert len(studio.person.shown) == 1


@pytest.mark.parametrize("is_paused", [False, True])
def test_an_edit_that_a_skill_queued_before_it_failed_does_not_stand(
    is_paused: bool, tmp_path: Path
) -> None:
    """Nor does one that begins after the person paused the agent."""
    host = FakeHost(["cam0"])

    @skill(risk="edit", thread="any")
    def careless() -> None:
        """Queue an edit and fail."""
        if is_paused:
            running.bridge.pause()
        queued = current_call().control.edit(host.items.clear)
        if is_paused:
            queued.result(20)
        raise ValueError("on purpose")

    with live(tmp_path, careless, host=host) as running:
        result = running.call("careless")

    assert (status(result), host.items) == ("failed", ["cam0"])
    assert ("paused" in text(result)) is is_paused


def test_what_two_called_skills_lose_is_one_question(studio: Studio) -> None:
    wipe = studio.wiping()

    def tidy() -> None:
        wipe(A)
        wipe(B)

    assert studio.vain(tidy, NO, risk="edit") == "refused"
    assert [it.items for it in studio.person.shown] == [(A, B)]


def test_an_edit_that_calls_a_skill_with_nothing_to_lose_goes_on(studio: Studio) -> None:
    delete_empty = marked_as(lambda: None, **ASKS)

    def tidy() -> None:
        delete_empty()
        studio.stage.DefinePrim("/World/new")

    assert studio.run(tidy, risk="edit").status == "done"
    assert studio.person.shown == []


def test_a_question_in_a_copied_context_is_one_of_the_same_call(studio: Studio) -> None:
    def wipe() -> None:
        carry(lambda: confirm_sync("Delete it?", items=[A]))()
        studio.stage.RemovePrim(A)

    assert studio.run(wipe, YES, **ASKS).status == "done"


# ---- a grant covers what it names


def test_what_is_deleted_beside_the_agreed_items_is_brought_back_with_them(studio: Studio) -> None:
    def wipe() -> None:
        confirm_sync("Delete it?", items=[A])
        studio.stage.RemovePrim(A)
        studio.stage.RemovePrim(B)

    before = studio.state()
    outcome = studio.run(wipe, YES, **ASKS)

    assert (outcome.status, studio.state()) == ("no_consent", before)
    assert f"deleted {B}" in str(outcome.error)


def test_what_lies_below_an_agreed_item_goes_with_it(studio: Studio) -> None:
    def wipe() -> None:
        confirm_sync("Delete it?", items=["/World"])
        studio.stage.RemovePrim(A)
        studio.stage.RemovePrim("/World")

    assert studio.run(wipe, YES, **ASKS).status == "done"


def _replace(stage: Usd.Stage, path: str) -> None:
    """Delete a prim with all that is below it, and make one of its name at once."""
    with Sdf.ChangeBlock():
        layer = stage.GetRootLayer()
        del layer.rootPrims[path.strip("/")]  # type: ignore[attr-defined]  # its stub lacks it
        Sdf.PrimSpec(layer, path.strip("/"), Sdf.SpecifierDef, "Xform")


GREAT: Final[dict[str, Callable[[Usd.Stage], object]]] = {
    "cleared": lambda stage: stage.GetRootLayer().Clear(),
    "replaced": lambda stage: stage.GetRootLayer().ImportFromString("#usda 1.0\n"),
    "without its sublayer": lambda stage: stage.GetRootLayer().subLayerPaths.clear(),
    "made anew": lambda stage: _replace(stage, "/World"),
    "hidden": lambda stage: stage.GetPrimAtPath(B).SetActive(False),
    "a schema's value": lambda stage: stage.GetPrimAtPath(B).RemoveProperty("focalLength"),
    "without its reference": lambda stage: (
        stage.GetPrimAtPath("/World/set").GetReferences().ClearReferences()
    ),
}


@pytest.mark.parametrize("lose", GREAT.values(), ids=GREAT)
def test_what_is_lost_in_one_great_change_is_seen_as_well(
    studio: Studio, lose: Callable[[Usd.Stage], object]
) -> None:
    def wipe() -> None:
        confirm_sync("Delete it?", items=[A])
        lose(studio.stage)

    assert studio.vain(wipe, YES, **ASKS) == "no_consent"


@pytest.mark.parametrize("unsaved", [False, True])
def test_a_referenced_layer_that_a_body_unlocks_and_edits_holds_what_it_did(
    studio: Studio, unsaved: bool
) -> None:
    asset = studio.layer("asset.usda")
    if unsaved:
        Sdf.CreatePrimInLayer(asset, "/Asset/theirs")

    def tidy() -> None:
        asset.SetPermissionToEdit(True)
        Sdf.CreatePrimInLayer(asset, "/Asset/mine")

    assert studio.vain(tidy, risk="edit") == "done"


def test_the_lock_of_a_layer_stays_where_a_body_took_the_layer_out_of_the_scene(
    studio: Studio,
) -> None:
    studio.layer("asset.usda").SetPermissionToEdit(False)

    assert studio.vain(lambda: studio.stage.GetRootLayer().Clear(), **ASKS) == "no_consent"


@pytest.mark.parametrize("risk", ["read", "edit"])
def test_the_scenes_file_is_another_one_only_with_a_yes(studio: Studio, risk: str) -> None:
    ended = studio.run(lambda: studio.session.save(studio.folder / "new.usda"), risk=risk)

    assert ended.status == "no_consent"
    assert studio.session.file() == studio.folder / "shot.usda"


def test_a_look_up_after_the_end_is_not_run_and_what_was_done_stands(studio: Studio) -> None:
    """Not every host could refuse what it loses, and nobody would be told."""
    looks: list[str] = []

    def look() -> list[str]:
        looks.append("looked")
        studio.stage.GetRootLayer().ImportFromString("#usda 1.0\n")  # which no lock stops
        return [B]

    def ask() -> None:
        with suppress(BridgeError, Tf.ErrorException):
            confirm_sync("Delete it?", items=look)

    threads: list[threading.Thread] = []

    def tidy() -> None:
        studio.stage.DefinePrim("/World/new")
        threads.append(threading.Thread(target=carry(ask)))

    def late() -> threading.Thread:
        threads[0].start()
        return threads[0]

    done = studio.run(tidy, late=late, risk="edit")

    assert (done.status, looks) == ("done", [])
    assert studio.stage.GetPrimAtPath("/World/new")
    assert studio.stage.GetPrimAtPath(B)


def test_a_scene_that_a_body_opened_is_not_saved_past_the_session(studio: Studio) -> None:
    content = studio.other.read_bytes()

    def turn() -> None:
        studio.session.open(studio.other)
        studio.stage.GetRootLayer().Clear()
        studio.stage.Save()

    assert studio.run(turn, YES, **FINAL).status == "failed"
    assert studio.other.read_bytes() == content
    assert studio.stage.GetRootLayer().permissionToSave


def test_nobody_is_asked_about_nothing_and_nothing_is_granted(studio: Studio) -> None:
    def wipe(path: str = "") -> list[str]:
        agreed = confirm_sync(lambda items: f"Delete {items[0]}?", items=list)
        if studio.person.shown or agreed:
            raise AssertionError
        if wipes:
            studio.stage.RemovePrim(A)
        return list(agreed)

    wipes = False
    nothing = studio.run(wipe, **ASKS)
    wipes = True

    assert (nothing.status, nothing.value) == ("done", [])
    assert studio.vain(wipe, **ASKS) == "no_consent"


def test_a_grant_ends_though_its_call_still_runs(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcc_bridge.consent.ledger.GRANT_TTL_S", -1.0)

    ends = studio.vain(lambda: studio.stage.RemovePrim(A), YES, YES, YES, risk="destructive")

    assert ends == "no_consent"


def test_every_form_of_a_destructive_skill_is_a_consent_after_the_first_as_well(
    studio: Studio,
) -> None:
    def wipe() -> None:
        confirm_sync("Delete it?", items=[A])
        elicit_form_sync("All the others as well?", FORM)
        elicit_form_sync("What is your favourite?", FORM, consent=False)

    studio.run(wipe, YES, YES, YES, **ASKS)

    assert [shown.consent is not None for shown in studio.person.shown] == [True, True, False]
    asked = [fields for event, fields in studio.record if event == "asked"]
    assert [fields.get("consent") for fields in asked] == [True, True, False]


def test_an_edit_may_go_on_after_a_question_that_only_asked_for_input(studio: Studio) -> None:
    def tidy() -> None:
        elicit_form_sync("A name?", FORM, consent=False)
        studio.stage.DefinePrim("/World/new")

    assert studio.run(tidy, NO, risk="edit").status == "done"


# ---- what undo does not bring back


def _open(studio: Studio) -> None:
    studio.session.open(studio.other)


def _save(studio: Studio) -> None:
    studio.session.save()


def _save_as(studio: Studio) -> None:
    studio.session.save(studio.other)


def _save_copy(studio: Studio) -> None:
    studio.session.save_copy(studio.other)


LOSSES: Final = [_open, _save, _save_as, _save_copy]


@pytest.mark.parametrize("risk", ["read", "edit", "destructive"])
@pytest.mark.parametrize("lose", LOSSES)
def test_no_scene_is_closed_and_no_file_written_over_unasked(
    studio: Studio, risk: str, lose: Body
) -> None:
    before = studio.state()
    outcome = studio.run(lambda: lose(studio), risk=risk, confirms=True)

    assert (outcome.status, studio.state()) == ("no_consent", before)
    assert "undoable=False" in str(outcome.error)


@pytest.mark.parametrize("lose", LOSSES)
def test_a_yes_to_what_undo_brings_back_is_none_to_what_it_does_not(
    studio: Studio, lose: Body
) -> None:
    assert studio.vain(lambda: lose(studio), YES, risk="destructive") == "no_consent"


@pytest.mark.parametrize("lose", LOSSES)
def test_with_a_yes_it_is_done_and_a_copy_is_kept_of_what_was_lost(
    studio: Studio, lose: Body
) -> None:
    lost = {it: (studio.folder / it).read_text() for it in ("shot.usda", "other.usda")}
    outcome = studio.run(lambda: lose(studio), YES, **FINAL)

    copies = dict(studio.copies())
    over = [it for it, old in lost.items() if (studio.folder / it).read_text() != old]
    assert outcome.status == "done"
    assert all(copies[it] == lost[it] for it in over)
    assert any("unsaved" in name for name in copies)


def test_a_yes_to_one_file_is_none_to_another_nor_to_the_scene(studio: Studio) -> None:
    acts = [_save_copy, _open, _save]

    def asked() -> None:
        confirm_sync("Write over it?", undoable=False, files=[studio.other])
        acts.pop()(studio)

    assert [studio.vain(asked, YES, **ASKS) for _ in range(2)] == ["no_consent"] * 2
    assert studio.run(asked, YES, **ASKS).status == "done"


def test_what_the_person_does_after_the_yes_is_in_a_copy_too(studio: Studio) -> None:
    def work() -> None:
        with studio.session.undo_step("The person goes on"):
            studio.stage.DefinePrim("/World/late")

    def asked() -> None:
        elicit_form_sync("A name?", FORM, consent=False)
        _open(studio)

    assert studio.run(asked, YES, after(work, YES), **FINAL).status == "done"
    assert any('"late"' in text for _, text in studio.copies("*unsaved*"))


def test_two_files_that_were_agreed_to_one_by_one_may_be_written_at_once(studio: Studio) -> None:
    Sdf.CreatePrimInLayer(studio.layer("below.usda"), "/World/low/work")

    def asked() -> None:
        for name in ("shot.usda", "below.usda"):
            confirm_sync(f"Write over {name}?", undoable=False, files=[studio.folder / name])
        studio.session.save()

    assert studio.run(asked, YES, YES, **ASKS).status == "done"
    assert "work" in (studio.folder / "below.usda").read_text()


def test_two_sublayers_of_one_name_have_each_its_copy(studio: Studio) -> None:
    (studio.folder / "more").mkdir()
    (studio.folder / "more/below.usda").write_text(BELOW)
    studio.stage.GetRootLayer().subLayerPaths.append("more/below.usda")
    for layer in studio.stage.GetLayerStack()[-2:]:
        Sdf.CreatePrimInLayer(layer, "/World/low/work")

    studio.session.save_copy(studio.folder / "copy.usda")

    copies = [file.read_text() for file in sorted(studio.folder.glob("copy.*.below.usda"))]
    assert ["work" in text for text in copies] == [True, True]


@pytest.mark.parametrize("other", ["open", "save as"])
def test_the_layer_of_edits_is_put_back_in_a_scene_that_a_body_opened(
    studio: Studio, other: str
) -> None:
    def careless() -> None:
        (_open if other == "open" else _save_as)(studio)
        studio.stage.SetEditTarget(studio.stage.GetSessionLayer())

    assert studio.run(careless, YES, **FINAL).status == "done"
    assert studio.stage.GetEditTarget().GetLayer() == studio.stage.GetRootLayer()
    assert studio.stage.GetRootLayer().permissionToSave


def test_a_yes_does_not_outlive_its_call_in_a_copied_context(studio: Studio) -> None:
    later: list[Context] = []

    assert studio.run(lambda: later.append(copy_context()), YES, **FINAL).status == "done"
    with pytest.raises(Ended):
        later[0].run(studio.session.open, studio.other)
    assert studio.session.scene() == "shot.usda"


def test_what_a_body_raises_is_told_though_it_locked_a_layer(studio: Studio) -> None:
    def careless() -> None:
        studio.stage.DefinePrim("/World/new")
        studio.stage.GetRootLayer().SetPermissionToEdit(False)
        raise BridgeError("the real error")

    before = studio.state()
    outcome = studio.run(careless, risk="edit")

    assert (outcome.status, studio.state()) == ("failed", before)
    assert "the real error" in str(outcome.error)


def test_one_call_keeps_all_the_copies_that_it_needs(studio: Studio) -> None:
    files = [studio.folder / f"file{number}.usda" for number in range(13)]
    for file in files:
        file.write_text(ASSET)

    def asked() -> None:
        for file in files:
            studio.session.save_copy(file)

    assert studio.run(asked, YES, **FINAL).status == "done"
    assert {file.name for file in files} <= {name for name, _ in studio.copies()}


def test_the_work_in_a_sublayer_is_in_the_copy_of_a_scene(studio: Studio) -> None:
    Sdf.CreatePrimInLayer(studio.layer("below.usda"), "/World/low/work")

    assert studio.run(lambda: _open(studio), YES, **FINAL).status == "done"
    copies = studio.copies("*.1.below.usda")
    assert ["work" in text for _, text in copies] == [True]


@pytest.mark.parametrize("risk", ["read", "destructive"])
def test_a_layer_that_the_person_locked_is_as_it_was(studio: Studio, risk: str) -> None:
    studio.stage.GetRootLayer().SetPermissionToEdit(False)

    def careless() -> None:
        studio.stage.GetRootLayer().SetPermissionToEdit(True)
        studio.stage.RemovePrim(A)

    assert studio.vain(careless, risk=risk, confirms=True) == "no_consent"


def _edit_and_save(layer: Sdf.Layer, path: str) -> None:
    with suppress(Tf.ErrorException):
        Sdf.CreatePrimInLayer(layer, path)
    with suppress(Tf.ErrorException):
        layer.Save(force=True)


@pytest.mark.parametrize("risk", ["read", "edit"])
def test_a_layer_that_a_body_brings_in_is_not_written(studio: Studio, risk: str) -> None:
    studio.stage.MuteLayer(str(studio.folder / "below.usda"))

    def careless() -> None:
        studio.stage.UnmuteLayer(str(studio.folder / "below.usda"))
        _edit_and_save(studio.layer("below.usda"), "/World/low/work")

    studio.run(careless, risk=risk)

    assert (studio.folder / "below.usda").read_text() == BELOW


def test_what_a_person_does_in_the_window_is_not_held_up(studio: Studio) -> None:
    studio.session.save()
    studio.session.open(studio.other)

    assert studio.session.scene() == "other.usda"


# ---- what undo does not hold


def _mute(stage: Usd.Stage) -> None:
    stage.MuteLayer(stage.GetLayerStack()[-1].identifier)


def _unload(stage: Usd.Stage) -> None:
    stage.SetLoadRules(Usd.StageLoadRules.LoadNone())


def _target(stage: Usd.Stage) -> None:
    stage.SetEditTarget(stage.GetSessionLayer())


def _unlock(stage: Usd.Stage) -> None:
    stage.GetRootLayer().SetPermissionToEdit(not stage.GetRootLayer().permissionToEdit)


@pytest.mark.parametrize("risk", ["read", "edit"])
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (_mute, "which layers are muted"),
        (_unload, "what is loaded"),
        (_target, "which layer edits go to"),
        (_unlock, "the lock of shot.usda"),
    ],
)
def test_what_undo_does_not_hold_is_put_back_and_on_record(
    studio: Studio, risk: str, change: Callable[[Usd.Stage], None], name: str
) -> None:
    studio.vain(lambda: change(studio.stage), risk=risk)

    assert name in [it for _, fields in studio.record for it in fields.get("put_back", ())]


@pytest.mark.parametrize("risk", ["read", "edit", "destructive"])
def test_a_layer_that_is_only_referenced_is_neither_edited_nor_saved(
    studio: Studio, risk: str
) -> None:
    before = studio.state()
    studio.run(lambda: _edit_and_save(studio.layer("asset.usda"), "/Asset/more"), YES, risk=risk)

    assert studio.state()[3:] == before[3:]


# ---- what the person does meanwhile


def test_what_the_person_edits_while_a_read_asks_is_theirs(studio: Studio) -> None:
    work = after(lambda: studio.stage.RemovePrim(A), YES)

    def ask() -> None:
        elicit_form_sync("Look?", FORM)

    assert studio.run(ask, work, risk="read").status == "done"
    assert not studio.stage.GetPrimAtPath(A)


def test_what_the_person_undid_meanwhile_is_not_reported_as_standing(studio: Studio) -> None:
    """Of a body that is not tried, whose edit stands while it asks."""

    def tidy() -> None:
        studio.stage.DefinePrim("/World/new")
        elicit_form_sync("Go on?", FORM)

    before = studio.state()
    ended = studio.run(tidy, after(studio.session.undo, NO), risk="edit", tried=False)

    assert (ended.status, studio.state()[:2]) == ("refused", before[:2])


def test_what_the_person_undid_while_a_tried_body_asked_stays_undone(studio: Studio) -> None:
    """Nothing of the body stands then, so it is a step of their own that they undo."""

    def tidy() -> None:
        studio.stage.DefinePrim("/World/new")
        elicit_form_sync("Go on?", FORM)

    ended = studio.run(tidy, after(studio.session.undo, NO), risk="edit")

    assert (ended.status, studio.session.undo_labels) == ("refused", [])
    assert not studio.stage.GetPrimAtPath("/World/first")


def test_what_the_person_did_on_top_of_an_edit_stands_and_the_agent_is_told_what_stands(
    studio: Studio,
) -> None:
    def work() -> None:
        with studio.session.undo_step("The person goes on"):
            studio.stage.DefinePrim("/World/theirs")

    def careless() -> None:
        studio.stage.DefinePrim("/World/new")
        elicit_form_sync("Go on?", FORM, consent=False)
        raise ValueError("on purpose")

    ended = studio.run(careless, after(work, YES), risk="edit", tried=False)

    assert ended.status == "partly_applied"
    assert studio.stage.GetPrimAtPath("/World/theirs")
    assert studio.session.undo_labels[-1] == "The person goes on"


def test_what_a_refusal_takes_back_leaves_the_persons_redo_as_it_was(studio: Studio) -> None:
    assert studio.session.redo_labels == ["The person's second"]
    studio.run(lambda: studio.stage.RemovePrim(A), **ASKS)

    assert studio.session.redo_labels == ["The person's second"]
    studio.session.redo()
    assert studio.stage.GetPrimAtPath("/World/second")


# ---- in a host that has no locks


@pytest.mark.parametrize("undone", [1, 2])
def test_what_a_read_undoes_of_the_persons_is_reported_and_redone(
    undone: int, tmp_path: Path
) -> None:
    host = FakeHost(["cam0"])
    for name in ("cam1", "cam2", "cam3"):
        with host.undo_step(name):
            host.items.append(name)

    def careless() -> None:
        for _ in range(undone):
            host.undo()

    ends, _ = called(tmp_path, host, careless, risk="read")

    assert ends == "no_consent"
    assert host.labels == ["cam1", "cam2", "cam3"]


def test_a_second_edit_outside_of_a_step_is_seen_beside_the_first(tmp_path: Path) -> None:
    """The person left one of that name on the stack before."""
    host = FakeHost(["cam0"])
    host.items.append("theirs")
    host.undo_mark()

    ends, _ = called(tmp_path, host, lambda: host.items.append("ours"), risk="read")

    assert (ends, host.items) == ("no_consent", ["cam0", "theirs"])


class _Tells(FakeHost):
    """A host that can only tell of what is lost, and only at the end of a stretch."""

    is_lost = False

    @contextmanager
    def guard(self, put_back: list[str], *, read: bool) -> Iterator[None]:
        yield
        was_lost, self.is_lost = self.is_lost, False
        if was_lost:
            raise LostAnyway(self.name, "open another scene", "What was lost is in /copies.")


@pytest.mark.parametrize("thread", ["main", "async"])
def test_what_a_host_could_only_tell_of_is_told_though_the_body_caught_it(
    thread: str, tmp_path: Path
) -> None:
    host = _Tells(["cam0"], has_ui=True)

    def careless() -> str:
        host.is_lost = True
        with suppress(BridgeError):
            elicit_form_sync("Which?", FORM, consent=False)
        return "all is well"

    async def careless_async() -> str:
        with suppress(BridgeError):
            await on_main(lambda: setattr(host, "is_lost", True))
        return "all is well"

    tested = careless_async if thread == "async" else careless
    ends, told = called(tmp_path, host, tested, YES, risk="edit")

    assert (ends, "/copies" in told) == ("no_consent", True)


@pytest.mark.parametrize("thread", ["main", "any", "async"])
def test_a_look_up_of_items_that_edits_is_undone(thread: str, tmp_path: Path) -> None:
    host = FakeHost(["cam0"], has_ui=True)

    def look_up() -> list[str]:
        host.items.append("made")
        return ["cam0"]

    def careless() -> None:
        confirm_sync("Delete it?", items=look_up)

    async def careless_async() -> None:
        await confirm("Delete it?", items=look_up)

    tested, marks = (careless_async, {}) if thread == "async" else (careless, {"thread": thread})
    ends, _ = called(tmp_path, host, tested, YES, **ASKS, **marks)

    assert (ends, host.items) == ("no_consent", ["cam0"])
