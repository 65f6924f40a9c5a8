"""The questions about what a try has really changed and lost. Main thread, once it is reverted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.consent.call import Call
from dcc_bridge.consent.loss import MAX_NAMED, Loss, counted, named
from dcc_bridge.elicitation.ask import ask_flow, sayable, yes_or_no
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.refusal import check
from dcc_bridge.elicitation.text import plural
from dcc_bridge.host import Changes, Host
from dcc_bridge.threads.flows import run_sync

_LONG_S: Final = 1.0  # of a body that ran for longer the question says how long


def ask_about_loss(host: Host, call: Call, loss: Loss, seconds: float) -> None:
    """Ask the person about a loss; what was lost is there again now.

    Args:
        host: The application whose scene it is.
        call: The call whose body lost it.
        loss: What it lost.
        seconds: How long the body ran.

    Raises:
        NotConfirmed: The person did not agree.
    """
    call.raise_risk("destructive")  # no answer for the session covers a loss
    verb = loss.verb(host)
    message = f"{verb} {loss.described(host)}?"
    _confirm(host, call, message, loss, f"{verb} {loss.counted(host)}", seconds)


def ask_about_edit(host: Host, call: Call, changes: Changes, loss: Loss, seconds: float) -> None:
    """Ask the person about all that an edit changes and loses; the scene is as before it now.

    Args:
        host: The application whose scene it is.
        call: The call whose body made the edit.
        changes: What became of the items.
        loss: What the edit lost.
        seconds: How long the body ran.

    Raises:
        NotConfirmed: The person did not agree.
    """
    if loss.items:
        call.raise_risk("destructive")
    message = f"{call.title}?{_changes_named(changes, host)}"
    _confirm(host, call, message, loss, call.title, seconds)


def _confirm(host: Host, call: Call, message: str, loss: Loss, verb: str, seconds: float) -> None:
    if loss.breaks:
        message += f"\n{plural(len(loss.breaks), 'thing')} will break: {named(loss.breaks)}."
    if seconds > _LONG_S:
        message += f"\nIt will take about {seconds:.0f} s."
    agreed_to = host.fingerprint(loss.items)  # it knows them again by that
    labels = tuple(host.display_names(loss.items))
    question = Question(
        message=sayable(message),
        call=call,
        form=yes_or_no(verb),
        title=call.title,
        key="consent",
        consent=Consent(loss.items, loss.kinds(host), labels=labels),
    )
    check(question, run_sync(ask_flow(question), "confirm"))
    if host.fingerprint(loss.items) != agreed_to:  # others have these names by now
        call.ledger.drop(question.id)
    for grant in call.ledger.grants:
        if grant.question == question.id:
            grant.items = loss.items  # what is not listed is not agreed to


def _changes_named(changes: Changes, host: Host) -> str:
    """Return the lines of a question that tell what an edit makes, changes and deletes."""
    rows = (
        ("It makes", changes.created),
        ("It changes", changes.changed),
        ("It deletes", changes.deleted),
    )
    lines = [f"\n{word} {_listed(items, host)}." for word, items in rows if items]
    return "".join(lines)


def _listed(items: Sequence[str], host: Host) -> str:
    """Return how many items there are, and the first ones as the person sees them."""
    shown = host.display_names(items[:MAX_NAMED])
    names = named([*shown, *items[MAX_NAMED:]])
    return f"{counted(host, items)}: {names}"
