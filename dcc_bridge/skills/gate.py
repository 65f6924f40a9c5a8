"""The gate: what a skill does not ask by itself is asked before its body. Any thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from dcc_bridge.audit.redact import HIDDEN
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.consent import yes_or_no
from dcc_bridge.elicitation.question import Question
from dcc_bridge.skills.skill import Skill

_MOST_SHOWN: Final = 200


def needs_grant(skill: Skill, settings: Settings) -> bool:
    """Whether a person must have agreed before a skill changes the scene."""
    risk = skill.metadata.risk
    return risk == "destructive" or (risk == "edit" and settings.edit == "ask")


def question(
    skill: Skill, arguments: Mapping[str, Any], call: Call, settings: Settings
) -> Question | None:
    """Make the question that stands before a skill's body, or None where it asks by itself.

    Args:
        skill: What is to be run.
        arguments: With what.
        call: For whom.
        settings: What the studio allows.
    """
    if not needs_grant(skill, settings) or skill.metadata.confirms:
        return None
    return Question(
        message=_message(skill, _shown(arguments, call)),
        call=call,
        form=yes_or_no(skill.title),
        title=skill.title,
        consent=True,
        key="consent",
        undoable=skill.metadata.undoable,
    )


def _shown(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """Leave out what must not be written down: it is not shown either."""
    given = call.arguments.value or {}
    kept = {n: HIDDEN if given.get(n) == HIDDEN else value for n, value in arguments.items()}
    return {name: call.arguments.scrub(value) for name, value in kept.items()}


def _message(skill: Skill, arguments: Mapping[str, Any]) -> str:
    shown = [f"{name}: {_value(value)}" for name, value in arguments.items() if value is not None]
    return "\n".join([f"{skill.title}?", *shown])


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
