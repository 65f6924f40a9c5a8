"""The tools of the bridge itself, which every host has. Made on the worker.

They run on threads of the pool, so that an agent can look what became of its calls while another
one's edit waits for an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from dcc_bridge.elicitation.call import Call, current
from dcc_bridge.errors import BridgeError, Stopped
from dcc_bridge.host import Host
from dcc_bridge.skills.recent import Recent, Record
from dcc_bridge.skills.skill import Skill, describe, skill
from dcc_bridge.threads import MainThread

MOST_LISTED: Final = 20
Undo = Callable[[str, Call | None], bool]


def tools(recent: Recent, main: MainThread, host: Host, undo: Undo) -> list[Skill]:
    """Make them.

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
        records = [one for one in recent.records() if call is None or one.id != call.id]
        listed = records[: max(limit, 0)]
        return {
            "calls": [_told(one) for one in listed if one.client == mine],
            "others": [_hinted(one) for one in listed if one.client != mine],
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
    top = host.undo_label()
    if top is None:
        raise BridgeError("There is nothing to undo.")
    ours = next((one for one in recent.records() if one.undo_label == top), None)
    if ours is None:
        raise BridgeError(
            f"{top!r} is on top of the undo stack, and it is not an agent's one step: something "
            f"else was changed since. Nothing was undone; use {host.name}'s own undo."
        )
    if call is not None:
        call.control.record_undo(top)
    undo(top, call)
    return f"Undone: {ours.title}, of {ours.client or host.name}."


def _told(record: Record) -> dict[str, Any]:
    """Say of a call all that its own client may know."""
    told: dict[str, Any] = {
        "tool": record.skill,
        "state": record.state,
        "seconds_ago": round(time.time() - record.began),
        "answered_by": record.answered_by,
        "error": record.error,
        "progress": _progress(record),
        "undo_step": record.undo_label,
    }
    return {name: value for name, value in told.items() if value is not None}


def _hinted(record: Record) -> dict[str, Any]:
    return {"title": record.title, "state": record.state}


def _progress(record: Record) -> str | None:
    if record.progress is None:
        return None
    done, total, message = record.progress
    return " ".join(part for part in (f"{done:g}", total and f"of {total:g}", message) if part)
