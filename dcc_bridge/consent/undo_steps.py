"""The undo steps of one call: open while the body runs, closed while a question is open.

When a stretch of the body ends, what it changed needs a grant that is alive then, and what it lost
must be what was agreed to; otherwise all that the call changed is taken back there and then. Where
the host has a trial (`UndoStack.trial`) that is seen while the step is open, and the step is
reverted: the person finds nothing of it to redo. Elsewhere the closed step is undone. Whether the
scene was changed, the host says: the mark of its undo stack is another one. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from dcc_bridge import errors
from dcc_bridge.audit.trail import RunRecord
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.copies import keep_checkpoint
from dcc_bridge.consent.effect import Effect
from dcc_bridge.consent.loss import Loss, UnauthorizedLoss
from dcc_bridge.consent.surroundings import Surroundings
from dcc_bridge.errors import Ended, LostAnyway, NoConsent, NotGranted, NotRecorded, PartlyApplied
from dcc_bridge.host import Host, Trial, UndoMark, loss_check
from dcc_bridge.threads import main_thread

_OF: Final = " of "  # in the name of each part: "modifier Bevel of Cube"


@dataclass(frozen=True, slots=True)
class _Change:
    """What one stretch left on the undo stack."""

    label: str  # the label of its step
    before: UndoMark  # the place in the stack before it
    after: UndoMark | None = None  # the place after it; None where the host could not tell


class Steps:
    """What one call changed, so that it can be undone as one."""

    def __init__(
        self,
        host: Host,  # whose undo stack it is
        main: main_thread.MainThread,  # whose job the call is
        call: Call,
        label: str,  # what the person reads in the Edit menu
        account: RunRecord,  # where it is written down that the scene may be changed
        paused: Callable[[], Exception | None] = lambda: None,  # why no edit may begin now
        # Told the place in the stack and the scene's file around each change.
        look: Callable[[UndoMark, Path | None], None] = lambda mark, file: None,
    ) -> None:
        self._account, self._paused, self._look = account, paused, look
        self._host, self._main, self._call = host, main, call
        self._label = label
        self._name = call.skill  # of what runs, for the error that says what it did
        self._stretch: ExitStack | None = None
        self._trial: Trial | None = None  # what can take back the open step
        self._is_judged = False  # the newest step was while it was open, and may stay
        self._refusal: errors.BridgeError | None = None  # why it was reverted then
        self._is_reading = self._is_other_scene = self._is_over = False
        self._done: list[_Change] = []
        self.undone: list[str] = []  # the labels of the steps that were taken back
        self.is_reverted = True  # each of them while it was open
        self._put_back: list[str] = []
        self._left: list[str] = []
        self._file: Path | None = None  # the scene's, when it changed it last
        self.lost: LostAnyway | errors.NotUndoable | None = None  # which a body may catch
        self.unauthorized: UnauthorizedLoss | None = None  # which a body may catch as well
        # Watches each stretch for what undo does not bring back.
        self.watching: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def effect(self) -> Effect:
        """What the call left, so that a person may take it back."""
        done = self._done
        lasting = self._call.lasting
        top = done[-1].after if done else None
        is_whole = all(first.after == then.before for first, then in pairwise(done))
        label = None
        base = 0
        depth = 0
        if top is not None:
            base = done[0].before.depth
            depth = top.depth
            if is_whole and lasting.undoable:
                label = top.label
        return Effect(
            self.done,
            label,
            depth,
            self._file,
            lasting=not lasting.undoable,
            copy=lasting.checkpoint,
            base=base,
            code=self._call.ran,
        )

    @property
    def done(self) -> tuple[str, ...]:
        """The labels of the steps that stand."""
        return tuple(change.label for change in self._done)

    @property
    def trial(self) -> Trial | None:
        """What can take back the open step; None where nothing can, or none is open."""
        return self._trial

    @property
    def put_back(self) -> tuple[str, ...]:
        """What the body changed that undo does not hold, and the host put back."""
        return tuple(dict.fromkeys(self._put_back))

    @property
    def left(self) -> tuple[str, ...]:
        """What the body changed that nothing brings back, though its edit was taken back."""
        return tuple(dict.fromkeys(self._left))

    @contextmanager
    def open(self, *, is_last: bool = False) -> Iterator[None]:
        """Keep a step open while a part of the body runs; nothing comes after the last one.

        Raises:
            Ended: The call is over; a task or a thread of the skill came too late.
            NotRecorded: It cannot be written down that the scene may be changed.
            NoConsent: It changed or lost what nobody agreed to; it is as it was.
        """
        self._check_live()
        self.note_begin()
        with self._stretches(is_last):
            yield

    @contextmanager
    def reading(self, what: str = "") -> Iterator[None]:
        """Undo what a body, or `what` of it, that only reads has left on the host's undo stack.

        It has no step of its own, which some hosts refuse where reading is fine. What the person
        does while a question is open is theirs.

        Raises:
            Ended: The call is over; some hosts could not refuse what is lost after that.
            NoConsent: It changed the scene.
        """
        self._check_live()
        outer, self._is_reading, self._name = self._is_reading, True, what or self._name
        try:
            with self._stretches():
                yield
        finally:
            self._is_reading, self._name = outer, self._call.skill

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Close the step while a question is open."""
        was_open = self._stretch is not None
        try:
            if was_open:
                self._end()
            yield
        finally:
            if was_open:
                self._begin()  # first: a skill that goes on in spite of it is seen to change things
                self.note_begin()

    def take_back(self) -> bool:
        """Undo what the call changed, and go on in a new step; gives whether there was anything."""
        if self._can_revert:
            return self.revert()
        try:
            self._end()
            changed = bool(self._done)
            self.roll_back()
        finally:
            self._begin()
        return changed

    def revert(self) -> bool:
        """Revert what the open step has edited, if that is all that the call did. Any thread.

        Returns:
            Whether anything was reverted; never on another thread than the main one.

        Raises:
            NotUndoable: Some of it could not be reverted.
        """
        if not self._main.is_current or not self._can_revert:
            return False
        trial = self._trial
        if trial is None or not trial.is_edited():
            return False
        self._revert(trial)
        if isinstance(self.lost, errors.NotUndoable):
            raise self.lost
        return True

    @property
    def _can_revert(self) -> bool:
        """Whether the open step can be reverted, and is all that the call did. Main thread."""
        return self._trial is not None and not self._done and self._is_alone

    def roll_back(self) -> None:
        """Undo what the call changed, newest first; PartlyApplied: not all of it could be."""
        while self._done:
            self._roll_back_last()
        if isinstance(self.lost, errors.NotUndoable):
            raise self.lost

    def _roll_back_last(self) -> None:
        try:
            self._take_back(self._done[-1])
        except errors.NotUndoable as error:
            if self._host.undo_mark() != self._done[-1].before:
                raise
            # it is undone as far as it can be, and what is below has to be too
            self.lost = errors.NotUndoable(f"{self.lost or ''} {error}".strip())
        self.undone.append(self._done.pop().label)
        self.is_reverted = False

    @property
    def _is_alone(self) -> bool:
        """Whether the body has left the undo stack below its open step as it was."""
        return self._host.undo_mark() == self._before

    def _revert(self, trial: Trial) -> None:
        """Take back the open step, and what is not the scene's."""
        try:
            self._left += trial.revert()
        except errors.NotUndoable as error:  # what is left of it is undone once the step is closed
            self.lost = error
        else:
            self.undone.append(self._current_label)
        self._put_back += self._surroundings.put_back()

    def close(self) -> None:
        """Let what stands stand, and nothing of it change the scene any more. Any thread."""
        self._is_over = True

    def check_loss(self, what: str, files: Sequence[Path]) -> None:
        """Refuse what undo does not bring back, unless that was agreed to; see `Host.losing`."""
        lasting = self._call.lasting
        self._check_live()
        if not self._call.ledger.allows_loss(files):
            raise NotGranted(self._call.skill, what)
        lasting.lost.append(what)
        self._is_other_scene = self._is_other_scene or not files
        if lasting.kept_at != self._host.undo_mark():  # somebody has worked on since the copy
            lasting.kept.clear()
        missing = [file for file in files if file not in lasting.kept]
        if missing or (not files and None not in lasting.kept):
            keep_checkpoint(self._call, missing or None)

    def _check_live(self) -> None:
        if self._is_over:
            raise Ended(self._call.title)

    def _take_back(self, change: _Change) -> None:
        """Undo exactly what was added, and nothing where something else lies on top."""
        now = self._host.undo_mark()
        if now == change.before:  # nothing of it stands: the person undid it, or there was nothing
            return
        is_ours = now.label == change.label if change.after is None else now == change.after
        if not is_ours:
            raise PartlyApplied(self._call.skill)
        for _ in range(now.depth - change.before.depth):
            self._host.take_back()

    @property
    def _may_change(self) -> bool:
        return self._call.risk != "read" and self._call.ledger.allows_change

    def note_begin(self) -> None:
        """Write down that the scene may be changed from now on, if it may; once.

        Raises:
            NotRecorded: It cannot be written, so nothing may be changed.
        """
        if self._may_change and not self._is_reading:
            self._account.begin(self._host, self._label)

    @contextmanager
    def _stretches(self, is_last: bool = False) -> Iterator[None]:
        """Keep a stretch open, with pauses in between, and judge the last one."""
        outer, self._stretch = self._stretch, None
        self._begin()
        with ExitStack() as stack:
            stack.callback(setattr, self, "_stretch", outer)
            stack.push(lambda kind, error, trace: self._end(error, is_last=is_last))
            yield

    def _begin(self) -> None:
        self._trial = None
        if not self._is_reading and (refusal := self._paused()) is not None:
            raise refusal  # the switch was turned while it waited for an answer
        steps = len(self._done) + len(self.undone)
        part = f".{steps + 1}" if steps else ""
        self._current_label = f"{self._label} [{self._call.id[:6]}{part}]"
        stretch = ExitStack()
        with stretch:
            outer = loss_check.get()
            loss_check.set(self.check_loss)
            stretch.callback(loss_check.set, outer)  # no token: it may end in another context
            stretch.enter_context(self._host.guard(self._put_back, read=self._is_reading))
            self._before = self._host.undo_mark()
            if not self._is_reading:
                self._look(self._before, self._host.file())
                stretch.enter_context(self._host.undo_step(self._current_label))
                self._surroundings = Surroundings()
                self._trial = self._host.trial()
            stretch.enter_context(self.watching())
            self._stretch = stretch.pop_all()

    def _end(self, error: BaseException | None = None, *, is_last: bool = False) -> None:
        stretch, self._stretch = self._stretch, None
        if stretch is None:
            return
        trial, self._trial = self._trial, None
        self._is_judged = False
        self._refusal = None
        if trial is not None:  # first of all, while the step is open
            stretch.callback(self._judge, trial, fails=is_last and error is not None)
        label, before, is_said = self._current_label, self._before, True
        try:
            trace = error.__traceback__ if error else None
            stretch.__exit__(type(error) if error else None, error, trace)
            is_said = False  # else the host knows more of what was lost than its undo stack
        except LostAnyway as lost:
            self.lost = self.lost or lost
            raise
        finally:
            # Before the host says so: where it cannot, the roll-back looks again.
            self._done.append(_Change(label, before))
            after = self._host.undo_mark()
            self._done.pop()
            if self._is_other_scene:  # whose stack began anew
                self._is_other_scene, depth = False, after.depth - (after.label == label)
                before = after if depth == after.depth else UndoMark(depth)
            if after != before and not (is_said and after.depth <= before.depth):
                change = _Change(label, before, after)
                added = after.depth - before.depth
                self._note_change(change, added, is_last=is_last)
        if self._refusal is not None:
            if not isinstance(self._refusal, Ended):  # what it did before its end stands
                self.roll_back()
            raise self._refusal

    def _judge(self, trial: Trial, *, fails: bool) -> None:
        """Revert the open step if it must not stay, unless the body has undone others' steps."""
        if not self._is_alone:
            return
        refusal = self._why_undone(trial)
        if (refusal is not None or fails) and trial.is_edited():
            self._revert(trial)
            self._refusal = refusal
        # What must not stay and is left all the same is judged once more when it is closed.
        self._is_judged = refusal is None

    def _why_undone(self, trial: Trial | None = None) -> errors.BridgeError | None:
        """Return why what the newest step changed must not stay; None if it may."""
        if self._is_over:  # it ended while this step was open
            return Ended(self._call.title)
        if self._is_reading or not self._may_change:
            return NoConsent(self._name)
        if (loss := self._loss(trial)) is not None:
            self.unauthorized = UnauthorizedLoss(self._name, loss)
            return self.unauthorized
        if not self._account.has_begun:
            return NotRecorded("it could not be when the skill was granted its edit.")
        return None

    def _note_change(self, change: _Change, added: int, *, is_last: bool) -> None:
        call = self._call
        if self._done and change.after == self._done[-1].before:  # the body undid its own step
            self.undone.append(self._done.pop().label)
            return
        if added < 1:  # it undid another one's
            if change.after is not None and change.after.label == change.label:
                self._host.take_back()  # what it did on top of that
            raise errors.UndidOthers(call.skill, self._redone(change.before))
        self._done.append(change)
        self._file = self._host.file()
        if self._main.job is not None:
            self._main.job.edited = True
        refusal = None if self._is_judged else self._why_undone()
        if isinstance(refusal, Ended):
            self._roll_back_last()  # what it did before its end stands
            raise refusal
        if refusal is not None:
            self.roll_back()
            raise refusal
        self._look(change.after or change.before, self._file)
        call.ledger.refused = None
        call.ledger.use_up(lambda: () if is_last else self._host.lost(()))

    def _redone(self, before: UndoMark) -> bool:
        """Redo what the body undid, and say whether it stands: it may have done more on top."""
        depth = self._host.undo_mark().depth
        with suppress(Exception):
            for _ in range(before.depth - depth):
                self._host.redo()
        now = self._host.undo_mark()
        stands = now[:2] == before[:2]
        for _ in range(0 if stands else now.depth - depth):
            with suppress(errors.NotUndoable):  # the person is told to look at the scene
                self._host.undo()
        return stands

    def _lost(self, covered: Sequence[str]) -> list[str]:
        """Return what the newest change took away beside what is covered."""
        lost = self._host.lost(covered)
        edited = self._call.ledger.parts
        if not (lost and edited):
            return lost
        beside = {*self._host.lost([*covered, *edited])}
        return [it for it in lost if it in beside or it in edited or _OF not in it]

    def _loss(self, trial: Trial | None) -> Loss | None:
        """Return what the newest change lost that nobody agreed to; None for nothing."""
        covered = self._call.ledger.covered
        if covered is None:
            return None
        lost = self._lost(covered)
        if not lost:
            return None
        breaks = trial.broken() if trial is not None else []
        return Loss(tuple(lost), tuple(breaks))
