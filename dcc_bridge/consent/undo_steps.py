"""The undo steps of one call: open while the body runs, closed while a question is open.

A *stretch* is the part of a body that runs between two questions; its edits are one undo step. At
its end the `LossGuard` judges the edits. If they must not stay, all edits of the call are taken
back at once.

Where the host has a trial (`UndoStack.trial`), the edits are judged while the step is open, and the
step is reverted, so the person finds nothing of it to redo. Elsewhere the closed step is undone. A
stretch has changed the scene if the host's undo stack has another mark after it. Main thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import Effect
from dcc_bridge.consent.loss_guard import LossGuard
from dcc_bridge.consent.surroundings import Surroundings
from dcc_bridge.errors import (
    BridgeError,
    Ended,
    LostAnyway,
    NotUndoable,
    PartlyApplied,
    UndidOthers,
)
from dcc_bridge.host import Account, Host, Trial, UndoMark, loss_check
from dcc_bridge.threads import main_thread

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    """The entries that one stretch left on the undo stack.

    Attributes:
        label: The label of the stretch's step.
        before: The place in the stack before the step.
        after: The place after the step; None where the host could not tell.
    """

    label: str
    before: UndoMark
    after: UndoMark | None = None

    def is_on_top(self, now: UndoMark) -> bool:
        """Return whether the step is the newest entry of the stack, whose place is given."""
        if self.after is None:
            return now.label == self.label
        return now == self.after


class Steps:
    """The undo steps of one call, which can be taken back together.

    Attributes:
        undone: The labels of the steps that were taken back.
        is_reverted: Whether each of these was taken back while it was open.
        is_compared: Whether the host could compare all of each step that stays for losses.
        lost: The loss that nothing brings back, as an error that the body may have caught.
        loss_guard: The judge, which is asked whether the edits of a stretch may stay.
        trial: Reverts the open step; None if the host cannot, or no step is open.
    """

    def __init__(
        self,
        host: Host,
        main: main_thread.MainThread,
        call: Call,
        label: str,
        loss_guard: LossGuard,
        paused: Callable[[], Exception | None],
        look: Callable[[UndoMark, Path | None], None],
    ) -> None:
        """Prepare the steps of a call.

        Args:
            host: The host that has the undo stack.
            main: The main thread, whose job the call is.
            call: The call.
            label: The text that the person reads in the Edit menu.
            loss_guard: The judge of what the call edits and loses.
            paused: Returns why no edit may begin now, or None.
            look: Gets the place in the undo stack and the scene's file around each change.
        """
        self._paused = paused
        self._look = look
        self._host = host
        self._main = main
        self._call = call
        self._label = label
        self._stretch: ExitStack | None = None
        self.trial: Trial | None = None
        # How the newest step was judged while it was open: it may stay, or was reverted for a
        # reason. If neither, it is judged again once it is closed.
        self._may_stay = False
        self._refusal: BridgeError | None = None
        self._done: list[_Change] = []
        self.undone: list[str] = []
        self.is_reverted = True
        self.is_compared = True
        self._accounts: list[tuple[str, Account]] = []  # by the labels of the steps
        self._put_back: list[str] = []
        self._left: list[str] = []
        self._file: Path | None = None  # the scene's file at the newest change
        self.lost: LostAnyway | NotUndoable | None = None
        self.loss_guard = loss_guard

    @property
    def effect(self) -> Effect:
        """The steps that stand and the copies, so that a person may take the call back."""
        done = self._done
        lasting = self._call.lasting
        label = None
        base = 0
        depth = 0
        top = None
        if done:
            top = done[-1].after
        if top is not None:
            base = done[0].before.depth
            depth = top.depth
            # An entry of somebody else between two steps would be undone with them.
            is_whole = all(change.after == newer.before for change, newer in pairwise(done))
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
    def accounts(self) -> list[Account]:
        """The differences in the scene after each step that stands, as the host tells it."""
        return [account for _, account in self._accounts]

    @property
    def done(self) -> tuple[str, ...]:
        """The labels of the steps that stand."""
        return tuple(change.label for change in self._done)

    @property
    def put_back(self) -> tuple[str, ...]:
        """The state that the body changed outside the undo stack, and that was put back."""
        return tuple(dict.fromkeys(self._put_back))

    @property
    def left(self) -> tuple[str, ...]:
        """The state that the body changed and that stays, though the edit was taken back."""
        return tuple(dict.fromkeys(self._left))

    @contextmanager
    def open(self, *, is_last: bool = False) -> Iterator[None]:
        """Keep a step open while a part of the body runs.

        Args:
            is_last: Whether the call ends with this part.

        Raises:
            Ended: The call is over; a task or a thread of the skill came too late.
            NotRecorded: The record cannot be written, so the scene must not be changed.
            NoConsent: The part edited without a grant, or lost things that nobody agreed to lose;
                the edits were taken back.
        """
        self.loss_guard.check_open()
        self.loss_guard.note_begin()
        with self._stretches(is_last):
            yield

    @contextmanager
    def reading(self, what: str = "") -> Iterator[None]:
        """Undo each edit of a part of the body that should only read.

        The part has no step of its own: some hosts refuse a step where reading is fine. Edits of
        the person while a question is open stay.

        Args:
            what: The name of the part, for the error; "" for the whole body.

        Raises:
            Ended: The call is over; some hosts could not refuse a loss after that.
            NoConsent: The part changed the scene.
        """
        self.loss_guard.check_open()
        with self.loss_guard.reading(what), self._stretches():
            yield

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
                # The step begins before the record is written. If the record cannot be written, and
                # the skill catches the error and goes on, its edits are seen all the same.
                self._begin()
                self.loss_guard.note_begin()

    def take_back(self) -> bool:
        """Undo the edits of the call, and go on in a new step.

        Returns:
            Whether there was an edit.

        Raises:
            PartlyApplied: An edit of somebody else lies on top.
            NotUndoable: Some of the edits could not be undone.
        """
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
        """Revert the edits of the open step, if the call has no other edits. Any thread.

        Returns:
            Whether anything was reverted; never on another thread than the main one.

        Raises:
            NotUndoable: Some of the edits could not be reverted.
        """
        if not self._main.is_current or not self._can_revert:
            return False
        trial = self.trial
        if trial is None or not trial.is_edited():
            return False
        self._revert(trial)
        if isinstance(self.lost, NotUndoable):
            raise self.lost
        return True

    @property
    def _can_revert(self) -> bool:
        """Whether the open step can be reverted, and holds all edits of the call."""
        return self.trial is not None and not self._done and self._is_alone

    def roll_back(self) -> None:
        """Undo the edits of the call, the newest first.

        Raises:
            PartlyApplied: An edit of somebody else lies on top.
            NotUndoable: Some of the edits could not be undone.
        """
        self._accounts.clear()
        while self._done:
            self._roll_back_last()
        if isinstance(self.lost, NotUndoable):
            raise self.lost

    def _roll_back_last(self) -> None:
        """Undo the newest step."""
        change = self._done[-1]
        try:
            self._undo(change)
        except NotUndoable as error:
            if self._host.undo_mark() != change.before:
                raise
            # The step is undone as far as possible. The steps below have to be undone too.
            earlier = self.lost or ""
            self.lost = NotUndoable(f"{earlier} {error}".strip())
        self._forget_last()
        self.is_reverted = False

    def _forget_last(self) -> None:
        """Count the newest step as undone."""
        label = self._done.pop().label
        self.undone.append(label)
        self._accounts = [each for each in self._accounts if each[0] != label]

    @property
    def _is_alone(self) -> bool:
        """Whether the body has left the undo stack below its open step as it was."""
        return self._host.undo_mark() == self._before

    def _revert(self, trial: Trial) -> None:
        """Revert the open step, the working folder and the environment."""
        try:
            self._left += trial.revert()
        except NotUndoable as error:  # the rest is undone once the step is closed
            self.lost = error
        else:
            self.undone.append(self._current_label)
        self._put_back += self._surroundings.put_back()

    def _undo(self, change: _Change) -> None:
        """Undo the entries of a change, unless an entry of somebody else lies on top."""
        now = self._host.undo_mark()
        if now == change.before:  # the person undid the change, or there was none
            return
        if not change.is_on_top(now):
            raise PartlyApplied(self._call.skill)
        for _ in range(now.depth - change.before.depth):
            self._host.take_back()

    @contextmanager
    def _stretches(self, is_last: bool = False) -> Iterator[None]:
        """Run one stretch, or several with pauses between them, and end the last one."""
        outer = self._stretch
        self._stretch = None
        self._begin()
        try:
            yield
        except BaseException as error:
            self._end(error, is_last=is_last)
            raise
        else:
            self._end(is_last=is_last)
        finally:
            self._stretch = outer

    def _begin(self) -> None:
        """Begin a stretch."""
        self.trial = None
        if not self.loss_guard.is_reading:
            refusal = self._paused()  # the person may have paused the skills during a question
            if refusal is not None:
                raise refusal
        self._current_label = self._next_label()
        stretch = ExitStack()
        with stretch:
            outer = loss_check.get()
            loss_check.set(self.loss_guard.check_loss)
            # The value is set again without a token: the stretch may end in another context.
            stretch.callback(loss_check.set, outer)
            stretch.enter_context(self._host.guard(self._put_back, read=self.loss_guard.is_reading))
            self._before = self._host.undo_mark()
            if not self.loss_guard.is_reading:
                self._look(self._before, self._host.file())
                stretch.enter_context(self._host.undo_step(self._current_label))
                self._surroundings = Surroundings()
                self.trial = self._host.trial()
            stretch.enter_context(self.loss_guard.watching())
            self._stretch = stretch.pop_all()

    def _next_label(self) -> str:
        """Return the label of the next step: unique, as a host may have no other identity."""
        steps = len(self._done) + len(self.undone)
        name = self._call.id[:6]
        if steps:
            name += f".{steps + 1}"
        return f"{self._label} [{name}]"

    def _end(self, error: BaseException | None = None, *, is_last: bool = False) -> None:
        """End the stretch, if one is open: judge its edits, close its step, and note the change.

        Args:
            error: The error that the stretch ends with, if any.
            is_last: Whether the call ends with this stretch.
        """
        stretch = self._stretch
        self._stretch = None
        if stretch is None:
            return
        trial = self.trial
        self.trial = None
        self._may_stay = False
        self._refusal = None
        if trial is not None:
            # The newest callback runs first, while the step is still open.
            stretch.callback(self._judge, trial, fails=is_last and error is not None)
        label = self._current_label
        before = self._before
        has_host_raised = True
        try:
            if error is None:
                stretch.close()
            else:
                stretch.__exit__(type(error), error, error.__traceback__)
            has_host_raised = False
        except LostAnyway as lost:
            if self.lost is None:
                self.lost = lost
            raise
        finally:
            self._note_stretch(label, before, has_host_raised=has_host_raised, is_last=is_last)
        if self._refusal is None:
            return
        if not isinstance(self._refusal, Ended):  # the edits before the call's end stand
            self.roll_back()
        raise self._refusal

    def _note_stretch(
        self, label: str, before: UndoMark, *, has_host_raised: bool, is_last: bool
    ) -> None:
        """Note the change of a stretch whose step was closed.

        Args:
            label: The label of the step.
            before: The place in the undo stack before the stretch.
            has_host_raised: Whether the host ended the stretch with an error about a loss.
            is_last: Whether the call ends with this stretch.
        """
        # The change is listed before the host tells its place. If that fails, the change stays on
        # the list, and the roll-back asks the host again.
        self._done.append(_Change(label, before))
        after = self._host.undo_mark()
        self._done.pop()
        if self.loss_guard.is_other_scene:  # the undo stack of the other scene has begun anew
            self.loss_guard.is_other_scene = False
            before = after
            if after.label == label:
                before = UndoMark(after.depth - 1)
        added = after.depth - before.depth
        if has_host_raised and added <= 0:
            return  # the host's error says more about the loss than its undo stack
        if after != before:
            self._note_change(_Change(label, before, after), added, is_last=is_last)

    def _judge(self, trial: Trial, *, fails: bool) -> None:
        """Revert the open step if its edits must not stay, or if the call fails.

        If the body has undone steps of others, this waits until the step is closed.

        Args:
            trial: Reverts the step.
            fails: Whether the call ends with an error.
        """
        if not self._is_alone:
            return
        try:
            refusal = self.loss_guard.refusal(trial)
        except BaseException:  # what could not be judged must not stay
            if trial.is_edited():
                self._revert(trial)
            raise
        if (refusal is not None or fails) and trial.is_edited():
            self._revert(trial)
            self._refusal = refusal
            return
        if not trial.is_complete:
            self.is_compared = False
        self._may_stay = refusal is None
        if self._may_stay:
            self._note_account(trial)

    def _note_account(self, step: Trial | Host) -> None:
        """Note what is different after the newest step, which stays.

        Args:
            step: The trial of the open step, or the host for a closed one.
        """
        try:
            account = step.account()
        except Exception:  # the edit was judged, and stays whether or not it can be told
            log.exception("call %s: what is different cannot be told", self._call.id)
            return
        if account is not None:
            self._accounts.append((self._current_label, account))

    def _note_change(self, change: _Change, added: int, *, is_last: bool) -> None:
        """Note a change, and take it back where it must not stay.

        Args:
            change: The change.
            added: How many entries the undo stack has more.
            is_last: Whether the call ends with this change.

        Raises:
            UndidOthers: The body undid steps of others.
            BridgeError: The change must not stay, and was taken back.
        """
        call = self._call
        if self._done and change.after == self._done[-1].before:  # the body undid its own step
            self._forget_last()
            return
        if added < 1:  # the body undid a step of somebody else
            if change.after is not None and change.after.label == change.label:
                self._host.take_back()  # the body's own edit on top of that
            raise UndidOthers(call.skill, self._redo_others(change.before))
        self._done.append(change)
        self._file = self._host.file()
        if self._main.job is not None:
            self._main.job.edited = True
        if not self._may_stay:
            self._judge_closed()
            self._note_account(self._host)
        self._look(change.after or change.before, self._file)
        call.ledger.refused = None
        if not is_last:  # a later stretch must not lose the items again
            call.ledger.use_up(lambda: self._host.lost(()))

    def _judge_closed(self) -> None:
        """Undo the newest change, which is closed, if it must not stay, and raise the reason."""
        try:
            refusal = self.loss_guard.refusal()
        except BaseException:  # what could not be judged must not stay
            self.roll_back()
            raise
        if refusal is None:
            return
        if isinstance(refusal, Ended):  # the edits before the call's end stand
            self._roll_back_last()
        else:
            self.roll_back()
        raise refusal

    def _redo_others(self, before: UndoMark) -> bool:
        """Redo the steps of others that the body undid; return whether they stand again.

        They do not where the body's own edits came on top.

        Args:
            before: The place in the undo stack before the body.
        """
        depth = self._host.undo_mark().depth
        with suppress(Exception):  # an edit on top has emptied the redo stack
            for _ in range(before.depth - depth):
                self._host.redo()
        now = self._host.undo_mark()
        if now[:2] == before[:2]:
            return True
        for _ in range(now.depth - depth):
            with suppress(NotUndoable):  # the person is told to look at the scene
                self._host.undo()
        return False
