"""The panel's sentences. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from dcc_bridge.elicitation import plain
from dcc_bridge.qt.panel.state import State, is_top
from dcc_bridge.qt.words import tr
from dcc_bridge.skills.call_history import Record


def who(label: str | None) -> str:
    """Name who called."""
    return plain.line(label) if label else tr("The host itself")


def span(seconds: float) -> str:
    """Say how long something takes."""
    whole = max(0, round(seconds))
    if whole < 60:
        return tr("{n} s", n=whole)
    return tr("{n} min", n=whole // 60) if whole < 3600 else tr("{n} h", n=whole // 3600)


def ago(seconds: float) -> str:
    """Say how long ago something was."""
    return tr("here now") if seconds < 60 else tr("{span} ago", span=span(seconds))


def headline(state: State) -> str:
    """Say in one sentence how things are: what matters most to the person."""
    here = sum(one.is_here for one in state.asked)
    if state.address is None:
        return tr("Agents cannot connect")
    if here:
        return tr("{n} questions for you", n=here) if here > 1 else tr("A question for you")
    if state.is_paused:
        return tr("Paused: agents may only read")
    if any(one.surfaces for one in state.asked):
        return tr("Waiting for an answer elsewhere")
    if state.running:
        first = state.running[0]
        return tr("{who} is working", who=who(first.client))
    return tr("Ready for agents")


def connected(state: State) -> str:
    """Say who is connected."""
    labels = list(dict.fromkeys(who(one.client.label) for one in state.clients))
    names = _listed(labels) if labels else tr("no agent yet")
    says_so = not any(one.is_here for one in state.asked)
    return tr("paused · {names}", names=names) if state.is_paused and not says_so else names


def _listed(labels: Sequence[str]) -> str:
    if len(labels) <= 2:
        return ", ".join(labels)
    return tr("{names} and {n} more", names=", ".join(labels[:2]), n=len(labels) - 2)


def ended(record: Record) -> str:
    """Say how a call ended, and who answered for it."""
    match record.state:
        case "done":
            return _agreed(record.answered_by)
        case "refused":
            return _refused(record.answered_by)
        case "cancelled":
            return tr("cancelled; nothing was changed")
        case "timed_out":
            return tr("took too long; nothing was changed")
        case "not_started":
            return tr("did not begin")
    return _failed(record)


def _failed(record: Record) -> str:
    match record.state:
        case "failed":
            return tr("failed; nothing was changed")
        case "no_consent":
            return tr("changed something unasked; it was undone")
        case "partly_applied":
            return tr("failed half-way; look at the scene")
    return tr("nobody knows how it ended")


def _agreed(by: str | None) -> str:
    match by:
        case "host":
            return tr("you agreed here")
        case "client":
            return tr("agreed in the client")
        case "grant":
            return tr("allowed for this session")
        case "fallback" | "policy":
            return tr("nobody was asked: a setting allowed it")
        case "nobody":
            return tr("done without an answer")
    return tr("done, no question needed")


def _refused(by: str | None) -> str:
    match by:
        case "host":
            return tr("you said no")
        case "client":
            return tr("refused in the client")
        case "nobody":
            return tr("nobody answered")
    return tr("refused by a setting")


def why_not_undo(record: Record | None, state: State) -> str:
    """Say why a call cannot be undone here, or nothing where it can."""
    if record is None:
        return tr("No agent changed the scene yet.")
    if record.undo_label is None:
        return tr("It left nothing to undo.")
    if is_top(record, state):
        return ""
    return tr("Undone, or something was changed since: use the undo of {host}.", host=state.host)
