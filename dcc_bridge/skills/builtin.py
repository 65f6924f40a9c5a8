"""The tools of the bridge itself, which every host has. Made on the worker.

They run on threads of the pool, so that an agent can look what became of its calls while another
one's edit waits for an answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any, Final

from dcc_bridge.audit.log import Auditor
from dcc_bridge.elicitation.ask import elicit_form_sync
from dcc_bridge.elicitation.call import Call, current
from dcc_bridge.errors import BridgeError, NotRecorded, Stopped
from dcc_bridge.host import Host
from dcc_bridge.main_thread import MainThread
from dcc_bridge.skills.call_history import Recent, Record
from dcc_bridge.skills.skill import Skill, describe, skill

log = logging.getLogger(__name__)

MOST_LISTED: Final = 20
PATIENCE: Final = 5.0  # seconds in which a host's main thread should take something
_QUESTION: Final = "This is a test question. Do you see it? Nothing depends on your answer."
_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
Undo = Callable[[str, Call | None], bool]


def tools(recent: Recent, main: MainThread, host: Host, undo: Undo) -> list[Skill]:
    """Make the tools that list the calls and undo the last one.

    Args:
        recent: What became of the calls.
        main: The way to the main thread.
        host: Whose undo stack it is.
        undo: Undoes the step of a label for a call, if it is on top. Called on the main thread.
    """

    @skill(title="Recent calls", risk="read", thread="any")
    def recent_calls(limit: int = MOST_LISTED) -> dict[str, Any]:
        """List what became of your latest calls, the newest first.

        Look here before you call again: when a result was lost, when its outcome is unknown, or
        when the host is busy. Of other clients' calls you see what they are, and no more.

        Args:
            limit: How many calls are listed.
        """
        call = current.get()
        mine = call.client.label if call is not None and call.client is not None else None
        records = [it for it in recent.records() if call is None or it.id != call.id]
        listed = records[: max(limit, 0)]
        return {
            "calls": [_details(record) for record in listed if record.client == mine],
            "others": [_summary(record) for record in listed if record.client != mine],
        }

    @skill(title="Undo last agent action", risk="edit", thread="any")
    def undo_last() -> str:
        """Undo the last action of an agent, if nothing else was changed since.

        The person can bring it back with the application's own redo.
        """
        call = current.get()

        def look_and_undo() -> str:
            if call is not None and (call.ending.reason is not None or call.ending.is_overdue):
                raise Stopped(call.title)  # nobody waits for it any more
            return _undo_last(recent, host, undo, call)

        return main.wait(main.submit(look_and_undo, name="Undo last agent action"))

    return [describe(recent_calls), describe(undo_last)]


def _undo_last(recent: Recent, host: Host, undo: Undo, call: Call | None) -> str:
    top = host.undo_mark().label
    if top is None:
        raise BridgeError("There is nothing to undo.")
    record = next((it for it in recent.records() if it.undo_label == top), None)
    if record is None:
        raise BridgeError(
            f"{top!r} is on top of the undo stack, and it is not an agent's one step: something "
            f"else was changed since. Nothing was undone; use {host.name}'s own undo."
        )
    if call is not None:
        call.control.record_undo(top)
    undo(top, call)
    return f"Undone: {record.title}, of {record.client or host.name}."


def _details(record: Record) -> dict[str, Any]:
    """Say of a call all that its own client may know."""
    details: dict[str, Any] = {
        "tool": record.skill,
        "state": record.state,
        "seconds_ago": round(time.time() - record.began),
        "answered_by": record.answered_by,
        "error": record.error,
        "progress": _progress(record),
        "undo_step": record.undo_label,
    }
    return {name: value for name, value in details.items() if value is not None}


def _summary(record: Record) -> dict[str, Any]:
    return {"title": record.title, "state": record.state}


def _progress(record: Record) -> str | None:
    if record.progress is None:
        return None
    done, total, message = record.progress
    return " ".join(part for part in (f"{done:g}", total and f"of {total:g}", message) if part)


def connection_tool(about: Callable[[str | None], dict[str, Any]], main: MainThread) -> Skill:
    """Make the tool that checks the way from a client to the person.

    It runs on a thread of the pool, so that it can tell that the main thread takes nothing.

    Args:
        about: Tells of the bridge what the client of a label may know.
        main: The way to the main thread.
    """

    @skill(title="Check the connection", risk="read", thread="any")
    def check_connection(ask: bool = False) -> dict[str, Any]:
        """Tell what this host knows of you, and whether it is well.

        Args:
            ask: Ask the person a test question, and tell who answered it after how long.
        """
        call = current.get()
        label = call.client.label if call is not None and call.client is not None else None
        facts = {**about(label), **_round_trip(main)}
        return {**facts, "question": _test_question()} if ask else facts

    return describe(check_connection)


def _round_trip(main: MainThread) -> dict[str, Any]:
    """Measure the way to the main thread and back."""
    began = time.perf_counter()
    job = main.submit(lambda: None, name="the check of the connection", read=True)
    try:
        job.result(PATIENCE)
    except (TimeoutError, CancelledError):
        job.cancel()
        return {"main_thread_ms": None}
    except BridgeError as error:
        return {"main_thread_ms": None, "busy": str(error)}
    return {"main_thread_ms": round((time.perf_counter() - began) * 1000, 2)}


def _test_question() -> dict[str, Any]:
    began = time.perf_counter()
    answer = elicit_form_sync(_QUESTION, _NOTHING, title="I see it")
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "answered_by": answer.answered_by,
        "seen": answer.accepted,
        "message": answer.message,
    }


class Undoing:
    """Undoes an agent's step that is on top of the host's stack, and records by whom."""

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
        if self._host.undo_mark().label != label:
            return False
        self._host.undo()
        self._changed()
        self._note(label, by)
        return True

    def _note(self, label: str, by: Call | None) -> None:
        record = next((it for it in self._recent.records() if it.undo_label == label), None)
        whose = (
            {"call": record.id, "skill": record.skill, "client": record.client} if record else {}
        )
        who = {"by": "host"} if by is None else {"by": "client", "by_call": by.id}
        log.info("the step %r was undone by the %s", label, who["by"])
        try:
            self._auditor(("undone", {**whose, "undo": [label], **who}))
        except NotRecorded as error:  # the person has it back all the same
            log.warning("that %r was undone is not on record: %s", label, error)
