"""The loop of consent: an edit is tried, and a person is asked about what it really lost.

A body runs inside an undo step. Where it lost something that nobody had agreed to, the open step is
reverted, the person is asked with the real list, and after a yes the body runs again; what is lost
then must be what was agreed to. So the body may run more than once, and its effect happens once.
Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final, NoReturn, TypeVar

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

MAX_QUESTIONS: Final = 3  # of one attempt; it is another loss each time
_ANOTHER: Final = "loses something else each time that it runs"
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


class _Unasked(Exception):
    """A body has edited the scene where every edit has to be asked about."""

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
        self._asks_edits = asks_edits
        self._restart = restart
        self._guard = guard
        self._writers = writers
        self._ask_for_loss = ask_for_loss or self._ask_to_delete
        self._is_running = False
        self._is_replaying = False
        self._is_agreed = False
        self._must_be_asked_first = False
        self._wanted: list[str] = []
        self._asked_at = 0.0
        self._waited = 0.0
        self._seconds = 0.0
        self._answers: dict[Hashable, ElicitationResponse] = {}
        self._inputs_asked = 0
        self._questions = 0
        self._consents_before = 0

    @property
    def is_trying(self) -> bool:
        """Whether the body is running now, and what it loses is asked about at its end."""
        return self._is_running and self._call.agreement.is_tried

    @property
    def is_too_long(self) -> bool:
        """Whether the body ran for so long that it should not be tried again."""
        return self._seconds > _TOO_LONG_S

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
        risk = self._call.risk
        deeds = len(self._call.dialogue.deeds)
        if self._guard is not None:
            self._steps.watching = partial(watched_by, self._guard, self._writers())
        while True:
            del self._call.dialogue.deeds[deeds:]
            self._call.agreement.begin_anew()
            self._consents_before = self._call.agreement.consents
            try:
                return self._once(body)
            except CannotTry:
                refused = self._call.agreement.refused
                self._steps.watching = nullcontext
                self._steps.roll_back()
                if refused is not None:  # a no to the body's own question is no reason to ask again
                    raise refused from None
                self._call.start_over(risk)
                raise
            except (TryAgain, _Unasked, UnauthorizedLoss) as error:
                self._ask_about(error)
            self._restart()

    def _ask_about(self, error: BaseException) -> None:
        """Revert a try, and ask the person about what ended it, if that can be asked about."""
        if isinstance(error, UnauthorizedLoss):
            self._check_may_ask(error)
        self._steps.roll_back()
        if isinstance(error, UnauthorizedLoss):
            self._ask_for_loss(error.loss)
        elif isinstance(error, _Unasked):
            self._is_agreed = True
            ask_about_edit(self._host, self._call, error.changes, error.loss, self._seconds)

    def _check_may_ask(self, error: UnauthorizedLoss) -> None:
        """Refuse a loss after the body's own question, and one that differs with each try."""
        agreement = self._call.agreement
        has_asked = agreement.consents > self._consents_before
        if has_asked and not agreement.keeps_answers:
            raise error
        self._questions += 1
        if self._questions > MAX_QUESTIONS:
            raise NoConsent(self._call.skill, _ANOTHER) from None

    def run_watched(self, body: Callable[[], T]) -> T:
        """Run a body that a person has agreed to, until it reaches outside the scene.

        Args:
            body: What edits; what it loses was agreed to.

        Raises:
            CannotTry: It wanted to do what the person was not told of; nothing has changed.
            BaseException: What the body raises; nothing has changed.
        """
        risk = self._call.risk
        if self._guard is not None:
            self._steps.watching = partial(watched_by, self._guard, self._writers())
        try:
            with self._steps.open(is_last=True), self._replaying():
                try:
                    return body()
                finally:
                    self._check_outside()
        except CannotTry:
            self._steps.watching = nullcontext
            self._steps.roll_back()
            self._call.start_over(risk)
            raise

    def answered_before(self, question: Question) -> ElicitationResponse | None:
        """Return the answer that an earlier try got to the same question, or None.

        Args:
            question: The question that the body is about to ask.

        Raises:
            CannotTry: It asks for consent where every edit has to be asked about.
        """
        if not (self._is_running or self._is_replaying):
            return None
        self._asked_at = perf_counter()
        if question.consent is not None and self._is_running and self._must_ask_first:
            self.give_up()
        if not _lists_nothing(question):
            return None
        self._inputs_asked += 1
        return self._answers.get(self._key(question))

    @property
    def _must_ask_first(self) -> bool:
        return self._asks_edits and not self._is_agreed

    def give_up(self, wanted: Sequence[str] = ()) -> NoReturn:
        """End a try here, even if the body catches that.

        Args:
            wanted: What the body was about to do that undo does not bring back.

        Raises:
            CannotTry: Always.
        """
        self._must_be_asked_first = True
        self._wanted = list(wanted)
        raise CannotTry(wanted)

    def run_untried(self, body: Callable[[], T]) -> T:
        """Run a body that was asked about first, and return its result.

        What it asked in its try is answered as it was there. It begins anew only where it wants to.

        Args:
            body: The function that edits.

        Raises:
            BaseException: The body's own error; nothing has changed.
        """
        deeds = len(self._call.dialogue.deeds)
        while True:
            del self._call.dialogue.deeds[deeds:]
            self._call.agreement.begin_anew()
            try:
                with self._steps.open(is_last=True), self._replaying():
                    return body()
            except TryAgain:
                self._steps.roll_back()
            self._restart()

    @contextmanager
    def _replaying(self) -> Iterator[None]:
        self._inputs_asked = 0
        self._is_replaying = True
        try:
            yield
        finally:
            self._is_replaying = False

    def note_answer(self, question: Question, response: ElicitationResponse) -> None:
        """Keep the answer to a question that lists nothing to lose, for the next try."""
        self._waited += perf_counter() - self._asked_at
        if self._is_running and _lists_nothing(question):
            self._answers[self._key(question)] = response

    def _key(self, question: Question) -> Hashable:
        schema = question.form.schema if question.form is not None else None
        return self._inputs_asked, question.message, repr(schema), question.page

    def _once(self, body: Callable[[], T]) -> T:
        failure: BaseException | None = None
        self._steps.unauthorized = None
        self._inputs_asked = 0
        try:
            with self._steps.open(is_last=True):
                self._check_can_try()
                self._steps.note_begin()
                try:
                    value = self._timed(body)
                    self._check_outside()
                except BaseException as error:
                    failure = error
                    reason = self._cannot_try()
                    if reason is None:
                        raise
                    failure = reason  # and not what it has lost
                    raise reason from None
        except UnauthorizedLoss as loss:
            if failure is not None and failure is not loss:
                raise failure from None  # who failed is asked nothing
            raise
        if self._steps.unauthorized is not None:  # the body has caught it
            raise self._steps.unauthorized
        return value

    def _timed(self, body: Callable[[], T]) -> T:
        begin = perf_counter()
        self._waited = 0.0
        self._is_running = True
        try:
            if not self._asks_edits or self._is_agreed:
                return body()
            with self._host.changes() as count:
                value = body()
                self._check_edit(count)
            return value
        finally:
            self._is_running = False
            self._seconds = perf_counter() - begin - self._waited

    def _check_outside(self) -> None:
        """End a try that was refused something, even if the body has caught the refusal."""
        reason = self._cannot_try()
        if reason is not None:
            raise reason

    def _cannot_try(self) -> CannotTry | None:
        """Return why a body has to be asked about first; None if it has not."""
        guard = self._guard
        wanted = guard.wanted if guard is not None else []
        files = guard.files if guard is not None else []
        if wanted or self._must_be_asked_first:
            return CannotTry([*wanted, *self._wanted], self._host.lost(()), files)
        return None

    def _check_can_try(self) -> None:
        """Refuse a try that would leave a trace even after a no, or whose loss nobody would see."""
        trial = self._steps.trial
        keeps_all = trial is not None and trial.keeps_redo
        sees_losses = type(self._host).lost is not SceneGuard.lost
        if self.is_gated and not (keeps_all and sees_losses):
            raise CannotTry(is_watched=trial is not None)
        # Where nothing can be reverted, an edit is not asked about what it has lost already.
        self._call.agreement.is_tried = trial is not None

    def _check_edit(self, count: Callable[[], Changes]) -> None:
        """End a try that has edited, so that the person is asked about the edit."""
        trial = self._steps.trial
        if trial is None or not trial.is_edited():
            return
        lost = self._host.lost(())
        raise _Unasked(count(), Loss(tuple(lost), tuple(trial.broken())))

    def _ask_to_delete(self, loss: Loss) -> None:
        ask_about_loss(self._host, self._call, loss, self._seconds)


def _lists_nothing(question: Question) -> bool:
    """Return whether a question lists no loss, so that its answer may stand for another try."""
    return question.consent is None or (question.undoable and not question.items)
