"""The calls that wait, run or ended lately: for the panel and for the agents. Any thread.

A `Record` describes one call at one moment, and never changes. `Recent` keeps the newest record of
each call, and reports each change. A `Trail` is what the run of a call holds to make its changes.

The states of a call: "queued", then "running" and "asking" in turn, then one `Status` for good.

A call that edited leaves an `Effect`, with the label of its undo step. The person may undo or redo
that step in the host at any time. `Recent.follow_mark` compares the steps with an `UndoMark`, the
entry on top of the undo stack. An effect is away if its step belongs to another scene file.
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
from dcc_bridge.elicitation.routing import client_label
from dcc_bridge.elicitation.text import Translate, english, safe_line
from dcc_bridge.host import Host, UndoMark

log = logging.getLogger(__name__)

Status = Literal[
    "done",
    "tried",
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

A call with "tried" was a dry run, and has changed nothing.
A call with "not_started" never began and never will, or was a dry run that could not come to the
end of the body, and has changed nothing. One with "timed_out" exceeded its time
limit, saw that, and was undone. One with "unknown_outcome" has not seen it, and may still change
the scene.
"""
State = Literal["queued", "running", "asking"] | Status
LIVE: Final = ("queued", "running", "asking")  # the states of a call that has not ended
_MAX_MARKS: Final = 100  # places of the undo stack that are remembered
_MAX_DEEDS: Final = 3  # deeds that the sentence of a call names
_MAX_PICTURED: Final = 50  # ended calls whose pictures are kept
_MAX_PICTURE_BYTES: Final = 100_000  # of a picture that is kept
_NO_EFFECT: Final = Effect()
_PAUSED: Final = types.Answered("", types.PAUSED, "host")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    Attributes:
        status: "done", or what kept the call from being done.
        value: What the skill returned.
        error: A sentence for the agent; None where the value says enough.
        note: A sentence for the agent beside the value, or "".
        now: What is different in the scene after the call, or "".
    """

    status: Status
    value: Any = None
    error: str | None = None
    note: str = ""
    now: str = ""


def refusal(call: Call) -> Status:
    """Return the status of a refused call: "cancelled" if its questions ended with the call."""
    if call.ending.reason is None:
        return "refused"
    return "cancelled"


def outcome_of_failure(call: Call, error: BaseException) -> Outcome:
    """Return the outcome of a call that raised an error and was undone.

    An error that is none of the bridge's own, and no mistake of the caller, is logged with its
    traceback, which the agent does not get.

    Args:
        call: The call.
        error: The error.
    """
    remainder = call.remainder
    match error:
        case errors.Stopped():
            return Outcome(_status_of_stopped(call), None, f"{error} {remainder}")
        case errors.NotConfirmed() | errors.NotChosen():
            return Outcome(refusal(call), None, str(error))
        case errors.DryRunEnd():
            return Outcome("tried", None, str(error))
        case errors.CannotDryRun():
            return Outcome("not_started", None, str(error))
        case errors.NoConsent():
            reason = str(error)
            if call.lasting.lost:
                reason += f" {remainder}"
            return Outcome("no_consent", None, reason)
        case errors.BridgeError():
            return Outcome("failed", None, f"{call.skill}: {error}")
    text = f"{call.skill} failed: {_sentence(error)}"
    _log_failure(call, error, text)
    return Outcome("failed", None, f"{text} {remainder}")


def _log_failure(call: Call, error: BaseException, text: str) -> None:
    """Log an error of a body, without hidden values: a mistake of the caller as one line.

    Args:
        call: The call.
        error: The error.
        text: The error as a sentence.
    """
    if isinstance(error, errors.InvalidRequest):
        log.info("call %s: %s", call.id, call.arguments.scrub(secret.redact(text)))
        return
    trace = secret.redact("".join(traceback.format_exception(error)).rstrip())
    log.warning("call %s: %s failed\n%s", call.id, call.skill, call.arguments.scrub(trace))


def _status_of_stopped(call: Call) -> Status:
    if call.ending.is_overdue:
        return "timed_out"
    return "cancelled"


def _sentence(error: BaseException) -> str:
    """Return an error as a sentence, with its type where its text alone may say too little."""
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
    """A call at one moment.

    Attributes:
        id: The id of the call.
        skill: The skill's name.
        title: The name that a person reads.
        client: The label of the client that called, or None for the host itself.
        risk: "read", "edit" or "destructive".
        state: The state; see the docstring of the module.
        began: When the call was made, in seconds since the epoch.
        ended: When the call ended; None before that.
        answers: The ends of its questions, the oldest first.
        effect: The undo steps, copies and lasting losses that the call left.
        error: A sentence if the call ended in another state than "done", or None.
        progress: How much is done, of how much, and a word about it.
        deed: What the call did, in a person's words; "" where its skill named nothing.
        is_settled: Whether the person said that they keep what the call did.
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
    deed: str = ""
    is_settled: bool = False

    @property
    def pictures(self) -> tuple[tuple[bytes, str], ...]:
        """The pictures of the last question that had any, each with what it shows."""
        for answer in reversed(self.answers):
            if answer.pictures:
                return answer.pictures
        return ()

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
        """True for a call of little interest: it was to change nothing, and asked nobody."""
        return self.risk == "read" and not self.answers

    def facts(self) -> CallFacts:
        """Return the facts that the call's own client may know, as values for JSON."""
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
    """Return the deeds of a call in a person's words; its title if its skill named none."""
    return _named_deeds(call) or call.title


def _named_deeds(call: Call) -> str:
    """Return the deeds of a call in a person's words; "" if its skill named none."""
    deeds = call.deeds
    parts = deeds[:_MAX_DEEDS]
    more = len(deeds) - _MAX_DEEDS
    if more > 0:
        parts.append(f"and {more} more")
    return safe_line(secret.redact("; ".join(parts)))


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
        self._unfinished: OrderedDict[str, Record] = OrderedDict()
        self._ended: deque[Record] = deque(maxlen=most)
        self._reads: deque[Record] = deque(maxlen=most)
        self._codes: deque[Record] = deque(maxlen=most)
        self._watchers = callbacks.Callbacks()
        self._undo_watchers = callbacks.Callbacks()
        self._file: Path | None = None  # the scene's, when it was looked at last
        # For each entry that was on top of the undo stack: the labels of the calls that were undone
        # then. Entries above a new one are forgotten, as they cannot be on top again.
        self._undone: dict[UndoMark, set[str | None]] = {}

    def records(self) -> list[Record]:
        """Return the calls, the newest first."""
        with self._lock:
            every = [*self._unfinished.values(), *self._ended, *self._codes, *self._reads]
        return sorted(every, key=lambda record: record.began, reverse=True)

    def find(self, call: str) -> Record | None:
        """Return a call that has not ended, by its id."""
        with self._lock:
            return self._unfinished.get(call)

    def watch(self, fn: Callable[[Record], None]) -> callbacks.Unsubscribe:
        """Call a function at each change; return a function that ends that.

        Args:
            fn: Takes the record as it is now, on whatever thread changed it; it must be quick. Two
                changes on two threads may come in either order: `records` has the last word.
        """
        return self._watchers.add(fn)

    def watch_undo(self, fn: Callable[[Record], None]) -> callbacks.Unsubscribe:
        """Call a function when a call is undone or redone; return a function that ends that.

        Args:
            fn: Takes the record as it is now, on the main thread.
        """
        return self._undo_watchers.add(fn)

    def follow(self, call: Call) -> Trail:
        """Add a call that is queued; return the trail that changes its record from now on."""
        client = client_label(call)
        record = Record(call.id, call.skill, call.title, client, call.risk, "queued", time.time())
        with self._lock:
            self._unfinished[call.id] = record
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

        The watchers are called outside the lock, once for each record that changed.

        Args:
            mark: The entry on top of the undo stack.
            file: The scene's file.
            by: Who undid what is newly undone.
        """
        changed = []
        turned = []
        with self._lock:
            old_file = self._old_file(mark, file)
            undone = self._undone.get(mark)
            for records in (self._ended, self._codes):
                for number, record in enumerate(records):
                    effect = _effect_now(record.effect, mark, (old_file, file), undone, by)
                    if effect is not record.effect:
                        records[number] = record._replace(effect=effect)
                        changed.append(records[number])
                        if effect.undone_by != record.effect.undone_by:
                            turned.append(records[number])
            self._remember_undone(mark)
        for record in turned:
            self._undo_watchers.call(record)
        for record in changed:
            self._watchers.call(record)

    def _old_file(self, mark: UndoMark, file: Path | None) -> Path | None:
        """Return the file that the scene had before it was saved under a new name.

        If it was not, that is its present file. A scene that was just opened has an empty stack:
        its file is the only one. It also notes the present file for the next time.

        Args:
            mark: The entry on top of the undo stack.
            file: The present file of the scene.
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
        """Remember the labels of the calls that are undone while this entry is on top."""
        if mark not in self._undone:
            # The entry is new, so that the entries that were above it cannot be redone any more.
            below = range(mark.depth - _MAX_MARKS, mark.depth)
            self._undone = {old: own for old, own in self._undone.items() if old.depth in below}
        every = (*self._ended, *self._codes)
        self._undone[mark] = {record.effect.label for record in every if record.effect.undone_by}

    def settle(self, last: str) -> None:
        """Note that the person keeps what a call did, and what the calls before it did.

        Args:
            last: The id of the newest of these calls.
        """
        changed = []
        with self._lock:
            every = (*self._ended, *self._codes)
            until = max((record.ended or 0.0 for record in every if record.id == last), default=0.0)
            for records in (self._ended, self._codes):
                for number, record in enumerate(records):
                    if not record.is_settled and (record.ended or 0.0) <= until:
                        records[number] = record._replace(is_settled=True)
                        changed.append(records[number])
        for record in changed:
            self._watchers.call(record)

    def note_late(self, call: str, answered: types.Answered) -> None:
        """Note how a question ended whose call has ended; see `elicitation.late_answers`."""
        changed = []
        with self._lock:
            for records in (self._ended, self._codes, self._reads):
                for number, record in enumerate(records):
                    if record.id == call:
                        answers = (*record.answers, replace(answered, pictures=()))
                        records[number] = record._replace(answers=answers)
                        changed.append(records[number])
        for record in changed:
            self._watchers.call(record)

    def change(self, call: str, **changes: Any) -> None:
        """Change fields of a call's record; a call that has ended keeps its record."""
        with self._lock:
            before = self._unfinished.get(call)
            if before is None:
                return
            record = before._replace(**changes)
            if record.state in LIVE:
                self._unfinished[call] = record
            else:
                del self._unfinished[call]
                record = record._replace(ended=time.time())
                self._keep(record)
        self._watchers.call(record)

    def _keep(self, record: Record) -> None:
        """Put the record of a call that has ended among those of its kind."""
        records = self._ended
        if record.only_read:
            records = self._reads
        elif record.effect.code is not None:
            records = self._codes
        if record.pictures:
            self._drop_old_pictures()
        records.append(record)

    def _drop_old_pictures(self) -> None:
        """Drop the pictures of all ended calls but the newest, to make room for one more."""
        pictured: list[tuple[deque[Record], int]] = []
        for records in (self._ended, self._codes, self._reads):
            pictured.extend((records, n) for n, record in enumerate(records) if record.pictures)
        pictured.sort(key=lambda place: place[0][place[1]].ended or 0.0)
        for records, number in pictured[: max(0, len(pictured) - _MAX_PICTURED + 1)]:
            answers = tuple(replace(answer, pictures=()) for answer in records[number].answers)
            records[number] = records[number]._replace(answers=answers)


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
        mark: The entry on top of the undo stack.
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
    """Return whether the step of a call is off the undo stack.

    A step at the top or above it is told by its label; without a label on top, it counts as undone
    only above the top. A step below the top may have been undone, and covered by new entries. That
    is told by what was noted when the same entry was on top; if nothing was, it is as it was last.

    Args:
        effect: The effect of the call, with the label and the depth of its step.
        mark: The entry on top of the undo stack.
        undone: The labels that were undone when the same entry was on top, or None.
    """
    if effect.depth >= mark.depth:
        is_on_top = effect.label == mark.label
        can_tell = effect.depth > mark.depth or bool(mark.label)
        return can_tell and not is_on_top
    if undone is None:
        return bool(effect.undone_by)
    return effect.label in undone


class Trail:
    """The changes of one call's record, as its run makes them.

    Attributes:
        has_begun: The run has begun: the questions before the body, or the body.
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
        """True while a question of the call is open."""
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
        small = tuple(one for one in answered.pictures if len(one[0]) <= _MAX_PICTURE_BYTES)
        answered = replace(answered, pictures=small)
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
        done = ""
        if state == "done":
            done = _named_deeds(self._call)
            title = done or title
        self._recent.change(
            self._call.id, state=state, title=title, error=error, effect=effect, deed=done
        )
