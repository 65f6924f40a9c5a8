"""How a person's client finds a host, and how a person answers there. On the client's loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dcc_bridge.elicitation import schema, types, validation
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.text import safe_line


class Person(Protocol):
    """Somebody who can be asked in a client: `terminal` has the real one."""

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Put a form to them; what they send fits it. It says `until` when it is open."""

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Ask them to go to a page, which may be one of the host that asks."""


class Script:
    """Gives the same answer, known beforehand, to every question."""

    def __init__(
        self,
        # Decline; cancel; accept, with yes to what is required and the defaults; or the fields.
        answer: types.Action | Mapping[str, Any],
        report: Callable[[str], None] = lambda _: None,
        show: Callable[[str], None] = lambda _: None,  # told in a sentence which page to open
    ) -> None:
        self._answer = answer
        self._show = show
        # Told in a sentence why an answer cannot be given; the question is then closed.
        self._report = report

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Answer a form."""
        if isinstance(self._answer, str) and self._answer != "accept":
            return Reply(self._answer)
        try:
            return Reply("accept", self._content(form))
        except validation.InvalidAnswer as error:
            self._report(f"The question was closed, because the given answer does not fit: {error}")
            return Reply("cancel", reason=str(error))

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Agree to go to a page, or not."""
        reply = Reply(self._answer if isinstance(self._answer, str) else "accept")
        if reply.action == "accept":
            waits = "; the call waits for it" if ours else ""
            self._show(f"{safe_line(message)} Open {until}{waits}: {safe_line(url, len(url))}")
        return reply

    def _content(self, form: schema.Form) -> dict[str, Any]:
        if not isinstance(self._answer, str):
            names = [field.name for field in form.fields]
            if self._answer and self._answer.keys().isdisjoint(names):
                raise validation.InvalidAnswer(f"the form asks for {', '.join(names)}.")
            return form.check(self._answer)
        values = {field.name: _default(field) for field in form.fields}
        return form.check({name: value for name, value in values.items() if value is not None})


def _default(field: validation.Field) -> Any:
    """Give yes where a yes is required, else the default."""
    if field.kind == "boolean" and field.required:
        return True
    if field.required and field.default is None:
        raise validation.InvalidAnswer(f"{field.name} is required and has no default.")
    return field.default
