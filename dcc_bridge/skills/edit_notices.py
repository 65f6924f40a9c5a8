"""Notices at the host of edits that agents made, each with an offer to undo it. Any thread."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Final

from dcc_bridge.callbacks import CallLater
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import question, routing
from dcc_bridge.host import Host
from dcc_bridge.skills import call_history

_NOTICE_S: Final = 60.0  # the time for which a notice is shown


class EditNotices:
    """Shows a notice of each edit for a while, or until the edit is undone.

    Attributes:
        open: The functions that take down the notices which may still be shown, by the id of the
            call.
    """

    def __init__(
        self,
        host: Host,
        audience: routing.Audience,
        recent: call_history.Recent,
        later: CallLater,
        undo: Callable[[str], bool],
    ) -> None:
        """Prepare; `show` shows a notice.

        Args:
            host: The application.
            audience: The surface at the host, where notices are shown.
            recent: The latest calls, which tell that an edit was undone.
            later: Calls a function after some seconds.
            undo: Undoes the step of a label, and returns whether the step was on top. Main thread.
        """
        self.open: dict[str, question.TakeDown] = {}
        self._host = host
        self._audience = audience
        self._recent = recent
        self._later = later
        self._undo = undo
        recent.watch(self._follow_record)

    def show(self, call: Call, label: str) -> None:
        """Show at the host what an agent did, with an offer to undo it. Any thread.

        Args:
            call: The call of the agent.
            label: The label of its undo step.
        """
        surface = self._audience.host
        if surface is None or call.client is None:
            return
        text = f"{call_history.deed(call)}: done for {routing.client_name(call)}"
        undo = partial(self._undo_if_on_top, label)
        self.open[call.id] = surface.notice(text, undo, call.id)
        # In a context of its own, so that the timer keeps no call alive.
        Context().run(self._later, _NOTICE_S, partial(self._end, call.id))

    def _follow_record(self, record: call_history.Record) -> None:
        """End the notice of a call that was undone."""
        if record.effect.undone_by:
            self._end(record.id)

    def _end(self, call: str) -> None:
        """Take the notice of a call down, if it is still shown."""
        take_down = self.open.pop(call, None)
        if take_down is not None:
            take_down("undone")

    def _undo_if_on_top(self, label: str) -> None:
        """Undo an agent's step for the person, or tell them why that is not possible."""
        self._recent.follow_undo(self._host)
        record = self._recent.of_step(label)
        if not self._undo(label) and record is not None:
            top = self._host.undo_mark().label
            why = call_history.why_not_undo(record, top, self._host.name)
            self._audience.notify(why)
