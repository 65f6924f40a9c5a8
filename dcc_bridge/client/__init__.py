"""How a person's client finds a host, and how a person answers there. On the client's loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dcc_bridge.elicitation import schema, types, validation
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.text import safe_line


class Person(Protocol):
    """Somebody who can be asked in a client: `terminal` has the real person."""

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Ask the person to fill in a form.

        Args:
            message: The question.
            form: The fields of the answer.
            until: The end of the time for an answer, in words: "by 14:05:00".

        Returns:
            The person's reply. Content that is sent fits the form.
        """

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Ask the person to go to a page.

        Args:
            message: The reason, in the words of the host.
            url: The address of the page.
            ours: The page is the asking host's own, and the call waits for it.
            until: The end of the time for an answer, in words: "by 14:05:00".

        Returns:
            The person's reply: "accept" says that they go there.
        """


class Script:
    """Answers every question in the same way, which is known beforehand.

    Args:
        answer: "decline"; "cancel"; "accept", which says yes where a yes is required and takes the
            defaults else; or the values of the form's fields.
        report: Receives a sentence that says why an answer cannot be given. The question is then
            closed.
        show: Receives a sentence that says which page to open.
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
        """Answer a form, as `Person.ask`; an answer that does not fit closes the question."""
        if isinstance(self._answer, str) and self._answer != "accept":
            return Reply(self._answer)
        try:
            return Reply("accept", self._content(form))
        except validation.InvalidAnswer as error:
            self._report(f"The question was closed because the given answer is not valid: {error}")
            return Reply("cancel", reason=str(error))

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Agree to go to a page or refuse, as `Person.visit`; field values count as a yes."""
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
