"""The loop of consent: an edit is tried, and a person is asked about what it really lost.

A *try* is one run of a body inside an undo step. If it lost something that nobody had agreed to,
the open step is reverted, the person is asked with the real list, and after a yes the body is tried
again; what is lost then must be what was agreed to. An *attempt* is all tries of one body. So the
body may run more than once, and its effect happens once. Main thread.
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
from dcc_bridge.consent.loss_questions import ask_about_edit, ask_about_loss, described_edit
from dcc_bridge.consent.outside import OutsideGuard
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.errors import CannotDryRun, DryRunEnd, NoConsent
from dcc_bridge.host import Changes, Host, SceneGuard

T = TypeVar("T")
AskForLoss = Callable[[Loss], None]  # NotConfirmed: the person did not agree
# The body does not run; it is tried; or it runs after a person has agreed, and its edit stays.
Phase = Literal["idle", "trying", "agreed"]

MAX_QUESTIONS: Final = 3  # about losses, of one attempt; each is about another loss
_DIFFERS_EACH_TIME: Final = "deletes different items each time it runs"
_CANNOT_REVERT: Final = "The application cannot revert an edit without a trace."
_TOO_LONG_S: Final = 10.0  # a body that ran for longer is asked about first from then on


class CannotTry(BaseException):
    """A body cannot be tried to its end, so the person is asked first; nothing has changed.

    It is not an `Exception`, so that the body's own handlers let it pass.

    Attributes:
        wanted: The acts outside the scene before which the body was stopped, if these are why:
            "write the new file /shots/a.usda".
        lost: The things that the body had lost until then.
        files: The existing files that the body would have written over or removed.
        is_watched: Whether the host can revert the body's step. Then the body is stopped before
            such acts also when it runs after a yes.
        why: The reason, a sentence for the client of a dry run; "" if `wanted` is the reason.
    """

    def __init__(
        self,
        wanted: Sequence[str] = (),
        lost: Sequence[str] = (),
        files: Sequence[Path] = (),
        *,
        is_watched: bool = False,
        why: str = "",
    ) -> None:
        super().__init__()
        self.wanted = tuple(wanted)
        self.files = tuple(files)
        self.lost = tuple(lost)
        self.is_watched = is_watched
        self.why = why


class TryAgain(BaseException):
    """A body begins anew with the answers given so far; `except Exception` lets it pass."""


class _EditToAsk(Exception):
    """A body has edited the scene, and the person is asked about each edit.

    Attributes:
        changes: The items that the edit made, changed and deleted.
        loss: The things that the edit lost.
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
            is_gated: Whether the person is asked first if a try would leave a trace.
            asks_edits: Whether the person is asked about an edit that loses nothing as well.
            guard: Refuses acts outside the scene; None where something else does.
            writers: Lists the host's functions that write files and raise no audit event.
            restart: Starts the time limit of the body again.
            ask_for_loss: Asks the person about a loss; None for the usual question.
        """
        self._host = host
        self._call = call
        self._steps = steps
        self._loss_guard = steps.loss_guard
        self.is_gated = is_gated
        self._asks_edits = asks_edits  # until the person has agreed to the edit
        self._restart = restart
        self._guard = guard
        self._writers = writers
        self._ask_for_loss = ask_for_loss
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
            DryRunEnd: The call is a dry run, and the body has edited; nothing has changed.
            BaseException: The body's own error; nothing has changed.
        """
        deeds = len(self._call.deeds)
        with self._guarded():
            while True:
                self._begin_anew(deeds)
                try:
                    return self._try_once(body)
                except TryAgain:
                    self._steps.roll_back()
                except _EditToAsk as edit:
                    self._steps.roll_back()
                    if self._call.is_dry_run:
                        told = described_edit(self._host, edit.changes, edit.loss)
                        raise DryRunEnd(told) from None
                    self._asks_edits = False
                    ask_about_edit(self._host, self._call, edit.changes, edit.loss, self._seconds)
                except UnauthorizedLoss as error:
                    self._check_may_ask(error)
                    self._steps.roll_back()
                    self._ask_about(error.loss)
                self._restart()

    def run_watched(self, body: Callable[[], T]) -> T:
        """Run a body that a person has agreed to, until it reaches outside the scene.

        Args:
            body: The function that edits.

        Raises:
            CannotTry: The body reached outside the scene, which the person was not told of; nothing
                has changed.
            BaseException: The body's own error; nothing has changed.
        """
        with self._guarded(), self._steps.open(is_last=True), self._in_phase("agreed"):
            try:
                return body()
            finally:
                self._check_ending()

    def run_untried(self, body: Callable[[], T]) -> T:
        """Run a body that was asked about first, and return its result.

        Its questions get the answers that they got in a try. The body runs again only if it asks
        for that by `TryAgain`.

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

    def give_up(self, wanted: Sequence[str] = (), why: str = "") -> NoReturn:
        """End a try here, even if the body catches the error.

        Args:
            wanted: The acts of the body that undo would not bring back, before which the try ends.
            why: The reason, if it is another: a sentence for the client of a dry run.

        Raises:
            CannotTry: Always.
        """
        self._ending = CannotTry(wanted, why=why)
        raise self._ending

    def _begin_anew(self, deeds: int) -> None:
        """Forget the deeds of the last try, and which of the agreed items it has lost."""
        del self._call.deeds[deeds:]
        self._call.ledger.begin_anew()
        self._consents_before = self._call.ledger.consents

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Refuse acts outside the scene in the block; undo a body that cannot be tried."""
        risk = self._call.risk
        if self._guard is not None:
            self._loss_guard.watching = partial(watched_by, self._guard, self._writers())
        try:
            yield
        except CannotTry:
            refused = self._call.ledger.refused
            self._loss_guard.watching = nullcontext
            self._steps.roll_back()
            if refused is not None:  # a no to the body's own question is no reason to ask again
                raise refused from None
            self._call.start_over(risk)
            raise

    def _check_may_ask(self, error: UnauthorizedLoss) -> None:
        """Refuse a loss after the body's own question, and one that differs with each try."""
        ledger = self._call.ledger
        has_asked = ledger.consents > self._consents_before
        if has_asked and not ledger.keeps_answers:
            raise error
        self._questions += 1
        if self._questions > MAX_QUESTIONS:
            raise NoConsent(self._call.skill, _DIFFERS_EACH_TIME) from None

    def _ask_about(self, loss: Loss) -> None:
        if self._ask_for_loss is not None:
            self._ask_for_loss(loss)
        else:
            ask_about_loss(self._host, self._call, loss, self._seconds)

    # ---- one try

    def _try_once(self, body: Callable[[], T]) -> T:
        failure: BaseException | None = None
        self._loss_guard.unauthorized = None
        self._ending = None
        self._prepare_pictures()
        try:
            with self._steps.open(is_last=True):
                self._check_can_try()
                self._loss_guard.note_begin()
                try:
                    value = self._timed(body)
                    self._check_ending()
                except BaseException as error:
                    failure = self._find_ending()
                    if failure is None:
                        failure = error
                        raise
                    raise failure from None
        except UnauthorizedLoss as loss:
            if failure is not None and failure is not loss:
                raise failure from None  # nobody is asked about the loss of a body that failed
            raise
        if self._loss_guard.unauthorized is not None:  # the body has caught it
            raise self._loss_guard.unauthorized
        return value

    def _prepare_pictures(self) -> None:
        """Prepare pictures of a loss, if the body says that it is destructive."""
        preview = self._loss_guard.preview
        preview.forget()
        if self._call.risk == "destructive" and self._ask_for_loss is None:
            preview.expect_loss()

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
        """Raise CannotTry if a revert would leave a trace, or the host cannot tell the losses."""
        trial = self._steps.trial
        keeps_all = trial is not None and trial.keeps_redo
        sees_losses = type(self._host).lost is not SceneGuard.lost
        if self.is_gated and not (keeps_all and sees_losses):
            raise CannotTry(is_watched=trial is not None, why=_CANNOT_REVERT)
        # Where nothing can be reverted, nobody is asked about what is lost already.
        self._call.ledger.judges_losses = trial is not None

    def _check_edit(self, count: Callable[[], Changes]) -> None:
        """End a try that has edited, so that the person is asked about the edit."""
        trial = self._steps.trial
        if trial is None or not trial.is_edited():
            return
        lost = self._host.lost(())
        raise _EditToAsk(count(), Loss(tuple(lost), tuple(trial.broken())))

    def _check_ending(self) -> None:
        """Raise the error that ended the try, if there is one and the body has caught it."""
        ending = self._find_ending()
        if ending is not None:
            raise ending

    def _find_ending(self) -> CannotTry | TryAgain | None:
        """Return the error that ended the try before the body's end; None if nothing did."""
        wanted = list[str]()
        files = list[Path]()
        why = ""
        if self._guard is not None:
            wanted += self._guard.wanted
            files += self._guard.files
        if isinstance(self._ending, CannotTry):
            wanted += self._ending.wanted
            why = self._ending.why
        elif not wanted:
            return self._ending
        return CannotTry(wanted, self._host.lost(()), files, why=why)

    # ---- the body's own questions

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer that an earlier try got to the same question, or None.

        If there is none, the edits of the body so far are reverted: the body begins anew with the
        answer, so that all its edits are one undo step. A body that asks another question in each
        try goes on instead.

        Args:
            question: The question that the body is about to ask.

        Raises:
            CannotTry: The body asks for consent, and the person is asked about each edit anyway;
                or the call is a dry run, which asks nobody.
            CannotDryRun: The call is a dry run of a body that only reads.
        """
        if self._call.is_dry_run:
            self._refuse_to_ask(question)
        if self._phase == "idle":
            return None
        self._asked_at = perf_counter()
        is_trying = self._phase == "trying"
        if question.consent is not None and is_trying and self._asks_edits:
            self.give_up()
        if not lists_nothing(question):
            return None
        response = self._answers.recall(question)
        if response is None:
            if is_trying and self._answers.is_new_here and self._steps.revert():
                self._ending = TryAgain()
        elif self._call.is_refusal(question, response):
            # What a refusal withdraws is withdrawn in this try too, for the rest of the body.
            with self._steps.pause():
                self._call.note_answer(question, response)
        return response

    def _refuse_to_ask(self, question: Question) -> NoReturn:
        """End a dry run that would ask a question."""
        first_line = question.message.partition("\n")[0]
        why = f"It asks a question: {first_line!r}."
        if self._phase == "idle":  # the body only reads, so it is not tried
            raise CannotDryRun(self._call.skill, why)
        self.give_up(why=why)

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
