"""What is written down of a call and of a question, for the audit. Any thread.

A grant is on the disk before anybody is told of it, or there is no grant. What else becomes of a
question is written as well as it can be: a disk that is full must not keep a read from ending.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from dcc_bridge.audit import redact
from dcc_bridge.audit.log import Auditor, Event
from dcc_bridge.audit.redact import HIDDEN, each_text
from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.types import (
    CANCELLED,
    NOT_RECORDED,
    TIMED_OUT,
    ElicitationResponse,
)
from dcc_bridge.errors import NotRecorded

log = logging.getLogger(__name__)
_UNRECORDED: Final = ElicitationResponse(False, None, NOT_RECORDED, "cancel", "nobody")
_TAKEN_BACK: Final = ElicitationResponse(False, None, CANCELLED, "cancel", "nobody")
_OWN: Final = "(a page of this application)"
_UNATTENDED: Final = "unattended"
_GRANTORS: Final = {
    "host": "host",
    "client": "unverified client",
    "policy": _UNATTENDED,
    "grant": "grant",
}
"""Who can agree, and what the record calls them."""


def of(call: Call) -> dict[str, Any]:
    """Say whose call it is, as short as each line says it."""
    return {
        "call": call.id,
        "skill": call.skill,
        "client": call.client.label if call.client is not None else None,
    }


def _who(call: Call) -> dict[str, Any]:
    client = call.client
    itself = {"client_name": client.name, "client_version": client.version} if client else {}
    return {**of(call), **itself}


def in_full(call: Call) -> dict[str, Any]:
    """Say all that is known of a call before it runs."""
    call.agreement.is_recorded = True
    given = call.arguments.value
    more = {"title": call.title, "risk": call.risk, "digest": call.digest or None}
    return {
        **_who(call),
        **more,
        "arguments": given,
        "arguments_digest": redact.digest(given),
    }


def rejected(call: Call, why: str) -> Event:
    """Say that a call was refused before it could begin.

    Of what it was given there are the names alone: a value may stand where its schema does not
    hide it.
    """
    given = call.arguments.value
    names = redact.names(given) if isinstance(given, Mapping) else []
    return "rejected", scrubbed(call, {**_who(call), "argument_names": names, "error": why})


def scrubbed(call: Call, told: Mapping[str, Any]) -> dict[str, Any]:
    """Take out whatever must not be written down, wherever it turns up."""
    found: dict[str, Any] = each_text(call.arguments.scrub(told), secret.redacted)
    return found


class QuestionRecord:
    """The lines of one question."""

    def __init__(
        self, auditor: Auditor, question: Question, allow_list: Path | None = None
    ) -> None:
        """Write nothing yet.

        Args:
            auditor: Writes it.
            question: Which question it is.
            allow_list: What speaks where nobody can be asked: the setting of that name.
        """
        self._auditor = auditor
        self._allow_list = allow_list
        self._question = question
        self._inner = question.call.losing_here  # told by this stack: it asks just now
        self._lock = threading.Lock()
        self._shown: dict[str, float] = {}
        self._reply: Reply | None = None

    def show(self, surface: str) -> bool:
        """Write down that it is about to be shown; only the first time for each surface.

        Returns:
            Whether it may be: nobody is asked for a consent that could not be recorded.
        """
        with self._lock:
            if surface in self._shown:
                return True
            self._shown[surface] = time.monotonic()
        written = self._tried("asked", lambda: {**self._about(), "surface": surface})
        return written or not self._question.consent

    def hear(self, reply: Reply) -> None:
        """Keep what a person said with a refusal: a reason, or what they had typed."""
        self._reply = reply

    def end(self, response: ElicitationResponse | None) -> ElicitationResponse:
        """Write down how it ended.

        Args:
            response: The answer, or None where the question was taken back.

        Returns:
            The answer; another one where it was a grant that could not be written down.
        """
        response = response or _TAKEN_BACK
        event, by = _verdict(self._question, response)

        def told() -> dict[str, Any]:
            shown = {} if self._shown else self._about()
            ended = {**shown, **of(self._question.call), **self._answer(response), "by": by}
            by_list = by == _UNATTENDED and self._allow_list is not None
            return {**ended, "allow_list": str(self._allow_list)} if by_list else ended

        written = self._tried(event, told, durable=event == "granted")
        return response if written or event != "granted" else _UNRECORDED

    def _about(self) -> dict[str, Any]:
        question = self._question
        told: dict[str, Any] = {"question": question.id, "message": question.message}
        if self._inner not in ("", question.call.skill):
            told["inner_skill"] = self._inner
        if question.consent is not None:
            told |= {"consent": True, "undoable": question.undoable}
            if question.consent.kept is not None:
                told["checkpoint_place"] = question.consent.kept
        if question.page is not None:
            told["url"] = _OWN if question.visit is not None else _address(question.page.url)
        if question.items:
            names = redact.names(question.items)
            digest = redact.digest(question.items)
            told |= {"objects": len(question.items), "names": names, "objects_digest": digest}
        return {**in_full(question.call), **told}

    def _answer(self, response: ElicitationResponse) -> dict[str, Any]:
        told: dict[str, Any] = {"question": self._question.id, "why": response.message}
        if self._shown:
            told["ms_shown"] = round(1000 * (time.monotonic() - min(self._shown.values())))
        if response.data:
            told["answer"] = self._redacted(response.data)
        if not response.accepted and self._reply is not None:
            typed, reason = self._reply.content, self._reply.reason
            told |= {"typed": self._redacted(typed)} if typed else {}
            told |= {"reason": reason} if reason else {}
        return told

    def _redacted(self, content: object) -> object:
        form = self._question.form
        if form is None or not isinstance(content, Mapping):
            return content
        return {n: HIDDEN if n in form.hidden else value for n, value in content.items()}

    def _tried(
        self, event: str, tell: Callable[[], Mapping[str, Any]], *, durable: bool = False
    ) -> bool:
        call = self._question.call
        try:
            told = tell()
            log.info("call %s of %s: %s %s", call.id, call.skill, event, told.get("by") or "")
            self._auditor((event, scrubbed(call, told)), durable=durable)
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
    """Say in a word what an answer is, and whose it was."""
    by = str(response.answered_by)
    if not response.accepted:
        refused = "declined" if response.action == "decline" else "cancelled"
        return (TIMED_OUT if response.message == TIMED_OUT else refused), by
    form, grantor = question.form, _GRANTORS.get(by)
    if not question.consent or grantor is None:
        return "answered", by
    agrees = form is None or form.agrees(response.data or {})
    return ("granted", grantor) if agrees else ("declined", by)
