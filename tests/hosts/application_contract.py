"""What applications promise alike that have the bridge in them, as agents and persons see it.

A test module subclasses one of them, and gives the fixture ``window`` or ``console``.
"""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from tests.hosts.application import Application
from tests.live import ERAS, accept, say, status, text

Call = tuple[str, dict[str, Any]]  # a skill and its arguments


class _Contract:
    """What agents do there."""

    DELETE: Call  # deletes something, with consent
    DELETED: frozenset[str]  # what that is
    FAILS: Call  # fails in mid-edit
    WHY: str  # what is said of it

    def state(self, application: Application) -> dict[str, object]:
        """Look at the scene: what there is by name, each with what an agent can tell of it."""
        raise NotImplementedError

    def _without_deleted(self, state: dict[str, object]) -> dict[str, object]:
        assert state.keys() > self.DELETED
        return {name: facts for name, facts in state.items() if name not in self.DELETED}


class WindowContract(_Contract):
    """Somebody sits at the application, and has its own undo."""

    EDIT: Call  # edits something

    def test_a_deletion_is_agreed_to_in_the_hosts_own_dialog(self, window: Application) -> None:
        """One undo step: the host's own undo brings back what went."""
        before = self.state(window)

        window.order("accept")
        result = window.call(*self.DELETE)
        after = self.state(window)
        window.order("undo")
        window.obeyed()

        assert status(result) == "done"
        assert after == self._without_deleted(before)
        assert self.state(window) == before

    @pytest.mark.parametrize("answer", ["decline", "cancel"])
    def test_what_is_refused_is_not_done(self, window: Application, answer: str) -> None:
        """Nothing is changed, and the host ends well after it."""
        before = self.state(window)

        window.order(answer)
        result = window.call(*self.DELETE)

        assert status(result) == "refused"
        assert self.state(window) == before

    def test_a_skill_that_fails_leaves_nothing(self, window: Application) -> None:
        """What it had done is undone; the next step is one of its own."""
        before = self.state(window)

        failed = window.call(*self.FAILS)
        left = self.state(window)
        done = window.call(*self.EDIT)
        edited = self.state(window)
        window.order("undo")
        window.obeyed()

        assert (status(failed), status(done)) == ("failed", "done")
        assert self.WHY in text(failed)
        assert left == before != edited
        assert self.state(window) == before

    def test_an_edit_by_hand_while_the_question_is_open_stays(self, window: Application) -> None:
        """The person may work before they answer."""
        before = self.state(window)

        window.order("read", "edit", "accept")
        result = window.call(*self.DELETE)
        after = self.state(window)

        assert status(result) == "done"
        assert not self.DELETED & after.keys()
        assert after != self._without_deleted(before)

    def test_it_can_be_unloaded_and_loaded_twenty_times(self, window: Application) -> None:
        """And works after that."""
        assert window.instance
        window.order(*["reload"] * 20)
        window.obeyed()
        window.order("accept")

        result = window.call(*self.DELETE)

        assert status(result) == "done"
        assert not self.DELETED & self.state(window).keys()


class ConsoleContract(_Contract):
    """Nobody sits there, so the client's person is asked."""

    ASKED: str  # what they are asked before a deletion

    @pytest.mark.parametrize("era", ERAS)
    def test_what_the_client_agrees_to_is_deleted_and_the_hosts_undo_brings_it_back(
        self, console: Application, era: str
    ) -> None:
        before, asked = self.state(console), list[str]()

        def agree(params: ElicitRequestParams) -> ElicitResult:
            asked.append(params.message)
            return ElicitResult(action="accept", content={"confirm": True})

        result = console.call(*self.DELETE, era=era, asked=agree)
        after = self.state(console)
        console.order("undo")
        console.obeyed()

        assert status(result) == "done", text(result)
        assert self.ASKED in asked[0]
        assert after == self._without_deleted(before)
        assert self.state(console) == before

    def test_what_is_refused_or_fails_leaves_nothing(self, console: Application) -> None:
        """A refusal, nobody to ask, and an error in mid-edit."""
        before = self.state(console)

        declined = console.call(*self.DELETE, asked=say("decline"))
        unasked = console.call(*self.DELETE)
        failed = console.call(*self.FAILS)

        ended = [status(each) for each in (declined, unasked, failed)]
        assert ended == ["refused", "refused", "failed"]
        assert self.WHY in text(failed)
        assert self.state(console) == before

    def test_it_can_be_stopped_and_started_twenty_times(self, console: Application) -> None:
        """And works after that."""
        assert console.instance
        for _ in range(20):
            console.order("reload")
            console.obeyed()

        result = console.call(*self.DELETE, asked=accept(confirm=True))
        console.order("undo")
        console.obeyed()

        assert status(result) == "done"
