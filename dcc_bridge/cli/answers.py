"""Who answers on the command line: the person at the terminal, or what ``--answer`` says."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, get_args

from dcc_bridge.client import terminal
from dcc_bridge.client.person import Person, Script
from dcc_bridge.elicitation.types import Action

ASK: Final = "ask"
ACTIONS: Final = get_args(Action)
Answer = Any
"""`ASK`, one of `ACTIONS`, or a form's fields."""


def parse(text: str) -> Answer:
    """Read ``--answer``.

    Raises:
        ArgumentTypeError: It is nothing that can be answered.
    """
    if text in (ASK, *ACTIONS):
        return text
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        wanted = ", ".join((ASK, *ACTIONS))
        raise argparse.ArgumentTypeError(f"{wanted} or a JSON object, not {text!r}")
    return fields


@contextmanager
def person(answer: Answer, who: str) -> Iterator[Person | None]:
    """Give who answers; None where nobody can be asked.

    Args:
        answer: What `parse` gave.
        who: Who asks, in a few words.
    """
    if answer != ASK:
        yield Script(answer, tell)
        return
    with terminal.open_terminal(sys.stdin, sys.stderr, who) as found:
        yield found


def tell(sentence: str) -> None:
    """Say something beside the result."""
    print(f"dcc-bridge: {sentence}", file=sys.stderr, flush=True)
