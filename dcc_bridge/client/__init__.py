"""The client side: finds a host, calls its tools, answers its questions. On the client's loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dcc_bridge.elicitation import schema, types, validation
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.text import safe_line


class Person(Protocol):
    """Answers the questions that reach a client; `terminal.Terminal` asks a real person."""

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Ask the person to fill in a form.

        Args:
            message: The question.
            form: The fields of the answer.
            until: The deadline of the answer, in words: "by 14:05:00".

        Returns:
            The person's reply. The content of an "accept" fits the form.
        """

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Ask the person to open a page.

        Args:
            message: The reason, in the words of the host.
            url: The address of the page.
            ours: Whether the page is the host's own, so that the call waits for the page.
            until: The deadline of the answer, in words: "by 14:05:00".

        Returns:
            The person's reply: "accept" means that the person opens the page.
        """


class Script:
    """Answers every question with the same prepared answer.

    Args:
        answer: "decline" or "cancel"; "accept", which says yes in required fields for a yes and
            takes the defaults of all other fields; or the values of the form's fields.
        report: Receives the reason why the answer does not fit. The question is then closed.
        show: Receives a sentence with the page to open.
    """

    def __init__(
        self,
        answer: types.Action | Mapping[str, Any],
        report: Callable[[str], None] = lambda _: None,
        show: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._answer = answer
        self._show = show
        self._report = report

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Answer a form, as `Person.ask`; if the answer does not fit, close the question."""
        if isinstance(self._answer, str) and self._answer != "accept":
            return Reply(self._answer)
        try:
            return Reply("accept", self._content(form))
        except validation.InvalidAnswer as error:
            self._report(f"The question was closed because the given answer is not valid: {error}")
            return Reply("cancel", reason=str(error))

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Agree to open a page or refuse, as `Person.visit`; field values count as a yes."""
        action: types.Action = "accept"
        if isinstance(self._answer, str):
            action = self._answer
        if action == "accept":
            waits = ""
            if ours:
                waits = "; the call waits for it"
            self._show(f"{safe_line(message)} Open {until}{waits}: {safe_line(url, len(url))}")
        return Reply(action)

    def _content(self, form: schema.Form) -> dict[str, Any]:
        if not isinstance(self._answer, str):
            names = [field.name for field in form.fields]
            if self._answer and self._answer.keys().isdisjoint(names):
                raise validation.InvalidAnswer(f"the form asks for {', '.join(names)}.")
            return form.check(self._answer)
        content = {}
        for field in form.fields:
            value = _default(field)
            if value is not None:
                content[field.name] = value
        return form.check(content)


def _default(field: validation.Field) -> Any:
    """Return yes where a yes is required, else the field's default."""
    if field.kind == "boolean" and field.required:
        return True
    if field.required and field.default is None:
        raise validation.InvalidAnswer(f"{field.name} is required and has no default.")
    return field.default
