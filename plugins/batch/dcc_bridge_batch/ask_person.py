"""Asks the person for their consent to a plan: in a window, or at the terminal. Main thread."""

from __future__ import annotations

import sys

from rich.console import Console

from dcc_bridge.cli import exits
from dcc_bridge.client.terminal_io import is_terminal

from . import approval, summary, window
from .plan import Plan


def ask(plan: Plan, to: Console, *, in_terminal: bool) -> str:
    """Ask, and give where the person agreed: "window" or "terminal".

    Args:
        plan: What is agreed to.
        to: The terminal, where the plan was shown.
        in_terminal: Open no window, also where there is a screen.

    Raises:
        exits.Failure: They did not agree, which is on record; or nobody can be asked.
    """
    can_open_window = not in_terminal and window.has_screen()
    if can_open_window and _is_too_long(plan):
        in_terminal = True
    elif can_open_window:
        exits.tell("A window asks for your consent.")
        answer = window.ask(plan)
        if answer is not None:
            return _agreed(plan, "window", answer == "accept")
        exits.tell("The window could not be shown.")
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        where = "at a terminal" if in_terminal else "in a window or at a terminal"
        raise exits.Failure(f"A person must agree to a plan, {where}.", exits.REFUSED)
    changed = "1 scene is changed" if plan.asks == 1 else f"{plan.asks:,} scenes are changed"
    to.print(f"To agree that {changed}, type {plan.asks}: ", end="")
    typed = sys.stdin.readline().strip().replace(",", "")
    return _agreed(plan, "terminal", typed == str(plan.asks))


def _is_too_long(plan: Plan) -> bool:
    """Tell whether no window can show a plan, and say so."""
    try:
        summary.details(plan)
    except summary.TooLong as error:
        exits.tell(str(error))
        return True
    return False


def _agreed(plan: Plan, where: str, is_agreed: bool) -> str:
    if not is_agreed:
        approval.record_answer(plan, where, "declined", {})
        raise exits.Failure("It was not approved, and nothing is changed.", exits.REFUSED)
    return where
