"""The body of one run's skill, with the questions of the gate before it.

The gate asks before a body. A body that edits on the main thread may be tried instead: it runs
first, and a person is asked about its losses (`dcc_bridge.consent.attempt`). `Run` calls this on
the thread that the skill's metadata names.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NoReturn

from dcc_bridge.callbacks import report_blocking
from dcc_bridge.consent.attempt import Attempt, CannotTry
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.outside import OutsideGuard
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.errors import CannotDryRun, DryRunEnd
from dcc_bridge.skills import gate
from dcc_bridge.skills.called_skills import CalledSkills
from dcc_bridge.skills.results import whole
from dcc_bridge.skills.run_environment import RunEnvironment
from dcc_bridge.skills.skill import Options, Skill
from dcc_bridge.threads.flows import run_async, run_sync

log = logging.getLogger(__name__)


class Body:
    """The body of one run: the person is asked first, or the body is tried.

    Attributes:
        attempt: The loop that tries the body.
        called_skills: The destructive skills that the body calls.
    """

    def __init__(
        self,
        environment: RunEnvironment,
        skill: Skill,
        arguments: dict[str, Any],
        missing: Mapping[str, Options],
        call: Call,
        steps: Steps,
        restart: Callable[[], None],
    ) -> None:
        """Prepare the body, and note in the call's ledger whether its edits need a grant.

        Args:
            environment: What the runs of one bridge have in common.
            skill: The skill.
            arguments: Its arguments, checked.
            missing: The required choices that are asked for before the body.
            call: The call.
            steps: The undo steps of the call.
            restart: Starts the time limit of the body again.
        """
        self._environment = environment
        self._skill = skill
        self._arguments = arguments
        self._missing = missing
        self._call = call
        self._ask_missing = partial(gate.ask_missing, skill, arguments, missing, call)
        self._ask_before = partial(gate.ask_before, skill, arguments, call, environment.settings)
        needs_grant = gate.needs_grant(skill, environment.settings)
        call.ledger.needs_grant = needs_grant
        self.attempt = Attempt(
            environment.host,
            call,
            steps,
            is_gated=needs_grant or call.is_dry_run,
            asks_edits=call.is_dry_run or (needs_grant and skill.metadata.risk == "edit"),
            guard=OutsideGuard(inspect.unwrap(skill.fn).__code__.co_filename),
            writers=environment.writers,
            restart=restart,
        )
        self.called_skills = CalledSkills(environment.main, steps, self.attempt)
        self.called_skills.expect_own(skill.fn)

    def run(self, step: Callable[[], AbstractContextManager[None]] = nullcontext) -> Any:
        """Ask first, and run the body in a step. Main thread, or a thread of the pool.

        Args:
            step: Makes the step.
        """
        run_sync(self._ask_missing(), "confirm")
        run_sync(self._ask_before(), "confirm")
        with step():
            return whole(self._skill.fn(**self._arguments))

    async def run_on_loop(self) -> Any:
        """Ask first, and run the body on the worker's loop."""
        await run_async(self._ask_missing(), "confirm")
        await run_async(self._ask_before(), "confirm")
        return await report_blocking(self._skill.fn(**self._arguments), self._warn_of_blocking)

    def run_editing(self) -> Any:
        """Run a body that may edit, tried if that is possible. Main thread.

        There are three ways, each after the changes of the way before were undone:

        1. The body is tried. If it comes to its end, the person has agreed to what it lost.
        2. Where the host can revert a step, but not without a trace: the person is asked first,
           and the body runs watched. If it comes to its end, it did nothing outside the scene.
        3. The person is asked first, about acts outside the scene by name, and the body runs
           untried.

        A skill that is not tried, or that took too long when it was tried before, begins with 3.
        """
        if self._call.is_dry_run:
            self._run_dry()
        run_sync(self._ask_missing(), "confirm")
        known = self._skill.name, self._skill.digest
        # A skill that the gate would not ask about is tried however long it takes.
        is_too_long = known in self._environment.too_long and self.attempt.is_gated
        if is_too_long or not gate.is_tried(self._skill):
            return self._run_untried()
        try:
            return self.attempt.run(self._run_afresh)
        except CannotTry as error:
            reason = error
        finally:
            if self.attempt.is_too_long:
                self._environment.too_long.add(known)
        if reason.is_watched:
            run_sync(self._ask_before(), "confirm")
            try:
                return self.attempt.run_watched(self._run_afresh)
            except CannotTry as error:
                reason = error
        return self._run_untried(reason)

    def _run_dry(self) -> NoReturn:
        """Try the body, take it back, and tell what it would change.

        Raises:
            DryRunEnd: The body came to its end.
            CannotDryRun: The body cannot be tried to its end; nothing has changed.
        """
        if self._missing:
            names = ", ".join(self._missing)
            why = f"It asks the person to choose what the arguments leave out: {names}."
            raise CannotDryRun(self._skill.title, why)
        try:
            self.attempt.run(self._run_afresh)
        except CannotTry as error:
            why = error.why
            if error.wanted:
                why = f"Undo cannot reverse this: {'; '.join(error.wanted)}."
            raise CannotDryRun(self._skill.title, why) from None
        raise DryRunEnd("It would change nothing in the scene.")

    def _run_untried(self, reason: CannotTry | None = None) -> Any:
        """Ask first, naming the acts that ended a try, if any; then run the body untried."""
        run_sync(self._ask_before(reason), "confirm")
        return self.attempt.run_untried(self._run_afresh)

    def _run_afresh(self) -> Any:
        """Run the body with a fresh copy of the arguments: no run gets what another one changed."""
        self.called_skills.expect_own(self._skill.fn)
        return whole(self._skill.fn(**copy.deepcopy(self._arguments)))

    def _warn_of_blocking(self, seconds: float) -> None:
        """Log that the body kept the worker's loop from every client."""
        why = (
            "call %s: %s held the worker's loop for %.1f s, and every client waited: await what "
            'takes long, or make it a plain function with thread="any"'
        )
        log.warning(why, self._call.id, self._skill.name, seconds)
