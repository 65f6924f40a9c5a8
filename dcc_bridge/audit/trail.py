"""The audit trail: the events that the audit log has of each question and each run. Any thread.

The broker has a `QuestionRecord` for each question, and the runner a `RunRecord` for each run. The
facts come as `QuestionFacts`, `AnswerFacts` and the protocols of a call.

A grant is on the disk before anybody is told of it, or there is no grant. Any other end of a
question counts even if it cannot be recorded: a full disk must not keep a read from ending.
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
from dcc_bridge.errors import Ended, NotRecorded
from dcc_bridge.host import Host

log = logging.getLogger(__name__)
_OWN_PAGE: Final = "(a page of this application)"
_UNATTENDED: Final = "unattended"
_GRANTORS: Final = {
    # Who can agree to a consent, by `AnswerFacts.by`, and the name in the log.
    "host": "host",
    "client": "unverified client",
    "policy": _UNATTENDED,
    "grant": "grant",
}
_ENDINGS: Final = (DECLINED, "cancelled", "timed_out")
"""How a question ends without a yes, each with an event of its own."""


class RecordedClient(Protocol):
    """The facts of a client that are recorded."""

    @property
    def label(self) -> str:
        """The name under which the person set the client up."""

    @property
    def name(self) -> str:
        """The name by which the client introduces itself."""

    @property
    def version(self) -> str:
        """The version that the client names."""


class RecordedCall(Protocol):
    """The facts of a call that are recorded.

    Attributes:
        id: The call's id.
        skill: The skill's name.
        title: The skill's name as a person reads it.
        digest: The digest of the skill's file, or "".
        arguments: The arguments.
        is_recorded: Whether the audit log has the call, so that it has to have its end.
    """

    id: str
    skill: str
    title: str
    digest: str
    arguments: redact.Redacted
    is_recorded: bool

    @property
    def risk(self) -> str:
        """The risk of the skill: "read", "edit" or "destructive"."""

    @property
    def client(self) -> RecordedClient | None:
        """The client that calls; None for the host itself."""


class RecordedLedger(Protocol):
    """The grants of a call, as far as they are recorded."""

    @property
    def live(self) -> Sized:
        """The grants that are still valid."""


class RecordedLosses(Protocol):
    """The lasting losses of a call, as far as they are recorded."""

    @property
    def checkpoint(self) -> Path | None:
        """The copy of a file that undo does not bring back, or None."""

    @property
    def lost(self) -> Sequence[str]:
        """The losses that cannot be undone."""


class RecordedRun(RecordedCall, Protocol):
    """The facts of a call that may change the scene, as far as they are recorded."""

    @property
    def ledger(self) -> RecordedLedger:
        """The call's grants."""

    @property
    def lasting(self) -> RecordedLosses:
        """The losses that cannot be undone, and the copy of what was lost."""

    @property
    def keeps_errors(self) -> bool:
        """Whether the call's errors may be recorded."""


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """The facts of a question that are recorded.

    Attributes:
        id: The question's id.
        message: The text of the question.
        is_consent: Whether a yes is a grant.
        is_input: Whether the skill declared that the question is no consent.
        inner_skill: The destructive skill that asks, where another skill was called; or "".
        undoable: Whether the host can undo the edit that is asked about.
        checkpoint_place: The folder in which a copy is kept first, or None.
        url: The page to visit, or None.
        is_own_page: Whether the page is one of this application.
        items: The items that the question is about.
        arguments: The arguments that the question shows, by their captions.
        details_sha256: The digest of the text that the question shows, or None.
        hidden: The fields of the form whose values are not recorded.
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
    """The facts of an answer that are recorded.

    Attributes:
        accepted: Whether the question was accepted, by a person or by a setting.
        by: The surface, or the setting, that answered.
        how: How the question ended, in a word.
        why: Why the question was not accepted, or which setting accepted it; or None.
        data: The values of the form.
        typed: The values of a form that was refused.
        reason: The reason for a refusal in a person's words, or None.
        left_out: The items of the question that the person did not agree to.
        besides: Further facts. "grant": the earlier question whose answer holds for this one.
    """

    accepted: bool
    by: str
    how: str
    why: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    typed: object = None
    reason: str | None = None
    left_out: tuple[str, ...] = ()
    besides: Mapping[str, object] = field(default_factory=dict)


def _call_fields(call: RecordedCall) -> dict[str, Any]:
    """Return the fields that each line has of its call."""
    label = call.client.label if call.client is not None else None
    return {"call": call.id, "skill": call.skill, "client": label}


def _client_fields(call: RecordedCall) -> dict[str, Any]:
    """Return the fields of a call, with those by which the client introduces itself."""
    fields = _call_fields(call)
    client = call.client
    if client:
        fields["client_name"] = client.name
        fields["client_version"] = client.version
    return fields


def _full_fields(call: RecordedCall) -> dict[str, Any]:
    """Return all fields that are known of a call before it runs, and set `is_recorded`."""
    is_first = not call.is_recorded
    call.is_recorded = True
    arguments = call.arguments.value
    return {
        **_client_fields(call),
        "first": is_first,
        "title": call.title,
        "risk": call.risk,
        "digest": call.digest or None,
        "arguments": arguments,
        "arguments_digest": redact.digest(arguments),
    }


def rejected(call: RecordedCall, why: str) -> Event:
    """Return the event of a call that was refused before it could begin.

    The event has only the names of the arguments: in a wrong call, a value that should be hidden
    may be in the wrong place.

    Args:
        call: The call.
        why: The sentence with which the call was refused.
    """
    arguments = call.arguments.value
    names = []
    if isinstance(arguments, Mapping):
        names = redact.names(arguments)
    fields = {**_client_fields(call), "first": True, "argument_names": names, "error": why}
    return "rejected", fields


def became_task(call: RecordedCall, digest: str) -> Event:
    """Return the event of a call that goes on as a task; `digest` is that of the task's id."""
    return "task", {**_full_fields(call), "task": digest}


class QuestionRecord:
    """The events of one question in the log: that it was shown, and how it ended."""

    def __init__(
        self,
        auditor: Auditor,
        call: RecordedCall,
        question: QuestionFacts,
        allow_list: Path | None = None,
    ) -> None:
        """Prepare; nothing is written before `show` or `end`.

        Args:
            auditor: Writes the events.
            call: The call that asks.
            question: The question.
            allow_list: The file of the allow list, or None.
        """
        self._auditor = auditor
        self._call = call
        self._question = question
        self._allow_list = allow_list
        self._lock = threading.Lock()
        self._shown_at: dict[str, float] = {}  # by surface, in monotonic seconds

    def show(self, surface: str) -> bool:
        """Record, once for each surface, that the question is about to be shown.

        Returns:
            Whether to show the question: a consent that cannot be recorded is not asked for.
        """
        with self._lock:
            if surface in self._shown_at:
                return True
            self._shown_at[surface] = time.monotonic()
        is_written = self._write("asked", lambda: {**self._question_fields(), "surface": surface})
        return is_written or not self._question.is_consent

    def end(self, answer: AnswerFacts) -> bool:
        """Record how the question ended.

        Returns:
            Whether the answer counts: a grant that cannot be recorded does not.
        """
        event, by = _verdict(self._question, answer)

        def make_fields() -> dict[str, Any]:
            fields = {}
            if not self._shown_at:
                fields = self._question_fields()
            fields |= {**_call_fields(self._call), **self._answer_fields(answer), "by": by}
            if by == _UNATTENDED and self._allow_list is not None:
                fields["allow_list"] = str(self._allow_list)
            return fields

        is_grant = event == "granted"
        is_written = self._write(event, make_fields, durable=is_grant)
        return is_written or not is_grant

    def _question_fields(self) -> dict[str, Any]:
        question = self._question
        fields: dict[str, Any] = {"question": question.id, "message": question.message}
        if question.is_consent:
            fields |= self._consent_fields()
        elif question.is_input:
            fields["consent"] = False
        if question.url is not None:
            fields["url"] = _OWN_PAGE if question.is_own_page else _address(question.url)
        if question.items:
            fields["objects"] = len(question.items)
            fields["names"] = redact.names(question.items)
            fields["objects_digest"] = redact.digest(question.items)
        if question.arguments:
            fields["shown"] = dict(question.arguments)
        if question.details_sha256 is not None:
            fields["details_sha256"] = question.details_sha256
        # Last, as `_full_fields` sets `is_recorded`, and the lines above may raise for an item
        # without a text.
        return {**_full_fields(self._call), **fields}

    def _consent_fields(self) -> dict[str, Any]:
        question = self._question
        fields: dict[str, Any] = {}
        if question.inner_skill:
            fields["inner_skill"] = question.inner_skill
        fields["consent"] = True
        fields["undoable"] = question.undoable
        if question.checkpoint_place is not None:
            fields["checkpoint_place"] = question.checkpoint_place
        return fields

    def _answer_fields(self, answer: AnswerFacts) -> dict[str, Any]:
        fields: dict[str, Any] = {"question": self._question.id, "why": answer.why}
        fields |= answer.besides
        if self._shown_at:
            seconds = time.monotonic() - min(self._shown_at.values())
            fields["ms_shown"] = round(1000 * seconds)
        if answer.data:
            fields["answer"] = self._redact(answer.data)
        if answer.left_out:
            fields["left_out"] = redact.names(answer.left_out)
        if not answer.accepted and answer.typed:
            fields["typed"] = self._redact(answer.typed)
        if not answer.accepted and answer.reason:
            fields["reason"] = answer.reason
        return fields

    def _redact(self, content: object) -> object:
        hidden = self._question.hidden
        if not hidden or not isinstance(content, Mapping):
            return content
        redacted = {}
        for name, value in content.items():
            redacted[name] = redact.HIDDEN if name in hidden else value
        return redacted

    def _write(
        self, event: str, make_fields: Callable[[], Mapping[str, Any]], *, durable: bool = False
    ) -> bool:
        """Write an event, and return whether it is on record."""
        call = self._call
        try:
            fields = make_fields()
            log.info("call %s of %s: %s %s", call.id, call.skill, event, fields.get("by") or "")
            self._auditor((event, fields), durable=durable)
        except NotRecorded as error:
            log.warning("call %s: %s", call.id, error)
            return False
        except Exception:  # such as an item without a text; the question must end all the same
            log.exception("call %s: its question is not on record", call.id)
            return False
        return True


def _address(url: str) -> str:
    """Return a URL without its query, fragment and user name, which may be credentials."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    except ValueError:
        return "(no address)"


def _verdict(question: QuestionFacts, answer: AnswerFacts) -> tuple[str, str]:
    """Return the name of the event of an answer, and who answered."""
    if not answer.accepted:
        event = answer.how if answer.how in _ENDINGS else "unanswered"
        return event, answer.by
    if answer.how == DECLINED:
        return DECLINED, answer.by
    if question.is_consent:
        grantor = _GRANTORS.get(answer.by)
        if grantor is not None:
            return "granted", grantor
    return "answered", answer.by


class RunRecord:
    """The events of one run in the log: that it may change the scene, and how it ended.

    Attributes:
        has_begun: Whether the log has on the disk that the run may change the scene.
    """

    def __init__(self, auditor: Auditor, call: RecordedRun) -> None:
        self._auditor = auditor
        self._call = call
        self._lock = threading.Lock()
        self._is_over = False
        self._has_ended = False  # in the log
        self._undoes: str | None = None
        self.has_begun = False

    def begin(self, host: Host, undo: str) -> None:
        """Record, once, that the run may change the scene from now on. Main thread.

        A run without a grant is also recorded as `UNASKED`.

        Args:
            host: The application.
            undo: The name of the undo step.

        Raises:
            Ended: The run is over: a thread of its body came too late.
            NotRecorded: The event cannot be written, so nothing may be changed.
        """
        if self.has_begun:
            return
        where = {"scene": host.scene(), "undo": undo, **_file_fields(host)}
        with self._lock:  # no end may come between the test and the event
            if self._is_over:
                raise Ended(self._call.title)
            self._write_begin(where)
        self.has_begun = True

    def _write_begin(self, where: Mapping[str, object]) -> None:
        """Write that the run may change the scene.

        Args:
            where: The fields of the scene and the undo step.
        """
        call = self._call
        fields = _full_fields(call)
        events: list[Event] = [("begin", {**fields, "first": False, **where})]
        if not call.ledger.live:
            events.insert(0, (UNASKED, fields))
        self._auditor(*events, durable=True)

    def take_back(self, host: Host, step: str) -> None:
        """Record that the run undoes another call's step next. Main thread.

        Args:
            host: The application.
            step: The name of the undo step.

        Raises:
            NotRecorded: The event cannot be written, so the step must not be undone.
        """
        self.begin(host, step)
        self._undoes = step

    def end(
        self,
        status: str,
        error: str | None,
        done: Sequence[str],
        undone: Sequence[str],
        put_back: Sequence[str] = (),
        *,
        is_reverted: bool = False,
    ) -> None:
        """Record, once, how the run ended, if the log has anything of the run. Any thread.

        Args:
            status: The status that the agent gets.
            error: The sentence of an error, or None.
            done: The undo steps that the run left.
            undone: The undo steps that were rolled back.
            put_back: Other changes of the body, which the host put back.
            is_reverted: Whether the rolled back steps were still open.
        """
        call = self._call
        with self._lock:
            self._is_over = True
            is_written = call.is_recorded or put_back or status == "no_consent"
            if self._has_ended or not is_written:
                return
            self._has_ended = True
        fields = {
            **_call_fields(call),
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
        except NotRecorded as failure:  # the edit stands; the next one will be refused
            log.warning("call %s: its end is not on record: %s", call.id, failure)


def _file_fields(host: Host) -> dict[str, object]:
    """Return the fields of the scene's file; none for a scene without a file."""
    file = host.file()
    if file is None:
        return {}
    return file_facts(file)


def file_facts(file: Path) -> dict[str, object]:
    """Return the fields of a scene's file, which later show whether the scene was saved.

    There is no digest, which for a file of gigabytes would hold up the host.
    """
    facts: dict[str, object] = {"file": str(file)}
    with suppress(OSError):
        stat = file.stat()
        changed = datetime.fromtimestamp(stat.st_mtime, UTC).isoformat(timespec="milliseconds")
        facts |= {"file_bytes": stat.st_size, "file_changed": changed}
    return facts


def _event(status: str, undone: Sequence[str], *, is_reverted: bool) -> str:
    """Return the name of the event of a run that ended."""
    if status in ("partly_applied", "no_consent"):
        return status
    # In a run that is done, a part may have been reverted and asked about; the rest stands.
    if undone and status != "done":
        return "reverted" if is_reverted else "rolled_back"
    if status in ("failed", "unknown_outcome"):
        return "failed"
    return "end"
