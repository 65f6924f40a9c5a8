"""The gate: what a skill does not ask by itself is asked before its body. Any thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from dcc_bridge.config import Settings
from dcc_bridge.elicitation.broker import Question
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.types import NOT_SUPPORTED, TIMED_OUT, ElicitationResponse
from dcc_bridge.errors import Cancelled, Declined, NobodyToAsk, TimedOut
from dcc_bridge.skills.skill import Skill

_MOST_SHOWN: Final = 200


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
    asks = {"read": False, "edit": settings.edit == "ask", "destructive": True}
    if not asks[skill.metadata.risk] or skill.metadata.confirms:
        return None
    confirm = {"type": "boolean", "title": skill.title}
    return Question(
        message=_message(skill, arguments),
        call=call,
        form=parse({"type": "object", "properties": {"confirm": confirm}, "required": ["confirm"]}),
        title=skill.title,
        consent=True,
        key="consent",
        fallback={"confirm": True} if settings.unattended == "allow" else None,
    )


def check(asked: Question, answer: ElicitationResponse) -> None:
    """Let a granted call pass.

    Raises:
        NotConfirmed: It was not granted; the leaf says why.
    """
    if asked.call.granted:
        return
    if answer.message == NOT_SUPPORTED:
        raise NobodyToAsk(asked.message)
    if answer.message == TIMED_OUT:
        raise TimedOut(asked.message)
    raise Cancelled(asked.message) if answer.action == "cancel" else Declined(asked.message)


def _message(skill: Skill, arguments: Mapping[str, Any]) -> str:
    shown = [f"{name}: {_value(value)}" for name, value in arguments.items() if value is not None]
    return "\n".join([f"{skill.title}?", *shown])


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
