"""Does what the buttons of the panel's rows say. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dcc_bridge.elicitation.question import Question
from dcc_bridge.local_clients import VERBS
from dcc_bridge.panel.local_rows import LOCAL_KEY
from dcc_bridge.panel.rows import grant_key
from dcc_bridge.panel.state import Port, read
from dcc_bridge.panel.undoing import undo_all, undo_plan


def press(port: Port, key: str, verb: str, show: Callable[[Question], None]) -> None:
    """Do what a row's button says; nothing if the row's subject is gone meanwhile.

    Args:
        port: The bridge.
        key: The key of the row.
        verb: The verb of the button.
        show: Shows the dialog of a question.
    """
    if verb in VERBS:
        port.local_clients.act(key.removeprefix(LOCAL_KEY), verb)
        return
    limits = port.broker.audience.limits
    first, _, last = key.partition("/")  # the label of a client, or the ids of two calls
    routes: dict[str, Callable[[], object]] = {
        "cancel": partial(port.cancel, key),
        "mute": partial(limits.mute, first),
        "unmute": partial(limits.unmute, first),
        "revoke": partial(_revoke, port, key),
        "keep": partial(port.recent.settle, first),
        "undo_last": partial(_undo_steps, port, first, first),
        "undo_steps": partial(_undo_steps, port, first, last),
        "undo_back": partial(_undo_steps, port, first, last),
    }
    route = routes.get(verb)
    if route is not None:
        route()
    else:
        _press_of_question(port, key, verb, show)


def _press_of_question(port: Port, key: str, verb: str, show: Callable[[Question], None]) -> None:
    """Do what the button of a question's row says."""
    routes = {"show": show, "bring": port.broker.bring, "dismiss": port.broker.dismiss}
    for question, _ in port.broker.asked:
        if question.id == key and verb in routes:
            routes[verb](question)


def _revoke(port: Port, key: str) -> None:
    """End the grant of a row."""
    for grant in list(port.grants.live):
        if grant_key(grant) == key:
            port.grants.revoke(grant)


def _undo_steps(port: Port, newest: str, oldest: str) -> None:
    """Undo the calls that a row offered, unless another step has come on top of them since.

    Args:
        port: The bridge.
        newest: The id of the call that goes back first.
        oldest: The id of the call that goes back last.
    """
    state = read(port)
    for record in state.ended:
        if record.id != oldest:
            continue
        plan = undo_plan(state, record)
        if plan.records and plan.records[0].id == newest:
            undo_all(port, plan)
