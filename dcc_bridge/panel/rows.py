"""The panel's sentences, and the rows of its lists with their buttons. Without Qt; main thread.

The sentences are about a `State` or about a call's `Record`. `now`, `grants` and `clients` return
the rows of the three lists; `pressing.press` does what the button of a row says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.consent.grants import SessionGrant
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.elicitation.caller_view import argument_views
from dcc_bridge.elicitation.routing import client_label
from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text, span
from dcc_bridge.panel import reasons
from dcc_bridge.panel.local_rows import local_rows
from dcc_bridge.panel.pending import Pending, pending
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.panel.state import MIN_SHOWN_S, PanelQuestion, Port, State
from dcc_bridge.panel.undoing import undo_plan
from dcc_bridge.skills.call_history import Record

tr: Translate = english  # Qt's panel sets its own; Blender's sidebar has English texts
_MAX_ROW_CHARS: Final = 140  # of a text of an agent in a row
_MAX_LABELS: Final = 2  # that a sentence names; the others are counted


def who(label: str | None) -> str:
    """Return the name of the client that called, by its label; None is the host itself."""
    if not label:
        return tr("The application itself")
    return safe_line(label)


def ago(seconds: float) -> str:
    """Return in words how long ago something was."""
    if seconds < 60:
        return tr("active now")
    return tr("{span} ago", span=span(seconds, tr))


def headline(state: State) -> str:
    """Return the state of the bridge in one sentence: what matters most to the person."""
    if state.address is None:
        return tr("Agents cannot connect")
    if not state.address:
        return tr("Starting: agents can connect in a moment")
    count = sum(asked.is_here for asked in state.asked)
    if count:
        return tr("{n} questions for you", n=count) if count > 1 else tr("A question for you")
    if state.is_paused:
        return tr("Paused: agents may only read")
    if any(asked.surfaces for asked in state.asked):
        return tr("Waiting for an answer elsewhere")
    running = [record for record in state.live if record.state != "queued"]
    if running:
        return tr("{who} is working", who=who(running[0].client))
    return tr("Ready for agents")


def connected(state: State) -> str:
    """Return the connected clients, or why no client can connect."""
    if state.problem:
        return state.problem
    names = tr("no agent connected")
    labels = list(dict.fromkeys(who(seen.client.label) for seen in state.clients))
    if labels:
        names = _join_labels(labels)
    # Without a question the headline itself says that agents are paused.
    is_asked = any(asked.is_here for asked in state.asked)
    if state.is_paused and is_asked:
        return tr("paused · {names}", names=names)
    return names


def muted(state: State) -> str:
    """Return the muted clients, for how long they are, and what that means; "" for none."""
    if not state.muted:
        return ""
    names = _join_labels(sorted(state.muted))
    left = span(max(state.muted.values()), tr)
    return tr(
        "Muted for {left}: {names}. Their questions are declined. Other edits continue.",
        names=names,
        left=left,
    )


def _join_labels(labels: Sequence[str]) -> str:
    if len(labels) <= _MAX_LABELS:
        return ", ".join(labels)
    names = ", ".join(labels[:_MAX_LABELS])
    return tr("{names} and {n} more", names=names, n=len(labels) - _MAX_LABELS)


def subject(record: Record) -> str:
    """Return in a line what a call did, or what it asked for."""
    code = record.effect.code
    if record.deed:
        return safe_line(record.deed)
    if code is not None:
        return safe_line(tr("Run code: {why}", why=code.why), _MAX_ROW_CHARS)
    if record.answers and record.answers[-1].is_consent:
        return _first_line(record.answers[-1])
    return safe_line(record.title)


def _first_line(answer: types.Answered) -> str:
    return safe_line(answer.question.partition("\n")[0], _MAX_ROW_CHARS)


def _answer(answer: types.Answered) -> str:
    """Return how a question ended, with the reason that the person gave."""
    outcome = types.outcome(answer.how, answer.by, tr)
    if not answer.reason:
        return outcome
    return tr("{outcome}: “{reason}”", outcome=outcome, reason=safe_line(answer.reason))


def ended(record: Record) -> str:
    """Return how a call ended, and how its last question ended."""
    answer = ""
    if record.answers:
        answer = _answer(record.answers[-1])
    if record.state != "done":
        end = _failed_end(record)
    else:
        end = _done_end(record)
        if not answer and not record.effect.undone_by:
            answer = types.outcome(types.UNASKED, tr=tr)
    return " · ".join(text for text in (end, answer) if text)


def _failed_end(record: Record) -> str:
    """Return how a call ended that was not done; "" for a refused call, whose answer says it."""
    left = tr("nothing was changed")
    if record.effect.lasting:
        left = tr("undo cannot restore everything")
    elif reasons.leaves_changes(record):
        left = tr("some changes remain")
    texts = {
        "refused": "",
        "tried": tr("only tried, {left}", left=left),
        "cancelled": tr("cancelled, {left}", left=left),
        "timed_out": tr("took too long, {left}", left=left),
        "not_started": tr("did not start"),
        "failed": tr("failed, {left}", left=left),
        "no_consent": tr("did more than was approved"),
        "partly_applied": tr("failed halfway: check the scene"),
    }
    return texts.get(record.state, tr("the outcome is unknown"))


def sign(record: Record) -> str:
    """Return the outcome of a call that ended, for its icon.

    The outcome is the state of the call, except "undone", and "unanswered" for a call that is done
    although its last question was not agreed to.
    """
    if record.effect.undone_by:
        return "undone"
    if record.state == "done" and record.answers and not record.answers[-1].agrees:
        return "unanswered"
    return record.state


def _done_end(record: Record) -> str:
    effect = record.effect
    if effect.undone_by == "host":
        return tr("undone in the app")
    if effect.undone_by:
        return tr("undone by {who}", who=who(effect.undone_by))
    if effect.copy:
        return tr("done, a copy is kept")
    if sign(record) == "unanswered":
        return tr("completed anyway")
    return tr("done")


def summary(record: Record) -> str:
    """Return who called, and how the call ended."""
    return f"{who(record.client)} · {ended(record)}"


def facts(record: Record, names: int = 3) -> Iterator[str]:
    """Yield all facts of a call, in sentences.

    Args:
        record: The call.
        names: How many names are listed at most, of the items of a question and of those that
            the code changed.
    """
    yield summary(record)
    code = record.effect.code
    if code is not None:
        yield tr("The agent said: “{why}”", why=safe_text(code.why))
        yield from _code_facts(code, names, stands=record.state in ("done", "partly_applied"))
    for answer in record.answers:
        yield from _answer_facts(answer, record)
        yield from _list_items(tr("Items"), answer.count, answer.items, names)
    why = reasons.reason(record, tr)
    if why:
        yield tr("Reason: {why}", why=why)
    if record.effect.copy is not None:
        yield tr("The previous version is in {copy}", copy=record.effect.copy)
    yield tr("Call {id}", id=record.id)


def _answer_facts(answer: types.Answered, record: Record) -> Iterator[str]:
    """Yield a question of a call and its answer, without what its row says already."""
    lines = answer.question.splitlines()
    outcome = _answer(answer)
    if record.effect.code is not None:
        lines = lines[:1]  # the others repeat the agent's words
    elif answer is record.answers[-1] and lines and safe_line(lines[0]) == subject(record):
        lines = lines[1:]
        outcome = ""
    question = safe_line(" ".join(lines))
    said = " · ".join(text for text in (question, outcome) if text)
    if said:
        yield said


def story(record: Record, names: int = 3) -> list[str]:
    """Return what a call did or asked for, and all facts of it, in sentences.

    Args:
        record: The call.
        names: How many names are listed at most, as for `facts`.
    """
    lines = list(facts(record, names))
    if record.effect.code is None:  # else the facts say what it was for
        lines.insert(0, subject(record))
    return lines


def _code_facts(code: CodeRun, names: int, *, stands: bool) -> Iterator[str]:
    """Yield the marked lines of code, its changes if the edit `stands`, and the files it wrote."""
    marks = [tr("line {line}: {why}", line=line, why=why) for line, why in code.details.marks]
    files = [str(file) for file in code.written]
    yield from _list_items(tr("Marked"), len(marks), marks, names)
    if stands:
        captions = {"created": tr("Created"), "changed": tr("Changed"), "deleted": tr("Deleted")}
        for kind, (n, items) in code.changes.items():
            yield from _list_items(captions[kind], n, items, names)
    yield from _list_items(tr("Wrote"), len(files), files, names)
    if not stands or not code.changes:
        return
    if not code.is_exact:
        yield tr("There may be more: the application does not report every change.")
    elif not any(n for n, _ in code.changes.values()):
        yield tr("It changed nothing in the scene.")


def _list_items(caption: str, n: int, items: Sequence[str], names: int) -> Iterator[str]:
    """Yield a sentence with the number and the first names of `n` items; nothing for none."""
    if not n:
        return
    listed = [safe_line(item) for item in items[:names]]
    if n > len(listed):
        listed.append(tr("{n:,} more", n=n - len(listed)))
    yield f"{caption} {n:,}: {', '.join(listed)}"


def now(state: State) -> list[Row]:
    """Return the open questions, the running calls and the queued calls.

    Questions that the person can answer here come before the others.
    """
    rows = list[Row]()
    asked = sorted(state.asked, key=lambda item: (not item.is_here, not item.surfaces))
    rows.extend(_question_row(item) for item in asked)
    running = [record for record in state.live if record.state != "queued"]
    rows.extend(_call_row(record, state.at) for record in running)
    queued = [record for record in state.live if record.state == "queued"]
    if queued:
        count = len(queued)
        title = tr("Waiting")
        if count > 1:
            title = tr("{n} waiting", n=count)
        rows.append(Row("waiting", title))
        rows.extend(_call_row(record, state.at) for record in queued)
    return rows


def work(port: Port) -> Row | None:
    """Return the row of the call that the main thread works on, or begins next; None for none.

    Nothing is shown in advance of a skill whose last call was over in a moment.
    """
    records = port.recent.records()
    job = port.main.running
    for record in records:
        if job is not None and record.state == "running" and record.title == job.name:
            return _call_row(record, time.time())
    queued = [record for record in records if record.state == "queued"]
    is_taken = job is not None or port.main.holder is not None
    if is_taken or not queued or _is_quick(queued[-1], records):
        return None
    return _call_row(queued[-1], time.time())


def _is_quick(call: Record, records: Sequence[Record]) -> bool:
    """Return whether the last call of the same skill was over in a moment."""
    for record in records:
        if record.skill == call.skill and record.ended is not None:
            return record.ended - record.began < MIN_SHOWN_S
    return False


def grants(state: State) -> list[Row]:
    """Return the grants for the session."""
    return [_grant_row(grant, left) for grant, left in state.grants]


def pending_row(state: State) -> Row | None:
    """Return the row of the newest edits that asked nothing, with buttons to keep and undo them.

    It is None once the person has kept or undone all of them, and while another step is the last.
    """
    found = pending(state, tr)
    if found is None:
        return None
    last = found.last
    n = found.count
    detail = who(last.client)
    if n > 1:
        detail = tr("{who} · the last of {n} steps in a row", who=detail, n=n)
    if found.plan.obstacle:
        detail = f"{detail} · {found.plan.obstacle}"
    acts = _pending_acts(found)
    key = f"{last.id}/{found.first.id}"
    return Row(key, subject(last), detail, acts)


def _pending_acts(found: Pending) -> tuple[Act, ...]:
    """Return the buttons of edits that asked nothing."""
    n = found.count
    if n == 1:
        keep = Act("keep", tr("Keep"), tr("Leave it as it is."))
        acts = [keep, Act("undo_last", tr("Undo"), tr("Undo this step."))]
    else:
        undo_last = Act("undo_last", tr("Undo last"), tr("Undo this step."))
        keep = Act("keep", tr("Keep all"), tr("Leave the {n} steps as they are.", n=n))
        undo_steps = Act("undo_steps", tr("Undo all"), tr("Undo the {n} steps.", n=n))
        acts = [keep, undo_last, undo_steps]
    if not found.is_undoable:
        acts = acts[:1]
    return tuple(acts)


def undo_row(state: State, record: Record) -> Row:
    """Return the row that lists what goes back if a call and all after it are undone.

    Its only button is the undo. Without a button the undo is not possible, and the text says why.
    """
    found = undo_plan(state, record, tr)
    lines = [f"{subject(one)} · {who(one.client)}" for one in found.records]
    if found.obstacle:
        lines.append(found.obstacle)
    detail = "\n".join(lines)
    n = len(found.records)
    if not n:
        return Row(record.id, tr("Nothing can be undone now."), detail)
    title = tr("Undo {n} steps?", n=n)
    caption = tr("Undo {n} steps", n=n)
    if n == 1:
        title = tr("Undo 1 step?")
        caption = tr("Undo 1 step")
    undo = Act("undo_back", caption, tr("The app's own redo brings them back."))
    return Row(f"{found.records[0].id}/{record.id}", title, detail, (undo,))


def clients(state: State) -> list[Row]:
    """Return the connected clients, the muted ones, and the clients on this computer."""
    rows = [_client_row(seen, state) for seen in state.clients]
    disconnected = state.muted.keys() - {seen.client.label for seen in state.clients}
    rows.extend(_muted_row(label, label, state) for label in sorted(disconnected))
    rows.extend(local_rows(state, tr))
    return rows


def grant_key(grant: SessionGrant) -> str:
    """Return the key that identifies a grant among the others."""
    return f"{grant.client}/{grant.skill}/{grant.most}/{grant.until}"


def _question_row(asked: PanelQuestion) -> Row:
    question = asked.question
    name = who(client_label(question.call))
    title = safe_line(question.message.partition("\n")[0], _MAX_ROW_CHARS)
    cancel = Act("dismiss", tr("Cancel"), tr("Close the question without an answer."))
    if asked.is_here:
        show = Act("show", tr("Show"), tr("Show the question."))
        detail = tr("{who} asks: {title}", who=name, title=safe_line(question.call.title))
        return Row(question.id, title, detail, (show, cancel), stands_out=True)
    answer_here = Act("bring", tr("Answer here"), tr("Ask the question in this window."))
    if question.late == "answered":
        detail = tr("Answered: {who} gets the answer when it asks again", who=name)
        return Row(question.id, title, detail, (cancel,))
    if question.late == "expired":
        detail = tr("Expired: {who} gets your answer when it asks again", who=name)
        return Row(question.id, title, detail, (answer_here, cancel))
    if not asked.surfaces:
        detail = tr("{who} has too many open questions: this one is waiting", who=name)
        return Row(question.id, title, detail, (cancel,))
    detail = tr("Waiting for an answer in {who}", who=name)
    return Row(question.id, title, detail, (answer_here, cancel))


def _call_row(record: Record, at: float) -> Row:
    detail = f"{who(record.client)} · {span(at - record.began, tr)}"
    done = None
    if record.progress is not None:
        amount, total, message = record.progress
        done = -1.0
        if total:
            done = min(1.0, amount / total)
        if message:
            detail += f" · {safe_line(message, _MAX_ROW_CHARS)}"
    tip = tr("Stop the call (Esc while it runs). Its changes so far are undone.")
    cancel = Act("cancel", tr("Cancel"), tip)
    return Row(record.id, safe_line(record.title), detail, (cancel,), done=done)


def _grant_row(grant: SessionGrant, seconds: float) -> Row:
    left = span(seconds, tr)
    limit = _describe_limit(grant)
    detail = tr("{who} · {many} · for {left} more", who=grant.client, many=limit, left=left)
    revoke = Act("revoke", tr("Revoke"), tr("You will be asked again next time."))
    return Row(grant_key(grant), safe_line(grant.title), detail, (revoke,))


def _describe_limit(grant: SessionGrant) -> str:
    """Return in words for which calls a grant holds."""
    if grant.most > 1:
        return tr("up to {n} items", n=grant.most)
    if grant.most == 1:
        return tr("1 item")
    if not grant.arguments:
        return tr("only for the same arguments")
    arguments = ", ".join(str(view) for view in argument_views(grant.arguments, tr))
    return tr("only with {arguments}", arguments=safe_line(arguments, _MAX_ROW_CHARS))


def _client_row(seen: SeenClient, state: State) -> Row:
    client = seen.client
    key = f"{client.label}/{client.name}/{client.version}"
    if client.label in state.muted:
        return _muted_row(key, client.label, state)
    parts = []
    claim = safe_line(f"{client.name} {client.version}".strip())
    if claim:
        parts.append(tr("calls itself {name}", name=claim))
    parts.append(ago(state.at - seen.at))
    if seen.form:
        parts.append(tr("shows questions itself"))
    else:
        parts.append(tr("asks questions in this window"))
    return Row(key, who(client.label), " · ".join(parts), (_mute_button(client.label, state),))


def _muted_row(key: str, label: str, state: State) -> Row:
    left = tr("Muted for {left} more", left=span(state.muted[label], tr))
    return Row(key, who(label), left, (_mute_button(label, state),))


def _mute_button(label: str, state: State) -> Act:
    """Return the button that mutes a client, or lets it ask again."""
    if label in state.muted:
        return Act("unmute", tr("Unmute"), tr("Allow its questions again."))
    tip = tr("Decline its questions for 10 minutes. Edits that need no question continue.")
    return Act("mute", tr("Mute"), tip)
