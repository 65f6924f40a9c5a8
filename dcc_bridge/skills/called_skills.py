"""Consent to the destructive skills that the body of another skill calls. Any thread."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from dcc_bridge.consent.attempt import Attempt
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.skills import gate
from dcc_bridge.skills.skill import Skill, describe
from dcc_bridge.threads.flows import Flow
from dcc_bridge.threads.main_thread import MainThread


@dataclass(frozen=True, slots=True)
class _Rights:
    """What a skill may do without asking, before it calls a destructive one.

    Attributes:
        needs_grant: `Ledger.needs_grant` of its call.
        judges_losses: `Ledger.judges_losses` of its call.
    """

    needs_grant: bool
    judges_losses: bool


class CalledSkills:
    """The destructive skills that one run calls, and what its own body may do around them."""

    def __init__(self, main: MainThread, steps: Steps, attempt: Attempt) -> None:
        """Begin with no skill called.

        Args:
            main: The queue to the main thread.
            steps: The undo steps of the run.
            attempt: The attempt of the run's own body.
        """
        self._main = main
        self._steps = steps
        self._attempt = attempt
        self._own: Callable[..., object] | None = None
        self._rights: _Rights | None = None  # of the caller, while a called skill has more

    def expect_own(self, fn: Callable[..., object]) -> None:
        """Let the run's own function be entered next: the gate has seen that one."""
        self._own = inspect.unwrap(fn)

    def enter(
        self,
        call: Call,
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Flow[None] | None:
        """Return what asks for consent before a destructive skill runs; None if nobody is asked.

        Args:
            call: The call in which it runs.
            fn: Its function, as the decorator gave it.
            args: What it is called with.
            kwargs: What it is called with by name.

        Raises:
            CannotTry: It cannot be tried, so the person is asked before the whole body.
            WrongRisk: The calling skill says that it only reads.
        """
        if inspect.unwrap(fn) is self._own:
            self._own = None
            return None
        ledger = call.ledger
        is_own_risk = call.risk == "destructive" and not ledger.is_raised
        if self._attempt.is_trying:
            skill = describe(fn)
            if gate.is_tried(skill):
                return None  # what it loses is asked for with all that its caller loses
            self._end_try_before(skill, is_own_risk=is_own_risk)
        was_granted = is_own_risk and ledger.covered is None
        if call.risk != "destructive":
            self._rights = _Rights(ledger.needs_grant, ledger.judges_losses)
            with self._pause():
                call.raise_risk("destructive")  # what was changed so far was allowed
                ledger.judges_losses = False  # it asks for consent by itself
        if was_granted:
            return None
        return gate.ask_inside(fn, args, kwargs, call)

    @contextmanager
    def inside(self, call: Call) -> Iterator[None]:
        """Run the body of a called skill, and give its caller the caller's own rights back.

        Args:
            call: The call in which it runs.
        """
        rights = self._rights
        ledger = call.ledger
        if not ledger.is_raised or rights is None:
            yield
            return
        self._rights = None
        refusals = ledger.refusals
        yield  # where it fails or is undone, nothing is given back
        # What was agreed to by name limits the caller too, and it all stays one undo step.
        is_limited = bool(ledger.live) and ledger.covered is not None
        if is_limited:
            return
        with self._pause():
            if ledger.refusals == refusals:  # a no holds to the end
                ledger.grants.clear()
                ledger.is_raised = False
                ledger.needs_grant = rights.needs_grant
                ledger.judges_losses = rights.judges_losses
                call.risk = "edit"

    def _end_try_before(self, skill: Skill, *, is_own_risk: bool) -> None:
        """End the try before a skill that cannot be tried, where its yes would cover its caller.

        So it is where undo does not bring back what the skill does: the try refuses that.
        """
        is_final = skill.metadata.undo is False
        if skill.metadata.confirms or not (is_own_risk or is_final):
            return
        wanted = [skill.title] if is_own_risk and is_final else []
        self._attempt.give_up(wanted)

    def _pause(self) -> AbstractContextManager[None]:
        """Close the undo step for a moment, where the main thread runs the skill."""
        if self._main.is_current:
            return self._steps.pause()
        return nullcontext()
