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
from dcc_bridge.consent.call import Call, calling_client, running_call
from dcc_bridge.elicitation.ask import elicit_form_sync
from dcc_bridge.elicitation.routing import client_label
from dcc_bridge.errors import BridgeError, NotRecorded, NotUndoable, Stopped
from dcc_bridge.host import Host
from dcc_bridge.skills.call_history import CallFacts, Recent, Record, why_not_undo
from dcc_bridge.skills.described import Told
from dcc_bridge.skills.skill import Skill, describe, skill
from dcc_bridge.threads.main_thread import MainThread

log = logging.getLogger(__name__)

MAX_LISTED: Final = 20  # calls that are listed, if an agent does not say how many
PATIENCE_S: Final = 5.0  # the time in which a host's main thread should take a job
_TEST_TIME_S: Final = 45.0  # for the answer to the test question
_QUESTION: Final = "This is a test question. Do you see it? Nothing depends on your answer."
Undo = Callable[[str, Call | None], bool]


class Calls(TypedDict, total=False):
    """The answer of `recent_calls`."""

    calls: list[CallFacts]
    others: list[dict[str, str]]  # of other clients: titles and states


class Connection(TypedDict, total=False):
    """The answer of `check_connection`."""

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
    """Return the tools that list the calls and undo the last one.

    Args:
        recent: The latest calls.
        main: The main thread.
        host: The application.
        undo: Undoes the step of a label for a call, and returns whether it was on top. Main thread.
    """

    @skill(title="Recent calls", risk="read", thread="any")
    def recent_calls(limit: int = MAX_LISTED) -> Calls:
        """List what became of your latest calls, newest first.

        Look here before you call again: where a result was lost or is unknown, or the host busy.

        Args:
            limit: How many.
        """
        call = running_call()
        records = [record for record in recent.records() if call is None or record.id != call.id]
        label = calling_client()
        answer: Calls = {"calls": [], "others": []}
        for record in records[: max(limit, 0)]:
            if record.client == label:
                answer["calls"].append(record.facts())
            else:
                # The tool's name, and not the record's title, which tells what was done.
                title = record.skill.replace("_", " ").capitalize()
                answer["others"].append({"title": title, "state": record.state})
        return answer

    @skill(title="Undo last agent action", risk="edit", thread="any")
    def undo_last(call_id: str = "") -> Told:
        """Undo the last action of an agent, if nothing else was changed since.

        The person can bring it back with the application's own redo.

        Args:
            call_id: The call to undo, by its id or how that begins; without it the last one.
        """
        call = running_call()

        def look_and_undo() -> str:
            if call is not None and (call.ending.reason is not None or call.ending.is_overdue):
                raise Stopped(call.title)  # nobody waits for it any more
            record = _to_undo(recent, host, call_id)
            return _undo_call(record, host, undo, call)

        return main.wait(main.submit(look_and_undo, name="Undo last agent action"))

    return [describe(recent_calls), describe(undo_last)]


def _to_undo(recent: Recent, host: Host, call_id: str) -> Record:
    """Return the call to undo: the call of that id, or the last one that left anything.

    Args:
        recent: The latest calls.
        host: The application.
        call_id: The id of a call or how it begins; "" for the last one.

    Raises:
        BridgeError: There is none.
    """
    recent.follow_undo(host)
    candidates = []
    for record in recent.records():
        effect = record.effect
        # A new file alone is in nobody's way, so a call that left no more is not the last action.
        left_anything = bool(effect.steps or effect.copy)
        if call_id:
            is_candidate = record.id.startswith(call_id)
        else:
            is_candidate = left_anything and not effect.undone_by
        if is_candidate:
            candidates.append(record)
    if call_id and not candidates:
        raise BridgeError(f"No recent call has the id {call_id!r}; see recent_calls.")
    if not candidates:
        raise BridgeError("There is nothing to undo: no change by an agent is left.")
    return max(candidates, key=lambda record: record.ended or record.began)


def _undo_call(record: Record, host: Host, undo: Undo, call: Call | None) -> str:
    """Undo a call and return what the agent is told.

    Raises:
        BridgeError: It cannot be undone; the message says why.
    """
    reason = why_not_undo(record, host.undo_mark().label, host.name)
    label = record.effect.label
    if reason or label is None:
        if record.effect.lasting:
            reason += " To undo an earlier call, pass its call_id; see recent_calls."
        raise BridgeError(f"Nothing was undone. {record.title}: {reason}")
    if call is not None:
        call.control.record_undo(label)
    undo(label, call)
    return f"Undone: {record.title}, of {record.client or host.name}."


def connection_tool(about: Callable[[str | None], dict[str, Any]], main: MainThread) -> Skill:
    """Return the tool that checks the way from a client to the person.

    It runs on a thread of the pool, so that it answers while the main thread takes no jobs.

    Args:
        about: Returns what the client of a label may know of the bridge.
        main: The main thread.
    """

    @skill(title="Check the connection", risk="read", thread="any")
    def check_connection(ask: bool = False) -> Connection:
        """Tell what this host knows of you, and if it is well.

        Args:
            ask: Ask the person a test question.
        """
        facts = cast("Connection", {**about(calling_client()), **_round_trip(main)})
        if ask:
            facts["question"] = _test_question()
        return facts

    return describe(check_connection)


def _round_trip(main: MainThread) -> dict[str, Any]:
    """Return how long the main thread takes for a job of nothing."""
    began = time.perf_counter()
    job = main.submit(lambda: None, name="the check of the connection", read=True)
    try:
        job.result(PATIENCE_S)
    except (TimeoutError, CancelledError):
        job.cancel()
        return {"main_thread_ms": None}
    except BridgeError as error:
        return {"main_thread_ms": None, "busy": str(error)}
    seconds = time.perf_counter() - began
    return {"main_thread_ms": round(seconds * 1000, 2)}


def _test_question() -> dict[str, str | float | bool | None]:
    """Ask the person a test question, and return how it was answered."""
    began = time.perf_counter()
    answer = elicit_form_sync(
        _QUESTION, {"type": "object", "properties": {}}, title="I see it", timeout=_TEST_TIME_S
    )
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "answered_by": answer.answered_by,
        "seen": answer.accepted,
        "message": answer.message,
    }


class Undoing:
    """Undoes an agent's step that is on top of the host's stack, and records by whom.

    It also records what the person undoes and redoes with the host's own undo.

    Args:
        host: The application whose undo stack it is.
        recent: Knows which call left the step.
        auditor: Records whose step was undone, and by whom.
        changed: Called when a step was undone.
    """

    def __init__(
        self, host: Host, recent: Recent, auditor: Auditor, changed: Callable[[], None]
    ) -> None:
        self._host = host
        self._recent = recent
        self._auditor = auditor
        self._changed = changed
        self._own = ""  # the id of the call that is being undone here
        recent.watch_undo(self._note_own_undo)

    def __call__(self, label: str, by: Call | None = None) -> bool:
        """Undo a step, if it is on top, and the other steps of its call. Main thread.

        A person's undo does not wait for the record; an agent's is on record before, as a call
        of its own.

        Args:
            label: The step's.
            by: The agent's call that undoes it; None for the person.

        Returns:
            Whether it was undone.

        Raises:
            NotUndoable: The steps were undone, but not everything came back.
        """
        if self._host.undo_mark().label != label:
            return False
        record = self._recent.of_step(label)
        steps: Sequence[str] = (label,)
        base = self._host.undo_mark().depth
        if record is not None:
            steps = record.effect.steps
            base = record.effect.base
        incomplete = self._undo_to(base, len(steps))
        undone_by = None
        if by is not None:
            undone_by = client_label(by)
        if record is not None:
            self._own = record.id
        self._recent.follow_undo(self._host, undone_by or "host")
        self._own = ""
        self._changed()
        self._note(record, steps, by)
        if incomplete is not None:
            raise incomplete
        return True

    def _undo_to(self, base: int, count: int) -> NotUndoable | None:
        """Undo the steps of a call, and the entries that its body has made by itself.

        No entry of others is between them.

        Args:
            base: The depth of the undo stack before the call.
            count: The number of the call's steps.

        Returns:
            The last error of a step that was not undone completely, or None.
        """
        incomplete = None
        depth = self._host.undo_mark().depth
        before = depth
        while count > 0 or base < depth < before:
            try:
                self._host.undo()
            except NotUndoable as error:
                incomplete = error
            before = depth
            depth = self._host.undo_mark().depth
            count -= 1
        return incomplete

    def _note_own_undo(self, record: Record) -> None:
        """Record that the person undid or redid a call with the host's own undo."""
        if record.id == self._own:
            return
        event = "undone" if record.effect.undone_by else "redone"
        self._write(event, _whose(record, record.effect.steps) | {"by": "host"})

    def _note(self, record: Record | None, steps: Sequence[str], by: Call | None) -> None:
        """Record whose steps were undone, and by whom."""
        who = {"by": "host"}
        if by is not None:
            who = {"by": "client", "by_call": by.id}
        self._write("undone", _whose(record, steps) | who)

    def _write(self, event: str, facts: dict[str, Any]) -> None:
        log.info("%s was %s by the %s", facts["undo"], event, facts["by"])
        try:
            self._auditor((event, facts))
        except NotRecorded as error:  # it has happened all the same
            log.warning("that %s was %s is not on record: %s", facts["undo"], event, error)


def _whose(record: Record | None, steps: Sequence[str]) -> dict[str, Any]:
    """Return whose steps an event is about."""
    facts: dict[str, Any] = {"undo": list(steps)}
    if record is not None:
        facts |= {"call": record.id, "skill": record.skill, "client": record.client}
    return facts
