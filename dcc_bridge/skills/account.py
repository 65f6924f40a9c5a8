"""What is written down of one run: that it may change the scene, and what came of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from dcc_bridge.audit.log import Auditor
from dcc_bridge.elicitation import record
from dcc_bridge.elicitation.call import Call
from dcc_bridge.errors import NotRecorded
from dcc_bridge.host import Host

log = logging.getLogger(__name__)
_FAILED: Final = ("failed", "unknown_outcome")
_AS_THEY_ARE: Final = ("partly_applied", "no_consent")


class Account:
    """The lines of one run."""

    def __init__(self, auditor: Auditor, call: Call) -> None:
        """Write nothing yet."""
        self._auditor = auditor
        self._call = call
        self._lock = threading.Lock()
        self._has_ended = False
        self._undoes: str | None = None
        self.has_begun = False
        """Whether it is on the disk that the scene may be changed."""

    def begin(self, host: Host, undo: str) -> None:
        """Write down that the scene may be changed from now on; once. Main thread.

        A run that needs no consent is granted by the settings.

        Args:
            host: Whose scene it is.
            undo: What the step will be called.

        Raises:
            NotRecorded: It cannot be written, so nothing may be changed.
        """
        call = self._call
        if self.has_begun:
            return
        told = {**record.in_full(call), "scene": host.scene(), **_file(host), "undo": undo}
        events = []
        if not call.agreement.granted:
            events.append(("granted", {**record.in_full(call), "by": "policy"}))
        events.append(("begin", told))
        scrubbed = [(event, record.scrubbed(call, fields)) for event, fields in events]
        self._auditor(*scrubbed, durable=True)
        self.has_begun = True

    def take_back(self, host: Host, step: str) -> None:
        """Write down that another call's step is undone next. Main thread.

        Args:
            host: Whose scene it is.
            step: The step's label.

        Raises:
            NotRecorded: It cannot be written, so nothing may be undone.
        """
        self.begin(host, step)
        self._undoes = step

    def end(
        self, status: str, error: str | None, done: Sequence[str], undone: Sequence[str]
    ) -> None:
        """Write down what came of it, if anything else is written of it. Any thread, once.

        Args:
            status: As the agent is told.
            error: The sentence that goes with it, or None.
            done: The undo steps that it left.
            undone: Those that were rolled back.
        """
        call = self._call
        with self._lock:
            if self._has_ended or not call.agreement.is_recorded:
                return
            self._has_ended = True
        told = {
            **record.of(call),
            "status": status,
            "error": error,
            "changed": bool(done) or (self._undoes is not None and status == "done"),
            "undo": list(done or undone),
            "undoes": self._undoes,
            "checkpoint": call.agreement.checkpoint,
        }
        try:
            self._auditor((_event(status, undone), record.scrubbed(call, told)))
        except NotRecorded as failure:  # what is done is done; the next edit will be refused
            log.warning("call %s: its end is not on record: %s", call.id, failure)


def _file(host: Host) -> dict[str, object]:
    """Tell which file the scene is, and as of when: a digest of gigabytes would hold up the host.

    The checkpoint of what cannot be undone is a copy of it.
    """
    file = host.file()
    if file is None:
        return {}
    told: dict[str, object] = {"file": str(file)}
    with suppress(OSError):
        found = file.stat()
        changed = datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="milliseconds")
        told |= {"file_bytes": found.st_size, "file_changed": changed}
    return told


def _event(status: str, undone: Sequence[str]) -> str:
    if status in _AS_THEY_ARE:
        return status
    if undone:
        return "rolled_back"
    return "failed" if status in _FAILED else "end"
