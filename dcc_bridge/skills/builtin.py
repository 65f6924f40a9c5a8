"""The tools of the bridge itself, which every host has. Made on the worker.

They run on threads of the pool, so that an agent can look what became of its calls while another
one's edit waits for an answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, Final, TypedDict, cast

from dcc_bridge.audit.log import Auditor
from dcc_bridge.consent.call import Call, running_call
from dcc_bridge.elicitation.ask import elicit_form_sync
from dcc_bridge.errors import BridgeError, NotRecorded, NotUndoable, Stopped
from dcc_bridge.host import Host
from dcc_bridge.skills.call_history import CallFacts, Recent, Record, why_not_undo
from dcc_bridge.skills.skill import Skill, describe, skill
from dcc_bridge.threads.main_thread import MainThread

log = logging.getLogger(__name__)

MOST_LISTED: Final = 20
PATIENCE: Final = 5.0  # seconds in which a host's main thread should take something
_QUESTION: Final = "This is a test question. Do you see it? Nothing depends on your answer."
Undo = Callable[[str, Call | None], bool]


class Calls(TypedDict, total=False):
    """What `recent_calls` returns."""

    calls: list[CallFacts]
    others: list[dict[str, str]]  # their titles and states


class Connection(TypedDict, total=False):
    """What `check_connection` returns."""

    host: str
    version: str
    draws_questions: bool
    python: str
    packages: dict[str, str]
    clients: list[dict[str, Any]]
    replaced: dict[str, str]
    folders: dict[str, int]
    broken: dict[str, str]
    main_thread_ms: float | None
    busy: str
    question: dict[str, Any]


def tools(recent: Recent, main: MainThread, host: Host, undo: Undo) -> list[Skill]:
    """Make the tools that list the calls and undo the last one.

    `undo` undoes the step of a label for a call, if it is on top. Called on the main thread.
    """

    @skill(title="Recent calls", risk="read", thread="any")
    def recent_calls(limit: int = MOST_LISTED) -> Calls:
        """List what became of your latest calls, newest first.

        Look here before you call again: where a result was lost or is unknown, or the host busy.

        Args:
            limit: How many.
        """
        call = running_call()
        mine = call.client.label if call is not None and call.client is not None else None
        records = [it for it in recent.records() if call is None or it.id != call.id]
        listed = records[: max(limit, 0)]
        return {
            "calls": [record.facts() for record in listed if record.client == mine],
            "others": [  # not by their titles, which tell what was done
                {"title": it.skill.replace("_", " ").capitalize(), "state": it.state}
                for it in listed
                if it.client != mine
            ],
        }

    @skill(title="Undo last agent action", risk="edit", thread="any")
    def undo_last(call_id: str = "") -> str:
        """Undo the last action of an agent, if nothing else was changed since.

        The person can bring it back with the application's own redo.

        Args:
            call_id: The call to undo, by its id or how that begins; without it the last one.
        """
        call = running_call()

        def look_and_undo() -> str:
            if call is not None and (call.ending.reason is not None or call.ending.is_overdue):
                raise Stopped(call.title)  # nobody waits for it any more
            return _undo_call(_to_undo(recent, host, call_id), host, undo, call)

        return main.wait(main.submit(look_and_undo, name="Undo last agent action"))

    return [describe(recent_calls), describe(undo_last)]


def _to_undo(recent: Recent, host: Host, call_id: str) -> Record:
    """Find the call to undo: the one named, or the last one that left anything."""
    recent.follow_undo(host)
    # What was written where nothing was is in nobody's way.
    left = [it for it in recent.records() if call_id or it.effect.steps or it.effect.copy]
    left = [it for it in left if it.id.startswith(call_id) and (call_id or not it.effect.undone_by)]
    if not left:
        raise BridgeError("There is nothing to undo: no change by an agent is left.")
    return max(left, key=lambda record: record.ended or record.began)


def _undo_call(record: Record, host: Host, undo: Undo, call: Call | None) -> str:
    why, label = why_not_undo(record, host.undo_mark().label, host.name), record.effect.label
    if why or label is None:
        also = " To undo an earlier call, pass its call_id; see recent_calls."
        why += also if record.effect.lasting else ""
        raise BridgeError(f"Nothing was undone. {record.title}: {why}")
    if call is not None:
        call.control.record_undo(label)
    undo(label, call)
    return f"Undone: {record.title}, of {record.client or host.name}."


def connection_tool(about: Callable[[str | None], dict[str, Any]], main: MainThread) -> Skill:
    """Make the tool that checks the way from a client to the person.

    It runs on a thread of the pool, so that it can tell that the main thread takes nothing. `about`
    tells of the bridge what the client of a label may know.
    """

    @skill(title="Check the connection", risk="read", thread="any")
    def check_connection(ask: bool = False) -> Connection:
        """Tell what this host knows of you, and if it is well.

        Args:
            ask: Ask the person a test question.
        """
        call = running_call()
        label = call.client.label if call is not None and call.client is not None else None
        facts = cast("Connection", {**about(label), **_round_trip(main)})
        return {**facts, "question": _test_question()} if ask else facts

    return describe(check_connection)


def _round_trip(main: MainThread) -> dict[str, Any]:
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


def _test_question() -> dict[str, str | float | bool | None]:
    began = time.perf_counter()
    answer = elicit_form_sync(_QUESTION, {"type": "object", "properties": {}}, title="I see it")
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
        self._host = host  # whose undo stack it is
        self._recent = recent  # knows which call left the step
        self._auditor = auditor  # told whose step was undone, and by whom
        self._changed = changed  # told that one was

    def __call__(self, label: str, by: Call | None = None) -> bool:
        """Undo a step by its label, if it is on top, and the others of its call. Main thread.

        A person's (`by` is None) does not wait for the record; an agent's is on record before, as
        its own call. Return whether it was undone; NotUndoable at the end: not all came back.
        """
        if self._host.undo_mark().label != label:
            return False
        record = self._recent.of_step(label)
        steps = record.effect.steps if record else (label,)
        missed, left, depth = None, len(steps), self._host.undo_mark().depth
        base, before = record.effect.base if record else depth, depth
        # Nothing of others is between them; what is below them the body pushed itself.
        while left > 0 or base < depth < before:
            try:
                self._host.undo()
            except NotUndoable as error:
                missed = error
            before, depth, left = depth, self._host.undo_mark().depth, left - 1
        self._recent.follow_undo(self._host, by.client.label if by and by.client else "host")
        self._changed()
        self._note(record, steps, by)
        if missed is not None:
            raise missed
        return True

    def _note(self, record: Record | None, steps: Sequence[str], by: Call | None) -> None:
        whose = {}
        if record is not None:
            whose = {"call": record.id, "skill": record.skill, "client": record.client}
        who = {"by": "host"} if by is None else {"by": "client", "by_call": by.id}
        log.info("%s was undone by the %s", steps, who["by"])
        try:
            self._auditor(("undone", {**whose, "undo": list(steps), **who}))
        except NotRecorded as error:  # the person has it back all the same
            log.warning("that %s was undone is not on record: %s", steps, error)
