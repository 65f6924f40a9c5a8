"""What the plug-ins of Maya and Houdini promise alike, to be run against each stand-in.

A test module subclasses `PlugInContract` and gives the fixtures ``seat`` and ``batch``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtWidgets import QWidget

from dcc_bridge import confirm_sync, headless, skill
from dcc_bridge.host import Host
from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs.operations import HostOperations
from tests.hosts.digests import scene_digest
from tests.hosts.fakes.live_application import LiveApplication, shown
from tests.live import status, text
from tests.tiers import repeated

Call = tuple[str, dict[str, Any]]  # a skill and its arguments


@dataclass(frozen=True)
class Seat:
    """Somebody at a host that was started, with the bridge in it."""

    live: LiveApplication  # the person, and agents
    window: QWidget  # the host's own window
    scene: Path  # the scene's file
    edit: Callable[[], object]  # edits something by hand
    undo: Callable[[], object]  # undoes the last edit by hand
    show_panel: Callable[[], QWidget]  # shows the panel, and gives it
    # Unloads the plug-in, looks that the host has nothing of it, and loads it again.
    restart: Callable[[], LiveApplication]
    change: Callable[[], object]  # changes what DELETE asks about
    lose: Callable[[], object]  # begins a new scene in place of the open one
    lost: str  # what an agent is told then, to which nobody agreed


class PlugInContract:
    """The promises."""

    MODULE: str  # the plug-in's own
    DELETE: Call  # deletes three cameras, with consent
    VERB: str  # what stands on the button that agrees to it
    AGAIN: str  # what does once the scene has changed under the question
    EDIT: Call  # edits something

    def test_consent_in_a_dialog_over_the_hosts_window(self, seat: Seat) -> None:
        """The agent asks, the person agrees, three are gone; the host's undo brings them back."""
        live = seat.live
        before = scene_digest(live.host)
        future = live.go(call_skill, live, self.DELETE)

        parent = live.dialog.parentWidget()
        verb = live.agree()
        live.until(future.done)

        assert (parent, verb) == (seat.window, self.VERB)
        assert future.result().structured_content["found"] == 3
        assert "Delete" in str(live.host.undo_mark().label)
        assert scene_digest(live.host) != before
        live.host.undo()
        assert scene_digest(live.host) == before

    def test_a_question_has_the_keyboard_once_the_hosts_command_leads_into_it(
        self, seat: Seat
    ) -> None:
        live = seat.live
        seat.window.activateWindow()
        live.until(seat.window.isActiveWindow)
        future = live.go(call_skill, live, self.DELETE)
        dialog = live.dialog
        live.until(seat.window.isActiveWindow)

        import_module(self.MODULE).show_panel()  # what its shelf calls

        live.until(dialog.isActiveWindow)
        live.refuse()
        live.until(future.done)

    def test_a_refusal_changes_nothing(self, seat: Seat) -> None:
        live = seat.live
        before = scene_digest(live.host), live.host.undo_mark().label
        future = live.go(call_skill, live, self.DELETE)

        live.refuse()
        live.until(future.done)

        assert "eclined in the app" in text(future.result())
        assert (scene_digest(live.host), live.host.undo_mark().label) == before

    def test_what_changed_under_the_question_is_asked_for_again(self, seat: Seat) -> None:
        """What was agreed to was not what is there."""
        live = seat.live
        future = live.go(call_skill, live, self.DELETE)
        first = live.dialog.question.id
        seat.change()
        live.agree()

        live.until(lambda: any(one.question.id != first for one in shown()))
        verb = live.agree()
        live.until(future.done)

        assert verb == self.AGAIN
        assert f"Delete {future.result().structured_content['found']} " in verb

    def test_what_fails_is_rolled_back(self, seat: Seat) -> None:
        """Half an edit is undone, with the host's own undo; what the person did before stays."""
        live = seat.live

        @skill(risk="edit")
        def half() -> None:
            seat.edit()
            raise RuntimeError("the disk is full")

        seat.edit()
        before = scene_digest(live.host), live.host.undo_mark().label
        live.bridge.registry.add(describe(half))

        result = live.call("half")

        assert "the disk is full" in text(result)
        assert (scene_digest(live.host), live.host.undo_mark().label) == before

    def test_a_scene_is_not_lost_without_a_word(self, seat: Seat) -> None:
        """It is refused, or the agent and the person are told where the copy is."""

        @skill(risk="edit")
        def new_scene() -> None:
            seat.edit()
            seat.lose()

        result, _, _ = _call(seat, new_scene)

        assert status(result) == "no_consent"
        assert seat.lost in text(result)

    def test_a_scene_that_was_agreed_to_is_lost(self, seat: Seat) -> None:
        """What was in its undo stack is nobody's concern then; a copy of the scene is kept."""

        @skill(risk="destructive", confirms=True)
        def new_scene() -> str:
            agreed = confirm_sync("Begin a new scene?", verb="Begin", undoable=False)
            seat.lose()
            return str(agreed.checkpoint)

        result, before, after = _call(seat, new_scene, agree=True)

        assert status(result) == "done"
        assert after != before
        assert list(seat.scene.with_name(f"{seat.scene.name}.checkpoints").iterdir())

    def test_a_save_keeps_what_it_writes_over(self, seat: Seat) -> None:
        """The person is asked, and the old bytes are kept beside the scene."""
        old = seat.scene.read_bytes()
        seat.edit()
        future = seat.live.go(call_skill, seat.live, ("save", {}))

        seat.live.agree()
        seat.live.until(future.done)

        kept = Path(future.result().structured_content["copies"]) / seat.scene.name
        assert kept.read_bytes() == old != seat.scene.read_bytes()

    @pytest.mark.parametrize("times", repeated(3, 20))
    def test_twenty_unloads_leave_nothing_behind(
        self, times: int, seat: Seat, tmp_path: Path
    ) -> None:
        """Each time its windows, its callbacks and its place in the list are gone."""
        live = seat.live
        for _ in range(times):
            panel, bridge = seat.show_panel(), live.bridge
            live = seat.restart()
            assert not shiboken6.isValid(panel)
            assert bridge.stopped.done()
            assert len(list((tmp_path / "runtime").glob("*.json"))) == 1

        assert live.call("list_items").is_error is False

    def test_batch_serves_without_a_window_and_refuses_what_needs_a_person(
        self, batch: tuple[Host, Callable[[Host], HostOperations]]
    ) -> None:
        """No event loop: a delete is refused, an edit is done and can be undone."""
        host, operations = batch
        before = scene_digest(host)
        calls: list[Any] = []

        def ready(bridge: Any) -> None:
            live = LiveApplication(bridge)
            calls.extend(live.go(call_skill, live, call) for call in (self.DELETE, self.EDIT))

        headless.serve(host, [], lambda: all(call.done() for call in calls), ready, operations)

        refused, edited = (call.result() for call in calls)
        assert (status(refused) != "done", status(edited)) == (True, "done")
        assert scene_digest(host) != before
        host.undo()
        assert scene_digest(host) == before


async def call_skill(live: LiveApplication, call: Call) -> Any:
    async with live.client() as session:
        return await session.call_tool(*call)


def _call(
    seat: Seat, function: Callable[[], object], *, agree: bool = False
) -> tuple[Any, tuple[object, ...], tuple[object, ...]]:
    """Call a skill after an edit of the person's; give what was there before and after."""
    live = seat.live
    live.bridge.registry.add(describe(function))
    seat.edit()
    before = scene_digest(live.host), live.host.undo_mark()
    name = function.__name__
    future = live.go(call_skill, live, (name, {}))
    if agree:
        live.agree()
    live.until(future.done)
    return future.result(), before, (scene_digest(live.host), live.host.undo_mark())
