"""Required choices that the agent left out are asked of the person, before the body. Any thread."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

from dcc_bridge.elicitation import consent
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.types import NOT_SUPPORTED, ElicitationResponse
from dcc_bridge.errors import BadArguments

Options = Mapping[str, Any]
"""What can be chosen: the words on the wire, and the value that the function wants."""


def of(hint: Any) -> Options | None:
    """Give what can be chosen from a type, or None where it is no choice."""
    if get_origin(hint) is Annotated:
        return of(get_args(hint)[0])
    if get_origin(hint) is Literal:
        return {str(value): value for value in get_args(hint)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {str(member.value): member for member in hint}
    return None


def question(missing: Mapping[str, Options], call: Call) -> Question:
    """Make the question for what is missing. It is input, and never consent.

    Args:
        missing: Each parameter, and what can be chosen.
        call: For whom.
    """
    fields = {
        name: {"type": "string", "title": _words(name), "enum": list(options)}
        for name, options in missing.items()
    }
    names = " and ".join(_words(name).lower() for name in missing)
    return Question(
        message=f"{call.title}: which {names}?",
        call=call,
        form=parse({"type": "object", "properties": fields, "required": list(fields)}),
        title=call.title,
        key="missing",
    )


def chosen(
    missing: Mapping[str, Options], asked: Question, answer: ElicitationResponse
) -> dict[str, Any]:
    """Give what was chosen, as the function wants it.

    Raises:
        BadArguments: Nobody can be asked.
        NotConfirmed: The person did not choose.
    """
    if answer.message == NOT_SUPPORTED:
        names = ", ".join(missing)
        raise BadArguments(f"{names}: it is required, as the person could not be asked.")
    if not answer.accepted:
        raise consent.refusal(asked.message, answer)
    data = answer.data or {}
    return {name: options[data[name]] for name, options in missing.items()}


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()
