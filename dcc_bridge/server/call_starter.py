"""Starts skills for clients, each as a parked call that receives its result. Worker."""

from __future__ import annotations

import logging
import weakref
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from mcp_types import CallToolResult

from dcc_bridge.audit.redact import Redacted
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.elicitation.question import Route
from dcc_bridge.errors import BridgeError, UnknownSkill
from dcc_bridge.server import chat_page, protocol
from dcc_bridge.server.client_channel import ClientChannel, Soon
from dcc_bridge.server.parked_calls import ParkedCall, ParkedCalls
from dcc_bridge.server.protocol import MODERN
from dcc_bridge.server.unfetched_results import same_call
from dcc_bridge.skills import gate
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.registry import Entry
from dcc_bridge.skills.runner import Runner
from dcc_bridge.threads.flows import wrap_future

log = logging.getLogger(__name__)


class CallStarter:
    """Starts skills for clients, each as a parked call."""

    def __init__(self, runner: Runner, calls: ParkedCalls, soon: Soon) -> None:
        """Prepare for calls.

        Args:
            runner: Runs the skills.
            calls: Store the results.
            soon: Calls a function on the worker's loop, from any thread.
        """
        self._runner = runner
        self._calls = calls
        self._soon = soon

    async def begin(
        self,
        name: str,
        fetched: Future[Entry],
        arguments: dict[str, Any],
        caller: SeenClient,
        *,
        is_dry_run: bool = False,
    ) -> ParkedCall | CallToolResult:
        """Start a skill for a client.

        Args:
            name: The skill's name.
            fetched: The skill, once its file is imported.
            arguments: The arguments, as they came.
            caller: The client.
            is_dry_run: Whether the skill is tried and taken back.

        Returns:
            The call, or an error result if the call cannot begin.
        """
        arguments = protocol.restore_hidden(arguments)
        call = Call(name, name, client=caller.client, is_dry_run=is_dry_run)
        try:
            entry = await wrap_future(fetched)
            return self._start(entry, call, arguments, caller)
        except Exception as error:  # a skill's own types may raise anything for an argument
            if not isinstance(error, BridgeError):
                log.exception("call %s of %s could not begin", call.id, name)
            if call.arguments.value is None:  # the skill's schema is not known
                call.arguments = Redacted(arguments, call=call.id)
            self._runner.reject(call, str(error))
            return protocol.failure(str(error))

    def _start(
        self, entry: Entry, call: Call, arguments: dict[str, Any], caller: SeenClient
    ) -> ParkedCall:
        """Start a skill. Raises UnknownSkill, or the signature's error for wrong arguments."""
        skill = entry.skill
        signature = entry.signature
        if signature is None:
            raise UnknownSkill(skill.name)
        schema = None
        if arguments:
            schema = signature.schema
        call.arguments = Redacted(arguments, schema, call.id)
        bound = signature.bind(arguments)
        call.title = skill.title
        if call.is_dry_run:
            gate.check_dry_run(skill)
            call.title = f"{skill.title} (dry run)"
        call.risk = skill.metadata.risk
        call.digest = skill.digest
        if skill.file is not None:
            call.file = str(skill.file)
        same = same_call(caller.client.label, _kind(call), bound)
        parked = ParkedCall(call, caller.client.label, same, modern=caller.era >= MODERN)
        early_notice = self._calls.notice_for(same)
        call.dialogue.repeats = early_notice
        _, _, call.repeat_key = same
        equal_calls = self._calls.alike(same)
        call.route = self._question_route(parked, caller)
        run = self._runner.start(
            skill,
            bound,
            call,
            signature.missing(bound),
            lambda progress: self._soon(lambda: parked.note_progress(progress)),
        )
        parked.cancel = run.cancel
        parked.asks_as_task = skill.metadata.task == "ask"
        returns = signature.returns

        def finish(done: Future[Outcome]) -> None:
            outcome = done.result()
            notice = self._calls.late_notice_for(same, equal_calls)
            if early_notice:
                # The first question of a call shows its notice and clears it.
                notice = call.dialogue.repeats
            if notice and call.risk != "read" and not outcome.error:
                outcome = replace(outcome, note=f"{outcome.note} {notice}".strip())
            most = self._runner.environment.settings.answer_bytes
            result = protocol.result(outcome, most, returns)
            self._calls.finish(parked, _for_client(result, outcome, call, caller), outcome.status)

        run.outcome.add_done_callback(lambda done: self._soon(partial(finish, done)))
        return parked

    def _question_route(self, parked: ParkedCall, caller: SeenClient) -> Route:
        """Return the route of a call's questions to its client."""
        offer = partial(ParkedCall.offer, weakref.proxy(parked))  # weak: the call has the channel
        channel = ClientChannel(offer, self._soon)
        form = None
        if caller.form:
            form = channel
        url = None
        if caller.url:
            url = channel
        return Route(form, url, not parked.modern)


def _for_client(
    result: CallToolResult, outcome: Outcome, call: Call, caller: SeenClient
) -> CallToolResult:
    """Return a result with what a page draws beside it, for a client that draws pages."""
    if caller.pages:
        result.meta = {**(result.meta or {}), **chat_page.facts(outcome, call)}
    return result


def _kind(call: Call) -> str:
    """Return the kind by which a call is known again: its skill, and whether it is a dry run."""
    if call.is_dry_run:
        return f"{call.skill} (dry run)"
    return call.skill
