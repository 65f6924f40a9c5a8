"""The audit trail: what is written down of each question and each run. Any thread.

It is written over facts that whoever asks and runs gives: nothing here knows of either.

A grant is on the disk before anybody is told of it, or there is no grant. What else becomes of a
question is written as well as it can be: a disk that is full must not keep a read from ending.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from dcc_bridge.audit import redact
from dcc_bridge.audit.log import Auditor, Event
from dcc_bridge.audit.outcomes import DECLINED, UNASKED
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
# How a question ends: each is an event of its own.
_ENDED: Final = (DECLINED, "cancelled", "timed_out")


class RecordedClient(Protocol):
    """A client, as far as it is written down."""

    @property
    def label(self) -> str:
        """The name under which the person set it up."""

    @property
    def name(self) -> str:
        """What it says of itself."""

    @property
    def version(self) -> str:
        """What it says of its version."""


class RecordedCall(Protocol):
    """A call, as far as it is written down.

    Attributes:
        id: Its own.
        skill: The skill's name.
        title: What a person reads.
        digest: The digest of the skill's file, or "".
        arguments: What it is called with.
        is_recorded: The audit log tells of it, so also how it ended.
    """

    id: str
    skill: str
    title: str
    digest: str
    arguments: redact.Redacted
    is_recorded: bool

    @property
    def risk(self) -> str:
        """What it may do."""

    @property
    def client(self) -> RecordedClient | None:
        """Who called, or None for the host itself."""


class RecordedLedger(Protocol):
    """What was agreed to in a call, as far as it is written down."""

    @property
    def live(self) -> Sized:
        """The grants whose time is not over."""


class RecordedLosses(Protocol):
    """What a call did that undo does not bring back, as far as it is written down."""

    @property
    def checkpoint(self) -> Path | None:
        """The copy of what undo does not bring back, or None."""

    @property
    def lost(self) -> Sequence[str]:
        """What was done for good."""


class RecordedRun(RecordedCall, Protocol):
    """A call that changes the scene, as far as it is written down."""

    @property
    def ledger(self) -> RecordedLedger:
        """What was agreed to."""

    @property
    def lasting(self) -> RecordedLosses:
        """What was done for good."""

    @property
    def keeps_errors(self) -> bool:
        """Whether its errors may be written down."""


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """A question, as far as it is written down.

    Attributes:
        id: Its own.
        message: What is asked.
        is_consent: A yes is a grant.
        is_input: It says of itself that it is no consent.
        inner_skill: The destructive skill that asks, where it is not the called one; or "".
        undoable: The host can undo what it leads to.
        checkpoint_place: The folder in which a copy is kept first, or None.
        url: The page to visit, or None.
        is_own_page: The page is one of this application.
        items: What it is about.
        arguments: What it shows of the arguments.
        details_sha256: The digest of the text that it shows, or None.
        hidden: The fields whose values are not written down.
    """

    id: str
    message: str
    is_consent: bool = False
    is_input: bool = False
    inner_skill: str = ""
    undoable: bool = True
    checkpoint_place: str | None = None
    url: str | None = None
    is_own_page: bool = False
    items: Sequence[str] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    details_sha256: str | None = None
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """How a question ended, as far as it is written down.

    Attributes:
        accepted: It was accepted, by a person or by what speaks for one.
        by: Who answered.
        how: How it ended, in a word.
        why: Why it was not accepted, or by what it was; or None.
        data: What was answered.
        typed: What was typed into a form that was refused.
        reason: Why it was refused, in a person's words; or None.
        besides: "grant": the question whose answer covers this one, so that nobody was asked.
            "minutes": for how long the answer covers plain code of the client.
    """

    accepted: bool
    by: str
    how: str
    why: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    typed: object = None
    reason: str | None = None
    besides: Mapping[str, object] = field(default_factory=dict)


def _short(call: RecordedCall) -> dict[str, Any]:
    """Give what each line has of its call."""
    label = call.client.label if call.client is not None else None
    return {"call": call.id, "skill": call.skill, "client": label}


def _caller(call: RecordedCall) -> dict[str, Any]:
    """Give the same, with what the client says of itself."""
    client = call.client
    says = {"client_name": client.name, "client_version": client.version} if client else {}
    return {**_short(call), **says}


def _full(call: RecordedCall) -> dict[str, Any]:
    """Give all that is known of a call before it runs."""
    is_first = not call.is_recorded
    call.is_recorded = True
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


def rejected(call: RecordedCall, why: str) -> Event:
    """Make the event of a call that was refused before it could begin.

    It has the names of the arguments only: a value may stand where its schema does not hide it.
    """
    arguments = call.arguments.value
    names = redact.names(arguments) if isinstance(arguments, Mapping) else []
    return "rejected", {**_caller(call), "first": True, "argument_names": names, "error": why}


def became_task(call: RecordedCall, digest: str) -> Event:
    """Make the event of a call that goes on as a task, with the digest of the task's id."""
    return "task", {**_full(call), "task": digest}


class QuestionRecord:
    """The lines of one question."""

    def __init__(
        self,
        auditor: Auditor,
        call: RecordedCall,
        question: QuestionFacts,
        allow_list: Path | None = None,
    ) -> None:
        self._auditor = auditor  # writes it
        self._call = call  # whose question it is
        self._question = question  # which question it is
        self._allow_list = allow_list  # what speaks where nobody can be asked: the setting
        self._lock = threading.Lock()
        self._shown: dict[str, float] = {}

    def show(self, surface: str) -> bool:
        """Write down, once for each surface, that it is about to be shown; gives whether it may be.

        Nobody is asked for a consent that could not be recorded.
        """
        with self._lock:
            if surface in self._shown:
                return True
            self._shown[surface] = time.monotonic()
        written = self._write("asked", lambda: {**self._about(), "surface": surface})
        return written or not self._question.is_consent

    def end(self, answer: AnswerFacts) -> bool:
        """Write down how it ended; returns False for a grant that is not on record, so is none."""
        event, by = _verdict(self._question, answer)

        def fields() -> dict[str, Any]:
            about = {} if self._shown else self._about()
            by_list = by == _UNATTENDED and self._allow_list is not None
            allow_list = {"allow_list": str(self._allow_list)} if by_list else {}
            return {**about, **_short(self._call), **self._answer(answer), "by": by, **allow_list}

        is_grant = event == "granted"
        written = self._write(event, fields, durable=is_grant)
        return written or not is_grant

    def _about(self) -> dict[str, Any]:
        question = self._question
        fields: dict[str, Any] = {"question": question.id, "message": question.message}
        if question.is_consent:
            fields |= {"inner_skill": question.inner_skill} if question.inner_skill else {}
            fields |= {"consent": True, "undoable": question.undoable}
            if question.checkpoint_place is not None:
                fields["checkpoint_place"] = question.checkpoint_place
        elif question.is_input:
            fields["consent"] = False
        if question.url is not None:
            fields["url"] = _OWN if question.is_own_page else _address(question.url)
        if question.items:
            names = redact.names(question.items)
            digest = redact.digest(question.items)
            fields |= {"objects": len(question.items), "names": names, "objects_digest": digest}
        if question.arguments:
            fields["shown"] = dict(question.arguments)
        if question.details_sha256 is not None:
            fields["details_sha256"] = question.details_sha256
        return {**_full(self._call), **fields}

    def _answer(self, answer: AnswerFacts) -> dict[str, Any]:
        fields: dict[str, Any] = {"question": self._question.id, "why": answer.why}
        fields |= answer.besides
        if self._shown:
            fields["ms_shown"] = round(1000 * (time.monotonic() - min(self._shown.values())))
        if answer.data:
            fields["answer"] = self._redacted(answer.data)
        if not answer.accepted and answer.typed:
            fields["typed"] = self._redacted(answer.typed)
        if not answer.accepted and answer.reason:
            fields["reason"] = answer.reason
        return fields

    def _redacted(self, content: object) -> object:
        hidden = self._question.hidden
        if not hidden or not isinstance(content, Mapping):
            return content
        return {n: redact.HIDDEN if n in hidden else value for n, value in content.items()}

    def _write(
        self, event: str, fields: Callable[[], Mapping[str, Any]], *, durable: bool = False
    ) -> bool:
        """Write an event; returns whether it is on record."""
        call = self._call
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


def _verdict(question: QuestionFacts, answer: AnswerFacts) -> tuple[str, str]:
    """Give the event of an answer, and who answered."""
    if not answer.accepted:
        return (answer.how if answer.how in _ENDED else "unanswered"), answer.by
    if answer.how == DECLINED:
        return DECLINED, answer.by
    grantor = _GRANTORS.get(answer.by) if question.is_consent else None
    return ("granted", grantor) if grantor else ("answered", answer.by)


class RunRecord:
    """The lines of one run."""

    def __init__(self, auditor: Auditor, call: RecordedRun) -> None:
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
        events = [begin] if call.ledger.live else [(UNASKED, facts), begin]
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
        *,
        is_reverted: bool = False,  # those were taken back while they were open
    ) -> None:
        """Write down what came of it, if anything else is written of it. Any thread, once."""
        call = self._call
        with self._lock:
            is_worth_it = call.is_recorded or put_back or status == "no_consent"
            if self._has_ended or not is_worth_it:
                return
            self._has_ended = True
        fields = {
            **_short(call),
            "status": status,
            "error": error if call.keeps_errors else None,
            "changed": bool(done) or (self._undoes is not None and status == "done"),
            "undo": list(done or undone),
            "undoes": self._undoes,
            "checkpoint": call.lasting.checkpoint,
            "lost": list(call.lasting.lost),
        }
        if put_back:
            fields["put_back"] = list(put_back)
        try:
            self._auditor((_event(status, undone, is_reverted=is_reverted), fields))
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


def _event(status: str, undone: Sequence[str], *, is_reverted: bool) -> str:
    if status in ("partly_applied", "no_consent"):
        return status
    if undone and status != "done":  # else a part was taken back and asked about; the rest stands
        return "reverted" if is_reverted else "rolled_back"
    return "failed" if status in ("failed", "unknown_outcome") else "end"
