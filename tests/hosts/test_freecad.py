"""FreeCAD with our plug-in, loaded by its own loader: an agent, a person, and the end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.hosts import freecad
from tests.hosts.application import Application, started, until
from tests.hosts.application_contract import ConsoleContract, WindowContract
from tests.live import ERAS, accept, status, text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(240),
    pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """FreeCAD without a screen; that it ends well is tested at its end."""
    home = tmp_path_factory.mktemp("freecad")
    freecad.settle(home)
    assert freecad.PROGRAM is not None
    with started([freecad.PROGRAM], home, **freecad.WITHOUT_A_SCREEN) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


@pytest.fixture
def window(running: Application) -> Application:
    """The same, with a new document of ten boxes and a cylinder."""
    assert running.instance
    running.order("new")
    running.obeyed()
    return running


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The same in freecadcmd, where nobody sits."""
    home = tmp_path_factory.mktemp("freecadcmd")
    script = freecad.script("from tests.hosts.freecad_start import run; run()", home)
    assert freecad.CONSOLE is not None
    with started([freecad.CONSOLE, script], home) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


def names(application: Application) -> set[str]:
    listed = json.loads(text(application.call("list_objects", {})))
    return {one["name"] for one in listed["objects"]}


BOXES = {f"Box{number}" for number in range(10)}
LENGTHS = {"Box0": "Length", "Cylinder": "Height"}


class Work:
    """What agents do in a document of ten boxes and a cylinder."""

    DELETE = ("delete_objects", {"pattern": "Box*"})
    DELETED = frozenset(BOXES)
    FAILS = ("set_property", {"name": "Box0", "property_name": "Placement.Base.q", "value": 3})
    WHY = "Placement.Base.q cannot be 3"
    EDIT = ("set_property", {"name": "Box0", "property_name": "Length", "value": 30})
    ASKED = "Delete 10 objects?"

    def state(self, application: Application) -> dict[str, object]:
        there = names(application)
        lengths = {it: _property(application, it, LENGTHS[it]) for it in LENGTHS if it in there}
        return dict.fromkeys(there) | lengths


class TestWindow(Work, WindowContract):
    """What every window with the bridge in it promises."""


@pytest.mark.skipif(freecad.CONSOLE is None, reason="freecadcmd is not installed")
class TestConsole(Work, ConsoleContract):
    """What every interpreter with the bridge in it promises, where nobody sits."""


def test_the_promises_hold_without_a_window(tmp_path: Path) -> None:
    contract = "from tests.hosts.freecad_contract import run; assert run() == 0"
    done = freecad.in_console(contract, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "value", "after"),
    [
        ("Length", "12 cm", 120),
        ("Placement.Base", [1, 2, 3], [1, 2, 3]),
        ("Placement.Base.y", 7, [0, 7, 0]),
        ("Visibility", False, False),
        ("MapMode", "FlatFace", "FlatFace"),
    ],
)
def test_properties_of_many_kinds_are_set(
    window: Application, name: str, value: object, after: object
) -> None:
    """By the number, by the text a person would type, and a part of a placement alone."""
    result = window.call("set_property", {"name": "Box0", "property_name": name, "value": value})

    told = json.loads(text(result))["after"]
    assert (told["Base"] if isinstance(told, dict) else told) == after, text(result)


def test_a_label_is_changed_and_the_name_stays(window: Application) -> None:
    """The label that is taken gets a number, and the agent is told."""
    result = window.call("rename_object", {"name": "Box0", "new_label": "Cylinder"})

    told = json.loads(text(result))
    assert told == {"name": "Box0", "before": "Box0", "after": "Cylinder001"}
    assert names(window) == {"Cylinder"} | BOXES


def test_a_save_keeps_what_it_writes_over(window: Application) -> None:
    file = window.folder / "scene.FCStd"
    old = file.read_bytes()
    window.call("set_property", {"name": "Box0", "property_name": "Length", "value": 30})

    window.order("type", "accept")
    result = window.call("save_document", {})

    assert status(result) == "done", text(result)
    copy = Path(json.loads(text(result))["copy"]) / file.name
    assert copy.read_bytes() == old != file.read_bytes()


def test_an_image_where_there_is_no_screen_is_an_error(window: Application) -> None:
    """FreeCAD would crash if it drew; it is asked for a thing afterwards, and answers."""
    result = window.call("view_image", {})

    assert result.is_error
    assert "no screen" in text(result)
    assert names(window)


@pytest.mark.parametrize("era", ERAS)
def test_the_client_does_not_decide_where_somebody_sits(window: Application, era: str) -> None:
    """A client that says yes to all is not asked: the person at FreeCAD is, in every era."""
    window.order("decline")
    result = window.call("delete_objects", {"pattern": "Box*"}, era=era, asked=accept(confirm=True))

    assert status(result) == "refused"


def test_freecads_own_dialog_and_a_question_end_well(window: Application) -> None:
    window.order("modal")
    window.obeyed()
    set_ = window.call("set_property", {"name": "Box0", "property_name": "Length", "value": 30})
    window.order("accept")
    deleted = window.call("delete_objects", {"pattern": "Box*"})

    assert (status(set_), status(deleted)) == ("done", "done")


@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
def test_freecad_draws_while_a_skill_waits(window: Application, seconds: int) -> None:
    """On the main thread, in mid-body; FreeCAD's own modal dialog comes and goes meanwhile."""
    with ThreadPoolExecutor(1) as agent:
        called = agent.submit(window.call, "delete_objects", {"pattern": "Box*"})
        window.order("read", "tick", "modal")
        window.obeyed()
        answered = time.monotonic() + seconds
        until(lambda: time.monotonic() > answered)
        window.order("tick", "accept")
        result = called.result(60)

    (begun, *first), (ended, *last) = _ticks(window.folder / "ticks")[-2:]
    turns, frames = (after - before for before, after in zip(first, last, strict=True))
    assert (status(result), names(window)) == ("done", {"Cylinder"})
    assert ended - begun > seconds - 1
    assert min(turns, frames) > (ended - begun) / 0.02 / 3, (turns, frames, ended - begun)


def test_freecads_menu_stops_and_starts_the_bridge(window: Application) -> None:
    """In every workbench; only what can be done is offered, and the panel goes with the bridge.

    It has the keys once it is shown: no Tab leaves FreeCAD's 3D view.
    """
    running = ["Stop", "Pause", "What agents did", "Connect a client"]
    before = _menu(window)
    seen = _menu(window, "workbench", "What agents did")
    stopped = _menu(window, "Stop")
    again = _menu(window, "Start", "Connect a client")

    assert (before, seen) == ([running, []], [running, [True]])
    assert (stopped, again) == ([["Start"], []], [running, [True]])
    assert names(window) == {"Cylinder"} | BOXES


def test_freecads_menu_lets_agents_only_read(window: Application) -> None:
    edit = {"name": "Box0", "property_name": "Length", "value": 30}
    paused = _menu(window, "Pause")
    refused = window.call("set_property", edit)
    resumed = _menu(window, "Resume")
    done = window.call("set_property", edit)

    assert (paused[0], resumed[0]) == (
        ["Stop", "Resume", "What agents did", "Connect a client"],
        ["Stop", "Pause", "What agents did", "Connect a client"],
    )
    assert (status(refused), status(done)) == ("not_started", "done")


def _menu(application: Application, *chosen: str) -> Any:
    """Choose entries of the menu; tell what it offers then, and if the panel has the keys."""
    application.order(*chosen, "menu")
    application.obeyed()
    return json.loads((application.folder / "menu").read_text(encoding="utf-8"))


def _property(application: Application, name: str, which: str) -> object:
    told = json.loads(text(application.call("inspect_object", {"name": name})))
    return told["properties"][which]


def _ticks(file: Path) -> list[list[float]]:
    """Read when, how many turns of the event loop there were, and how many pictures."""
    rows = file.read_text(encoding="utf-8").splitlines()
    return [[float(number) for number in row.split()] for row in rows]
