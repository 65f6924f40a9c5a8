"""The texts about a call that asks: application, client, skill and arguments. Any thread.

A question and the panel show these texts. They are safe to show as plain text, and the bridge's own
texts among them pass through the surface's `tr`, which may translate them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.question import Caller
from dcc_bridge.elicitation.text import Translate, english, left_out, numbered, safe_line, safe_text
from dcc_bridge.host import Host

MAX_HEADER_CHARS: Final = 100  # of each text that says who asks
_MAX_ARGUMENT_CHARS: Final = 200
_CLOSING_QUOTES: Final = {ord("»"): numbered("»")}  # a value cannot contain what closes it
Facts = tuple[tuple[str, str], ...]  # captions and texts


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
    label = tr("{host} itself", host=host)
    if client is not None:
        label = safe_line(client.label, MAX_HEADER_CHARS)
    facts = [(tr("Asked by"), label)]
    if client is not None and client.name:
        claim = safe_line(f"{client.name} {client.version}".strip(), MAX_HEADER_CHARS)
        facts.append((tr("Calls itself"), tr("{client} (self-reported)", client=claim)))
    facts.append((tr("Skill"), safe_line(call.title, MAX_HEADER_CHARS)))
    return tuple(facts)


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
