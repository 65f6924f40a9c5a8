"""Asks a person for consent to a plan, in a window or at the terminal. Main thread."""

from __future__ import annotations

import sys

from rich.console import Console

from dcc_bridge.cli import exits
from dcc_bridge.client.terminal_io import is_terminal

from . import approval, summary, window
from .plan import Plan


def ask(plan: Plan, console: Console, *, in_terminal: bool) -> str:
    """Ask a person for consent to a plan.

    Args:
        plan: The plan.
        console: The terminal, where the plan was shown.
        in_terminal: Whether to ask there even if a window could be opened.

    Returns:
        Where the person agreed: "window" or "terminal".

    Raises:
        exits.Failure: The person did not agree, which was recorded; or nobody can be asked.
    """
    can_open_window = not in_terminal and window.has_screen()
    if can_open_window and _is_too_long(plan):
        in_terminal = True
    elif can_open_window:
        exits.tell("Please answer in the window that has opened.")
        answer = window.ask(plan)
        if answer is not None:
            _check_agreed(plan, "window", is_agreed=answer == "accept")
            return "window"
        exits.tell("The window could not be shown.")
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        where = "at a terminal" if in_terminal else "in a window or at a terminal"
        raise exits.Failure(f"A person must approve a plan {where}.", exits.REFUSED)
    changed = "1 scene" if plan.asks == 1 else f"{plan.asks:,} scenes"
    console.print(f"To approve changes to {changed}, type {plan.asks}: ", end="")
    line = sys.stdin.readline()
    number = line.strip().replace(",", "")
    _check_agreed(plan, "terminal", is_agreed=number == str(plan.asks))
    return "terminal"


def _is_too_long(plan: Plan) -> bool:
    """Return whether a plan is too long for a window, and tell the person if so."""
    try:
        summary.details(plan)
    except summary.PlanTooLong as error:
        exits.tell(str(error))
        return True
    return False


def _check_agreed(plan: Plan, surface: str, *, is_agreed: bool) -> None:
    """If the person did not agree, record that and raise Failure."""
    if not is_agreed:
        approval.record_answer(plan, surface, "declined", {})
        raise exits.Failure("The plan was not approved. Nothing was changed.", exits.REFUSED)
