"""FreeCAD with our plug-in, loaded by its own loader: an agent, a person, and the end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from tests.freecad import launch
from tests.hosts.application import Application, started, until
from tests.hosts.application_contract import ConsoleContract, WindowContract
from tests.live import ERAS, accept, status, text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(960),
    pytest.mark.skipif(launch.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """FreeCAD without a screen; that it ends well is tested at its end."""
    home = tmp_path_factory.mktemp("freecad")
    launch.settle(home)
    assert launch.PROGRAM is not None
    with started([launch.PROGRAM], home, **launch.WITHOUT_A_SCREEN) as application:
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
    script = launch.script("from tests.freecad.start import run; run()", home)
    (home / "skills").mkdir()
    (home / "skills" / "exporting.py").write_text(EXPORTING)
    (home / "temporary").mkdir()  # a body may write files of its own there
    ours = {"DCC_BRIDGE_SKILLS": str(home / "skills"), "TMPDIR": str(home / "temporary")}
    assert launch.CONSOLE is not None
    with started([launch.CONSOLE, script], home, **ours) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


EXPORTING = """
import FreeCAD
import importlib

def export_without_a_word(module: str, path: str) -> None:
    '''Make a box, and export what there is.'''
    document = FreeCAD.ActiveDocument
    made = document.addObject("Part::Box", "Exported")
    document.recompute()
    importlib.import_module(module).export([made], path)
"""


def names(application: Application) -> set[str]:
    listed = json.loads(text(application.call("list_items", {})))
    return {row["item"] for row in listed["rows"]}


BOXES = {f"Box{number}" for number in range(10)}
LENGTHS = {"Box0": "Length", "Cylinder": "Height"}
LONGER = {"item": "Box0", "prop": "Length", "value": 30}


class Work:
    """What agents do in a document of ten boxes and a cylinder."""

    DELETE = ("delete", {"pattern": "Box*"})
    DELETED = frozenset(BOXES)
    FAILS = ("set_values", {"changes": [LONGER, {**LONGER, "value": "far"}]})
    WHY = "Length cannot be 'far'"
    EDIT = ("set_values", {"changes": [LONGER]})
    ASKED = "Delete 10 boxes?"

    def state(self, application: Application) -> dict[str, object]:
        there = names(application)
        lengths = {it: _property(application, it, LENGTHS[it]) for it in LENGTHS if it in there}
        return dict.fromkeys(there) | lengths


class TestWindow(Work, WindowContract):
    """What every window with the bridge in it promises."""


@pytest.mark.skipif(launch.CONSOLE is None, reason="freecadcmd is not installed")
class TestConsole(Work, ConsoleContract):
    """What every interpreter with the bridge in it promises, where nobody sits."""


def test_the_promises_hold_without_a_window(tmp_path: Path) -> None:
    contract = "from tests.freecad.host_contract import run; assert run() == 0"
    done = launch.in_console(contract, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(("module", "name"), [("Part", "out.step"), ("Mesh", "out.stl")])
def test_a_module_that_exports_in_c_is_stopped_and_asked_about_before_there_is_a_file(
    console: Application, module: str, name: str
) -> None:
    file = console.folder / name
    export = "export_without_a_word", {"module": module, "path": str(file)}
    before = names(console)
    asked: list[str] = []

    def no(params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    refused = console.call(*export, asked=no)
    after_no = file.exists(), names(console) == before
    done = console.call(*export, asked=accept(confirm=True))

    assert (status(refused), *after_no) == ("refused", False, True), text(refused)
    assert [str(file) in message for message in asked] == [True], asked
    assert (status(done), file.exists()) == ("done", True), text(done)
    console.order("undo")
    console.obeyed()


@pytest.mark.parametrize("cell", ["A1", "A1.alias"])
def test_a_cell_is_emptied_only_if_the_person_agrees(console: Application, cell: str) -> None:
    sheet = {"type": "Spreadsheet::Sheet", "name": "Sizes"}
    filled = {"A1": "=30 mm", "A1.alias": "width"}
    console.call("create", {"things": [{**sheet, "values": filled}]})
    emptied = "set_values", {"items": ["Sizes"], "values": {cell: ""}}
    asked: list[str] = []

    def no(params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    refused = console.call(*emptied, asked=no)
    told = json.loads(text(console.call("inspect", {"items": ["Sizes"], "names": ["A1"]})))
    done = console.call(*emptied, asked=accept(confirm=True))
    console.order("undo", "undo")
    console.obeyed()

    what = {"A1": "cell A1 of Sizes", "A1.alias": "alias width of Sizes"}[cell]
    assert status(refused) == "refused"
    assert [what in message for message in asked] == [True], asked
    assert told["items"][0]["values"]["A1"] == 30
    assert status(done) == "done", text(done)


def test_a_save_keeps_what_it_writes_over(window: Application) -> None:
    file = window.folder / "scene.FCStd"
    old = file.read_bytes()
    window.call(*Work.EDIT)

    window.order("type", "accept")
    result = window.call("save", {})

    assert status(result) == "done", text(result)
    copy = Path(json.loads(text(result))["copies"]) / file.name
    assert copy.read_bytes() == old != file.read_bytes()


def test_an_image_where_there_is_no_screen_is_an_error(window: Application) -> None:
    """FreeCAD would crash if it drew; it is asked for a thing afterwards, and answers."""
    result = window.call("look", {"view": "front"})

    assert result.is_error
    assert names(window)


@pytest.mark.parametrize("era", ERAS)
def test_the_client_does_not_decide_where_somebody_sits(window: Application, era: str) -> None:
    """A client that says yes to all is not asked: the person at FreeCAD is, in every era."""
    window.order("decline")
    result = window.call(*Work.DELETE, era=era, asked=accept(confirm=True))

    assert status(result) == "refused"


def test_freecads_own_dialog_and_a_question_end_well(window: Application) -> None:
    window.order("modal")
    window.obeyed()
    set_ = window.call(*Work.EDIT)
    window.order("accept")
    deleted = window.call(*Work.DELETE)

    assert status(set_) == "done"
    assert status(deleted) == "done"


@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
def test_freecad_draws_while_a_skill_waits(window: Application, seconds: int) -> None:
    """On the main thread, in mid-body; FreeCAD's own modal dialog comes and goes meanwhile."""
    with ThreadPoolExecutor(1) as agent:
        called = agent.submit(window.call, *Work.DELETE)
        window.order("read", "tick", "modal")
        window.obeyed()
        answered = time.monotonic() + seconds
        until(lambda: time.monotonic() > answered)
        window.order("tick", "accept")
        result = called.result(60)

    (begun, *first), (ended, *last) = _ticks(window.folder / "ticks")[-2:]
    turns, frames = (after - before for before, after in zip(first, last, strict=True))
    assert status(result) == "done"
    assert names(window) == {"Cylinder"}
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

    assert before == [running, []]
    assert seen == [running, [True]]
    assert stopped == [["Start"], []]
    assert again == [running, [True]]
    assert names(window) == {"Cylinder"} | BOXES


def test_freecads_menu_lets_agents_only_read(window: Application) -> None:
    paused = _menu(window, "Pause")
    refused = window.call(*Work.EDIT)
    resumed = _menu(window, "Resume")
    done = window.call(*Work.EDIT)

    assert paused[0] == ["Stop", "Resume", "What agents did", "Connect a client"]
    assert resumed[0] == ["Stop", "Pause", "What agents did", "Connect a client"]
    assert status(refused) == "not_started"
    assert status(done) == "done"


def _menu(application: Application, *chosen: str) -> Any:
    """Choose entries of the menu; tell what it offers then, and if the panel has the keys."""
    application.order(*chosen, "menu")
    application.obeyed()
    return json.loads((application.folder / "menu").read_text(encoding="utf-8"))


def _property(application: Application, name: str, which: str) -> object:
    (told,) = json.loads(text(application.call("inspect", {"items": [name]})))["items"]
    return told["values"][which]


def _ticks(file: Path) -> list[list[float]]:
    """Read when, how many turns of the event loop there were, and how many pictures."""
    rows = file.read_text(encoding="utf-8").splitlines()
    return [[float(number) for number in row.split()] for row in rows]
