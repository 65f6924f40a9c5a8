"""Calls one skill as an agent does, without a server. Main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, cast

from dcc_bridge import batch_job
from dcc_bridge.audit.redact import Redacted
from dcc_bridge.callbacks import call_later
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import BadArguments
from dcc_bridge.headless import Pump
from dcc_bridge.host import Host
from dcc_bridge.program import Program
from dcc_bridge.skills.call_history import Outcome, Status
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.signature import Signature
from dcc_bridge.skills.skill import Skill, describe
from dcc_bridge.testing.person import Answer, Asked, ScriptedPerson
from dcc_bridge.threads.background import run_in_thread

_AGENT: Final = Client("test")
# A test asks as often as it likes.
_SETTINGS: Final = Settings(dialogs_per_minute=10**6)
_HOSTS: Final = "dcc_bridge.hosts"  # the entry points of applications


@dataclass(frozen=True, slots=True)
class Played:
    """One call of a skill, and how it ended.

    Attributes:
        status: "done", or what kept the call from being done: "not_started" for arguments that do
            not fit the function, "refused" by the person, "failed" by an error, "no_consent" for a
            loss that nobody agreed to.
        value: What the skill returned.
        error: The sentence that the agent gets in place of the value, or None.
        now: What is different in the scene, as the agent is told; "" where nothing is.
        asked: The questions that the person was asked, in their order.
    """

    status: Status
    value: Any
    error: str | None
    now: str
    asked: tuple[Asked, ...]


def play(
    skill: Callable[..., Any],
    arguments: Mapping[str, Any] | None = None,
    *,
    host: Host,
    answers: Sequence[Answer] = (),
) -> Played:
    """Call a skill once, and answer its questions.

    An error that an agent would be told does not reach the test, whatever raised it: the call ends
    with a `Played.status` other than "done", and `Played.error` is the sentence.

    Args:
        skill: The function, decorated with `dcc_bridge.skill` or plain.
        arguments: The arguments of the call by their names, as an agent sends them.
        host: The application with the scene: from `opened`, or a `PretendedHost`.
        answers: The answers of the person, in the order of the questions.

    Returns:
        How the call ended, and what the person was asked.

    Raises:
        AssertionError: The skill asked a question for which there is no answer, or fewer questions
            than there are answers; or an item that was to be unticked cannot be.
        BrokenSkill: The function cannot be a skill.
        StartError: A bridge runs in this process.
    """
    described = describe(skill)
    person = ScriptedPerson(answers)
    try:
        outcome = _outcome(described, dict(arguments or {}), host, person)
    except BadArguments as error:
        outcome = Outcome("not_started", None, str(error))
    _check_script(described.title, person, outcome)
    asked = tuple(person.asked)
    return Played(outcome.status, outcome.value, outcome.error, outcome.now, asked)


def _outcome(skill: Skill, given: dict[str, Any], host: Host, person: ScriptedPerson) -> Outcome:
    """Call a skill with a broker and a runner of its own, and return how the call ended.

    Raises:
        BadArguments: The arguments do not fit the function.
    """
    metadata = skill.metadata
    signature = Signature.of(skill.fn, skill.name, ask_missing=metadata.ask_missing)
    bound = signature.bind(given)
    call = Call(skill.name, skill.title, metadata.risk, _AGENT, skill.digest)
    call.arguments = Redacted(given, signature.schema, call.id)
    pump = Pump()
    broker = Broker(_SETTINGS, host=person)
    remove = context.install(broker, pump.main, host)
    try:
        runner = Runner(host, pump.main, _SETTINGS, _in_own_thread, call_later)
        run = runner.start(skill, bound, call, signature.missing(bound))
        pump.spin(run.outcome)
    finally:
        broker.close()
        pump.main.close()
        remove()
    return run.outcome.result()


@contextmanager
def opened(name: str, scene: Path | None = None) -> Iterator[Host]:
    """Open a real scene in this Python during the block.

    The application's own API must be importable here: for "usd" in any Python with
    ``dcc-bridge-mcp[usd]``, for "blender" in one with ``bpy`` or Blender's own, for "maya" in
    mayapy, for "houdini" in hython, for "freecad" in FreeCAD's own Python.

    Args:
        name: The application, as ``--host`` names it.
        scene: The file; None for the scene with which the application begins.

    Yields:
        The application.

    Raises:
        LookupError: No installed package brings an application of that name.
        MissingExtra: The application's own API is not installed.
        OSError: The file cannot be read.
        ValueError: The file cannot be read.
    """
    entries = entry_points(group=_HOSTS)
    if name not in entries.names:
        known = ", ".join(sorted(entries.names))
        raise LookupError(f"There is no application {name!r}. There are: {known}.")
    program = cast("Program", entries[name].load())
    with batch_job.opened(name, batch_job.import_scenes(program.scenes), scene) as host:
        yield host


def _in_own_thread(coroutine: Coroutine[Any, Any, Outcome]) -> Future[Outcome]:
    """Run a skill that is a coroutine on a thread with a loop of its own."""
    return run_in_thread(lambda: asyncio.run(coroutine), "a skill that is a coroutine")


def _check_script(title: str, person: ScriptedPerson, outcome: Outcome) -> None:
    """Raise AssertionError if the script does not fit the questions."""
    if person.error is not None:
        raise person.error
    asked = plural(len(person.asked), "question")
    if person.unanswered is not None:
        raise AssertionError(
            f"{title} asked {asked}, and the test has fewer answers. The first question without "
            f"an answer: {person.unanswered.message}"
        )
    if person.left:
        more = plural(len(person.left), "more answer")
        problem = f"{title} asked {asked}, and the test has {more}."
        if outcome.error is not None:
            problem += f" The call ended as {outcome.status!r}: {outcome.error}"
        raise AssertionError(problem)
