"""The questions about the real edits and losses of a try. Main thread, once they are reverted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.consent.call import Call
from dcc_bridge.consent.loss import MAX_NAMED, Loss, counted, named
from dcc_bridge.elicitation.ask import ask_flow, sayable, yes_or_no
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.refusal import check
from dcc_bridge.elicitation.text import plural
from dcc_bridge.host import Changes, Host, scene_digest
from dcc_bridge.threads.flows import run_sync

_LONG_S: Final = 1.0  # the question states the time of a body that ran for longer


def ask_about_loss(host: Host, call: Call, loss: Loss, seconds: float) -> None:
    """Ask the person about a loss, once the lost things are back.

    Args:
        host: The host of the scene.
        call: The call whose body lost them.
        loss: The loss.
        seconds: How long the body ran.

    Raises:
        NotConfirmed: The person did not agree.
    """
    call.raise_risk("destructive")  # no answer for the session covers a loss
    verb = loss.verb(host)
    message = f"{verb} {loss.described(host)}?"
    _confirm(host, call, message, loss, f"{verb} {loss.counted(host)}", seconds)


def ask_about_edit(host: Host, call: Call, changes: Changes, loss: Loss, seconds: float) -> None:
    """Ask the person about all changes and losses of an edit, once the edit is reverted.

    Args:
        host: The host of the scene.
        call: The call whose body made the edit.
        changes: The items that the edit made, changed and deleted.
        loss: The loss.
        seconds: How long the body ran.

    Raises:
        NotConfirmed: The person did not agree.
    """
    if loss.items:
        call.raise_risk("destructive")
    message = f"{call.title}?{_changes_named(changes, host)}"
    _confirm(host, call, message, loss, call.title, seconds)


def described_edit(host: Host, changes: Changes, loss: Loss) -> str:
    """Return what an edit would change, lose and break, for a dry run.

    Args:
        host: The host of the scene.
        changes: The items that the edit made, changed and deleted.
        loss: The loss.
    """
    text = f"Tried and taken back. Nothing was changed.{_changes_named(changes, host)}"
    text += _breaks_named(loss)
    if loss.items:
        text += f"\nA person would be asked first: {loss.verb(host)} {loss.counted(host)}?"
    return text


def _breaks_named(loss: Loss) -> str:
    """Return the line that tells what a loss breaks; "" where it breaks nothing."""
    if not loss.breaks:
        return ""
    return f"\n{plural(len(loss.breaks), 'thing')} will break: {named(loss.breaks)}."


def _confirm(host: Host, call: Call, message: str, loss: Loss, verb: str, seconds: float) -> None:
    """Ask for consent, and limit the grant to the lost things.

    Args:
        host: The host of the scene.
        call: The call that asks.
        message: The question.
        loss: The loss.
        verb: The label of the button that agrees.
        seconds: How long the body ran.
    """
    message += _breaks_named(loss)
    if seconds > _LONG_S:
        message += f"\nIt will take about {seconds:.0f} s."
    fingerprint = host.fingerprint(loss.items)
    labels = tuple(host.display_names(loss.items))
    question = Question(
        message=sayable(message),
        call=call,
        form=yes_or_no(verb),
        title=call.title,
        key="consent",
        consent=Consent(
            loss.items,
            loss.kinds(host),
            labels=labels,
            breaks_nothing=not loss.breaks,
            scene=scene_digest(host, fingerprint),
        ),
    )
    answer = run_sync(ask_flow(question), "confirm")
    check(question, answer)
    if host.fingerprint(loss.items) != fingerprint:  # other items have these names by now
        call.ledger.drop(question.id)
    for grant in call.ledger.grants:
        if grant.question == question.id:
            grant.items = loss.items  # nobody has agreed to lose other things


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
