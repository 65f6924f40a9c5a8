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
_MOST_MARKS: Final = 100
_NO_EFFECT: Final = Effect()
_PAUSED: Final = types.Answered("", types.PAUSED, "host")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    status: Status  # "done", or what kept it from being done
    value: Any = None  # what the skill returned
    error: str | None = None  # a sentence for the agent; None where the value says it
    note: str = ""  # what the agent is told beside the value, or ""


def refusal(call: Call) -> Status:
    """Say what a refusal is: nobody said no where the call itself ended."""
    return "refused" if call.ending.reason is None else "cancelled"


def outcome_of_failure(call: Call, error: BaseException) -> Outcome:
    """Say what came of a call that raised and was undone, and log what the agent is not told."""
    left = call.remainder
    match error:
        case errors.Stopped():
            overdue = call.ending.is_overdue
            return Outcome("timed_out" if overdue else "cancelled", None, f"{error} {left}")
        case errors.NotConfirmed() | errors.NotChosen():
            return Outcome(refusal(call), None, str(error))
        case errors.NoConsent():
            also = f" {left}" if call.lasting.lost else ""
            return Outcome("no_consent", None, f"{error}{also}")
        case errors.BridgeError():
            return Outcome("failed", None, f"{call.skill}: {error}")
    trace = secret.redact("".join(traceback.format_exception(error)).rstrip())
    log.warning("call %s: %s failed\n%s", call.id, call.skill, call.arguments.scrub(trace))
    reason, kind = str(error), type(error).__name__
    if not (reason and (isinstance(error, ValueError) or type(error) is LookupError)):
        reason = f"{kind}: {reason}" if reason else kind
    if not reason.endswith((".", "!", "?")):
        reason += "."
    return Outcome("failed", None, f"{call.skill} failed: {reason} {left}")


class CallFacts(TypedDict, total=False):
    """What the client of a call may know of it; all agents read it, so it has no choices."""

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


class Record(NamedTuple):  # of which a change makes another one, in a fifth of a dataclass's time
    """One call, as it stands.

    Attributes:
        id: The call's own.
        skill: The skill's name.
        title: What a person reads.
        client: The label of the client that called, or None for the host itself.
        risk: "read", "edit" or "destructive"
        state: What it does, or how it ended.
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
        """How far it is, in a few words; "" where it did not say."""
        done, total, message = self.progress or (0.0, None, "")
        parts = f"{done:g}" if self.progress else "", f"of {total:g}" if total else "", message
        return " ".join(filter(None, parts))

    @property
    def only_read(self) -> bool:
        """Whether it asked nobody and was to change nothing: there is little to know of it."""
        return self.risk == "read" and not self.answers

    def facts(self) -> CallFacts:
        """Return all that its own client may know. It raises nothing.

        Returns:
            What JSON can carry.
        """
        last, effect = self.answers[-1] if self.answers else None, self.effect
        facts = {
            "call": self.id,
            "tool": self.skill,
            "did": self.title if self.state == "done" else None,
            "state": self.state,
            "seconds_ago": round(time.time() - self.began),
            "answered": types.outcome(last.how, last.by) if last else None,
            "answered_by": last.by if last else None,
            "error": self.error,
            "progress": self.how_far or None,
            "undo_step": effect.label,
            "undone_by": effect.undone_by or None,
            "copy": str(effect.copy) if effect.copy else None,
        }
        return cast("CallFacts", {name: it for name, it in facts.items() if it is not None})


def deed(call: Call) -> str:
    """Say what a call did, in a person's words: its title where its skill did not say so."""
    if not (deeds := call.dialogue.deeds):
        return call.title
    more = [f"and {len(deeds) - 3} more"] if len(deeds) > 3 else []
    return safe_line(secret.redact("; ".join([*deeds[:3], *more]))) or call.title


def why_not_undo(record: Record, top: str | None, host: str, tr: Translate = english) -> str:
    """Say why a call cannot be undone, with a label on top of the stack; "" where it can."""
    effect, step = record.effect, safe_line(repr(top))
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
        return tr("{step} came after it. Use the undo of {host}.", step=step, host=host)
    return ""


class Recent:
    """All calls that have not ended, and the last ones that have."""

    def __init__(self, most: int = 100) -> None:
        # `most` ended calls are kept, of those that only read, those of code and the others each.
        self._lock = threading.Lock()
        self._live: OrderedDict[str, Record] = OrderedDict()
        self._ended: deque[Record] = deque(maxlen=most)
        self._reads: deque[Record] = deque(maxlen=most)
        self._codes: deque[Record] = deque(maxlen=most)
        self._watchers = callbacks.Callbacks()
        self._file: Path | None = None  # the scene's, when it was looked at last
        # What is undone while an entry is on top, of the entries that can still be redone.
        self._undone: dict[UndoMark, set[str | None]] = {}

    def records(self) -> list[Record]:
        """Give the calls, the newest first."""
        with self._lock:
            every = [*self._live.values(), *self._ended, *self._codes, *self._reads]
        return sorted(every, key=lambda record: record.began, reverse=True)

    def find(self, call: str) -> Record | None:
        """Give a call that has not ended, by its id."""
        with self._lock:
            return self._live.get(call)

    def watch(self, fn: Callable[[Record], None]) -> callbacks.Unsubscribe:
        """Be told of each change; gives what ends that.

        `fn` gets the record as it is now, on whatever thread changed it; it must be quick. Two
        changes on two threads may be told in either order: `records` has the last word.
        """
        return self._watchers.add(fn)

    def follow(self, call: Call) -> Trail:
        """Take in a call that is queued; gives what writes its record from now on."""
        client = call.client.label if call.client is not None else None
        record = Record(call.id, call.skill, call.title, client, call.risk, "queued", time.time())
        with self._lock:
            self._live[call.id] = record
        self._watchers.call(record)
        return Trail(self, call)

    def of_step(self, label: str) -> Record | None:
        """Give the call whose newest undo step has that label, and that it can be undone by."""
        return next((record for record in self.records() if record.effect.label == label), None)

    def follow_undo(self, host: Host, by: str = "host") -> None:
        """Note what is undone by now, by whom, or redone again. Main thread."""
        self.follow_mark(host.undo_mark(), host.file(), by)

    def follow_mark(self, mark: UndoMark, file: Path | None, by: str = "host") -> None:
        """Note the same of a place in the undo stack and a scene's file."""
        with self._lock:
            kinds = self._ended, self._codes
            places = [(kept, at, it) for kept in kinds for at, it in enumerate(kept)]
            tops = [it.effect for *_, it in places if mark.label and it.effect.label == mark.label]
            # A scene that was opened has an empty stack: else this one was saved under a name.
            was, self._file = self._file if mark.label else file, file
            was, undone, changed = tops[0].file if tops else was, self._undone.get(mark), []
            for kept, at, record in places:
                effect, undone_by = record.effect, record.effect.undone_by
                if not effect.steps:
                    continue
                is_away = effect.file not in (file, was)
                if effect.label is not None and not is_away:
                    undone_by = (undone_by or by) if _is_undone(effect, mark, undone) else ""
                now = effect.file if is_away else file
                if (effect.file, effect.is_away, effect.undone_by) != (now, is_away, undone_by):
                    effect = replace(effect, file=now, is_away=is_away, undone_by=undone_by)
                    kept[at] = record._replace(effect=effect)
                    changed.append(kept[at])
            if undone is None:  # it is new, and what was above it can be redone no more
                reach = range(mark.depth - _MOST_MARKS, mark.depth)
                self._undone = {it: own for it, own in self._undone.items() if it.depth in reach}
            self._undone[mark] = {it.effect.label for k in kinds for it in k if it.effect.undone_by}
        for record in changed:
            self._watchers.call(record)

    def change(self, call: str, **changes: Any) -> None:
        """Write down which fields of a call's record changed; one that has ended keeps its own."""
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
                kept = self._codes if record.effect.code is not None else self._ended
                (self._reads if record.only_read else kept).append(record)
        self._watchers.call(record)


def _is_undone(effect: Effect, mark: UndoMark, undone: set[str | None] | None) -> bool:
    """Tell whether a step is not on the stack; `undone` is what was not, with the same on top."""
    if effect.depth >= mark.depth:
        return effect.label != mark.label and (effect.depth > mark.depth or bool(mark.label))
    return bool(effect.undone_by) if undone is None else effect.label in undone


class Trail:
    """The record of one call, as its run writes it."""

    def __init__(self, recent: Recent, call: Call) -> None:
        self._recent, self._call = recent, call
        self._lock, self._questions = threading.Lock(), 0
        self._answers: tuple[types.Answered, ...] = ()
        self.has_begun = False  # whether its body, or the question before it, was reached

    @property
    def asks(self) -> bool:
        """Whether a question of it is open."""
        return self._questions > 0

    def begin(self) -> None:
        """Note that it runs."""
        self.has_begun = True
        self._recent.change(self._call.id, state="running")

    def question_opened(self) -> None:
        """Note that a question of it is open."""
        with self._lock:
            self._questions += 1
        self._recent.change(self._call.id, state="asking")

    def question_closed(self, answered: types.Answered) -> None:
        """Note how a question of it ended; others may still be open."""
        with self._lock:
            self._questions -= 1
            self._answers += (answered,)
            state: State = "asking" if self._questions else "running"
        self._recent.change(self._call.id, state=state, answers=self._answers)

    def note_paused(self) -> None:
        """Note that it may not begin, or go on, because the person paused agents."""
        self._recent.change(self._call.id, answers=(*self._answers, _PAUSED))

    def report(self, progress: Progress) -> None:
        """Note how far it is."""
        self._recent.change(self._call.id, progress=progress)

    def end(self, state: Status, error: str | None = None, effect: Effect = _NO_EFFECT) -> None:
        """Note how it ended; only the first time counts."""
        title = deed(self._call) if state == "done" else self._call.title
        self._recent.change(self._call.id, state=state, title=title, error=error, effect=effect)
