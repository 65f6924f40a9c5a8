"""The nine tasks and more in every host, over HTTP by a real client."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.blender import window as blender_34
from tests.hosts import freecad
from tests.hosts.application import Application, started
from tests.hosts.screen import Screen, missing, screen
from tests.verbs import tasks
from tests.verbs.steps import step
from tests.verbs.tasks import Agent, Count, Words
from tests.verbs.words import APPLICATIONS, BLENDER, FREECAD, MAYA, STAND_INS, UNSCALED, maya

ONCE = {"USD": ["renames", "values", "grid"], "Maya": ["light rig"], "Houdini": ["network"]}
EVERY = [*tasks.TASKS, *tasks.MORE]
"""What the quick run does in one of the stand-ins alone; `tasks.MORE` says what it does in each."""


def cases() -> Iterator[Any]:
    """Give each host with each task that it can do."""
    for host in STAND_INS:
        quick = [*ONCE[host], *tasks.IN_EACH]
        for name in EVERY:
            yield pytest.param(host, name, marks=[pytest.mark.long] if name not in quick else [])
    for host, (words, _) in APPLICATIONS.items():
        yield from (pytest.param(host, it, marks=pytest.mark.real)
                    for it in EVERY if it not in words.missing)  # fmt: skip


@pytest.fixture(scope="module")
def counts() -> Iterator[dict[str, dict[str, Count]]]:
    """Count what each task took; ``-s`` shows it."""
    taken = defaultdict[str, dict[str, Count]](dict)
    yield taken
    for host, counts in taken.items():
        tasks.tell(host, counts)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("host", "name"), [*cases()])
def test_a_task_is_done_and_undone_in_few_calls(
    host: str, name: str, counts: dict[str, dict[str, Count]], tmp_path: Path
) -> None:
    """Each is checked on the scene, is one undo step, and leaves nothing once that is undone."""
    words, start = (STAND_INS | APPLICATIONS)[host]

    with start(tmp_path) as running:
        tasks.work(running, Agent(words, tmp_path), lambda it: tasks.do(it, name, counts[host]))


def test_in_maya_what_goes_with_what_was_agreed_to_is_no_loss(tmp_path: Path) -> None:
    """History of what is cleaned, shading groups of materials, curves of what is deleted."""
    agent = Agent(MAYA, tmp_path)

    async def task(agent: Agent) -> None:
        (box,) = await agent.make([{"type": "polyCube", "name": "box"}])
        await agent.call("assign_material", items=[], values={"base_color": [1, 0, 0]})
        await agent.call("set_keys", item=box, prop="rotateX", keys=[[1, 0.0], [9, 90.0]])
        async with agent.working():
            told = await agent.call("clean", what=["history", "unused"])
            assert told["items"] == [box, "material1"]
        async with agent.working():
            assert (await agent.call("delete", items=[box]))["still_there"] == []
            why = await agent.fails("list_items", under="box_rotateX")
            assert "no node 'box_rotateX'" in why

    with maya(tmp_path) as bridge:
        tasks.work(bridge, agent, task)

    assert len(agent.questions) == 2


NOW = {
    "Maya": "changed: |lamp, focalLength: 35 -> 25",
    "Houdini": "changed: /obj/lamp, focal: 50 -> 25",
}


@pytest.mark.parametrize("host", NOW)
def test_an_answer_tells_what_is_different_where_no_edit_can_be_tried(
    host: str, tmp_path: Path
) -> None:
    words, start = STAND_INS[host]
    kind, (prop, _), value = words.numbers

    async def task(agent: Agent) -> None:
        (item,) = await agent.make([{"type": kind, "name": "lamp"}])
        changes = [{"item": item, "prop": prop, "value": value}]
        async with agent.working(steps=2):
            told = await agent.call("set_values", changes=changes)
            assert told["now"] == NOW[host]
            steps = [step("set_values", changes=changes), step("rename", names={item: "shot"})]
            told = await agent.call("batch", steps=steps)
            assert told["now"].startswith("changed: ")
            assert "lamp is " in told["now"]

    with start(tmp_path) as running:
        tasks.work(running, Agent(words, tmp_path), task)


SEEN: dict[str, Any] = {"DCC_BRIDGE_HOST_DIALOGS": "0", **tasks.SETTINGS}


def blender_window(shown: Screen, folder: Path) -> AbstractContextManager[Application]:
    """Start Blender 3.4 in a window; what it asks, the client answers."""
    if blender_34.PROGRAM is None:
        pytest.skip("Blender is not installed")
    return blender_34.blender(folder, shown, qt=False, **SEEN)


@contextmanager
def freecad_window(shown: Screen, folder: Path) -> Iterator[Application]:
    """Start FreeCAD in a window, with a document; what it asks, the client answers."""
    if freecad.PROGRAM is None:
        pytest.skip("FreeCAD is not installed")
    freecad.settle(folder)
    ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb"}
    ours |= {"QTWEBENGINE_DISABLE_SANDBOX": "1", **SEEN}
    with started([freecad.PROGRAM], folder, **ours) as application:
        assert application.instance
        application.order("new")
        application.obeyed()
        yield application


WINDOWS: dict[str, tuple[Words, Callable[..., AbstractContextManager[Application]]]] = {
    "Blender 3.4": (BLENDER, blender_window),
    "FreeCAD": (replace(FREECAD, draws=True, missing=UNSCALED), freecad_window),
}


@pytest.mark.real
@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", WINDOWS)
def test_in_a_window_all_tasks_and_every_verb_are_done_in_one_session(
    host: str, tmp_path: Path
) -> None:
    words, start = WINDOWS[host]
    first = ["turntable", "unapplied scale"]  # they look at the whole scene
    names = [it for it in dict.fromkeys([*first, *tasks.TASKS]) if it not in words.missing]
    (home := tmp_path / "home").mkdir()

    with screen(*blender_34.SIZE) as shown, start(shown, home) as application:
        tasks.in_turn(application, words, tmp_path, [*names, "every verb"])
        application.order("close")
        assert application.end() == 0, application.output
