"""The verb `render`: which pictures there are, where they go, and who is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent

from dcc_bridge.geometry import add
from dcc_bridge.verbs import framing
from dcc_bridge.verbs.operations import Bounds, Render
from dcc_bridge.verbs.ports import Rendering
from tests.live import status, text
from tests.verbs.memory import MemoryOperations, node
from tests.verbs.reading_scene import ReadingOperations
from tests.verbs.studio import NO, YES, OpenStudio, Studio

BOX: Bounds = ((1.0, 2.0, 3.0), (5.0, 4.0, 9.0))


class Renderer(MemoryOperations, Rendering):
    """A host whose renderer makes the pictures that it is let to make.

    Attributes:
        let: How many pictures it makes before it waits.
        waits: Set once it has made them.
        goes_on: Lets it make the others.
        wanted: What was rendered last.
    """

    let = 99
    waits = threading.Event()
    goes_on = threading.Event()
    wanted: Render

    def render_formats(self) -> Sequence[str]:
        return [".png", ".jpg"]

    def rendering(self, wanted: Render) -> Callable[[Callable[[float], None]], list[str]]:
        type(self).wanted = wanted

        def run(told: Callable[[float], None]) -> list[str]:
            for done, file in enumerate(wanted.files):
                while done == self.let and not self.goes_on.is_set():
                    told(done + 0.5)
                    self.waits.set()
                    self.goes_on.wait(0.01)
                file.write_bytes(b"\xff\xd8\xff" + str(done).encode())
            told(len(wanted.files))
            return ["Not denoised."]

        return run


class Held(Renderer):
    """It makes two pictures and waits."""

    let = 2
    waits = threading.Event()
    goes_on = threading.Event()


def test_one_picture_is_the_answer(open_studio: OpenStudio) -> None:
    scene = open_studio(operations=Renderer)

    result = scene.call("render", {"view": "front"})

    assert status(result) == "done"
    assert [part for part in result.content if isinstance(part, ImageContent)]
    assert Renderer.wanted.max_bytes > 0
    assert scene.asked == []


@pytest.mark.parametrize(
    ("path", "arguments", "names"),
    [
        ("shot.png", {}, ["shot.png"]),
        ("shot.png", {"frames": [8, 10]}, ["shot_0008.png", "shot_0009.png", "shot_0010.png"]),
        ("shot_##.png", {"frames": [8, 12, 4]}, ["shot_08.png", "shot_12.png"]),
        ("turn.#.jpg", {"turns": 3}, ["turn.1.jpg", "turn.2.jpg", "turn.3.jpg"]),
        ("shot_###.png", {}, ["shot_001.png"]),
    ],
)
def test_each_picture_has_a_file_of_its_own(
    open_studio: OpenStudio,
    tmp_path: Path,
    path: str,
    arguments: dict[str, object],
    names: list[str],
) -> None:
    scene = open_studio(operations=Renderer)
    folder = tmp_path / "out"
    folder.mkdir()

    told = scene.do("render", path=str(folder / path), view="front", **arguments)

    assert sorted(file.name for file in folder.iterdir()) == names
    assert told["pictures"] == len(names)
    assert told["file"] == str(folder / names[0])
    assert told["notes"] == ["Not denoised."]
    assert scene.asked == []


def test_what_it_writes_over_is_asked_for_once_and_kept(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene = open_studio(NO, YES, operations=Renderer, audit=tmp_path / "audit")
    for frame in (2, 3):
        (tmp_path / f"shot_000{frame}.png").write_text("mine")
    wanted = {"path": str(tmp_path / "shot.png"), "view": "front", "frames": [1, 3]}

    scene.fails("render", **wanted)
    kept = (tmp_path / "shot_0003.png").read_text()
    is_new = (tmp_path / "shot_0001.png").exists()
    told = scene.do("render", **wanted)

    assert (kept, is_new) == ("mine", False)
    assert scene.person.shown[1].message.splitlines() == [
        f"Render 3 pictures to {tmp_path}, over 2 files?",
        "These are written over:",
        "shot_0002.png",
        "shot_0003.png",
    ]
    copies = [file.read_text() for file in Path(told["copies"]).glob("*.png")]
    assert copies == ["mine", "mine"]
    assert (tmp_path / "shot_0003.png").read_bytes() == b"\xff\xd8\xff2"


def test_one_file_that_is_written_over_is_named(open_studio: OpenStudio, tmp_path: Path) -> None:
    scene = open_studio(NO, operations=Renderer)
    (tmp_path / "poster.png").write_text("mine")

    scene.fails("render", path=str(tmp_path / "poster.png"), view="front")

    assert scene.asked == [f"Render 1 picture to {tmp_path}, over poster.png?"]


def begin(
    open_studio: OpenStudio, folder: Path, *answers: Any
) -> tuple[Studio, Future[CallToolResult]]:
    """Have three pictures rendered, of which two are made and the third waits."""
    Held.waits.clear()
    Held.goes_on.clear()
    scene = open_studio(*answers, operations=Held)
    arguments = {"path": str(folder / "shot.png"), "view": "front", "frames": [1, 3]}
    rendering = scene.start("render", arguments)
    scene.until(Held.waits.is_set)
    return scene, rendering


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_somebody_puts_in_its_place_meanwhile_stays(
    open_studio: OpenStudio, tmp_path: Path, is_folder: bool
) -> None:
    scene, rendering = begin(open_studio, tmp_path)

    if is_folder:
        (tmp_path / "shot_0003.png").mkdir()
    else:
        (tmp_path / "shot_0003.png").write_text("mine")
    Held.goes_on.set()
    scene.until(rendering.done)

    said = text(rendering.result())
    assert "shot_0003.png was changed during the render, and was not written over." in said
    assert (tmp_path / "shot_0002.png").read_bytes() == b"\xff\xd8\xff1"
    left = tmp_path / "shot_0003.png"
    assert left.is_dir() if is_folder else left.read_text() == "mine"


def test_the_host_serves_others_while_it_renders(open_studio: OpenStudio, tmp_path: Path) -> None:
    scene, rendering = begin(open_studio, tmp_path)

    told = scene.do("list_items")
    is_there = (tmp_path / "shot_0002.png").exists()
    Held.goes_on.set()
    scene.until(rendering.done)
    result = rendering.result()

    assert told["found"] == 6
    assert is_there
    assert status(result) == "done"


def test_agents_edit_while_it_renders(open_studio: OpenStudio, tmp_path: Path) -> None:
    scene, rendering = begin(open_studio, tmp_path)

    scene.do("rename", names={"/Tree": "Oak"})
    scene.do("undo_last")
    scene.do("rename", names={"/Set": "Stage"})
    is_rendering = not rendering.done()
    Held.goes_on.set()
    scene.until(rendering.done)

    assert is_rendering
    assert status(rendering.result()) == "done"
    assert {"/Tree", "/Stage"} <= {*scene.nodes}
    assert len(scene.host.undo_labels) == 1


def test_a_render_that_is_done_while_agents_are_paused_says_so(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene, rendering = begin(open_studio, tmp_path)

    scene.bridge.pause()
    Held.goes_on.set()
    scene.until(rendering.done)

    assert status(rendering.result()) == "done"
    assert (tmp_path / "shot_0003.png").exists()


def begin_second(scene: Studio, folder: Path) -> Future[CallToolResult]:
    """Have another picture rendered, which waits until the first ones are done."""
    second = scene.start("render", {"path": str(folder / "other.png"), "view": "front"})
    scene.until(lambda: scene.bridge.recent.records()[0].state == "running")
    scene.do("list_items")
    return second


def test_one_render_waits_for_the_other(open_studio: OpenStudio, tmp_path: Path) -> None:
    scene, first = begin(open_studio, tmp_path)

    second = begin_second(scene, tmp_path)
    rendered_first = len(Held.wanted.files)
    Held.goes_on.set()
    scene.until(lambda: first.done() and second.done())

    assert rendered_first == 3
    assert [status(each.result()) for each in (first, second)] == ["done", "done"]
    assert (tmp_path / "other.png").exists()


def test_files_that_come_while_a_render_waits_are_neither_written_over_nor_named_as_its_own(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene, first = begin(open_studio, tmp_path, YES)
    again = {"path": str(tmp_path / "shot.png"), "view": "front", "frames": [1, 3]}
    second = scene.start("render", again)
    scene.until(lambda: bool(scene.asked))
    scene.do("list_items")
    Held.goes_on.set()
    scene.until(lambda: first.done() and second.done())

    assert status(first.result()) == "done"
    assert status(second.result()) == "failed"
    assert "shot_0003.png was changed during the render" in text(second.result())
    assert text(second.result()).endswith("Nothing was changed.")


def test_a_render_that_waits_can_be_cancelled(open_studio: OpenStudio, tmp_path: Path) -> None:
    scene, first = begin(open_studio, tmp_path)
    second = begin_second(scene, tmp_path)

    waiting = next(each for each in scene.bridge.recent.records() if each.state == "running")
    scene.bridge.cancel(waiting.id)
    scene.until(second.done)
    is_rendering = not first.done()
    Held.goes_on.set()
    scene.until(first.done)

    assert is_rendering
    assert [status(each.result()) for each in (first, second)] == ["done", "cancelled"]
    assert not (tmp_path / "other.png").exists()


def test_a_render_that_waits_while_agents_are_paused_leaves_the_turn_to_the_next(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene, first = begin(open_studio, tmp_path)
    second = begin_second(scene, tmp_path)

    scene.bridge.pause()
    Held.goes_on.set()
    scene.until(lambda: first.done() and second.done())
    scene.bridge.resume()
    third = scene.start("render", {"path": str(tmp_path / "third.png"), "view": "front"})
    scene.until(third.done)

    assert [status(each.result()) for each in (first, third)] == ["done", "done"]
    assert status(second.result()) != "done"


def test_a_render_that_is_cancelled_ends_and_leaves_the_pictures_that_are_whole(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene, rendering = begin(open_studio, tmp_path)

    (record,) = scene.bridge.recent.records()
    scene.bridge.cancel(record.id)
    scene.until(rendering.done)
    result = rendering.result()

    assert status(result) == "cancelled"
    names = sorted(file.name for file in tmp_path.glob("*.png"))
    assert names == ["shot_0001.png", "shot_0002.png"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"frames": [1, 2]}, "An answer has one picture, not 2: give a path."),
        ({"frames": [2, 1]}, "frames is [first, last] or [first, last, step]."),
        ({"frames": [1, 2, 3]}, "frames is [first, last] or [first, last, step]."),
        ({"frames": [1, 2, 0]}, "frames is [first, last] or [first, last, step]."),
        ({"frames": [1, 2], "turns": 4}, "A turntable is of one frame"),
        ({"turns": -1}, "turns is the number of pictures, 1 or more."),
        ({"path": "/out/a.png", "frames": [1, 20_000]}, "That is 20000 pictures; 10000 at most."),
        ({"size": [0, 10]}, "size is [width, height], each from 1 to 1568 pixels."),
        ({"path": "/none/a.png"}, "There is no folder /none: it has to be made first."),
        ({"path": "/none/a.gif"}, "a.gif cannot be rendered; what can: .png, .jpg."),
        ({"path": "/out/a.png", "shading": "wire"}, "a.png cannot be drawn; what can: .jpg."),
        ({"shading": "toon"}, "shading is solid, wire, material, or empty to render."),
        ({"samples": 4, "shading": "wire"}, "What is drawn as look draws has no samples"),
        ({"samples": -2}, "samples is 1 or more, or 0 for as many as the scene has."),
        ({"view": "around"}, "for a turntable give turns."),
        ({"items": ["/None"]}, "/None"),
    ],
)
def test_what_cannot_be_rendered_is_said_before(
    open_studio: OpenStudio, arguments: dict[str, object], said: str
) -> None:
    scene = open_studio(operations=Renderer)

    assert said in scene.fails("render", **{"view": "front", **arguments})


def test_without_a_renderer_it_is_drawn_as_look_draws(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene = open_studio()

    told = scene.do("render", path=str(tmp_path / "shot.jpg"), view="front", samples=4)
    said = scene.fails("render", path=str(tmp_path / "shot.jpg"), view="front", frames=[1, 2])

    assert (tmp_path / "shot.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    assert told["notes"] == ["Drawn as look draws: this application has no renderer of its own."]
    assert "This application has no frames" in said


def test_a_playblast_is_drawn_and_not_rendered(open_studio: OpenStudio, tmp_path: Path) -> None:
    class Unused(Renderer):
        def rendering(self, wanted: Render) -> Callable[[Callable[[float], None]], list[str]]:
            raise AssertionError("the renderer is asked for a playblast")

    scene = open_studio(operations=Unused)

    told = scene.do("render", path=str(tmp_path / "blast.jpg"), view="front", shading="solid")

    assert (tmp_path / "blast.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    assert "notes" not in told


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_a_turntable_goes_around_at_one_distance_and_sees_all(up: str) -> None:
    operations = ReadingOperations({"it": node("Mesh", at=(3.0, 3.0, 6.0), half=(2.0, 1.0, 3.0))})
    operations.up = up  # type: ignore[assignment]  # one of the two

    around = framing.turntable(operations, ["it"], 12, 1.5)

    directions = [add(shot.eye, shot.target, -1) for shot in around]
    distances = {round(sum(axis**2 for axis in direction), 6) for direction in directions}
    spots = [framing.spot(shot, BOX, 1.5) for shot in around]
    assert len({shot.eye for shot in around}) == 12
    assert len(distances) == 1
    assert all(spot is not None and not spot.is_cut for spot in spots)
