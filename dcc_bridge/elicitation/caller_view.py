"""The texts about a call that asks: application, client, skill and arguments. Any thread.

A question and the panel show these texts. They are safe to show as plain text, and the bridge's own
texts among them pass through the surface's `tr`, which may translate them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dcc_bridge.elicitation.question import Caller
from dcc_bridge.elicitation.text import Translate, english, left_out, numbered, safe_line, safe_text
from dcc_bridge.host import Host

MAX_HEADER_CHARS: Final = 100  # of each text that says who asks
_MAX_ARGUMENT_CHARS: Final = 200
_CLOSING_QUOTES: Final = {ord("»"): numbered("»")}  # a value cannot contain what closes it
_MAX_FILE_CHARS: Final = 400
_DIGEST_CHARS: Final = 12  # of a digest, enough to compare two by eye
Facts = tuple[tuple[str, str], ...]  # captions and texts


def who_asks(call: Caller, host: Host, tr: Translate = english) -> str:
    """Return who asks, in which scene, as one sentence: "claude-code asks, in shot_010.usda"."""
    scene = safe_line(host.scene(), MAX_HEADER_CHARS)
    return tr("{client} asks, in {scene}", client=_label(call, host.name, tr), scene=scene)


def source(call: Caller, tr: Translate = english) -> Facts:
    """Return the file of the skill that asks and its digest, as far as they are known."""
    facts = []
    if call.file:
        facts.append((tr("File"), safe_line(call.file, _MAX_FILE_CHARS)))
    if call.digest:
        facts.append((tr("Digest"), safe_line(call.digest[:_DIGEST_CHARS])))
    return tuple(facts)


def header(call: Caller, host: Host, tr: Translate = english) -> Facts:
    """Return the application with its scene, under the caption "", and the facts of `asker`."""
    scene = safe_line(host.scene(), MAX_HEADER_CHARS)
    place = f"{host.name} {host.version}".strip()
    return (("", f"{place} · {scene}"), *asker(call, host.name, tr))


def asker(call: Caller, host: str, tr: Translate = english) -> Facts:
    """Return the client and the skill that ask, as captions and texts.

    A token proves the client's label. Nothing proves the name that the client gives itself.
    """
    client = call.client
    facts = [(tr("Asked by"), _label(call, host, tr))]
    if client is not None and client.name:
        claim = safe_line(f"{client.name} {client.version}".strip(), MAX_HEADER_CHARS)
        facts.append((tr("Calls itself"), tr("{client} (self-reported)", client=claim)))
    facts.append((tr("Skill"), safe_line(call.title, MAX_HEADER_CHARS)))
    return tuple(facts)


def _label(call: Caller, host: str, tr: Translate) -> str:
    """Return the name under which the person knows who asks."""
    if call.client is None:
        return tr("{host} itself", host=host)
    return safe_line(call.client.label, MAX_HEADER_CHARS)


def told_arguments(arguments: Mapping[str, Any]) -> Facts:
    """Return arguments as a person reads them, who does not agree to them; None is left out.

    Args:
        arguments: The values by name, without hidden ones.
    """
    return tuple((name, _told(value)) for name, value in arguments.items() if value is not None)


def _told(value: object) -> str:
    """Return a value for a person; names stand behind each other."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, default=str, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ArgumentView:
    """An argument of a call.

    Attributes:
        name: The parameter.
        value: The beginning of the value, in one line.
        rest: A note on how many characters `value` leaves out, or "".
        whole: The whole value with its line breaks, or "" where `value` is the whole value.
    """

    name: str
    value: str
    rest: str
    whole: str

    def __str__(self) -> str:
        """Return name and value as a line in which no value can pass for another argument."""
        value = self.value.translate(_CLOSING_QUOTES)
        row = f"{self.name}: «{value}»"
        if not self.rest:
            return row
        return f"{row} {self.rest}"


def argument_views(arguments: Facts, tr: Translate = english) -> tuple[ArgumentView, ...]:
    """Make the views of a call's arguments. Any thread. It raises nothing.

    Args:
        arguments: The name and the whole value of each, as `Question.arguments` has them.
        tr: Translates the texts of the bridge.

    Returns:
        A view for each argument, in the same order.
    """
    return tuple(_argument_view(safe_line(name), value, tr) for name, value in arguments)


def _argument_view(name: str, value: str, tr: Translate) -> ArgumentView:
    shown = safe_line(value[:_MAX_ARGUMENT_CHARS], _MAX_ARGUMENT_CHARS)
    hidden_count = len(value) - _MAX_ARGUMENT_CHARS
    if hidden_count > 0:
        rest = left_out(hidden_count, tr)
        return ArgumentView(name, f"{shown}…", rest, safe_text(value, tr=tr))
    whole = ""
    if "\n" in value:
        whole = safe_text(value, tr=tr)
    return ArgumentView(name, shown, "", whole)
