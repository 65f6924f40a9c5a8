"""The rows of the panel's lists, with their texts and actions.

Main thread: the words are in the person's language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.grants import SessionGrant
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.view import argument_views
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.panel.state import Asked, Seen, State, is_top
from dcc_bridge.skills.call_history import Record


def who(label: str | None) -> str:
    """Name who called."""
    return safe_line(label) if label else tr("The host itself")


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
    count = sum(asked.is_here for asked in state.asked)
    if state.address is None:
        return tr("Agents cannot connect")
    if count:
        return tr("{n} questions for you", n=count) if count > 1 else tr("A question for you")
    if state.is_paused:
        return tr("Paused: agents may only read")
    if any(asked.surfaces for asked in state.asked):
        return tr("Waiting for an answer elsewhere")
    if state.running:
        first = state.running[0]
        return tr("{who} is working", who=who(first.client))
    return tr("Ready for agents")


def connected(state: State) -> str:
    """Say who is connected."""
    labels = list(dict.fromkeys(who(seen.client.label) for seen in state.clients))
    names = _listed(labels) if labels else tr("no agent yet")
    says_so = not any(asked.is_here for asked in state.asked)
    return tr("paused · {names}", names=names) if state.is_paused and not says_so else names


def _listed(labels: Sequence[str]) -> str:
    if len(labels) <= 2:
        return ", ".join(labels)
    return tr("{names} and {n} more", names=", ".join(labels[:2]), n=len(labels) - 2)


def ended(record: Record) -> str:
    """Say how a call ended, and who answered for it."""
    if record.state == "done":
        return _agreed(record.answered_by or "")
    if record.state == "refused":
        return _refused(record.answered_by or "")
    texts = {
        "cancelled": tr("cancelled; nothing was changed"),
        "timed_out": tr("took too long; nothing was changed"),
        "not_started": tr("did not begin"),
        "failed": tr("failed; nothing was changed"),
        "no_consent": tr("changed something unasked; it was undone"),
        "partly_applied": tr("failed half-way; look at the scene"),
    }
    return texts.get(record.state, tr("nobody knows how it ended"))


def _agreed(by: str) -> str:
    unasked = tr("nobody was asked: a setting allowed it")
    texts = {
        "host": tr("you agreed here"),
        "client": tr("agreed in the client"),
        "grant": tr("allowed for this session"),
        "fallback": unasked,
        "policy": unasked,
        "nobody": tr("done without an answer"),
    }
    return texts.get(by, tr("done, no question needed"))


def _refused(by: str) -> str:
    texts = {
        "host": tr("you said no"),
        "client": tr("refused in the client"),
        "nobody": tr("nobody answered"),
    }
    return texts.get(by, tr("refused by a setting"))


def why_not_undo(record: Record | None, state: State) -> str:
    """Say why a call cannot be undone here, or nothing where it can."""
    if record is None:
        return tr("No agent changed the scene yet.")
    if record.undo_label is None:
        return tr("It left nothing to undo.")
    if is_top(record, state):
        return ""
    return tr("Undone, or something was changed since: use the undo of {host}.", host=state.host)


_MOST: Final = 140  # characters of what an agent says that stand in a row


@dataclass(frozen=True, slots=True)
class Act:
    """A button."""

    verb: str  # what the panel is told when it is pressed
    caption: str  # what stands on it
    tip: str = ""  # what it does, in a sentence


@dataclass(frozen=True, slots=True)
class Row:
    """One thing in a list."""

    key: str  # its own, as long as it is there
    # What it is. A row with nothing else is a heading.
    title: str
    detail: str = ""  # a sentence below
    acts: tuple[Act, ...] = ()
    stands_out: bool = False  # the person is waited for
    # How much is done, of 1; -1 where nobody knows; None where nothing is told.
    done: float | None = None

    @property
    def is_heading(self) -> bool:
        """Whether it only says what comes below."""
        return not self.detail and not self.acts


def now(state: State) -> list[Row]:
    """List what wants something of the person, then what runs, then what waits."""
    count = len(state.queued)
    title = tr("{n} wait their turn", n=count) if count > 1 else tr("Waits its turn")
    return [
        *map(_asked, sorted(state.asked, key=_urgency)),
        *(_running(record, state.at) for record in state.running),
        *([Row("waiting", title)] if count else []),
        *(_queued(record, state.at) for record in state.queued),
    ]


def grants(state: State) -> list[Row]:
    """List what was agreed to for the session."""
    return [_grant(grant, left) for grant, left in state.grants]


def clients(state: State) -> list[Row]:
    """List who is connected, and who is muted."""
    connected_rows = [_client(seen, state) for seen in state.clients]
    silent = state.muted.keys() - {seen.client.label for seen in state.clients}
    return [*connected_rows, *(_muted(label, state) for label in sorted(silent))]


def grant_key(grant: SessionGrant) -> str:
    """Tell a grant from the others."""
    return f"{grant.client}/{grant.skill}/{grant.most}/{grant.until}"


def _urgency(asked: Asked) -> int:
    return 0 if asked.is_here else 1 if asked.surfaces else 2


def _asked(asked: Asked) -> Row:
    question = asked.question
    client = who(question.call.client.label if question.call.client else None)
    title = safe_line(question.message.partition("\n")[0], _MOST)
    cancel = Act("dismiss", tr("Cancel"), tr("Close the question without an answer."))
    if asked.is_here:
        show = Act("show", tr("Show"), tr("Bring its dialog up."))
        detail = tr("{who} asks: {title}", who=client, title=safe_line(question.call.title))
        return Row(question.id, title, detail, (show, cancel), stands_out=True)
    if not asked.surfaces:
        detail = tr("{who} asks much at a time: this waits for its turn", who=client)
        return Row(question.id, title, detail, (cancel,))
    detail = tr("Waits for an answer in {who}", who=client)
    answer_here = Act("bring", tr("Answer here"), tr("Ask here instead of there."))
    return Row(question.id, title, detail, (answer_here, cancel))


def _running(record: Record, at: float) -> Row:
    detail = f"{who(record.client)} · {span(at - record.began)}"
    done = None
    if record.progress is not None:
        amount, total, message = record.progress
        done = min(1.0, amount / total) if total else -1.0
        detail += f" · {safe_line(message, _MOST)}" if message else ""
    return Row(record.id, safe_line(record.title), detail, (_cancel(),), done=done)


def _queued(record: Record, at: float) -> Row:
    detail = f"{who(record.client)} · {span(at - record.began)}"
    return Row(record.id, safe_line(record.title), detail, (_cancel(),))


def _cancel() -> Act:
    return Act("cancel", tr("Cancel"), tr("End it; what it changed so far is undone."))


def _grant(grant: SessionGrant, seconds: float) -> Row:
    left, many = span(seconds), _covered(grant)
    detail = tr("{who} · {many} · for {left} more", who=grant.client, many=many, left=left)
    revoke = Act("revoke", tr("Revoke"), tr("The next time you are asked again."))
    return Row(grant_key(grant), safe_line(grant.title), detail, (revoke,))


def _covered(grant: SessionGrant) -> str:
    """Say what a grant covers."""
    if grant.most:
        return tr("up to {n} items", n=grant.most) if grant.most > 1 else tr("1 item")
    if not grant.arguments:
        return tr("for the same arguments only")
    given = ", ".join(map(str, argument_views(grant.arguments, tr)))
    return tr("only with {arguments}", arguments=safe_line(given, _MOST))


def _client(seen: Seen, state: State) -> Row:
    client = seen.client
    itself = safe_line(f"{client.name} {client.version}".strip())
    detail = tr("calls itself {name}", name=itself) if itself else ""
    can = tr("draws questions") if seen.form else tr("its questions come to you here")
    parts = [detail, ago(state.at - seen.at), can]
    label = client.label
    if label in state.muted:
        parts = [_silence(label, state)]
    key = f"{label}/{client.name}/{client.version}"
    return Row(key, who(label), " · ".join(filter(None, parts)), (_mute(label, state),))


def _muted(label: str, state: State) -> Row:
    return Row(label, who(label), _silence(label, state), (_mute(label, state),))


def _silence(label: str, state: State) -> str:
    return tr("Muted for {left} more", left=span(state.muted[label]))


def _mute(label: str, state: State) -> Act:
    if label in state.muted:
        return Act("unmute", tr("Unmute"), tr("Hear its questions again."))
    return Act("mute", tr("Mute"), tr("Refuse its questions here for ten minutes."))
