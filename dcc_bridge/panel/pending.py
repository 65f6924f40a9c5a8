"""The edits that agents made without a question, neither kept nor undone yet. Main thread.

Such edits are pending: a surface shows the newest, with buttons to keep it and to undo it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcc_bridge.elicitation.text import Translate, english
from dcc_bridge.panel.state import State
from dcc_bridge.panel.undoing import UndoPlan, undo_plan
from dcc_bridge.skills.call_history import Record


@dataclass(frozen=True, slots=True)
class Pending:
    """Edits of one client that came in a row, and were not asked about.

    Attributes:
        last: The newest of them.
        first: The oldest of them that can be undone together with the newest.
        count: How many they are.
        plan: What goes back if all of them are undone.
    """

    last: Record
    first: Record
    count: int
    plan: UndoPlan

    @property
    def is_undoable(self) -> bool:
        """Whether all of them can be undone together."""
        return self.plan.reaches


def is_unasked(record: Record) -> bool:
    """Return whether a call is an agent's, and nobody was asked about it."""
    return record.client is not None and not record.answers


def is_pending(record: Record) -> bool:
    """Return whether an edit of an agent waits for the person to keep it or undo it."""
    effect = record.effect
    if not is_unasked(record) or record.state != "done" or record.is_settled:
        return False
    return bool(effect.steps) and not effect.undone_by and not effect.is_away


def pending(state: State, tr: Translate = english) -> Pending | None:
    """Return the newest edits that are pending, if the newest is the last step of all.

    It is None where there are none, and while a step of the person, or one that was asked about,
    lies above them: a surface is about the last step or shows nothing.

    Args:
        state: A snapshot of the panel.
        tr: Translates the sentence about what is in the way of an undo.
    """
    waiting = [record for record in state.ended if is_pending(record)]
    if not waiting or waiting[0].effect.depth != state.top.depth:
        return None
    last = waiting[0]
    first = last
    count = 1
    for record in waiting[1:]:
        is_next = record.effect.depth == first.effect.base and record.effect.label is not None
        if record.client != last.client or not is_next:
            break
        first = record
        count += 1
    return Pending(last, first, count, undo_plan(state, first, tr))
