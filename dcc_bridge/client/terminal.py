"""Asks a person at a terminal: draws a form field by field, and reads the answers.

On one asyncio loop.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TextIO

import anyio

from dcc_bridge.client import visiting
from dcc_bridge.client.terminal_io import Keyboard, Screen
from dcc_bridge.client.visiting import Open
from dcc_bridge.elicitation import urls
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.schema import Field, Form
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.types import Action
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.errors import RefusedAddress

DECLINE: Final = "/decline"
CANCEL: Final = "/cancel"
SKIP: Final = "/skip"
_ACTIONS: Final[Mapping[str, Action]] = {DECLINE: "decline", CANCEL: "cancel"}
_YES: Final = {"y", "yes", "true"}
_NO: Final = {"n", "no", "false"}


class _Closed(Exception):
    """The person closed the question without sending an answer."""

    def __init__(self, action: Action) -> None:
        self.action = action


@dataclass(frozen=True, slots=True)
class _Page:
    url: str
    ours: bool


class Terminal:
    """A person who reads a screen and types. One question at a time."""

    def __init__(
        self, keyboard: Keyboard, screen: Screen, who: str, open_page: Open = visiting.open_page
    ) -> None:
        """Show nothing yet.

        Args:
            keyboard: What they type.
            screen: What they read, where they type.
            who: Who asks, in a few words.
            open_page: Opens a page; gives whether it could.
        """
        self._open = open_page
        self._keyboard = keyboard
        self._screen = screen
        self._who = who
        self._lock = anyio.Lock()

    async def ask(self, message: str, form: Form) -> Reply:
        """Draw a form, and give what the person does with it."""
        return await self._ask(message, form)

    async def visit(self, message: str, url: str, *, ours: bool = False) -> Reply:
        """Show a page's address, and open it once the person said yes."""
        return await self._ask(message, _Page(url, ours))

    async def _ask(self, message: str, content: Form | _Page) -> Reply:
        async with self._lock:
            self._keyboard.forget()  # what was typed before nobody can have meant for this
            self._screen.say()
            self._screen.show("", f"{safe_line(self._who)} asks:")
            self._screen.say()
            self._screen.quote("  ", message)
            self._screen.say()
            try:
                if isinstance(content, _Page):
                    return await self._visit(content)
                return await self._fill(content)
            except _Closed as closed:
                return Reply(closed.action)
            except anyio.get_cancelled_exc_class():
                self._screen.say("\n  The question was withdrawn.")
                raise

    async def _visit(self, page: _Page) -> Reply:
        """Have the person agree to go to a page, and open it."""
        try:
            url = urls.read(page.url, ours=page.ours)
        except RefusedAddress as error:
            self._screen.show("  ! ", str(error))
            return Reply("cancel")
        visiting.show(self._screen, url)
        await self._confirm("Open it in your browser")
        if not await visiting.opened(self._open, url):
            self._screen.show("  ", "No browser could be opened here. Open the address yourself.")
            await self._confirm("Have you opened it")
        return Reply("accept")

    async def _fill(self, form: Form) -> Reply:
        """Have the person fill in a form."""
        confirmation = form.lone_confirmation
        if confirmation is not None:
            if confirmation.description:
                self._screen.quote("  ", confirmation.description)
            await self._confirm(safe_line(confirmation.title))
            return Reply("accept", {confirmation.name: True})
        if not form.fields:
            await self._confirm("Agree")
            return Reply("accept", {})
        self._screen.show("  ", _instructions(form))
        content: dict[str, Any] = {}
        while True:
            for field in form.fields:
                self._screen.say()
                content = await self._ask_field(field, content)
            # The person has just typed a lone field; there is nothing to look at once more.
            if len(form.fields) == 1 or await self._confirm_content(form, content):
                return Reply("accept", form.check(content))

    async def _ask_field(self, field: Field, content: dict[str, Any]) -> dict[str, Any]:
        """Ask for one field; what it was before is offered again."""
        offered = content.get(field.name, _offer(field))
        rest = {name: value for name, value in content.items() if name != field.name}
        self._introduce(field, offered)
        while True:
            text = await self._read_line()
            try:
                value = _value(field, text, offered)
            except InvalidAnswer as error:
                self._screen.show("  ! ", str(error))
            else:
                return rest if value is None else {**rest, field.name: value}

    def _introduce(self, field: Field, offered: Any) -> None:
        optional = "" if field.required else ", optional"
        default = "" if offered is None else f" [{safe_line(_text(field, offered))}]"
        title = safe_line(field.title)
        self._screen.show("  ", f"{title} ({_hint(field)}{optional}){default}")
        if field.description:
            self._screen.quote("    ", field.description)
        for number, option in enumerate(field.options, 1):
            self._screen.show(f"    {number:>2}  ", safe_line(option.title))

    async def _confirm_content(self, form: Form, content: Mapping[str, Any]) -> bool:
        """Show what would be sent, and ask whether to send it."""
        self._screen.say()
        for field in form.fields:
            text = safe_line(_text(field, content.get(field.name)))
            self._screen.show("    ", f"{safe_line(field.title)}: {text}")
        return await self._agrees("Send this? Type yes, or no to change it.")

    async def _confirm(self, title: str) -> None:
        """Go on with a yes; a no is a decline."""
        prompt = f"{title}? Type yes or no; {CANCEL} closes the question."
        if not await self._agrees(prompt):
            raise _Closed("decline")

    async def _agrees(self, prompt: str) -> bool:
        self._screen.show("  ", prompt)
        while True:
            try:
                return _parse_yes_or_no(await self._read_line())
            except InvalidAnswer as error:
                self._screen.show("  ! ", str(error))

    async def _read_line(self) -> str:
        self._screen.prompt("  > ")
        text = await self._keyboard.line()
        if text is None:  # Ctrl+D, or the terminal was hung up
            self._screen.say()
            raise _Closed("cancel")
        if text.strip() in _ACTIONS:
            raise _Closed(_ACTIONS[text.strip()])
        return text


@contextmanager
def open_terminal(source: TextIO | None, preferred: TextIO, who: str) -> Iterator[Terminal | None]:
    """Give the person at a terminal, as long as the block lasts; None where nobody types.

    Args:
        source: Where lines come from.
        preferred: Where questions are drawn if it is a terminal. If it was redirected they are
            drawn on the terminal of `source`: they would be answered unseen otherwise.
        who: Who asks, in a few words.
    """
    if source is None or not source.isatty():
        yield None
    elif preferred.isatty():
        yield Terminal(Keyboard(source), Screen(preferred), who)
    else:
        if sys.platform == "win32":
            name = "CONOUT$"
        else:
            name = os.ttyname(source.fileno())
        with open(name, "w", encoding=source.encoding, errors="backslashreplace") as screen:
            yield Terminal(Keyboard(source), Screen(screen), who)


def _instructions(form: Form) -> str:
    enter = any(_offer(field) is not None for field in form.fields)
    skip = any(not field.required for field in form.fields)
    sentences = [f"{DECLINE} says no, {CANCEL} closes the question."]
    sentences += ["Enter takes what is in [brackets]."] if enter else []
    sentences += [f"{SKIP} leaves out what is optional."] if skip else []
    return " ".join(sentences)


def _offer(field: Field) -> Any:
    """Give the default, but never that of a required yes or no: it may be what is agreed to."""
    return None if field.kind == "boolean" and field.required else field.default


def _value(field: Field, text: str, offered: Any) -> Any:
    if text.strip() == SKIP and not field.required:
        return None
    if text.strip():
        return _parse(field, text)  # of a text the spaces around it stay
    if field.required and offered is None:
        raise InvalidAnswer("An answer is needed here.")
    return offered


# ---- the text of values


def _parse(field: Field, text: str) -> Any:
    """Read a line as a field's value.

    Raises:
        InvalidAnswer: It does not fit; says what would.
    """
    match field.kind:
        case "boolean":
            return _parse_yes_or_no(text)
        case "integer" | "number":
            return field.check(_number(field, text))
        case "choice":
            return field.check(_option(field, text))
        case "choices":
            return field.check(_options(field, text))
        case _:
            return field.check(text)


def _parse_yes_or_no(text: str) -> bool:
    """Read a line as yes or no.

    Raises:
        InvalidAnswer: It is neither.
    """
    word = text.strip().lower()
    if word in _YES | _NO:
        return word in _YES
    raise InvalidAnswer("Type yes or no.")


def _hint(field: Field) -> str:
    """Say in a few words what a field takes."""
    words = {
        "string": {None: "text", "uri": "web address"}.get(field.format, field.format or "text"),
        "number": "number",
        "integer": "whole number",
        "boolean": "yes or no",
        "choice": "one number",
        "choices": "numbers, such as 1,2",
    }[field.kind]
    return words + _limits(field)


def _text(field: Field, value: Any) -> str:
    """Give a value as the person reads it."""
    titles = {option.value: option.title for option in field.options}
    match value:
        case None:
            return "(left out)"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(titles[option] for option in value) or "none"
        case str():
            return titles.get(value, value)
        case _:
            return str(value)


def _limits(field: Field) -> str:
    unit = " characters" if field.kind == "string" else ""
    least, most = field.least, field.most
    if least is not None and most is not None:
        return f", {least:g} to {most:g}{unit}"
    if least is not None:
        return f", at least {least:g}{unit}"
    return f", at most {most:g}{unit}" if most is not None else ""


def _number(field: Field, text: str) -> int | float:
    word = text.strip()
    try:
        return int(word) if re.fullmatch(r"[+-]?[0-9]+", word) else float(word)
    except ValueError:
        noun = "a whole number" if field.kind == "integer" else "a number"
        raise InvalidAnswer(f"Type {noun}.") from None


def _option(field: Field, text: str) -> str:
    """Give the option that a number, a title or a value names."""
    word = text.strip()
    # A number is the option's place in the list, also where an option is called by another one.
    if re.fullmatch(r"[0-9]{1,4}", word) and 1 <= int(word) <= len(field.options):
        return field.options[int(word) - 1].value
    for option in field.options:
        if word in (option.title, option.value):
            return option.value
    raise InvalidAnswer(f"Type a number from 1 to {len(field.options)}.")


def _options(field: Field, text: str) -> list[str]:
    if text.strip().lower() == "none":
        return []
    chosen = [_option(field, word) for word in re.split(r"[,\s]+", text.strip())]
    return list(dict.fromkeys(chosen))
