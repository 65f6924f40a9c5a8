"""The audit trail: what is written down of each question and each run. Any thread.

A grant is on the disk before anybody is told of it, or there is no grant. What else becomes of a
question is written as well as it can be: a disk that is full must not keep a read from ending.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from dcc_bridge.audit import redact
from dcc_bridge.audit.log import Auditor, Event
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.types import ElicitationResponse, cancelled_response
from dcc_bridge.errors import NotRecorded
from dcc_bridge.host import Host

log = logging.getLogger(__name__)
_OWN: Final = "(a page of this application)"
_UNATTENDED: Final = "unattended"
_GRANTORS: Final = {  # who can agree, and what the record calls them
    "host": "host",
    "client": "unverified client",
    "policy": _UNATTENDED,
    "grant": "grant",
}
_ENDED: Final = (types.DECLINED, types.CANCELLED, types.TIMED_OUT)  # each an event of its own


def _short(call: Call) -> dict[str, Any]:
    """Give what each line has of its call."""
    label = call.client.label if call.client is not None else None
    return {"call": call.id, "skill": call.skill, "client": label}


def _caller(call: Call) -> dict[str, Any]:
    """Give the same, with what the client says of itself."""
    client = call.client
    says = {"client_name": client.name, "client_version": client.version} if client else {}
    return {**_short(call), **says}


def _full(call: Call) -> dict[str, Any]:
    """Give all that is known of a call before it runs."""
    is_first, call.agreement.is_recorded = not call.agreement.is_recorded, True
    arguments = call.arguments.value
    return {
        **_caller(call),
        "first": is_first,
        "title": call.title,
        "risk": call.risk,
        "digest": call.digest or None,
        "arguments": arguments,
        "arguments_digest": redact.digest(arguments),
    }


def rejected(call: Call, why: str) -> Event:
    """Make the event of a call that was refused before it could begin.

    It has the names of the arguments only: a value may stand where its schema does not hide it.
    """
    arguments = call.arguments.value
    names = redact.names(arguments) if isinstance(arguments, Mapping) else []
    return "rejected", {**_caller(call), "first": True, "argument_names": names, "error": why}


def became_task(call: Call, digest: str) -> Event:
    """Make the event of a call that goes on as a task, with the digest of the task's id."""
    return "task", {**_full(call), "task": digest}


class QuestionRecord:
    """The lines of one question."""

    def __init__(
        self, auditor: Auditor, question: Question, allow_list: Path | None = None
    ) -> None:
        self._auditor = auditor  # writes it
        self._allow_list = allow_list  # what speaks where nobody can be asked: the setting
        self._question = question  # which question it is
        self._lock = threading.Lock()
        self._shown: dict[str, float] = {}
        self.reply: Reply | None = None  # a refusal, with what was typed or a reason

    def show(self, surface: str) -> bool:
        """Write down, once for each surface, that it is about to be shown; gives whether it may be.

        Nobody is asked for a consent that could not be recorded.
        """
        with self._lock:
            if surface in self._shown:
                return True
            self._shown[surface] = time.monotonic()
        written = self._write("asked", lambda: {**self._about(), "surface": surface})
        return written or not self._question.consent

    def end(self, response: ElicitationResponse) -> ElicitationResponse:
        """Write down how it ended; gives the answer, a cancel for a grant that is not on record."""
        event, by = _verdict(self._question, response)

        def fields() -> dict[str, Any]:
            about = {} if self._shown else self._about()
            by_list = by == _UNATTENDED and self._allow_list is not None
            allow_list = {"allow_list": str(self._allow_list)} if by_list else {}
            call = _short(self._question.call)
            return {**about, **call, **self._answer(response), "by": by, **allow_list}

        is_grant = event == "granted"
        written = self._write(event, fields, durable=is_grant)
        return response if written or not is_grant else cancelled_response(types.NOT_RECORDED)

    def _about(self) -> dict[str, Any]:
        question = self._question
        fields: dict[str, Any] = {"question": question.id, "message": question.message}
        if question.consent is not None:
            fields |= {"inner_skill": question.consent.skill} if question.consent.skill else {}
            fields |= {"consent": True, "undoable": question.undoable}
            if question.consent.kept is not None:
                fields["checkpoint_place"] = question.consent.kept
        elif question.id in question.call.dialogue.inputs:
            fields["consent"] = False
        if question.page is not None:
            fields["url"] = _OWN if question.visit is not None else _address(question.page.url)
        if question.items:
            names = redact.names(question.items)
            digest = redact.digest(question.items)
            fields |= {"objects": len(question.items), "names": names, "objects_digest": digest}
        if question.arguments:
            fields["shown"] = dict(question.arguments)
        fields |= {"details_sha256": question.details.sha256} if question.details else {}
        return {**_full(question.call), **fields}

    def _answer(self, response: ElicitationResponse) -> dict[str, Any]:
        fields: dict[str, Any] = {"question": self._question.id, "why": response.message}
        if self._shown:
            fields["ms_shown"] = round(1000 * (time.monotonic() - min(self._shown.values())))
        if response.data:
            fields["answer"] = self._redacted(response.data)
        if not response.accepted and self.reply is not None:
            typed, reason = self.reply.content, self.reply.reason
            fields |= {"typed": self._redacted(typed)} if typed else {}
            fields |= {"reason": reason} if reason else {}
        return fields

    def _redacted(self, content: object) -> object:
        form = self._question.form
        if form is None or not isinstance(content, Mapping):
            return content
        return {n: redact.HIDDEN if n in form.hidden else value for n, value in content.items()}

    def _write(
        self, event: str, fields: Callable[[], Mapping[str, Any]], *, durable: bool = False
    ) -> bool:
        """Write an event; returns whether it is on record."""
        call = self._question.call
        try:
            values = fields()
            log.info("call %s of %s: %s %s", call.id, call.skill, event, values.get("by") or "")
            self._auditor((event, values), durable=durable)
        except NotRecorded as error:
            log.warning("call %s: %s", call.id, error)
            return False
        except Exception:  # an item that has no text, say: the question ends all the same
            log.exception("call %s: its question is not on record", call.id)
            return False
        return True


def _address(url: str) -> str:
    """Leave out what may be a credential: the query, the fragment, a user's name."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    except ValueError:
        return "(no address)"


def _verdict(question: Question, response: ElicitationResponse) -> tuple[str, str]:
    """Give the event of an answer, and who answered."""
    by, how = str(response.answered_by), question.answered(response).how
    if not response.accepted:
        return (how if how in _ENDED else "unanswered"), by
    if how == types.DECLINED:
        return how, by
    grantor = _GRANTORS.get(by) if question.consent else None
    return ("granted", grantor) if grantor else ("answered", by)


class RunRecord:
    """The lines of one run."""

    def __init__(self, auditor: Auditor, call: Call) -> None:
        self._auditor = auditor
        self._call = call
        self._lock = threading.Lock()
        self._has_ended = False
        self._undoes: str | None = None
        self.has_begun = False  # whether it is on the disk that the scene may be changed

    def begin(self, host: Host, undo: str) -> None:
        """Write down that the scene may be changed from now on; once. Main thread.

        A plain edit is one undo step: nobody is asked, and nobody has agreed. `undo` is what it
        will be called. NotRecorded: it cannot be written, so nothing may be changed.
        """
        call = self._call
        if self.has_begun:
            return
        facts = _full(call)
        begin = "begin", dict(facts, first=False, scene=host.scene(), undo=undo, **_file(host))
        events = [begin] if call.agreement.live else [(types.UNASKED, facts), begin]
        self._auditor(*events, durable=True)
        self.has_begun = True

    def take_back(self, host: Host, step: str) -> None:
        """Write down that another call's step is undone next, or raise NotRecorded. Main thread."""
        self.begin(host, step)
        self._undoes = step

    def end(
        self,
        status: str,  # as the agent is told
        error: str | None,  # the sentence that goes with it, or None
        done: Sequence[str],  # the undo steps that it left
        undone: Sequence[str],  # those that were rolled back
        put_back: Sequence[str] = (),  # what else the body had changed, and the host put back
    ) -> None:
        """Write down what came of it, if anything else is written of it. Any thread, once."""
        call, ran = self._call, self._call.dialogue.ran
        with self._lock:
            is_worth_it = call.agreement.is_recorded or put_back or status == "no_consent"
            if self._has_ended or not is_worth_it:
                return
            self._has_ended = True
        fields = {
            **_short(call),
            "status": status,
            "error": error if ran is None or ran.is_kept else None,
            "changed": bool(done) or (self._undoes is not None and status == "done"),
            "undo": list(done or undone),
            "undoes": self._undoes,
            "checkpoint": call.agreement.checkpoint,
            "lost": list(call.agreement.lost),
        }
        if put_back:
            fields["put_back"] = list(put_back)
        try:
            self._auditor((_event(status, undone), fields))
        except NotRecorded as failure:  # what is done is done; the next edit will be refused
            log.warning("call %s: its end is not on record: %s", call.id, failure)


def _file(host: Host) -> dict[str, object]:
    """Give the scene's file, and as of when: a digest of gigabytes would hold up the host.

    The checkpoint of what cannot be undone is a copy of it.
    """
    file = host.file()
    return {} if file is None else file_facts(file)


def file_facts(file: Path) -> dict[str, object]:
    """Give what is written down of a scene's file, by which it is seen whether it was saved."""
    facts: dict[str, object] = {"file": str(file)}
    with suppress(OSError):
        stat = file.stat()
        changed = datetime.fromtimestamp(stat.st_mtime, UTC).isoformat(timespec="milliseconds")
        facts |= {"file_bytes": stat.st_size, "file_changed": changed}
    return facts


def _event(status: str, undone: Sequence[str]) -> str:
    if status in ("partly_applied", "no_consent"):
        return status
    if undone and status != "done":  # else a part was taken back and asked about; the rest stands
        return "rolled_back"
    return "failed" if status in ("failed", "unknown_outcome") else "end"
