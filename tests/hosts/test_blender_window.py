"""Blender in its window: dialogs of its own and of Qt, real clicks, and its own undo.

It starts once for its own dialogs, and once for Qt's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from PIL import Image

from tests.hosts import blender_window
from tests.hosts.application import until
from tests.hosts.blender_seat import Seat
from tests.hosts.screen import missing, screen
from tests.live import status, text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(blender_window.PROGRAM is None, reason="Blender is not installed"),
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}"),
]
PICTURE = os.environ.get("BLENDER_PICTURE")
"""Where the picture of the README is written, if it is to be made anew."""
TRIALS = Path(__file__).parent / "blender_trial" / "skills"
CUBE = {"pattern": "Cube", "type_name": "*"}


@contextmanager
def seated(folder: Path, *, qt: bool = False) -> Iterator[Seat]:
    """Sit down in front of a new Blender."""
    with (
        screen(*blender_window.SIZE) as shown,
        blender_window.blender(folder, shown, qt=qt, DCC_BRIDGE_SKILLS=str(TRIALS)) as application,
    ):
        application.call("list_objects", {})  # its window is up
        yield Seat(application, shown)


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    """Blender without Qt; it has to end well."""
    with seated(tmp_path_factory.mktemp("blender")) as one:
        yield one
        assert one.close() in one.codes, one.application.output


@pytest.fixture
def new(seat: Seat) -> Seat:
    """The same, with a new scene."""
    seat.do("new")
    return seat


def test_a_click_in_blenders_own_dialog_deletes_and_its_own_undo_brings_back(new: Seat) -> None:
    """There is no Qt; OK alone agrees to nothing, and a decline is told from it."""
    agreed = new.ask("delete_objects", pattern="C*", type_name="*")
    until(lambda: new.click(*new.ok()))
    new.sees(lambda seen: seen["wrong"])  # nothing was chosen: it is shown again
    open_still = not agreed.done()
    new.answer("accept")
    result = agreed.result()
    gone = new.seen()["objects"]
    new.undo()
    new.sees(lambda seen: "Cube" in seen["objects"])
    refused = new.ask("delete_objects", **CUBE)
    new.answer("decline")

    assert open_still
    assert (status(result), gone) == ("done", ["Light"])
    assert status(refused.result()) == "refused"
    assert "said no" in text(refused.result())
    assert "Cube" in new.seen()["objects"]


def test_esc_deletes_nothing(new: Seat) -> None:
    """The dialog lists twelve cameras, and goes; all of them stay."""
    new.do("fill")
    asked = new.ask("delete_objects", pattern="shot_*")
    new.ok()
    if PICTURE:
        with Image.open(new.screen.picture(Path(PICTURE))) as picture:
            picture.convert("RGB").quantize(256).save(PICTURE, optimize=True)
    new.screen.tap("Escape")
    new.codes = (0, 1)

    assert status(asked.result()) == "refused"
    assert "without an answer" in text(asked.result())
    assert sum(name.startswith("shot_") for name in new.seen()["objects"]) == 12


def test_an_error_in_mid_edit_leaves_nothing(new: Seat) -> None:
    """What was done until then is undone."""
    before = new.seen()["objects"]

    failed = new.application.call("break_off", {"name": "half"})

    assert (status(failed), new.seen()["objects"]) == ("failed", before)


@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
def test_blender_goes_on_drawing_while_a_skill_waits(
    new: Seat, seconds: int, record_property: Callable[[str, object], None]
) -> None:
    """It is suspended in mid-body on the main thread; timers fire, and the view is drawn."""
    asked = new.ask("delete_objects", **CUBE)
    new.ok()
    new.do("count")
    new.let_pass(seconds)
    counted = new.seen()
    new.do("rest")
    new.answer("accept")

    figures = {name: counted[name] for name in ("ticks", "frames", "gap", "seconds")}
    record_property("counted", figures)
    print(figures)
    assert status(asked.result()) == "done"
    # 20 ticks a second are wanted, but each frame is drawn by software, beside other tests.
    assert min(counted["ticks"], counted["frames"]) >= seconds, figures
    assert counted["gap"] < 3, figures


def test_a_file_that_is_opened_during_a_question_ends_it_for_nobody(new: Seat) -> None:
    """Blender drops the dialog; it comes again, and what was agreed to is asked of the new file."""
    asked = new.ask("delete_objects", **CUBE)
    new.ok()
    new.do("load")
    new.answer("accept")
    new.answer("accept")

    assert status(asked.result()) == "done"
    assert "Cube" not in new.seen()["objects"]


def test_what_is_agreed_to_during_a_render_is_done_after_it(new: Seat) -> None:
    """It reads the scene on a thread of its own, and ends as if nobody had asked."""
    asked = new.ask("delete_objects", **CUBE)
    new.ok()
    new.do("render")
    new.answer("accept")
    result = asked.result()
    new.sees(lambda seen: seen["renders"])
    new.codes = (0,)

    seen = new.seen()
    assert (seen["renders"], seen["torn"]) == (["complete"], False)
    assert status(result) == "done"
    assert "Cube" not in seen["objects"]


def test_a_question_that_is_withdrawn_or_too_late_goes(new: Seat) -> None:
    """The client leaves; nobody answers. The next one is drawn as ever."""

    async def leave() -> None:
        async with new.application.client() as session, anyio.create_task_group() as calls:
            calls.start_soon(session.call_tool, "delete_objects", CUBE)
            await anyio.to_thread.run_sync(new.ok)
            calls.cancel_scope.cancel()

    new.application.run(leave)
    new.sees(lambda seen: not seen["question"])
    until(lambda: new.find_ok() is None, "it is drawn still")
    late = new.ask("name_object", seconds=5)
    new.sees(lambda seen: seen["question"])

    assert text(late.result()).startswith("timed_out")
    new.sees(lambda seen: not seen["question"])
    assert "Cube" in new.seen()["objects"]


def test_a_button_of_blenders_own_cannot_wait_for_an_answer(new: Seat) -> None:
    """Its loop stands still until the button's code returns, so it is told so at once."""
    new.do("button")

    assert "cannot wait" in new.seen()["told"]


def test_twenty_reloads_leave_it_working(new: Seat) -> None:
    """A question is drawn after them, and taken by a click."""
    new.do(*["reload"] * 20)

    asked = new.ask("delete_objects", **CUBE)
    new.answer("accept")

    assert status(asked.result()) == "done"
    assert "Cube" not in new.seen()["objects"]


def test_a_click_in_a_dialog_of_qt_does_the_same(tmp_path: Path) -> None:
    """Where PySide6 is installed; Blender's timer serves it."""
    with seated(tmp_path, qt=True) as seat:
        agreed = seat.ask("delete_objects", **CUBE)
        seat.sees(lambda seen: seen.get("verb"))
        seat.let_pass(1)  # it takes no click in its first moment
        seat.click(*seat.seen()["verb"])
        result = agreed.result()
        gone = seat.seen()["objects"]
        seat.undo()

        assert (status(result), "Cube" in gone) == ("done", False)
        seat.sees(lambda seen: "Cube" in seen["objects"])
        assert seat.close() == 0, seat.application.output
