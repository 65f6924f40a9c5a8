"""The tool that tests the way from a client to the person. Made on the worker.

It runs on a thread of the pool, so that it can tell that the main thread takes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any, Final

from dcc_bridge.elicitation.ask import elicit_form_sync
from dcc_bridge.elicitation.call import current
from dcc_bridge.errors import BridgeError
from dcc_bridge.skills.skill import Skill, describe, skill
from dcc_bridge.threads import MainThread

PATIENCE: Final = 5.0
"""Seconds in which a host's main thread should take something."""
_QUESTION: Final = "This is a test question. Do you see it? Nothing depends on your answer."
_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}


def tool(about: Callable[[str | None], dict[str, Any]], main: MainThread) -> Skill:
    """Make it.

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
        told = {**about(label), **_hop(main)}
        return {**told, "question": _ask()} if ask else told

    return describe(check_connection)


def _hop(main: MainThread) -> dict[str, Any]:
    """Measure the way to the main thread and back."""
    began = time.perf_counter()
    sent = main.submit(lambda: None, name="the check of the connection", read=True)
    try:
        sent.result(PATIENCE)
    except (TimeoutError, CancelledError):
        sent.cancel()
        return {"main_thread_ms": None}
    except BridgeError as error:
        return {"main_thread_ms": None, "busy": str(error)}
    return {"main_thread_ms": round((time.perf_counter() - began) * 1000, 2)}


def _ask() -> dict[str, Any]:
    began = time.perf_counter()
    answer = elicit_form_sync(_QUESTION, _NOTHING, title="I see it")
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "answered_by": answer.answered_by,
        "seen": answer.accepted,
        "message": answer.message,
    }
