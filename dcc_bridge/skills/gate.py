"""The gate: what a skill does not ask by itself is asked before its body. Any thread."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
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
    """Whether a person must have agreed before a skill changes the scene."""
    risk = skill.metadata.risk
    return risk == "destructive" or (risk == "edit" and settings.edit == "ask")


def is_tried(skill: Skill) -> bool:
    """Return whether a skill on the main thread is tried before anybody is asked."""
    metadata = skill.metadata
    return metadata.tried and not metadata.confirms and metadata.undo is not False


def ask_missing(
    skill: Skill, arguments: dict[str, Any], missing: Mapping[str, Options], call: Call
) -> Flow[None]:
    """Ask for what is `missing`, and add it to the arguments."""
    if missing:
        which = missing_question(missing, call, inspect.getdoc(skill.fn) or "")
        arguments |= chosen(missing, which, (yield from ask_with_checkpoint(which, call)))


def ask_before(
    skill: Skill,
    arguments: Mapping[str, Any],
    call: Call,
    settings: config.Settings,
    reason: CannotTry | None = None,
) -> Flow[None]:
    """Ask for consent before a skill's body, unless it asks by itself or needs none.

    The question names what it was stopped at when it was tried, if that is the reason to ask.
    """
    if reason is not None and reason.wanted:
        call.raise_risk("destructive")
        gated: Question | None = _outside_question(skill, arguments, call, reason)
    else:
        gated = consent_question(skill, arguments, call, settings)
    if gated is not None:
        yield from _agreed(gated, call)


def ask_inside(
    fn: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object], call: Call
) -> Flow[None] | None:
    """Return what asks before a destructive skill that another calls; None if it asks itself."""
    skill = describe(fn)
    if skill.metadata.confirms:
        return None
    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    return _agreed(_question(skill, bound.arguments, call), call)


def _agreed(question: Question, call: Call) -> Flow[None]:
    check(question, (yield from ask_with_checkpoint(question, call)))


def consent_question(
    skill: Skill, arguments: Mapping[str, Any], call: Call, settings: config.Settings
) -> Question | None:
    """Make the question that stands before a skill's body, or None where it asks by itself."""
    if not needs_grant(skill, settings) or skill.metadata.confirms:
        return None  # what it changes without a grant of its own question is undone
    return _question(skill, arguments, call)


def _question(skill: Skill, arguments: Mapping[str, Any], call: Call) -> Question:
    shown = _shown(arguments, call)
    return Question(
        message=f"{skill.title}?",
        call=call,
        form=ask.yes_or_no(skill.title),
        title=skill.title,
        key="consent",
        consent=Consent(undoable=skill.metadata.undo is not False, arguments=shown),
    )


def _outside_question(
    skill: Skill, arguments: Mapping[str, Any], call: Call, reason: CannotTry
) -> Question:
    """Make the question of a body that reaches outside the scene, and so cannot be tried."""
    question = _question(skill, arguments, call)
    lines = "\n".join(f"- {safe_line(act, len(act))}" for act in reason.wanted)
    message = (
        f"{skill.title}?\nUndo cannot reverse this:\n{lines}\n"
        "The skill was stopped before it did this. It may do more of the same kind."
    )
    if reason.lost:
        message += f"\nIt first deletes {named(reason.lost)}."
    consent = question.consent or Consent()
    consent = replace(consent, undoable=False, files=reason.files or None)
    return replace(question, message=message, consent=consent)


def _shown(arguments: Mapping[str, Any], call: Call) -> tuple[tuple[str, str], ...]:
    """Give the arguments as texts, hidden ones as `HIDDEN`; none that is only left out."""
    given = call.arguments.value or {}
    kept = {n: HIDDEN if given.get(n) == HIDDEN else value for n, value in arguments.items()}
    shown = [name for name, value in kept.items() if value is not None or name in given]
    texts = {name: call.arguments.scrub(kept[name]) for name in shown}
    dump = partial(json.dumps, default=str, ensure_ascii=False)
    return tuple((name, it if isinstance(it, str) else dump(it)) for name, it in texts.items())


def missing_question(missing: Mapping[str, Options], call: Call, doc: str = "") -> Question:
    """Make the question for what is missing, described by the skill's docstring; no consent."""
    from dcc_bridge.skills.signature import argument_descriptions, words  # pydantic

    said = argument_descriptions(doc)
    fields = {
        name: {"type": "string", "title": words(name), "enum": list(options)}
        | ({"description": said[name]} if said.get(name) else {})
        for name, options in missing.items()
    }
    names = " and ".join(words(name).lower() for name in missing)
    return Question(
        message=f"{call.title}: which {names}?",
        call=call,
        form=schema.parse({"type": "object", "properties": fields, "required": list(fields)}),
        title=call.title,
        key="missing",
    )


def chosen(
    missing: Mapping[str, Options], asked: Question, answer: types.ElicitationResponse
) -> dict[str, Any]:
    """Give what was chosen; NotChosen: nobody can be asked, NotConfirmed: it was refused."""
    if answer.message == types.NOT_SUPPORTED:
        names = ", ".join(missing)
        raise errors.NotChosen(f"{names}: required. The person could not be asked to choose.")
    if not answer.accepted:
        raise refusal(asked, answer)
    data = answer.data or {}
    return {name: options[data[name]] for name, options in missing.items()}
