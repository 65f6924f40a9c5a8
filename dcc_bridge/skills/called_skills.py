"""Consent to the destructive skills that the body of another skill calls. Any thread.

The words of this module:

- The caller is the skill of the run, the called skill a destructive skill that the caller's body
  calls. Both belong to one `Call` with one ledger, so a grant to the one allows the other, too.
- A grant is made of a person's yes. A grant without a list of items allows any loss.
- A body is tried if its losses are read at its end, and asked about then. The try of the caller
  covers a called skill that can be tried: one question lists the losses of both.
- A skill confirms if its body asks for consent itself.
- A risk is raised if the caller is an edit, and the call became destructive by a called skill
  alone. The caller had smaller rights before. It gets them back after the called skill.

How a person is asked about a called skill, by the first line that applies:

    the caller is tried, and the called skill can be     at the end of the caller's body
    the caller is destructive, and may lose anything     not again
    the called skill confirms                            in its own body
    any other                                            before its own body

Where the first line does not apply, a try of the caller may end (`CalledSkills._end_try_before`).
Then the caller's body begins anew, untried, and a destructive caller is asked about before it.
"""

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
class _CallerRights:
    """The rights of a caller that is an edit: two fields of the ledger before the risk was raised.

    Attributes:
        needs_grant: Whether each change of the caller needs a grant, as the studio's settings say.
        judges_losses: Whether the caller is tried, so that only its losses need a grant.
    """

    needs_grant: bool
    judges_losses: bool

    def give_back(self, call: Call) -> None:
        """Make a call again an edit with these rights, and withdraw what was granted since."""
        ledger = call.ledger
        ledger.grants.clear()
        ledger.is_raised = False
        ledger.needs_grant = self.needs_grant
        ledger.judges_losses = self.judges_losses
        call.risk = "edit"


class CalledSkills:
    """The destructive skills that one run calls, and the rights of the caller around them.

    The decorator of a destructive skill calls `enter`. In the block of `inside`, it then asks the
    question that `enter` returned, and runs the function of the skill.
    """

    def __init__(self, main: MainThread, steps: Steps, attempt: Attempt) -> None:
        """Begin with no skill called.

        Args:
            main: The queue to the main thread.
            steps: The undo steps of the run.
            attempt: The attempt of the caller's body.
        """
        self._main = main
        self._steps = steps
        self._attempt = attempt
        self._own_function: Callable[..., object] | None = None  # the caller's, until it is entered
        self._rights: _CallerRights | None = None  # from `enter` to `inside`, if a risk was raised

    def expect_own(self, fn: Callable[..., object]) -> None:
        """Expect the caller's own function next: `enter` lets it pass, as the gate has asked.

        Args:
            fn: The function of the run's skill.
        """
        self._own_function = inspect.unwrap(fn)

    def enter(
        self,
        call: Call,
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> Flow[None] | None:
        """Return the question that is to be asked before a destructive skill; None for no question.

        The table in the module's docstring says who is asked where.

        Args:
            call: The call of the run.
            fn: The function of the destructive skill, as the decorator gave it.
            args: The positional arguments of the function.
            kwargs: The keyword arguments of the function.

        Raises:
            CannotTry: The try of the caller ends here, and the person is asked before its body.
            WrongRisk: The caller says that it only reads.
        """
        if inspect.unwrap(fn) is self._own_function:
            self._own_function = None
            return None
        ledger = call.ledger
        is_caller_destructive = call.risk == "destructive" and not ledger.is_raised
        if self._attempt.is_trying:
            skill = describe(fn)
            if gate.is_tried(skill):
                return None
            self._end_try_before(skill, is_caller_destructive=is_caller_destructive)
        may_lose_anything = ledger.agreed_items is None
        if is_caller_destructive and may_lose_anything:
            return None
        if call.risk != "destructive":
            self._raise_risk(call)
        return gate.ask_inside(fn, args, kwargs, call)

    def _raise_risk(self, call: Call) -> None:
        """Make a call destructive for a called skill, and keep the rights that the caller had."""
        self._rights = _CallerRights(call.ledger.needs_grant, call.ledger.judges_losses)
        with self._pause():  # the edits before this are judged by the caller's rights
            call.raise_risk("destructive")
            call.ledger.judges_losses = False  # a grant comes first: this skill is not tried

    @contextmanager
    def inside(self, call: Call) -> Iterator[None]:
        """Ask about a called skill and run it in the block; then give the caller its rights back.

        The call stays destructive in three cases: the block raised an error; the person refused a
        question in it, and the skill went on; or the grants list their items. Such a list limits
        the caller as well, and one undo step holds all.

        Args:
            call: The call of the run.
        """
        rights = self._rights
        ledger = call.ledger
        if not ledger.is_raised or rights is None:
            yield
            return
        self._rights = None
        refusals_before = ledger.refusals
        yield
        has_listed_grants = bool(ledger.live) and ledger.agreed_items is not None
        if has_listed_grants:
            return
        with self._pause():
            if ledger.refusals == refusals_before:
                rights.give_back(call)

    def _end_try_before(self, skill: Skill, *, is_caller_destructive: bool) -> None:
        """End the try of the caller where a called skill must be asked about before the caller.

        The called skill cannot be tried. It goes on inside the try if it confirms, or if the caller
        is an edit and undo brings back what the called skill does. Else the try ends, for one of
        two reasons:

        - The caller is destructive: the grant to the called skill would also allow what the caller
          loses, about which the person was not asked yet.
        - Undo does not bring back what the called skill does, and a try must be reversible.

        Args:
            skill: The called skill.
            is_caller_destructive: The caller is destructive by its own metadata.

        Raises:
            CannotTry: The try ends.
        """
        is_final = skill.metadata.undo is False
        may_go_on = skill.metadata.confirms or not (is_caller_destructive or is_final)
        if may_go_on:
            return
        # A destructive caller is asked about next, in words that name the final act. An edit runs
        # untried, up to the question about the called skill.
        if is_caller_destructive and is_final:
            self._attempt.give_up([skill.title])
        why = f"It calls {skill.title}, about which the person is asked before."
        self._attempt.give_up(why=why)

    def _pause(self) -> AbstractContextManager[None]:
        """Close the undo step in the block, if the main thread runs the skill."""
        if self._main.is_current:
            return self._steps.pause()
        return nullcontext()
