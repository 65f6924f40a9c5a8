"""The pictures in a question about a loss: when they are drawn, and what they mark and say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import confirm_sync, skill
from dcc_bridge.consent import attempt
from dcc_bridge.consent.preview import Preview
from dcc_bridge.elicitation.question import Picture, Question
from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs import previews
from dcc_bridge.verbs.marks import HEIGHT, WIDTH
from dcc_bridge.verbs.operations import Shot
from dcc_bridge.verbs.previews import Previews, ScenePreview
from tests.live import text
from tests.verbs.memory import MemoryHost, MemoryOperations, node
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, OpenStudio, Studio

Asking = Callable[..., Studio]


class Drawn(MemoryOperations):
    """A host that draws; a picture tells its shot, the items in the scene and the marks."""

    error: Exception | None = None
    clock: Clock | None = None

    def __init__(self, host: Any) -> None:
        super().__init__(host)
        self.in_step: list[bool] = []  # of each picture: whether it was drawn in an undo step

    def draw_marked(
        self, shot: Shot, width: int, height: int, marks: Sequence[tuple[int, int, int, int]]
    ) -> bytes:
        if self.error is not None:
            raise self.error
        self.in_step.append(self.host._open is not None)
        if self.clock is not None:
            self.clock.draw()
        picture = {"items": list(self.nodes), "marks": marks, "eye": shot.eye, "size": width}
        return json.dumps(picture).encode()


def box(*at: float, **more: Any) -> dict[str, Any]:
    """Return a box whose edge is 2."""
    return node("Mesh", at=at, half=(1.0, 1.0, 1.0), **more)


def told(picture: Picture) -> Any:
    """Return what the picture of a pretended host tells."""
    return json.loads(picture.png)


def pictures(question: Question) -> tuple[Picture, ...]:
    """Return the pictures of a question."""
    assert question.consent is not None
    return question.consent.pictures


@skill(risk="destructive")
def lose(items: list[str]) -> None:
    """Take items away."""
    for item in items:
        HOSTS[-1].nodes.pop(item, None)


@skill(risk="edit")
def lose_quietly(items: list[str]) -> None:
    """Take items away, and do not say so before."""
    for item in items:
        HOSTS[-1].nodes.pop(item, None)


@skill(risk="destructive", confirms=True)
def ask_to_lose(items: list[str]) -> None:
    """Ask before items are taken away."""
    confirm_sync("Take them away?", items=items)


HOSTS: list[MemoryHost] = []


@pytest.fixture
def asking(open_studio: OpenStudio) -> Iterator[Asking]:
    """Return what opens a scene of two boxes and a rock far away; the person says no."""

    def opened(*answers: Any, **more: Any) -> Studio:
        things = {"/a": box(-1, 0, 0), "/b": box(1, 0, 0), "/rock": box(0, 50, 0)}
        HOSTS.append(MemoryHost(things))
        more.setdefault("operations", Drawn)
        scene = open_studio(*(answers or [NO] * 9), host=HOSTS[-1], **more)
        for fn in (lose, lose_quietly, ask_to_lose):
            scene.bridge.registry.add(describe(fn))
        scene.do("summary")  # the verbs are there by now
        return scene

    yield opened
    HOSTS.clear()


def test_a_question_about_a_loss_shows_the_scene_now_and_after(asking: Asking) -> None:
    scene = asking()

    scene.fails("lose", items=["/a"])

    now, after = pictures(scene.person.shown[0])
    assert (now.says, after.says) == ("Now: 1 mesh, marked", "After")
    assert told(now)["items"] == ["/a", "/b", "/rock"]
    assert told(after)["items"] == ["/b", "/rock"]
    assert len(told(now)["marks"]) == 1
    assert told(after)["marks"] == []
    assert told(now)["eye"] == told(after)["eye"]


def test_a_batch_that_deletes_shows_both(asking: Asking) -> None:
    scene = asking()

    scene.fails("batch", steps=[step("delete", items=["/b"])])

    now, after = pictures(scene.person.shown[0])
    assert told(now)["items"] == ["/a", "/b", "/rock"]
    assert told(after)["items"] == ["/a", "/rock"]


@pytest.mark.parametrize("skill_name", ["lose", "batch"])
def test_the_first_picture_of_a_host_is_never_drawn_in_a_step(
    asking: Asking, skill_name: str
) -> None:
    """It takes long, and may load modules."""
    scene = asking()
    ways: dict[str, dict[str, Any]] = {
        "lose": {"items": ["/b"]},
        "batch": {"steps": [step("delete", items=["/b"])]},
    }

    scene.fails(skill_name, **ways[skill_name])

    assert scene.host.operations.in_step == [False, True, False]


def test_a_loss_that_nobody_expected_is_shown_alone_where_nothing_was_drawn_before(
    asking: Asking,
) -> None:
    scene = asking()

    scene.fails("lose_quietly", items=["/b"])

    (now,) = pictures(scene.person.shown[0])
    assert now.says == "Now: 1 mesh, marked"
    assert told(now)["items"] == ["/a", "/b", "/rock"]
    assert scene.host.operations.in_step == [False]


def test_a_skill_that_asks_by_itself_shows_the_scene_now(asking: Asking) -> None:
    scene = asking()

    scene.fails("ask_to_lose", items=["/a", "/b"])

    (now,) = pictures(scene.person.shown[0])
    assert now.says == "Now: 2 meshes, marked"


def test_a_deletion_is_rehearsed_for_the_picture_after_it(asking: Asking) -> None:
    """The rehearsal leaves nothing in the scene, in undo and redo, and in the record."""
    scene = asking(NO, YES)
    before = scene.host.scene_digest()
    steps = list(scene.host.undo_labels)

    scene.fails("delete", items=["/a"])
    refused = scene.host.scene_digest(), list(scene.host.undo_labels)
    scene.do("delete", items=["/a"])

    now, after = pictures(scene.person.shown[0])
    assert told(now)["items"] == ["/a", "/b", "/rock"]
    assert told(after)["items"] == ["/b", "/rock"]
    assert told(now)["eye"] == told(after)["eye"]
    assert refused == (before, steps)
    assert list(scene.nodes) == ["/b", "/rock"]
    assert len(scene.host.undo_labels) == len(steps) + 1


def test_a_deletion_after_other_edits_of_the_call_is_not_rehearsed(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would go back with the rehearsal."""
    monkeypatch.setattr(attempt, "_TOO_LONG_S", 0.0)
    scene = asking(*[YES] * 9, edit="ask")

    for number, doomed in enumerate(["/a", "/rock"]):  # the second time the batch is not tried
        moved = step("transform", items=["/b"], at=[5 + number, 5, 5])
        told = scene.do("batch", steps=[moved, step("delete", items=[doomed])])

    assert list(scene.nodes) == ["/b"]
    assert list(scene.nodes["/b"]["at"]) == [6, 5, 5]
    assert told["steps"][0]["changed"][0]["after"]["at"] == [6, 5, 5]


def test_a_deletion_is_rehearsed_no_more_where_that_took_long(asking: Asking) -> None:
    scene = asking()
    clock = Clock()
    preview = scene.bridge._runner.environment.previews()
    assert isinstance(preview, ScenePreview)
    preview._previews.clock = clock
    delete = scene.host.operations.delete

    def slow(items: Sequence[str]) -> Any:
        clock.now += 0.5
        return delete(items)

    scene.host.operations.delete = slow

    scene.fails("delete", items=["/a"])
    scene.fails("delete", items=["/a"])

    first, second = (pictures(question) for question in scene.person.shown)
    assert [picture.says for picture in first] == ["Now: 1 mesh, marked", "After"]
    assert [picture.says for picture in second] == ["Now: 1 mesh, marked"]


def test_a_loss_that_nobody_expected_is_shown_from_where_the_person_looks(asking: Asking) -> None:
    scene = asking()
    scene.fails("lose", items=["/a"])

    scene.fails("lose_quietly", items=["/b"])

    now, after = pictures(scene.person.shown[1])
    assert told(now)["eye"] == told(after)["eye"] == [0.0, 0.0, 9.0]


def test_what_has_no_place_in_the_scene_has_no_picture(asking: Asking) -> None:
    scene = asking()
    scene.host.nodes["/red"] = node("Shader", values={"hidden": True})
    scene.host.undo_mark()
    scene.host.operations.is_shown = lambda item: item != "/red"

    scene.fails("lose", items=["/red"])
    scene.fails("lose", items=["/red", "/a"])

    nothing, some = (pictures(question) for question in scene.person.shown)
    assert nothing == ()
    assert some[0].says == "Now: 1 of 2 marked"


@pytest.mark.parametrize("error", [ValueError("no window"), MemoryError(), KeyError("x")])
def test_a_picture_that_fails_stops_neither_question_nor_edit(
    asking: Asking, error: Exception
) -> None:
    scene = asking(YES)
    scene.host.operations.error = error
    steps = len(scene.host.undo_labels)

    scene.do("lose", items=["/a"])

    assert pictures(scene.person.shown[0]) == ()
    assert list(scene.nodes) == ["/b", "/rock"]
    assert len(scene.host.undo_labels) == steps + 1


def test_one_setting_turns_the_pictures_off(asking: Asking) -> None:
    scene = asking(question_pictures=False)

    scene.fails("lose", items=["/a"])

    assert pictures(scene.person.shown[0]) == ()


def test_nothing_is_drawn_where_nobody_sits(tmp_path: Path, asking: Asking) -> None:
    scene = asking(host_dialogs=False)

    scene.fails("lose", items=["/a"])

    assert type(scene.bridge._runner.environment.previews()) is Preview


def test_a_yes_after_the_pictures_leaves_one_step_and_no_trace(asking: Asking) -> None:
    scene = asking(YES)
    scene.host.select(["/a", "/b"])
    before = scene.host.scene_digest()

    scene.do("lose", items=["/a"])
    scene.host.undo()

    assert scene.host.scene_digest() == before
    assert scene.host.selection == ["/a", "/b"]


def test_what_a_client_is_told_has_no_pictures(asking: Asking) -> None:
    scene = asking()

    told = scene.call("lose", {"items": ["/a"]})

    assert len(told.content) == 1
    assert "Declined" in text(told)


# ---- the time, the viewpoint and the marks


class Clock:
    """A clock that stands still but while a picture is drawn.

    Attributes:
        now: Its time, in seconds.
        takes: How long each of the next pictures takes; those after them take no time.
    """

    def __init__(self, *takes: float) -> None:
        self.now = 0.0
        self.takes = list(takes)

    def __call__(self) -> float:
        return self.now

    def draw(self) -> None:
        if self.takes:
            self.now += self.takes.pop(0)


@pytest.fixture
def operations() -> Drawn:
    """A scene of two boxes; the eye is at (0, 0, 9) and looks along -Z."""
    return Drawn(MemoryHost({"/near": box(0, 0, 0), "/small": box(200, 0, 0)}))


def warm(operations: Drawn, clock: Clock | None = None) -> Preview:
    """Return the preview of a call in a host that has drawn before."""
    operations.clock = clock or Clock()
    every = Previews(operations, operations, operations.clock)
    preview = every.of_call()
    every.is_warm = True
    return preview


def tried(preview: Preview, operations: Drawn, *items: str) -> tuple[Picture, ...]:
    """Return the pictures of an edit that loses items, as an attempt asks for them."""
    preview.forget()
    preview.expect_loss()
    lost = {item: operations.nodes.pop(item) for item in items}
    preview.draw_after(items)
    operations.nodes.update(lost)
    return preview.pictures(items)


def test_after_a_picture_that_took_half_a_second_there_are_none(operations: Drawn) -> None:
    preview = warm(operations, Clock(0.5))

    assert tried(preview, operations, "/near") == ()
    assert tried(preview, operations, "/near") == ()  # nor does the next one try again


def test_the_places_of_items_are_noted_for_a_fifth_of_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before each edit that may lose something, whether it does or not."""
    operations = Drawn(MemoryHost({f"/box{number}": box(number, 0, 0) for number in range(50)}))
    clock = Clock()
    preview = warm(operations, clock)
    bounds = operations.bounds
    read = list[str]()

    def slow(item: str) -> Any:
        clock.now += 0.05
        read.append(item)
        return bounds(item)

    monkeypatch.setattr(operations, "bounds", slow)

    preview.expect_loss()

    assert 0 < len(set(read)) <= 6


def test_pictures_come_again_after_a_while_and_in_another_scene(operations: Drawn) -> None:
    clock = Clock(0.5, 0.1, 0.5)
    preview = warm(operations, clock)
    tried(preview, operations, "/near")

    clock.now += 600
    assert tried(preview, operations, "/near")  # its second picture is slow again
    assert tried(preview, operations, "/near") == ()

    operations.host.scene = lambda: "other"  # type: ignore[method-assign]
    assert len(tried(preview, operations, "/near")) == 2


def test_a_picture_that_is_quick_enough_is_followed_by_another(operations: Drawn) -> None:
    assert len(tried(warm(operations, Clock(0.49, 0.49)), operations, "/near")) == 2


def test_the_time_of_the_first_picture_of_all_does_not_count(operations: Drawn) -> None:
    operations.clock = Clock(9.0)
    preview = Previews(operations, operations, operations.clock).of_call()

    preview.expect_loss()

    assert len(tried(preview, operations, "/near")) == 2


def test_the_mark_is_around_the_item(operations: Drawn) -> None:
    """The near face of the box is 8 away, where the picture is 5.82 high: 103 pixels of 300."""
    now, _ = tried(warm(operations), operations, "/near")

    (mark,) = told(now)["marks"]
    assert mark == pytest.approx([186, 96, 294, 204], abs=2)


def test_what_goes_is_framed_closer_where_it_is_not_in_the_picture(operations: Drawn) -> None:
    now, after = tried(warm(operations), operations, "/small")

    left, top, right, bottom = told(now)["marks"][0]
    assert told(now)["eye"] == told(after)["eye"] != [0.0, 0.0, 9.0]
    assert 0 < left < right < WIDTH
    assert 0 < top < bottom < HEIGHT
    assert bottom - top > HEIGHT / 4


def test_a_group_is_framed_by_what_is_below_it(operations: Drawn) -> None:
    operations.nodes["/set"] = node("Group", at=(0.0, 0.0, 0.0))
    operations.nodes["/set/part"] = box(200, 0, 0)

    now, _ = tried(warm(operations), operations, "/set/part", "/set")

    assert told(now)["eye"][0] == pytest.approx(200)


def test_a_part_is_marked_where_its_item_is(operations: Drawn) -> None:
    preview = warm(operations)
    preview.draw_after(["modifier Bevel of /near"])

    now, _ = preview.pictures(["modifier Bevel of /near"])

    assert now.says == "Now: 1 part, marked"
    assert len(told(now)["marks"]) == 1


def test_the_picture_after_belongs_to_one_list_of_items(operations: Drawn) -> None:
    preview = warm(operations)
    preview.draw_after(["/near"])

    assert len(preview.pictures(["/near", "/small"])) == 1
    assert len(preview.pictures(["/near"])) == 2


def test_an_item_without_a_size_gets_a_mark_that_can_be_seen(operations: Drawn) -> None:
    operations.nodes["/lamp"] = node("Light", at=(2.5, 1.0, 0.0))

    now, _ = tried(warm(operations), operations, "/near", "/lamp")

    left, top, right, bottom = told(now)["marks"][1]
    assert right - left >= 13
    assert bottom - top >= 13


def test_a_mark_inside_another_is_not_drawn_twice(operations: Drawn) -> None:
    operations.nodes["/near/part"] = node("Mesh", at=(0.0, 0.0, 0.0), half=(0.5, 0.5, 0.5))

    now, _ = tried(warm(operations), operations, "/near", "/near/part")

    assert now.says == "Now: 2 meshes, marked"
    assert len(told(now)["marks"]) == 1


def test_many_marks_that_overlap_are_one_so_that_what_they_are_around_is_seen(
    operations: Drawn,
) -> None:
    lamps = [f"/lamp_{number}" for number in range(30)]
    for number, lamp in enumerate(lamps):
        operations.nodes[lamp] = node("Light", at=(0.02 * number - 0.3, 2.0, 0.0))

    now, _ = tried(warm(operations), operations, "/near", *lamps)

    assert now.says == "Now: 30 lights and 1 mesh, marked"
    assert len(told(now)["marks"]) == 2


def test_so_many_items_are_marked_and_no_more(
    operations: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "_MAX_MARKED", 2)
    for number in range(3):
        operations.nodes[f"/box_{number}"] = box(0, 0, 0)

    now, _ = tried(warm(operations), operations, *(f"/box_{number}" for number in range(3)))

    assert now.says == "Now: 2 of 3 marked"


def test_the_boxes_of_so_many_items_are_noted_and_no_more(
    operations: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item beyond them is shown now alone, framed closer."""
    monkeypatch.setattr(previews, "_MAX_NOTED", 1)

    (now,) = tried(warm(operations), operations, "/small")

    assert told(now)["eye"][0] == pytest.approx(200)
