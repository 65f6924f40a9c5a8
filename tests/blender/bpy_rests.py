"""The rests of a long job, run inside of Blender by ``test_bpy.py``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import bpy
import pytest

from dcc_bridge_blender.loop import BlenderLoop, Work
from tests.blender.things import scene, thing

Override = Callable[[], AbstractContextManager[Any]]


class Failing(Work):
    """Shows a job whose input cannot be taken, as where Blender refuses an operator."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def rest(self) -> None:
        self.calls.append("rest")
        raise RuntimeError("Operator bpy.ops.dcc_bridge.working.poll() failed")

    def go_on(self) -> bool:
        self.calls.append("go_on")
        return False


@pytest.fixture
def loop() -> Iterator[BlenderLoop]:
    """A loop whose turns the test takes; no timer fires in background."""
    thing("Cube").hide_set(False)
    thing("Cube").select_set(True)
    thing("Light").select_set(False)
    scene().view_layers[0].objects.active = thing("Cube")
    made = BlenderLoop()
    assert bpy.app.timers.is_registered(made._timer)
    yield made
    made.main.close()
    made.close()
    assert not bpy.app.timers.is_registered(made._timer)  # it would hang the exit of 4.5


def override(**members: Any) -> AbstractContextManager[Any]:
    context: Any = bpy.context
    found: AbstractContextManager[Any] = context.temp_override(**members)
    return found


def of_objects() -> AbstractContextManager[Any]:
    light = thing("Light")
    return override(active_object=light, selected_objects=[light])


def of_selection() -> AbstractContextManager[Any]:
    return override(selected_objects=[thing("Light")])


def of_scene() -> AbstractContextManager[Any]:
    return override(scene=bpy.data.scenes.new("Other"))


def of_screen() -> AbstractContextManager[Any]:
    return override(screen=bpy.data.screens["Compositing"])


def rests_in(loop: BlenderLoop, made: Override) -> bool:
    """Return whether a job rests inside of a block, and see that it ends."""

    def body() -> str:
        with made():
            loop.main.repaint(serves_stop=True)
        return "done"

    job = loop.main.submit(body)
    loop._tick()
    is_resting = loop.main.is_resting
    loop._tick()
    assert job.result(0) == "done"
    return is_resting


def test_a_job_rests_outside_of_overrides_also_where_it_selected_another_object(
    loop: BlenderLoop,
) -> None:
    light: Any = thing("Light")
    scene().view_layers[0].objects.active = light
    light.select_set(True)
    thing("Cube").hide_set(True)

    assert rests_in(loop, nullcontext)


@pytest.mark.parametrize("made", [of_objects, of_selection, of_scene, of_screen])
def test_a_job_does_not_rest_while_it_overrides_what_operators_act_on(
    loop: BlenderLoop, made: Override
) -> None:
    assert not rests_in(loop, made)
    loop._rest_at = 0.0
    assert rests_in(loop, nullcontext)


@pytest.mark.skipif(bpy.app.version < (4, 2), reason="the collector does not see an override")
def test_a_member_that_no_scene_has_is_an_override_too(loop: BlenderLoop) -> None:
    assert not rests_in(loop, lambda: override(edit_image=None))


def test_a_job_does_not_rest_in_another_window_than_its_own(loop: BlenderLoop) -> None:
    def body() -> None:
        loop._place = (1, 1)  # as if another window were the current one; here there is just one
        loop.main.repaint(serves_stop=True)

    job = loop.main.submit(body)
    loop._tick()

    assert job.done()


def test_a_rest_that_fails_is_logged_once_and_the_job_goes_on_without(
    loop: BlenderLoop, caplog: pytest.LogCaptureFixture
) -> None:
    work = Failing()
    loop.work = work
    stopped: list[bool] = []

    def body() -> None:
        for _ in range(2):
            loop._rest_at = 0.0
            stopped.append(loop.main.repaint(serves_stop=True))

    with caplog.at_level(logging.ERROR, "dcc_bridge.blender"):
        job = loop.main.submit(body)
        loop._tick()

    assert job.result(0) is None
    assert stopped == [False, False]
    assert work.calls == ["rest", "go_on"]
    assert [record.message[:17] for record in caplog.records] == ["a job cannot rest"]
    loop.work = Work()
    assert rests_in(loop, nullcontext)
