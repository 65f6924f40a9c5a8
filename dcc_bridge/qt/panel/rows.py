"""What stands in the panel's lists: a row says what it is, and what can be done about it.

Main thread: the words are in the person's language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.grants import SessionGrant
from dcc_bridge.qt.panel import sentences
from dcc_bridge.qt.panel.port import Seen
from dcc_bridge.qt.panel.state import Asked, State
from dcc_bridge.qt.words import tr
from dcc_bridge.skills.recent import Record

_MOST: Final = 140
"""Characters of what an agent says that stand in a row."""


@dataclass(frozen=True, slots=True)
class Act:
    """A button.

    Attributes:
        verb: What the panel is told when it is pressed.
        caption: What stands on it.
        tip: What it does, in a sentence.
    """

    verb: str
    caption: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing in a list.

    Attributes:
        key: Its own, as long as it is there.
        title: What it is. A row with nothing else is a heading.
        detail: A sentence below.
        acts: What can be done.
        stands_out: The person is waited for.
        done: How much is done, of 1; -1 where nobody knows; None where nothing is told.
    """

    key: str
    title: str
    detail: str = ""
    acts: tuple[Act, ...] = ()
    stands_out: bool = False
    done: float | None = None

    @property
    def is_heading(self) -> bool:
        """Whether it only says what comes below."""
        return not self.detail and not self.acts


def now(state: State) -> list[Row]:
    """List what wants something of the person, then what runs, then what waits."""
    waiting = [
        Row("waiting", tr("{n} wait their turn", n=len(state.queued)))
        if len(state.queued) > 1
        else Row("waiting", tr("Waits its turn"))
    ]
    return [
        *map(_asked, sorted(state.asked, key=_urgency)),
        *(_running(one, state.at) for one in state.running),
        *(waiting if state.queued else []),
        *(_queued(one, state.at) for one in state.queued),
    ]


def grants(state: State) -> list[Row]:
    """List what was agreed to for the session."""
    return [_grant(grant, left) for grant, left in state.grants]


def clients(state: State) -> list[Row]:
    """List who is connected, and who is muted."""
    seen = [_client(one, state) for one in state.clients]
    silent = state.muted.keys() - {one.client.label for one in state.clients}
    return [*seen, *(_muted(label, state) for label in sorted(silent))]


def grant_key(grant: SessionGrant) -> str:
    """Tell a grant from the others."""
    return f"{grant.client}/{grant.skill}/{grant.most}/{grant.until}"


def _urgency(asked: Asked) -> int:
    return 0 if asked.is_here else 1 if asked.surfaces else 2


def _asked(asked: Asked) -> Row:
    question = asked.question
    who = sentences.who(question.call.client.label if question.call.client else None)
    title = plain.line(question.message.partition("\n")[0], _MOST)
    cancel = Act("dismiss", tr("Cancel"), tr("Close the question without an answer."))
    if asked.is_here:
        show = Act("show", tr("Show"), tr("Bring its dialog up."))
        detail = tr("{who} asks: {title}", who=who, title=plain.line(question.call.title))
        return Row(question.id, title, detail, (show, cancel), stands_out=True)
    if not asked.surfaces:
        detail = tr("{who} asks much at a time: this waits for its turn", who=who)
        return Row(question.id, title, detail, (cancel,))
    detail = tr("Waits for an answer in {who}", who=who)
    here = Act("bring", tr("Answer here"), tr("Ask here instead of there."))
    return Row(question.id, title, detail, (here, cancel))


def _running(record: Record, at: float) -> Row:
    detail = f"{sentences.who(record.client)} · {sentences.span(at - record.began)}"
    done = None
    if record.progress is not None:
        amount, total, message = record.progress
        done = min(1.0, amount / total) if total else -1.0
        detail += f" · {plain.line(message, _MOST)}" if message else ""
    return Row(record.id, plain.line(record.title), detail, (_cancel(),), done=done)


def _queued(record: Record, at: float) -> Row:
    detail = f"{sentences.who(record.client)} · {sentences.span(at - record.began)}"
    return Row(record.id, plain.line(record.title), detail, (_cancel(),))


def _cancel() -> Act:
    return Act("cancel", tr("Cancel"), tr("End it; what it changed so far is undone."))


def _grant(grant: SessionGrant, seconds: float) -> Row:
    left = sentences.span(seconds)
    many = tr("up to {n} items", n=grant.most) if grant.most > 1 else tr("1 item")
    detail = tr("{who} · {many} · for {left} more", who=grant.client, many=many, left=left)
    revoke = Act("revoke", tr("Revoke"), tr("The next time you are asked again."))
    return Row(grant_key(grant), plain.line(grant.title), detail, (revoke,))


def _client(seen: Seen, state: State) -> Row:
    client = seen.client
    itself = plain.line(f"{client.name} {client.version}".strip())
    detail = tr("calls itself {name}", name=itself) if itself else ""
    can = tr("draws questions") if seen.form else tr("its questions come to you here")
    told = [detail, sentences.ago(state.at - seen.at), can]
    label = client.label
    if label in state.muted:
        told = [_silence(label, state)]
    key = f"{label}/{client.name}/{client.version}"
    return Row(key, sentences.who(label), " · ".join(filter(None, told)), (_mute(label, state),))


def _muted(label: str, state: State) -> Row:
    return Row(label, sentences.who(label), _silence(label, state), (_mute(label, state),))


def _silence(label: str, state: State) -> str:
    return tr("Muted for {left} more", left=sentences.span(state.muted[label]))


def _mute(label: str, state: State) -> Act:
    if label in state.muted:
        return Act("unmute", tr("Unmute"), tr("Hear its questions again."))
    return Act("mute", tr("Mute"), tr("Refuse its questions here for ten minutes."))
