"""The loop of consent: an edit is tried, and a person is asked about what it really lost.

A body runs inside an undo step. Where it lost something that nobody had agreed to, the open step is
reverted, the person is asked with the real list, and after a yes the body runs again; what is lost
then must be what was agreed to. So the body may run more than once, and its effect happens once.
Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final, Literal, NoReturn, TypeVar

from dcc_bridge.consent.answer_memory import AnswerMemory, lists_nothing
from dcc_bridge.consent.audit_hook import Writer, watched_by
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.loss import Loss, UnauthorizedLoss
from dcc_bridge.consent.loss_questions import ask_about_edit, ask_about_loss
from dcc_bridge.consent.outside import OutsideGuard
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.errors import NoConsent
from dcc_bridge.host import Changes, Host, SceneGuard

T = TypeVar("T")
AskForLoss = Callable[[Loss], None]  # NotConfirmed: the person did not agree
# The body does not run; it is tried; or it runs once a person has agreed, and its edit stays.
Phase = Literal["idle", "trying", "agreed"]

MAX_QUESTIONS: Final = 3  # of one attempt; it is another loss each time
_ANOTHER: Final = "deletes different items each time it runs"
_TOO_LONG_S: Final = 10.0  # a body that ran for longer is asked about first from then on


class CannotTry(BaseException):
    """A body cannot be tried to its end, so the person is asked first; nothing has changed.

    It is not an `Exception`, so that the body's own handlers let it pass.

    Attributes:
        wanted: The acts outside the scene that it was stopped at, if those are why: "write the new
            file /shots/a.usda".
        lost: What it had lost until then.
        files: The files that are there and that it would have written over or removed.
        is_watched: It can be reverted, so it is stopped at such acts also once it is agreed to.
    """

    def __init__(
        self,
        wanted: Sequence[str] = (),
        lost: Sequence[str] = (),
        files: Sequence[Path] = (),
        *,
        is_watched: bool = False,
    ) -> None:
        super().__init__()
        self.wanted = tuple(wanted)
        self.files = tuple(files)
        self.lost = tuple(lost)
        self.is_watched = is_watched


class TryAgain(BaseException):
    """A body begins anew with the answers given so far; `except Exception` lets it pass."""


class _EditToAsk(Exception):
    """A body has edited the scene where every edit has to be asked about.

    Attributes:
        changes: What became of the items.
        loss: What the edit lost.
    """

    def __init__(self, changes: Changes, loss: Loss) -> None:
        super().__init__()
        self.changes = changes
        self.loss = loss


class Attempt:
    """One body, tried until its edit stays or is refused."""

    def __init__(
        self,
        host: Host,
        call: Call,
        steps: Steps,
        *,
        is_gated: bool = False,
        asks_edits: bool = False,
        guard: OutsideGuard | None = None,
        writers: Callable[[], Sequence[Writer]] = tuple,
        restart: Callable[[], None] = lambda: None,
        ask_for_loss: AskForLoss | None = None,
    ) -> None:
        """Prepare an attempt.

        Args:
            host: The host whose scene is edited.
            call: The call that the body belongs to.
            steps: The undo steps of the call.
            is_gated: Ask before the body where it cannot be tried without leaving a trace.
            asks_edits: Ask about an edit that loses nothing as well.
            guard: Refuses acts outside the scene; None where something else does.
            writers: Lists the host's functions that write files and raise no audit event.
            restart: Starts the time limit of the body again.
            ask_for_loss: Asks the person about a loss, in other words than the usual ones.
        """
        self._host = host
        self._call = call
        self._steps = steps
        self.is_gated = is_gated  # the person is asked first where it cannot be tried
        self._asks_edits = asks_edits  # until the person has agreed to the edit
        self._restart = restart
        self._guard = guard
        self._writers = writers
        self._ask_for_loss = ask_for_loss or self._ask_to_delete
        self._phase: Phase = "idle"
        self._ending: CannotTry | TryAgain | None = None  # of this try, which a body may catch
        self._answers = AnswerMemory()
        self._asked_at = 0.0
        self._waited = 0.0
        self._seconds = 0.0
        self._questions = 0
        self._consents_before = 0

    @property
    def is_trying(self) -> bool:
        """Whether the body is running now, and what it loses is asked about at its end."""
        return self._phase == "trying" and self._call.ledger.judges_losses

    @property
    def is_too_long(self) -> bool:
        """Whether the body ran for so long that it should not be tried again."""
        return self._seconds > _TOO_LONG_S

    # ---- the loop

    def run(self, body: Callable[[], T]) -> T:
        """Run a body until what it loses is what was agreed to, and return its result.

        Args:
            body: The function that edits; it is called once for each try.

        Raises:
            CannotTry: The person has to be asked first; nothing has changed.
            NotConfirmed: A person did not agree; nothing has changed.
            NoConsent: It loses something else each time, or after its own question.
            BaseException: The body's own error; nothing has changed.
        """
        deeds = len(self._call.deeds)
        with self._guarded():
            while True:
                self._begin_anew(deeds)
                try:
                    return self._try_once(body)
                except (TryAgain, _EditToAsk, UnauthorizedLoss) as error:
                    self._ask_about(error)
                self._restart()

    def run_watched(self, body: Callable[[], T]) -> T:
        """Run a body that a person has agreed to, until it reaches outside the scene.

        Args:
            body: What edits; what it loses was agreed to.

        Raises:
            CannotTry: It wanted to do what the person was not told of; nothing has changed.
            BaseException: What the body raises; nothing has changed.
        """
        with self._guarded(), self._steps.open(is_last=True), self._in_phase("agreed"):
            try:
                return body()
            finally:
                self._check_ending()

    def run_untried(self, body: Callable[[], T]) -> T:
        """Run a body that was asked about first, and return its result.

        What it asked in its try is answered as it was there. It begins anew only where it wants to.

        Args:
            body: The function that edits.

        Raises:
            BaseException: The body's own error; nothing has changed.
        """
        deeds = len(self._call.deeds)
        while True:
            self._begin_anew(deeds)
            try:
                with self._steps.open(is_last=True), self._in_phase("agreed"):
                    return body()
            except TryAgain:
                self._steps.roll_back()
            self._restart()

    def give_up(self, wanted: Sequence[str] = ()) -> NoReturn:
        """End a try here, even if the body catches that.

        Args:
            wanted: What the body was about to do that undo does not bring back.

        Raises:
            CannotTry: Always.
        """
        self._ending = CannotTry(wanted)
        raise self._ending

    def _begin_anew(self, deeds: int) -> None:
        """Forget what the last try has done, and which of the agreed losses it has used."""
        del self._call.deeds[deeds:]
        self._call.ledger.begin_anew()
        self._consents_before = self._call.ledger.consents

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Watch for acts outside the scene; leave nothing of a body that cannot be tried."""
        risk = self._call.risk
        if self._guard is not None:
            self._steps.loss_guard.watching = partial(watched_by, self._guard, self._writers())
        try:
            yield
        except CannotTry:
            refused = self._call.ledger.refused
            self._steps.loss_guard.watching = nullcontext
            self._steps.roll_back()
            if refused is not None:  # a no to the body's own question is no reason to ask again
                raise refused from None
            self._call.start_over(risk)
            raise

    def _ask_about(self, error: BaseException) -> None:
        """Revert a try, and ask the person about what ended it, if that can be asked about."""
        if isinstance(error, UnauthorizedLoss):
            self._check_may_ask(error)
        self._steps.roll_back()
        if isinstance(error, UnauthorizedLoss):
            self._ask_for_loss(error.loss)
        elif isinstance(error, _EditToAsk):
            self._asks_edits = False
            ask_about_edit(self._host, self._call, error.changes, error.loss, self._seconds)

    def _check_may_ask(self, error: UnauthorizedLoss) -> None:
        """Refuse a loss after the body's own question, and one that differs with each try."""
        ledger = self._call.ledger
        has_asked = ledger.consents > self._consents_before
        if has_asked and not ledger.keeps_answers:
            raise error
        self._questions += 1
        if self._questions > MAX_QUESTIONS:
            raise NoConsent(self._call.skill, _ANOTHER) from None

    def _ask_to_delete(self, loss: Loss) -> None:
        ask_about_loss(self._host, self._call, loss, self._seconds)

    # ---- one try

    def _try_once(self, body: Callable[[], T]) -> T:
        failure: BaseException | None = None
        self._steps.loss_guard.unauthorized = None
        self._ending = None
        try:
            with self._steps.open(is_last=True):
                self._check_can_try()
                self._steps.loss_guard.note_begin()
                try:
                    value = self._timed(body)
                    self._check_ending()
                except BaseException as error:
                    failure = self._find_ending() or error  # and not what the try has lost
                    if failure is error:
                        raise
                    raise failure from None
        except UnauthorizedLoss as loss:
            if failure is not None and failure is not loss:
                raise failure from None  # who failed is asked nothing
            raise
        if self._steps.loss_guard.unauthorized is not None:  # the body has caught it
            raise self._steps.loss_guard.unauthorized
        return value

    def _timed(self, body: Callable[[], T]) -> T:
        begin = perf_counter()
        self._waited = 0.0
        try:
            with self._in_phase("trying"):
                if not self._asks_edits:
                    return body()
                with self._host.changes() as count:
                    value = body()
                    self._check_edit(count)
                return value
        finally:
            self._seconds = perf_counter() - begin - self._waited

    @contextmanager
    def _in_phase(self, phase: Phase) -> Iterator[None]:
        self._answers.rewind()
        self._phase = phase
        try:
            yield
        finally:
            self._phase = "idle"

    def _check_can_try(self) -> None:
        """Refuse a try that would leave a trace even after a no, or whose loss nobody would see."""
        trial = self._steps.trial
        keeps_all = trial is not None and trial.keeps_redo
        sees_losses = type(self._host).lost is not SceneGuard.lost
        if self.is_gated and not (keeps_all and sees_losses):
            raise CannotTry(is_watched=trial is not None)
        # Where nothing can be reverted, an edit is not asked about what it has lost already.
        self._call.ledger.judges_losses = trial is not None

    def _check_edit(self, count: Callable[[], Changes]) -> None:
        """End a try that has edited, so that the person is asked about the edit."""
        trial = self._steps.trial
        if trial is None or not trial.is_edited():
            return
        lost = self._host.lost(())
        raise _EditToAsk(count(), Loss(tuple(lost), tuple(trial.broken())))

    def _check_ending(self) -> None:
        """Raise what has ended a try before its own end, even if the body has caught that."""
        ending = self._find_ending()
        if ending is not None:
            raise ending

    def _find_ending(self) -> CannotTry | TryAgain | None:
        """Return what has ended a try before its own end; None for nothing."""
        guard = self._guard
        wanted = guard.wanted if guard is not None else []
        files = guard.files if guard is not None else []
        ending = self._ending
        if isinstance(ending, CannotTry):
            wanted = [*wanted, *ending.wanted]
        elif not wanted:
            return ending
        return CannotTry(wanted, self._host.lost(()), files)

    # ---- the body's own questions

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer that an earlier try got to the same question, or None.

        Where there is none, what the body has edited so far is reverted: once there is an answer it
        begins anew with it, and is one undo step. A body that asks something else in each try goes
        on instead.

        Args:
            question: The question that the body is about to ask.

        Raises:
            CannotTry: It asks for consent where every edit has to be asked about.
        """
        if self._phase == "idle":
            return None
        self._asked_at = perf_counter()
        if question.consent is not None and self._phase == "trying" and self._asks_edits:
            self.give_up()
        if not lists_nothing(question):
            return None
        response = self._answers.recall(question)
        if response is None:
            self._revert_before_question()
        elif self._call.is_refusal(question, response):
            self._repeat_refusal(question, response)
        return response

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Keep the answer to a question that lists nothing to lose, for the next try.

        Raises:
            TryAgain: What the body had edited before it asked was reverted.
        """
        self._waited += perf_counter() - self._asked_at
        if self._phase != "trying" or not lists_nothing(question):
            return
        self._answers.keep(question, response)
        if isinstance(self._ending, TryAgain):
            raise self._ending

    def _revert_before_question(self) -> None:
        if self._phase == "trying" and self._answers.is_new_here and self._steps.revert():
            self._ending = TryAgain()

    def _repeat_refusal(self, question: Question, response: ElicitationResponse) -> None:
        """Withdraw in this try too what a refusal withdraws, for what the body does from here."""
        with self._steps.pause():
            self._call.note_answer(question, response)
