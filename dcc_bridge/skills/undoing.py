"""Takes an agent's step back, for a person at the host or for an agent. Main thread."""

from __future__ import annotations

import logging
from collections.abc import Callable

from dcc_bridge.audit.log import Auditor
from dcc_bridge.elicitation.call import Call
from dcc_bridge.errors import NotRecorded
from dcc_bridge.host import Host
from dcc_bridge.skills.recent import Recent

log = logging.getLogger(__name__)


class Undoing:
    """Undoes a step that is on top of the host's stack, and writes down by whom."""

    def __init__(
        self, host: Host, recent: Recent, auditor: Auditor, changed: Callable[[], None]
    ) -> None:
        """Take what it needs.

        Args:
            host: Whose undo stack it is.
            recent: Knows which call left the step.
            auditor: Told whose step was undone, and by whom.
            changed: Told that one was.
        """
        self._host = host
        self._recent = recent
        self._auditor = auditor
        self._changed = changed

    def __call__(self, label: str, by: Call | None = None) -> bool:
        """Undo a step, if it is on top. Main thread.

        It is the undo of the host: a person's does not wait for the record, and an agent's is on
        record before, as its own call.

        Args:
            label: The step's own.
            by: The call that undoes it, or None for the person at the host.

        Returns:
            Whether it was undone.
        """
        if self._host.undo_label() != label:
            return False
        self._host.undo()
        self._changed()
        self._note(label, by)
        return True

    def _note(self, label: str, by: Call | None) -> None:
        one = next((each for each in self._recent.records() if each.undo_label == label), None)
        whose = {"call": one.id, "skill": one.skill, "client": one.client} if one else {}
        who = {"by": "host"} if by is None else {"by": "client", "by_call": by.id}
        log.info("the step %r was undone by the %s", label, who["by"])
        try:
            self._auditor(("undone", {**whose, "undo": [label], **who}))
        except NotRecorded as error:  # the person has it back all the same
            log.warning("that %r was undone is not on record: %s", label, error)
