"""FreeCAD in a window on a screen: a real mouse agrees, and FreeCAD's own Ctrl+Z takes it back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.freecad import launch
from tests.hosts import pictured
from tests.hosts.application import Application, started, undone_on_record, until
from tests.hosts.screen import Screen, missing, screen
from tests.live import status, text

GROW = """\
import time

import FreeCAD

from dcc_bridge import skill, track


@skill(risk="edit")
def grow() -> int:
    \"\"\"Add boxes, one every 10 ms.\"\"\"
    boxes = 0
    for boxes in track(range(3000)):
        FreeCAD.ActiveDocument.addObject("Part::Box", f"Grown{boxes}")
        time.sleep(0.01)
    return boxes
"""
FAIL = """\
from dcc_bridge import skill


@skill(risk="edit")
def fail() -> None:
    \"\"\"Raise what nobody has told it to.\"\"\"
    raise ValueError("no such hole")
"""
DRILL = """\
import FreeCAD

from dcc_bridge import skill


@skill(risk="edit")
def drill() -> str:
    \"\"\"Add a cylinder.\"\"\"
    return str(FreeCAD.ActiveDocument.addObject("Part::Cylinder", "Hole").Name)
"""
pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}"),
]


@pytest.fixture(scope="module")
def shown() -> Iterator[Screen]:
    with screen() as one:
        yield one


@pytest.fixture(scope="module")
def window(shown: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """FreeCAD, drawn by software, with ten boxes and a cylinder.

    It ends without a word, as when a script quits it: the panel and a document are open.
    """
    home = tmp_path_factory.mktemp("freecad")
    launch.settle(home)
    ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb"}
    ours["QTWEBENGINE_DISABLE_SANDBOX"] = "1"
    skills = home / "skills"
    skills.mkdir(mode=0o700)
    (skills / "grow.py").write_text(GROW, encoding="utf-8")
    (skills / "fail.py").write_text(FAIL, encoding="utf-8")
    (skills / "drill.py").write_text(DRILL, encoding="utf-8")
    ours["DCC_BRIDGE_SKILLS"] = str(skills)
    assert launch.PROGRAM is not None
    with started([launch.PROGRAM], home, **ours) as application:
        assert application.instance
        application.order("new")
        application.obeyed()
        yield application
        application.order("What agents did", "leave")
        assert application.end() == 0, application.output


def count(application: Application) -> int:
    return int(json.loads(text(application.call("list_items", {})))["found"])


def seen(application: Application) -> tuple[int, str]:
    """Give how many objects there are, and the length that a person edits by hand."""
    inspected = json.loads(text(application.call("inspect", {"items": ["Cylinder"]})))
    (cylinder,) = inspected["items"]
    return count(application), str(cylinder["values"]["Height"])


def told_as_undone(application: Application) -> str:
    """Return by whom the newest call that left an undo step is undone."""
    calls = json.loads(text(application.call("recent_calls", {})))["calls"]
    left = [call for call in calls if "undo_step" in call]
    return str(left[0].get("undone_by"))


def test_a_click_agrees_and_ctrl_z_takes_it_back(window: Application, shown: Screen) -> None:
    """The dialog is over FreeCAD's own window; what the mouse agreed to is one undo entry."""
    with ThreadPoolExecutor(1) as agent:
        called = agent.submit(window.call, "delete", {"pattern": "Box*"})
        window.order("locate")
        window.obeyed()
        at = window.folder / "at"
        x, y = map(int, at.read_text().split())
        shown.click("a question for you", x, y)
        result = called.result(60)
    deleted = count(window)

    window.order("can undo")
    window.obeyed()
    shown.key("FreeCAD", "ctrl+z")
    until(lambda: count(window) == 11)
    until(lambda: undone_on_record(window) == ["delete"], "the undo is not on record")
    until(lambda: told_as_undone(window) == "host", "the history does not tell of the undo")

    assert (status(result), deleted) == ("done", 1), f"clicked {x}, {y}: {text(result)}"


def test_a_skill_that_fails_is_one_plain_line_in_the_report_view(
    window: Application, shown: Screen, tmp_path: Path
) -> None:
    """Its traceback is in our own log, and the view does not open for it."""
    told: dict[str, Any] = {}

    def lines() -> list[str]:
        window.order("report")
        window.obeyed()
        told.update(json.loads((window.folder / "report.json").read_text(encoding="utf-8")))
        return [line for line, _ in told["lines"] if "no such hole" in line or "Traceback" in line]

    result = window.call("fail", {})

    until(lambda: bool(lines()), "the Report view has no line of it")
    shown.look().save(Path(os.environ.get("SEEN_IN", tmp_path)) / "report.png")
    red = [line for line, colour in told["lines"] if colour == "#ff0000"]
    assert status(result) == "failed"
    (line,) = lines()
    assert "fail failed: ValueError: no such hole (more in " in line
    assert [line for line in red if "hole" in line or "dcc_bridge" in line] == []
    assert not told["is_open"]
    (log,) = window.folder.rglob("host.log")
    assert 'raise ValueError("no such hole")' in log.read_text(encoding="utf-8")


def test_edits_that_asked_nothing_wait_in_one_bar_and_go_back_together(
    window: Application, shown: Screen, tmp_path: Path
) -> None:
    """Six edits in a row leave one bar and no notice; in the panel there is the same row."""
    before = count(window)
    for _ in range(6):
        assert status(window.call("drill", {})) == "done"
    told: dict[str, Any] = {}

    def is_told() -> bool:
        window.order("keep bar")
        window.obeyed()
        told.update(json.loads((window.folder / "bar.json").read_text(encoding="utf-8")))
        return "the last of 6 steps" in told["detail"]

    until(is_told, "the bar does not have all of them")
    shown.look().save(Path(os.environ.get("SEEN_IN", tmp_path)) / "bar.png")
    window.order("What agents did", "panel row")
    window.obeyed()
    shown.look().save(Path(os.environ.get("SEEN_IN", tmp_path)) / "panel.png")
    window.order("Undo all")
    window.obeyed()

    until(lambda: count(window) == before, "the edits did not go back")
    assert told["title"] == "Drill"
    assert told["buttons"] == ["Keep all", "Undo last", "Undo all"]
    assert told["notices"] == []
    assert (told["is_inside"], told["is_active"]) == (True, False)


@pytest.mark.parametrize("stops", ["Cancel", "Escape"])
def test_a_person_stops_a_skill_that_holds_the_window_and_nothing_of_it_stays(
    stops: str, window: Application, shown: Screen
) -> None:
    window.order("edit")
    window.obeyed()
    before = seen(window)
    window.order("What agents did")
    with ThreadPoolExecutor(1) as agent:
        called = agent.submit(window.call, "grow", {})
        window.order("locate Cancel")
        window.obeyed()
        shown.move(*map(int, (window.folder / "at").read_text().split()))
        if stops == "Cancel":
            shown.press()
        else:
            shown.key("FreeCAD", "Escape")
        result = called.result(60)

    assert (status(result), seen(window)) == ("cancelled", before), text(result)


def test_a_question_about_a_loss_shows_the_scene_now_and_after(window: Application) -> None:
    """A deletion alone does, too; both leave the 3D view as it was."""
    window.order("new")
    window.obeyed()
    before = count(window)

    steps = [{"do": "delete", "with": {"items": ["Box4"]}}]
    says, pictures = asked_with_pictures(window, "batch", {"steps": steps})
    says_alone, _ = asked_with_pictures(window, "delete", {"items": ["Box4"]})

    assert says == ["Now: 1 box, marked", "After"]
    assert says_alone == says
    pictured.check_pair(*pictures)
    assert count(window) == before


def asked_with_pictures(
    window: Application, tool: str, arguments: dict[str, Any]
) -> tuple[list[str], list[Image.Image]]:
    """Return the pictures of a question, to which the person says no."""
    with ThreadPoolExecutor(1) as agent:
        window.order("take time")
        window.obeyed()
        called = agent.submit(window.call, tool, arguments)
        window.order("pictures", "decline")
        window.obeyed()
        assert status(called.result(60)) == "refused"
    return pictured.read(window.folder)
