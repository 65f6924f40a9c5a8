"""The calls that run, wait or ended lately, as they stand: for the panel and for the agents.

A `Record` is one call at one moment and never changes; `Recent` gives the newest ones, and tells
of each change. Any thread.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypedDict, cast

from dcc_bridge import callbacks, errors
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import Effect
from dcc_bridge.elicitation import secret, types
from dcc_bridge.elicitation.caller import Progress
from dcc_bridge.elicitation.text import Translate, english, safe_line
from dcc_bridge.host import Host, UndoMark

log = logging.getLogger(__name__)

Status = Literal[
    "done",
    "refused",
    "failed",
    "no_consent",
    "partly_applied",
    "cancelled",
    "timed_out",
    "not_started",
    "unknown_outcome",
]
"""How a call ended.

"not_started" never began and never will; "timed_out" exceeded its time limit, saw it, and was
undone; "unknown_outcome" did not see it and may still change the scene.
"""
State = Literal["queued", "running", "asking"] | Status
LIVE: Final = ("queued", "running", "asking")  # the states of a call that has not ended
_MAX_MARKS: Final = 100  # places of the undo stack that are remembered
_MAX_DEEDS: Final = 3  # that a call's sentence names
_NO_EFFECT: Final = Effect()
_PAUSED: Final = types.Answered("", types.PAUSED, "host")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    Attributes:
        status: "done", or what kept the call from being done.
        value: What the skill returned.
        error: A sentence for the agent; None where the value says it.
        note: What the agent is told beside the value, or "".
    """

    status: Status
    value: Any = None
    error: str | None = None
    note: str = ""


def refusal(call: Call) -> Status:
    """Return the status of a refused call; where the call itself ended, nobody refused it."""
    if call.ending.reason is None:
        return "refused"
    return "cancelled"


def outcome_of_failure(call: Call, error: BaseException) -> Outcome:
    """Return the outcome of a call that raised and was undone.

    What the agent is not told is logged.
    """
    remainder = call.remainder
    match error:
        case errors.Stopped():
            status: Status = "cancelled"
            if call.ending.is_overdue:
                status = "timed_out"
            return Outcome(status, None, f"{error} {remainder}")
        case errors.NotConfirmed() | errors.NotChosen():
            return Outcome(refusal(call), None, str(error))
        case errors.NoConsent():
            reason = str(error)
            if call.lasting.lost:
                reason += f" {remainder}"
            return Outcome("no_consent", None, reason)
        case errors.BridgeError():
            return Outcome("failed", None, f"{call.skill}: {error}")
    trace = secret.redact("".join(traceback.format_exception(error)).rstrip())
    log.warning("call %s: %s failed\n%s", call.id, call.skill, call.arguments.scrub(trace))
    return Outcome("failed", None, f"{call.skill} failed: {_sentence(error)} {remainder}")


def _sentence(error: BaseException) -> str:
    """Return what an error says, with its type where the text alone may say too little."""
    text = str(error)
    kind = type(error).__name__
    is_plain = isinstance(error, ValueError) or type(error) is LookupError
    if not text:
        text = kind
    elif not is_plain:
        text = f"{kind}: {text}"
    if not text.endswith((".", "!", "?")):
        text += "."
    return text


class CallFacts(TypedDict, total=False):
    """The facts of a call for its client; all agents read the schema, so it has no choices."""

    call: str
    tool: str
    did: str
    state: str
    seconds_ago: int
    answered: str
    answered_by: str
    error: str
    progress: str
    undo_step: str
    undone_by: str
    copy: str


# A named tuple: each change makes a new record, in a fifth of the time that a dataclass takes.
class Record(NamedTuple):
    """A call, as it stands.

    Attributes:
        id: The call's own.
        skill: The skill's name.
        title: The name that a person reads.
        client: The label of the client that called, or None for the host itself.
        risk: "read", "edit" or "destructive".
        state: What the call does, or how it ended.
        began: When it was made, in seconds since the epoch.
        ended: When it ended, or None.
        answers: How its questions ended, the oldest first.
        effect: What it left.
        error: A sentence where it is not done, or None.
        progress: How much is done, of how much, and a word about it.
    """

    id: str
    skill: str
    title: str
    client: str | None
    risk: str
    state: State
    began: float
    ended: float | None = None
    answers: tuple[types.Answered, ...] = ()
    effect: Effect = Effect()
    error: str | None = None
    progress: Progress | None = None

    @property
    def how_far(self) -> str:
        """The progress in a few words; "" where the call did not report any."""
        if self.progress is None:
            return ""
        done, total, message = self.progress
        parts = [f"{done:g}"]
        if total:
            parts.append(f"of {total:g}")
        if message:
            parts.append(message)
        return " ".join(parts)

    @property
    def only_read(self) -> bool:
        """Whether the call asked nobody and was to change nothing, so that it matters little."""
        return self.risk == "read" and not self.answers

    def facts(self) -> CallFacts:
        """Return all that the call's own client may know. It raises nothing.

        Returns:
            What JSON can carry.
        """
        effect = self.effect
        facts: dict[str, Any] = {
            "call": self.id,
            "tool": self.skill,
            "did": None,
            "state": self.state,
            "seconds_ago": round(time.time() - self.began),
            "answered": None,
            "answered_by": None,
            "error": self.error,
            "progress": self.how_far or None,
            "undo_step": effect.label,
            "undone_by": effect.undone_by or None,
            "copy": None,
        }
        if self.state == "done":
            facts["did"] = self.title
        if self.answers:
            last = self.answers[-1]
            facts["answered"] = types.outcome(last.how, last.by)
            facts["answered_by"] = last.by
        if effect.copy:
            facts["copy"] = str(effect.copy)
        known = {name: fact for name, fact in facts.items() if fact is not None}
        return cast("CallFacts", known)


def deed(call: Call) -> str:
    """Return what a call did, in a person's words: its title where its skill did not say so."""
    deeds = call.dialogue.deeds
    if not deeds:
        return call.title
    parts = deeds[:_MAX_DEEDS]
    more = len(deeds) - _MAX_DEEDS
    if more > 0:
        parts.append(f"and {more} more")
    return safe_line(secret.redact("; ".join(parts))) or call.title


def why_not_undo(record: Record, top: str | None, host: str, tr: Translate = english) -> str:
    """Return why a call cannot be undone; "" where it can.

    Args:
        record: The call.
        top: The label on top of the undo stack, or None.
        host: The application's name.
        tr: Translates the sentence.
    """
    effect = record.effect
    if effect.copy:
        return tr("Undo cannot restore this. The previous version is in {copy}.", copy=effect.copy)
    if effect.lasting:
        return tr("Undo cannot restore this.")
    if not effect.steps:
        return tr("There is nothing to undo.")
    if effect.undone_by:
        return tr("It is already undone.")
    if top is None or effect.is_away:
        return tr("Its undo step is gone: it was undone, or another scene was opened.")
    if effect.label is None:
        return tr(
            "Somebody else changed the scene while it ran. Use the undo of {host}.", host=host
        )
    if effect.label != top:
        step = safe_line(repr(top))
        return tr("{step} came after it. Use the undo of {host}.", step=step, host=host)
    return ""


class Recent:
    """All calls that have not ended, and the last ones that have.

    Args:
        most: How many ended calls are kept, of those that only read, of those of code, and of the
            others each.
    """

    def __init__(self, most: int = 100) -> None:
        self._lock = threading.Lock()
        self._live: OrderedDict[str, Record] = OrderedDict()
        self._ended: deque[Record] = deque(maxlen=most)
        self._reads: deque[Record] = deque(maxlen=most)
        self._codes: deque[Record] = deque(maxlen=most)
        self._watchers = callbacks.Callbacks()
        self._file: Path | None = None  # the scene's, when it was looked at last
        # By the entry on top of the undo stack: the labels that were undone while it was on top, of
        # the entries that can still be redone.
        self._undone: dict[UndoMark, set[str | None]] = {}

    def records(self) -> list[Record]:
        """Return the calls, the newest first."""
        with self._lock:
            every = [*self._live.values(), *self._ended, *self._codes, *self._reads]
        return sorted(every, key=lambda record: record.began, reverse=True)

    def find(self, call: str) -> Record | None:
        """Return a call that has not ended, by its id."""
        with self._lock:
            return self._live.get(call)

    def watch(self, fn: Callable[[Record], None]) -> callbacks.Unsubscribe:
        """Call a function at each change; return a function that ends that.

        Args:
            fn: Takes the record as it is now, on whatever thread changed it; it must be quick. Two
                changes on two threads may come in either order: `records` has the last word.
        """
        return self._watchers.add(fn)

    def follow(self, call: Call) -> Trail:
        """Add a call that is queued; return the trail that changes its record from now on."""
        client = None
        if call.client is not None:
            client = call.client.label
        record = Record(call.id, call.skill, call.title, client, call.risk, "queued", time.time())
        with self._lock:
            self._live[call.id] = record
        self._watchers.call(record)
        return Trail(self, call)

    def of_step(self, label: str) -> Record | None:
        """Return the call that is undone by the step of that label; None where there is none."""
        for record in self.records():
            if record.effect.label == label:
                return record
        return None

    def follow_undo(self, host: Host, by: str = "host") -> None:
        """Note which calls are undone by now, and by whom, or redone again. Main thread."""
        self.follow_mark(host.undo_mark(), host.file(), by)

    def follow_mark(self, mark: UndoMark, file: Path | None, by: str = "host") -> None:
        """Note which calls are undone by now, or redone again.

        Args:
            mark: The place in the undo stack.
            file: The scene's file.
            by: Who undid what is newly undone.
        """
        changed = []
        with self._lock:
            old_file = self._old_file(mark, file)
            undone = self._undone.get(mark)
            for records in (self._ended, self._codes):
                for number, record in enumerate(records):
                    effect = _effect_now(record.effect, mark, (old_file, file), undone, by)
                    if effect is not record.effect:
                        records[number] = record._replace(effect=effect)
                        changed.append(records[number])
            self._remember_undone(mark)
        for record in changed:
            self._watchers.call(record)

    def _old_file(self, mark: UndoMark, file: Path | None) -> Path | None:
        """Return the file that the scene had before, which may have been saved under a new name.

        A scene that was opened has an empty stack: then it is the scene's file alone.
        """
        old_file = file
        if mark.label:
            old_file = self._file
        self._file = file
        for record in (*self._ended, *self._codes):
            if mark.label and record.effect.label == mark.label:
                return record.effect.file
        return old_file

    def _remember_undone(self, mark: UndoMark) -> None:
        """Remember what is undone while this entry is on top of the stack."""
        if mark not in self._undone:
            # The entry is new, so what was above it can be redone no more.
            below = range(mark.depth - _MAX_MARKS, mark.depth)
            self._undone = {old: own for old, own in self._undone.items() if old.depth in below}
        every = (*self._ended, *self._codes)
        self._undone[mark] = {record.effect.label for record in every if record.effect.undone_by}

    def change(self, call: str, **changes: Any) -> None:
        """Change fields of a call's record; a call that has ended keeps its record."""
        with self._lock:
            before = self._live.get(call)
            if before is None:
                return
            record = before._replace(**changes)
            if record.state in LIVE:
                self._live[call] = record
            else:
                del self._live[call]
                record = record._replace(ended=time.time())
                self._keep(record)
        self._watchers.call(record)

    def _keep(self, record: Record) -> None:
        """Put the record of a call that has ended among those of its kind."""
        if record.only_read:
            self._reads.append(record)
        elif record.effect.code is not None:
            self._codes.append(record)
        else:
            self._ended.append(record)


def _effect_now(
    effect: Effect,
    mark: UndoMark,
    files: tuple[Path | None, Path | None],
    undone: set[str | None] | None,
    by: str,
) -> Effect:
    """Return a call's effect as it is now; the same object where nothing has changed.

    Args:
        effect: The effect as it was noted last.
        mark: The place in the undo stack.
        files: The file that the scene had before, and the file that it has now.
        undone: The labels that were undone when the same entry was on top, or None.
        by: Who undid what is newly undone.
    """
    if not effect.steps:
        return effect
    _, file = files
    is_away = effect.file not in files
    if is_away:
        file = effect.file
    undone_by = effect.undone_by
    if effect.label is not None and not is_away:
        if not _is_undone(effect, mark, undone):
            undone_by = ""
        elif not undone_by:
            undone_by = by
    if (effect.file, effect.is_away, effect.undone_by) == (file, is_away, undone_by):
        return effect
    return replace(effect, file=file, is_away=is_away, undone_by=undone_by)


def _is_undone(effect: Effect, mark: UndoMark, undone: set[str | None] | None) -> bool:
    """Return whether a step is not on the stack.

    Args:
        effect: What a call left; its label is that of the step.
        mark: The place in the undo stack.
        undone: The labels that were undone when the same entry was on top, or None.
    """
    if effect.depth >= mark.depth:
        is_off_stack = effect.depth > mark.depth or bool(mark.label)
        return effect.label != mark.label and is_off_stack
    if undone is None:
        return bool(effect.undone_by)
    return effect.label in undone


class Trail:
    """The record of one call, as its run changes it.

    Attributes:
        has_begun: Whether the body of the skill was reached, or the question before the body.
    """

    def __init__(self, recent: Recent, call: Call) -> None:
        self._recent = recent
        self._call = call
        self._lock = threading.Lock()
        self._questions = 0
        self._answers: tuple[types.Answered, ...] = ()
        self.has_begun = False

    @property
    def asks(self) -> bool:
        """Whether a question of the call is open."""
        return self._questions > 0

    def begin(self) -> None:
        """Note that the call runs."""
        self.has_begun = True
        self._recent.change(self._call.id, state="running")

    def question_opened(self) -> None:
        """Note that a question of the call is open."""
        with self._lock:
            self._questions += 1
        self._recent.change(self._call.id, state="asking")

    def question_closed(self, answered: types.Answered) -> None:
        """Note how a question of the call ended; others may still be open."""
        state: State = "running"
        with self._lock:
            self._questions -= 1
            self._answers += (answered,)
            if self._questions:
                state = "asking"
        self._recent.change(self._call.id, state=state, answers=self._answers)

    def note_paused(self) -> None:
        """Note that the call may not begin, or go on, because the person paused agents."""
        self._recent.change(self._call.id, answers=(*self._answers, _PAUSED))

    def report(self, progress: Progress) -> None:
        """Note the progress of the call."""
        self._recent.change(self._call.id, progress=progress)

    def end(self, state: Status, error: str | None = None, effect: Effect = _NO_EFFECT) -> None:
        """Note how the call ended; only the first time counts."""
        title = self._call.title
        if state == "done":
            title = deed(self._call)
        self._recent.change(self._call.id, state=state, title=title, error=error, effect=effect)
