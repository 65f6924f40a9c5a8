"""Undo a call and all that came after it: what goes back, and what is in the way. Main thread."""

from __future__ import annotations

from dataclasses import dataclass

from dcc_bridge.elicitation.text import Translate, english, safe_line
from dcc_bridge.panel.state import Port, State
from dcc_bridge.skills.call_history import Record, why_not_undo


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The calls that an undo back to a call takes back.

    Attributes:
        records: The calls whose steps go back, the newest first.
        obstacle: A sentence about the step that is in the way, or "".
        reaches: Whether the call itself goes back too.
    """

    records: tuple[Record, ...]
    obstacle: str
    reaches: bool


def undo_plan(state: State, record: Record, tr: Translate = english) -> UndoPlan:
    """Return what goes back if a call and all after it are undone.

    Only steps of agents go back. The first step of anybody else ends the plan, and is named.

    Args:
        state: A snapshot of the panel.
        record: The oldest call that should go back.
        tr: Translates the sentences.
    """
    top = state.top.label
    if top is not None and record.effect.label is not None:
        top = record.effect.label  # the steps above it are looked at below
    refusal = why_not_undo(record, top, state.host, tr)
    if refusal:
        return UndoPlan((), refusal, False)

    steps = [one for one in state.ended if _is_on_stack(one)]
    goes: list[Record] = []
    depth = state.top.depth
    while depth > record.effect.base:
        owner = _owner(steps, depth)
        if owner is None:
            return UndoPlan(tuple(goes), _obstacle(state, depth, bool(goes), tr), False)
        goes.append(owner)
        if owner.id == record.id:
            return UndoPlan(tuple(goes), "", True)
        depth = owner.effect.base
    return UndoPlan((), tr("Its undo step is gone."), False)


def undo_all(port: Port, plan: UndoPlan) -> bool:
    """Undo the calls of a plan, the newest first, as long as each is on top.

    It raises nothing: if the host cannot undo all of a step, the person is told.

    Args:
        port: The bridge.
        plan: The plan that the person agreed to.

    Returns:
        Whether each of them was undone.
    """
    for record in plan.records:
        label = record.effect.label
        if label is None or not port.undo(label):
            return False
    return bool(plan.records)


def _is_on_stack(record: Record) -> bool:
    """Return whether the steps of a call are on the undo stack as one piece."""
    effect = record.effect
    return effect.label is not None and not effect.undone_by and not effect.is_away


def _owner(steps: list[Record], depth: int) -> Record | None:
    """Return the call whose topmost entry is at a depth of the undo stack."""
    for record in steps:
        if record.effect.depth == depth:
            return record
    return None


def _obstacle(state: State, depth: int, stops: bool, tr: Translate) -> str:
    """Return a sentence about an entry that no agent left.

    Args:
        state: A snapshot of the panel.
        depth: The depth of the entry.
        stops: Whether steps above the entry go back, so that the undo stops at it.
        tr: Translates the sentence.
    """
    label = state.label_at(depth)
    step = tr("a step of yours")
    if label is not None:
        step = tr("your own step “{label}”", label=safe_line(label))
    if stops:
        return tr("It stops at {step}. What lies below stays.", step=step)
    return tr("Undo {step} in {host} first: it came after.", step=step, host=state.host)
