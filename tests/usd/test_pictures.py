"""The pictures in a question about a loss, drawn of real scenes without a window."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pxr import Usd, UsdGeom

from dcc_bridge import skill
from dcc_bridge.elicitation.question import Picture
from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs import previews
from dcc_bridge_usd import install, session
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.stand_ins import Person
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, Studio, studio

pytestmark = pytest.mark.core
GREEN = "/World/green"
ROW = 12
Rect = tuple[int, int, int, int]


@skill(risk="destructive")
def remove(paths: list[str]) -> None:
    """Remove prims."""
    for path in paths:
        session().stage.RemovePrim(path)


def make_scene(file: Path) -> Path:
    """Write a scene of grey cubes in rows, with a green one among them."""
    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.Xform.Define(stage, "/World")
    for number in range(ROW * ROW):
        path = f"/World/grey_{number}"
        if number == 45:
            path = GREEN
        cube = UsdGeom.Cube.Define(stage, path)
        cube.CreateDisplayColorAttr([(0.0, 0.8, 0.0) if path == GREEN else (0.5, 0.5, 0.5)])
        x, z = divmod(number, ROW)
        UsdGeom.XformCommonAPI(cube).SetTranslate((4 * x, 0, 4 * z))
    stage.Save()
    return file


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pictures drawn however slow the machine is."""
    monkeypatch.setattr(previews, "SLOW_S", math.inf)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Studio]:
    """A bridge over a scene of 144 cubes; the person says no twice and then yes."""
    uninstall = install(UsdSession(make_scene(tmp_path / "cubes.usda")))
    with studio(tmp_path, NO, NO, YES, host=session(), operations=operations) as running:
        running.bridge.registry.add(describe(remove))
        running.do("summary")  # the verbs are there by now
        yield running
    uninstall()


def pictures(scene: Studio) -> tuple[Picture, ...]:
    """Return the pictures of the newest question."""
    consent = scene.person.shown[-1].consent
    assert consent is not None
    return consent.pictures


def area(picture: Picture, is_wanted: Callable[[int, int, int], bool]) -> Rect | None:
    """Return the rectangle around the wanted pixels; None if there are none."""
    image = Image.open(BytesIO(picture.png)).convert("RGB")
    numbers = iter(image.tobytes())
    wanted = [is_wanted(*pixel) for pixel in zip(numbers, numbers, numbers, strict=True)]
    return Image.frombytes("L", image.size, bytes(255 * one for one in wanted)).getbbox()


def is_green(red: int, green: int, blue: int) -> bool:
    return green > 2 * red and green > 2 * blue and green > 60


def is_mark(red: int, green: int, blue: int) -> bool:
    return red > 180 and green < 60 and blue < 60


def test_the_mark_is_around_what_goes_and_the_picture_after_lacks_it(scene: Studio) -> None:
    scene.fails("remove", paths=[GREEN])

    now, after = pictures(scene)
    item = area(now, is_green)
    mark = area(now, is_mark)
    assert (now.says, after.says) == ("Now: 1 cube, marked", "After")
    assert item is not None
    assert mark is not None
    assert mark[0] < item[0] < item[2] < mark[2]
    assert mark[1] < item[1] < item[3] < mark[3]
    assert mark[2] - mark[0] < 3 * (item[2] - item[0])
    assert area(after, is_green) is None
    assert area(after, is_mark) is None


def test_one_of_many_is_framed_closer(scene: Studio) -> None:
    scene.fails("remove", paths=[GREEN])

    item = area(pictures(scene)[0], is_green)

    assert item is not None
    assert item[3] - item[1] > 30  # of 300 pixels; in a picture of all it is 20 high


def test_both_pictures_are_the_same_but_for_what_goes(scene: Studio) -> None:
    scene.fails("remove", paths=[GREEN])

    now, after = (Image.open(BytesIO(each.png)).convert("RGB") for each in pictures(scene))
    mark = area(pictures(scene)[0], lambda *pixel: is_mark(*pixel) or pixel == (255, 255, 255))
    assert mark is not None
    now.paste(0, mark)
    after.paste(0, mark)
    assert now.tobytes() == after.tobytes()


def test_the_pictures_leave_no_trace(scene: Studio) -> None:
    host: Any = scene.host
    host.selection = ["/World/grey_1"]
    with host.undo_step("Theirs"):
        host.stage.DefinePrim("/World/theirs")
    host.undo()
    before = host.scene_digest()
    mark = host.undo_mark()

    scene.fails("remove", paths=[GREEN])
    scene.fails("batch", steps=[step("delete", items=[GREEN])])

    assert len(pictures(scene)) == 2
    assert host.scene_digest() == before
    assert host.undo_mark() == mark
    assert host.selection == ["/World/grey_1"]
    host.redo()
    assert host.stage.GetPrimAtPath("/World/theirs")


def test_a_loss_by_code_of_an_agent_is_shown_too(scene: Studio) -> None:
    """Its text comes first, without a picture. Nobody looks into a window, so there is no after."""
    scene.person = Person(YES, NO)
    scene.bridge.broker.audience.host = scene.person

    scene.fails("run_python", code=f'stage.RemovePrim("{GREEN}")', why="Tidy up")

    text, loss = (question.consent for question in scene.person.shown)
    assert text is not None
    assert loss is not None
    assert text.pictures == ()
    assert [picture.says for picture in loss.pictures] == ["Now: 1 cube, marked"]
    assert area(loss.pictures[0], is_green) is not None


def test_a_client_is_sent_no_picture_and_the_record_has_none(scene: Studio) -> None:
    told = scene.call("remove", {"paths": [GREEN]})

    assert [part.type for part in told.content] == ["text"]
    written = [file.read_text() for file in scene.bridge.audit.folder.iterdir()]
    assert any("remove" in text for text in written)
    assert not any("picture" in text or "PNG" in text for text in written)


def test_a_turntable_has_no_signs_of_cameras_and_lights(tmp_path: Path) -> None:
    with studio(
        tmp_path, host=UsdSession(make_scene(tmp_path / "s.usda")), operations=operations
    ) as own:
        arguments = {"turns": 2, "items": [GREEN], "size": [200, 150]}
        own.do("render", path=str(tmp_path / "bare.jpg"), **arguments)
        light = {"type": "SphereLight", "name": "Key", "under": "/World", "at": [12.5, 0.5, 38]}
        camera = {"type": "Camera", "name": "Shot", "under": "/World", "at": [11.5, 0.5, 38]}
        own.do("create", things=[light, camera])

        own.do("render", path=str(tmp_path / "lit.jpg"), **arguments)

        frames = [(tmp_path / f"{name}_0001.jpg").read_bytes() for name in ("bare", "lit")]
        assert frames[0] == frames[1]
