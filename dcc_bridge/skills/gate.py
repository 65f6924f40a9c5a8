"""The gate: the questions that come before the body of a skill. Any thread.

Most bodies that edit are tried, and a person is asked about their losses afterwards
(`dcc_bridge.consent.attempt`). The gate is for what comes before a body all the same:

- Required choices that the agent left out. This question is no consent.
- Consent to a skill that is not tried: it runs off the main thread, declares `undo=False` or
  `tried=False`, or took too long when it was tried.
- Consent where the host cannot try: it cannot revert the open step without a trace, or cannot tell
  what was lost.
- Consent to acts outside the scene, before which a try was stopped. `CannotTry.wanted` lists them.
- Consent to a destructive skill that another skill calls, unless one of these questions covers it.

A yes is a grant for the call. A skill that confirms (`Metadata.confirms`) asks for consent in its
own body, so the gate does not.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dcc_bridge import config, errors
from dcc_bridge.audit.redact import HIDDEN
from dcc_bridge.consent.attempt import CannotTry
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.copies import ask_with_checkpoint
from dcc_bridge.consent.loss import named
from dcc_bridge.elicitation import ask, schema, types
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.refusal import check, refusal
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.skills.skill import Options, Skill, describe
from dcc_bridge.threads.flows import Flow


def needs_grant(skill: Skill, settings: config.Settings) -> bool:
    """Return whether a person must have agreed before a skill changes the scene."""
    risk = skill.metadata.risk
    return risk == "destructive" or (risk == "edit" and settings.edit == "ask")


def is_tried(skill: Skill) -> bool:
    """Return whether a skill is tried before anybody is asked, if it runs on the main thread."""
    metadata = skill.metadata
    return metadata.tried and not metadata.confirms and metadata.undo is not False


def check_dry_run(skill: Skill) -> None:
    """Raise CannotDryRun for a skill that may edit and is not tried on the main thread."""
    metadata = skill.metadata
    if metadata.risk == "read":
        return
    if metadata.confirms:
        raise errors.CannotDryRun(skill.title, "It asks the person before it edits.")
    if metadata.undo is False:
        raise errors.CannotDryRun(skill.title, "Undo does not bring back what it does.")
    if not metadata.tried:
        raise errors.CannotDryRun(skill.title, "It declares tried=False.")
    if metadata.thread != "main" or skill.is_async:
        why = "It does not run on the application's main thread."
        raise errors.CannotDryRun(skill.title, why)


def ask_missing(
    skill: Skill, arguments: dict[str, Any], missing: Mapping[str, Options], call: Call
) -> Flow[None]:
    """Ask for missing choices, and add the answers to the arguments.

    Args:
        skill: The skill.
        arguments: Its arguments; they are changed.
        missing: The required choices that the agent left out, with their options.
        call: The call of the skill.

    Raises:
        NotChosen: Nobody can be asked.
        NotConfirmed: The person refused.
    """
    if not missing:
        return
    question = _missing_question(missing, call, inspect.getdoc(skill.fn) or "")
    answer = yield from ask_with_checkpoint(question, call)
    if answer.message == types.NOT_SUPPORTED:
        names = ", ".join(missing)
        raise errors.NotChosen(f"{names}: required. The person could not be asked to choose.")
    if not answer.accepted:
        raise refusal(question, answer)
    data = answer.data or {}
    for name, options in missing.items():
        arguments[name] = options[data[name]]


def ask_before(
    skill: Skill,
    arguments: Mapping[str, Any],
    call: Call,
    settings: config.Settings,
    reason: CannotTry | None = None,
) -> Flow[None]:
    """Ask for consent before a skill's body, unless the skill confirms or needs no grant.

    A body that was stopped before acts outside the scene is always asked about: the question names
    the acts, and the call is destructive from here on.

    Args:
        skill: The skill.
        arguments: Its arguments.
        call: The call of the skill.
        settings: What the studio allows.
        reason: Why a try of the body did not come to its end; None without a try.

    Raises:
        NotConfirmed: The person did not agree.
    """
    if reason is not None and reason.wanted:
        call.raise_risk("destructive")
        yield from _ask_for_consent(skill, arguments, call, reason)
    elif needs_grant(skill, settings) and not skill.metadata.confirms:
        yield from _ask_for_consent(skill, arguments, call)


def ask_inside(
    fn: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object], call: Call
) -> Flow[None] | None:
    """Return the question before a destructive skill that another skill calls; None if it confirms.

    Args:
        fn: The function of the called skill.
        args: The positional arguments of the function.
        kwargs: The keyword arguments of the function.
        call: The call in which it runs.
    """
    skill = describe(fn)
    if skill.metadata.confirms:
        return None
    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    return _ask_for_consent(skill, bound.arguments, call)


def _ask_for_consent(
    skill: Skill, arguments: Mapping[str, Any], call: Call, stopped: CannotTry | None = None
) -> Flow[None]:
    """Ask whether a skill may run, with its title and its arguments.

    Args:
        skill: The skill.
        arguments: Its arguments.
        call: The call in which it runs.
        stopped: The end of a try before acts outside the scene, which the question names.

    Raises:
        NotConfirmed: The person did not agree.
    """
    message = f"{skill.title}?"
    shown = _argument_texts(arguments, call)
    consent = Consent(undoable=skill.metadata.undo is not False, arguments=shown)
    if stopped is not None:
        message += _acts_outside(stopped)
        consent = replace(consent, undoable=False, files=stopped.files or None)
    question = Question(
        message=message,
        call=call,
        form=ask.yes_or_no(skill.title),
        title=skill.title,
        key="consent",
        consent=consent,
    )
    answer = yield from ask_with_checkpoint(question, call)
    check(question, answer)


def _acts_outside(stopped: CannotTry) -> str:
    """Return the lines of a question about the acts before which a try was stopped."""
    acts = "\n".join(f"- {safe_line(act, len(act))}" for act in stopped.wanted)
    text = (
        f"\nUndo cannot reverse this:\n{acts}\n"
        "The skill was stopped before it did this. It may do more of the same kind."
    )
    if stopped.lost:
        text += f"\nIt first deletes {named(stopped.lost)}."
    return text


def _argument_texts(arguments: Mapping[str, Any], call: Call) -> tuple[tuple[str, str], ...]:
    """Return the name and the text of each argument that a question shows.

    A hidden argument is shown as `HIDDEN`. None is shown only where the agent passed it.

    Args:
        arguments: The arguments of the function, defaults included.
        call: The call, with the arguments that the agent passed.
    """
    given = call.arguments.value or {}
    texts = []
    for name, value in arguments.items():
        shown = value
        if given.get(name) == HIDDEN:
            shown = HIDDEN
        if shown is None and name not in given:
            continue
        text = call.arguments.scrub(shown)
        if not isinstance(text, str):
            text = json.dumps(text, default=str, ensure_ascii=False)
        texts.append((name, text))
    return tuple(texts)


def _missing_question(missing: Mapping[str, Options], call: Call, doc: str) -> Question:
    """Return the question for missing choices.

    Args:
        missing: The options of each required choice that the agent left out.
        call: The call of the skill.
        doc: The docstring of the skill, which describes the choices.
    """
    from dcc_bridge.skills.signature import argument_descriptions, words  # pydantic

    descriptions = argument_descriptions(doc)
    fields: dict[str, dict[str, Any]] = {}
    for name, options in missing.items():
        fields[name] = {"type": "string", "title": words(name), "enum": list(options)}
        if descriptions.get(name):
            fields[name]["description"] = descriptions[name]
    names = " and ".join(words(name).lower() for name in missing)
    return Question(
        message=f"{call.title}: which {names}?",
        call=call,
        form=schema.parse({"type": "object", "properties": fields, "required": list(fields)}),
        title=call.title,
        key="missing",
    )
