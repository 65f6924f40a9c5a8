"""What FreeCAD does for the verbs, in freecadcmd and in a window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.hosts import freecad
from tests.hosts.application import Application, started
from tests.hosts.screen import Screen, missing, screen
from tests.verbs import tasks
from tests.verbs.test_tasks_real import FREECAD

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(240),
    pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed"),
]


@pytest.fixture
def shown() -> Iterator[Screen]:
    with screen() as one:
        yield one


@pytest.fixture
def window(shown: Screen, tmp_path: Path) -> Iterator[Application]:
    """FreeCAD in its window, with a document of ten boxes and a cylinder."""
    assert freecad.PROGRAM is not None
    home = tmp_path / "home"
    freecad.settle(home)
    ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb"}
    ours |= {"QTWEBENGINE_DISABLE_SANDBOX": "1", "DCC_BRIDGE_SKILLS": str(tasks.SKILLS)}
    with started([freecad.PROGRAM], home, **ours) as application:
        assert application.instance
        application.order("new")
        application.obeyed()
        yield application
        application.order("close")
        assert application.end() == 0, application.output


def test_each_act_does_what_it_says_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    acts = "from tests.verbs.freecad_acts import run; assert run() == 0"
    done = freecad.in_console(acts, tmp_path)

    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
def test_in_a_window_it_draws_and_has_materials(shown: Screen, tmp_path: Path) -> None:
    ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb"}
    done = freecad.run("tests.verbs.freecad_window", tmp_path, SEEN_IN=str(tmp_path), **ours)
    told = (tmp_path / "told").read_text(encoding="utf-8") if done.returncode == 0 else ""

    assert (done.returncode, told) == (0, "0"), done.stdout + done.stderr
    for name in ("person", "sheet", "wire"):
        with Image.open(tmp_path / f"{name}.jpg") as picture:
            assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 200, name


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
def test_an_agent_looks_at_what_it_did_in_a_window(window: Application, tmp_path: Path) -> None:
    """From all sides: what is aimed, what turns, and what is made of others."""
    agent = tasks.Agent(replace(FREECAD, draws=True), tmp_path)

    async def work() -> None:
        async with window.client(asked=agent.asked) as client:
            agent.client = client
            for name in ("light rig", "turntable", "network"):
                await tasks.TASKS[name](agent)
            told = await agent.call("rename", names={"Box0": "First box"})
            assert told["pairs"] == [["Box0", "First box"]]
            _, picture = await agent.picture("look", view="around", size=800)
            picture.save(tmp_path / "around.jpg")

    window.run(work)

    assert agent.count.calls <= 3 * 6
    with Image.open(tmp_path / "around.jpg") as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 200
