"""The rows of the panel's lists, with their texts and actions. Without Qt; main thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from dcc_bridge.consent.code_grants import CodeGrant
from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.consent.grants import SessionGrant, SessionGrants
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text, span
from dcc_bridge.elicitation.view import argument_views
from dcc_bridge.local_clients import VERBS
from dcc_bridge.panel.local_rows import LOCAL_KEY, local_rows
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.panel.state import Asked, Port, State
from dcc_bridge.skills.call_history import Record

tr: Translate = english  # Qt's panel puts its own here; Blender's sidebar has none
_MOST: Final = 140  # characters of what an agent says that stand in a row


def who(label: str | None) -> str:
    """Name who called."""
    return safe_line(label) if label else tr("The host itself")


def ago(seconds: float) -> str:
    """Say how long ago something was."""
    return tr("here now") if seconds < 60 else tr("{span} ago", span=span(seconds, tr))


def headline(state: State) -> str:
    """Say in one sentence how things are: what matters most to the person."""
    count = sum(asked.is_here for asked in state.asked)
    if state.address is None:
        return tr("Agents cannot connect")
    if not state.address:
        return tr("Starting: agents can connect in a moment")
    if count:
        return tr("{n} questions for you", n=count) if count > 1 else tr("A question for you")
    if state.is_paused:
        return tr("Paused: agents may only read")
    if any(asked.surfaces for asked in state.asked):
        return tr("Waiting for an answer elsewhere")
    if running := [it for it in state.live if it.state != "queued"]:
        return tr("{who} is working", who=who(running[0].client))
    return tr("Ready for agents")


def connected(state: State) -> str:
    """Say who is connected, or why nobody can be."""
    if state.problem:
        return state.problem
    labels = list(dict.fromkeys(who(seen.client.label) for seen in state.clients))
    names = _listed(labels) if labels else tr("no agent yet")
    says_so = not any(asked.is_here for asked in state.asked)
    return tr("paused · {names}", names=names) if state.is_paused and not says_so else names


def muted(state: State) -> str:
    """Say who is muted, for how long, and what goes on all the same; "" where nobody is."""
    if not state.muted:
        return ""
    names, left = _listed(sorted(state.muted)), span(max(state.muted.values()), tr)
    return tr(
        "Muted for {left}: {names}. Questions are declined, edits that need none go on.",
        names=names,
        left=left,
    )


def _listed(labels: Sequence[str]) -> str:
    if len(labels) <= 2:
        return ", ".join(labels)
    return tr("{names} and {n} more", names=", ".join(labels[:2]), n=len(labels) - 2)


def ended(record: Record) -> str:
    """Say what became of a call, and how its last question ended."""
    last = record.answers[-1] if record.answers else None
    how = types.outcome(last.how, last.by, tr) if last else ""
    left = tr("undo does not bring all of it back") if record.effect.lasting else ""
    left = left or tr("nothing was changed")
    texts = {
        "refused": "",
        "cancelled": tr("cancelled, {left}", left=left),
        "timed_out": tr("took too long, {left}", left=left),
        "not_started": tr("did not begin"),
        "failed": tr("failed, {left}", left=left),
        "no_consent": tr("went beyond what was agreed to"),
        "partly_applied": tr("failed half-way: look at the scene"),
    }
    what = texts.get(record.state, tr("nobody knows how it ended"))
    if record.state == "done":
        what = _done(record)
        how = how or ("" if record.effect.undone_by else types.outcome(types.UNASKED, tr=tr))
    return " · ".join(filter(None, (what, how)))


def sign(record: Record) -> str:
    """Name the icon of a call that ended: a tick is only for what was agreed to and stands."""
    if record.effect.undone_by:
        return "undone"
    is_ignored = record.state == "done" and record.answers and not record.answers[-1].agrees
    return "unanswered" if is_ignored else record.state


def _done(record: Record) -> str:
    effect = record.effect
    if effect.undone_by == "host":
        return tr("undone at the host")
    if effect.undone_by:
        return tr("undone by {who}", who=who(effect.undone_by))
    if effect.copy:
        return tr("done, a copy is kept")
    return tr("done all the same") if sign(record) == "unanswered" else tr("done")


def summary(record: Record) -> str:
    """Say who called, and how it ended."""
    return f"{who(record.client)} · {ended(record)}"


def facts(record: Record, names: int = 3) -> Iterator[str]:
    """Say all that is known of a call; of code, so many names of what it changed at most."""
    yield summary(record)
    code = record.effect.code
    if code is not None:
        yield tr("The agent said: “{why}”", why=safe_text(code.why))
        yield from _lists(code, names, stands=record.state in ("done", "partly_applied"))
    for it in record.answers:
        asked = it.question.partition("\n")[0] if code else it.question
        yield f"{safe_line(asked)} {types.outcome(it.how, it.by, tr)}".strip()
    if record.error:
        yield safe_text(record.error)
    if record.effect.copy is not None:
        yield tr("What was there is in {copy}", copy=record.effect.copy)
    yield tr("Call {id}", id=record.id)


def _lists(code: CodeRun, names: int, *, stands: bool) -> Iterator[str]:
    texts = {"created": tr("Created"), "changed": tr("Changed"), "deleted": tr("Deleted")}
    counts = {texts[kind]: counted for kind, counted in code.changes.items() if stands}
    marks = [tr("line {line}: {why}", line=line, why=why) for line, why in code.details.marks]
    files = [*map(str, code.written)]
    first, last = {tr("Marked"): (len(marks), marks)}, {tr("Wrote"): (len(files), files)}
    for text, (n, items) in {**first, **counts, **last}.items():
        listed = [*map(safe_line, items[:names])]
        listed += [tr("{n:,} more", n=n - len(listed))] if n > len(listed) else []
        if n:
            yield f"{text} {n:,}: {', '.join(listed)}"
    if counts and not code.is_exact:
        yield tr("There may be more: the application does not tell of every change.")
    elif counts and not any(n for n, _ in counts.values()):
        yield tr("It changed nothing in the scene.")


def now(state: State) -> list[Row]:
    """List who may run code unshown, then what wants an answer, then what runs, then what waits."""
    queued = [it for it in state.live if it.state == "queued"]
    count = len(queued)
    title = tr("{n} wait their turn", n=count) if count > 1 else tr("Waits its turn")
    return [
        *map(_code_grant, state.code_grants),
        *map(_asked, sorted(state.asked, key=lambda it: (not it.is_here, not it.surfaces))),
        *(_running(record, state.at) for record in state.live if record.state != "queued"),
        *([Row("waiting", title)] if count else []),
        *(_running(record, state.at) for record in queued),
    ]


def grants(state: State) -> list[Row]:
    """List what was agreed to for the session."""
    return [_grant(grant, left) for grant, left in state.grants]


def clients(state: State) -> list[Row]:
    """List who is connected, and who is muted."""
    silent = state.muted.keys() - {seen.client.label for seen in state.clients}
    silent_rows = (_muted(label, label, state) for label in sorted(silent))
    return [*(_client(seen, state) for seen in state.clients), *silent_rows, *local_rows(state, tr)]


def grant_key(grant: SessionGrant) -> str:
    """Tell a grant from the others."""
    return f"{grant.client}/{grant.skill}/{grant.most}/{grant.until}"


def code_grant_key(grant: CodeGrant) -> str:
    """Tell a grant for code from the others."""
    return f"code/{grant.question}"


def act(port: Port, key: str, verb: str, show: Callable[[Question], None]) -> None:
    """Do what a row's button says; nothing if the row's subject is gone meanwhile."""
    broker = port.broker
    limits = broker.audience.limits
    routes = {"show": show, "bring": broker.bring, "dismiss": broker.dismiss}
    if verb in VERBS:
        port.local_clients.act(key.removeprefix(LOCAL_KEY), verb)
    elif verb == "cancel":
        port.cancel(key)
    elif verb in ("mute", "unmute"):
        (limits.mute if verb == "mute" else limits.unmute)(key.partition("/")[0])
    elif verb == "revoke":
        _revoke(port.grants, key)
    elif verb in routes:
        for question in [question for question in broker.open if question.id == key]:
            routes[verb](question)


def _revoke(grants: SessionGrants, key: str) -> None:
    """End the grant of a row."""
    for grant in [it for it in grants.live if grant_key(it) == key]:
        grants.revoke(grant)
    for code_grant in [it for it in grants.code.live if code_grant_key(it) == key]:
        grants.code.end(code_grant)


def _asked(asked: Asked) -> Row:
    question = asked.question
    client = who(question.call.client.label if question.call.client else None)
    title = safe_line(question.message.partition("\n")[0], _MOST)
    cancel = Act("dismiss", tr("Cancel"), tr("Close the question without an answer."))
    if asked.is_here:
        show = Act("show", tr("Show"), tr("Show its dialog."))
        detail = tr("{who} asks: {title}", who=client, title=safe_line(question.call.title))
        return Row(question.id, title, detail, (show, cancel), stands_out=True)
    if not asked.surfaces:
        detail = tr("{who} asks a lot at once: this waits for its turn", who=client)
        return Row(question.id, title, detail, (cancel,))
    detail = tr("Waits for an answer in {who}", who=client)
    answer_here = Act("bring", tr("Answer here"), tr("Ask here instead of there."))
    return Row(question.id, title, detail, (answer_here, cancel))


def _running(record: Record, at: float) -> Row:
    detail = f"{who(record.client)} · {span(at - record.began, tr)}"
    done = None
    if record.progress is not None:
        amount, total, message = record.progress
        done = min(1.0, amount / total) if total else -1.0
        detail += f" · {safe_line(message, _MOST)}" if message else ""
    tip = tr("End it (Esc, while it runs); what it changed so far is undone.")
    cancel = Act("cancel", tr("Cancel"), tip)
    return Row(record.id, safe_line(record.title), detail, (cancel,), done=done)


def _grant(grant: SessionGrant, seconds: float) -> Row:
    left, many = span(seconds, tr), _covered(grant)
    detail = tr("{who} · {many} · for {left} more", who=grant.client, many=many, left=left)
    revoke = Act("revoke", tr("Revoke"), tr("Next time you are asked again."))
    return Row(grant_key(grant), safe_line(grant.title), detail, (revoke,))


def _code_grant(grant: CodeGrant) -> Row:
    until = time.strftime("%H:%M", time.localtime(grant.until))
    title = tr("{who} may run plain scripts until {time}", who=who(grant.scope.client), time=until)
    detail = tr("In this scene only, and what can be undone. Deleting still asks.")
    end = Act("revoke", tr("End"), tr("Show you its next script before it runs."))
    return Row(code_grant_key(grant), title, detail, (end,))


def _covered(grant: SessionGrant) -> str:
    if grant.most:
        return tr("up to {n} items", n=grant.most) if grant.most > 1 else tr("1 item")
    if not grant.arguments:
        return tr("for the same arguments only")
    given = ", ".join(map(str, argument_views(grant.arguments, tr)))
    return tr("only with {arguments}", arguments=safe_line(given, _MOST))


def _client(seen: SeenClient, state: State) -> Row:
    client = seen.client
    itself = safe_line(f"{client.name} {client.version}".strip())
    detail = tr("calls itself {name}", name=itself) if itself else ""
    can = tr("draws questions") if seen.form else tr("its questions come to you here")
    parts = [detail, ago(state.at - seen.at), can]
    key = f"{client.label}/{client.name}/{client.version}"
    if client.label in state.muted:
        return _muted(key, client.label, state)
    words = " · ".join(filter(None, parts))
    return Row(key, who(client.label), words, (_mute(client.label, state),))


def _muted(key: str, label: str, state: State) -> Row:
    left = tr("Muted for {left} more", left=span(state.muted[label], tr))
    return Row(key, who(label), left, (_mute(label, state),))


def _mute(label: str, state: State) -> Act:
    if label in state.muted:
        return Act("unmute", tr("Unmute"), tr("Let it ask again."))
    quiet = tr("Decline its questions for 10 minutes. Edits that need no question go on.")
    return Act("mute", tr("Mute"), quiet)
