"""Asks a person at a terminal: draws a form by fields, reads the answers. On one asyncio loop."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TextIO

import anyio
import anyio.to_thread

from dcc_bridge.client.terminal_io import Keyboard, Screen, is_terminal
from dcc_bridge.elicitation import schema, types, urls
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.validation import Field, InvalidAnswer
from dcc_bridge.elicitation.view import FieldView, field_view
from dcc_bridge.errors import RefusedAddress

DECLINE: Final = "/decline"
CANCEL: Final = "/cancel"
SKIP: Final = "/skip"
ALL: Final = "/all"
DIFFERENCE: Final = "/diff"
_FENCED: Final = re.compile(r"^```\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_MOST_OF_BLOCK: Final = 20  # lines that are shown of one at first
_ACTIONS: Final[Mapping[str, types.Action]] = {DECLINE: "decline", CANCEL: "cancel"}
_YES: Final = {"y", "yes", "true"}
_NO: Final = {"n", "no", "false"}
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")
_HINTS: Final = {  # what is typed for a field of each kind
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "yes or no",
    "choice": "one number",
    "choices": "numbers, such as 1,2",
}


class _Closed(Exception):
    """The person closed the question without sending an answer."""

    def __init__(self, action: types.Action) -> None:
        self.action = action


def open_page(url: str) -> bool:
    """Open a page in the person's browser, if one is found."""
    # without a screen there is none: one of the terminal's own would draw over the question
    if sys.platform.startswith("linux") and not any(map(os.environ.get, _DISPLAYS)):
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


class Terminal:
    """A person who reads a screen and types. One question at a time."""

    def __init__(
        self,
        keyboard: Keyboard,  # what they type
        screen: Screen,  # what they read, where they type
        who: str,  # who asks, in a few words
        open_page: Callable[[str], bool] = open_page,  # opens a page, and returns whether it could
    ) -> None:
        self._open = open_page
        self._keyboard = keyboard
        self._screen = screen
        self._who = who
        self._lock = anyio.Lock()
        self._texts: dict[str, str] = {}  # what can be read whole, by what is typed for it

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Draw a form, and return what the person does with it."""
        return await self._ask(message, until, lambda: self._fill(form))

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Show a page's address, and open it once the person said yes."""
        return await self._ask(message, until, lambda: self._visit(url, ours))

    async def _ask(self, message: str, until: str, answer: Callable[[], Awaitable[Reply]]) -> Reply:
        async with self._lock:
            self._keyboard.forget()  # what was typed before nobody can have meant for this
            self._screen.say()
            self._screen.show("", f"{safe_line(self._who)} asks:")
            self._screen.say()
            self._quote(message)
            self._screen.say(f"\n  Answer {until}.\n" if until else "")
            try:
                return await answer()
            except _Closed as closed:
                return Reply(closed.action)
            except anyio.get_cancelled_exc_class():
                self._screen.say("\n  The question was withdrawn.")
                raise

    def _quote(self, message: str) -> None:
        """Show a message, of a long text in it the beginning."""
        blocks = _FENCED.findall(message)
        self._texts = {ALL: _FENCED.sub(r"\1", message)} if blocks else {}
        self._texts |= {DIFFERENCE: blocks[0]} if len(blocks) > 1 else {}
        self._screen.quote("  ", _FENCED.sub(_beginning, message))
        if self._texts:
            differs = f", {DIFFERENCE} what differs" if DIFFERENCE in self._texts else ""
            self._screen.say(f"\n  {ALL} shows the whole text{differs}.")

    async def _visit(self, url: str, ours: bool) -> Reply:
        try:
            address = urls.read(url, ours=ours)
        except RefusedAddress as error:
            self._screen.show("  ! ", str(error))
            return Reply("cancel")
        _show_address(self._screen, address)
        await self._confirm("Open it in your browser")
        if not await anyio.to_thread.run_sync(self._open, address.url):  # some browsers wait
            self._screen.show("  ", "No browser could be opened here. Open the address yourself.")
            await self._confirm("Have you opened it")
        return Reply("accept")

    async def _fill(self, form: schema.Form) -> Reply:
        if (confirmation := form.lone_confirmation) is not None:
            if confirmation.description:
                self._screen.quote("  ", confirmation.description)
            await self._confirm(safe_line(confirmation.title))
            return Reply("accept", {confirmation.name: True})
        if not form.fields:
            await self._confirm("Agree")
            return Reply("accept", {})
        # A yes that is required may be what is agreed to, so Enter must not say it.
        views = [field_view(field, consent=field.required) for field in form.fields]
        self._screen.show("  ", _instructions(views))
        content: dict[str, Any] = {}
        while True:
            for view in views:
                self._screen.say()
                content = await self._ask_field(view, content)
            # The person has just typed a lone field; there is nothing to look at once more.
            if len(views) == 1 or await self._confirm_content(views, content):
                return Reply("accept", form.check(content))

    async def _ask_field(self, view: FieldView, content: dict[str, Any]) -> dict[str, Any]:
        """Ask for one field; what it was before is offered again."""
        field = view.field
        offered = content.get(field.name, view.default)
        rest = {name: value for name, value in content.items() if name != field.name}
        self._introduce(view, offered)
        while True:
            text = await self._read_line()
            try:
                value = _value(view, text, offered)
            except InvalidAnswer as error:
                self._screen.show("  ! ", str(error))
            else:
                return rest if value is None else {**rest, field.name: value}

    def _introduce(self, view: FieldView, offered: Any) -> None:
        optional = "" if view.field.required else ", optional"
        default = "" if offered is None else f" [{safe_line(_text(view, offered))}]"
        self._screen.show("  ", f"{view.title} ({_hint(view.field)}{optional}){default}")
        if view.description:
            self._screen.quote("    ", view.description)
        for line in filter(None, (view.limits, view.withheld)):
            self._screen.show("    ", line)
        for number, option in enumerate(view.options, 1):
            self._screen.show(f"    {number:>2}  ", option.title)

    async def _confirm_content(self, views: list[FieldView], content: Mapping[str, Any]) -> bool:
        """Show what would be sent, and ask whether to send it."""
        self._screen.say()
        for view in views:
            text = safe_line(_text(view, content.get(view.field.name)))
            self._screen.show("    ", f"{view.title}: {text}")
        return await self._agrees("Send this? Type yes to send it, no to change it.")

    async def _confirm(self, title: str) -> None:
        """Go on with a yes; a no is a decline."""
        if not await self._agrees(f"{title}? Type yes or no; {CANCEL} closes the question."):
            raise _Closed("decline")

    async def _agrees(self, prompt: str) -> bool:
        self._screen.show("  ", prompt)
        while True:
            try:
                return _parse_yes_or_no(await self._read_line(prompt))
            except InvalidAnswer as error:
                self._screen.show("  ! ", str(error))

    async def _read_line(self, prompt: str = "") -> str:
        self._screen.prompt("  > ")
        text = await self._keyboard.line()
        if text is None:  # Ctrl+D, or the terminal was hung up
            self._screen.say()
            raise _Closed("cancel")
        if text.strip() in _ACTIONS:
            raise _Closed(_ACTIONS[text.strip()])
        if text.strip() in self._texts:
            self._screen.quote("  ", self._texts[text.strip()], whole=True)
            self._screen.show("  ", prompt)
            return await self._read_line(prompt)
        if prompt and text.strip().startswith("/"):
            known, typed = ", ".join([*self._texts, *_ACTIONS]), safe_line(text.strip())
            self._screen.show("  ! ", f"There is no {typed} here; there is: {known}.")
            return await self._read_line(prompt)
        return text


@contextmanager
def open_terminal(source: TextIO | None, preferred: TextIO, who: str) -> Iterator[Terminal | None]:
    """Give the person at a terminal, as long as the block lasts; None where nobody types."""
    if source is None or not is_terminal(source):
        yield None
    elif is_terminal(preferred):
        yield Terminal(Keyboard(source), Screen(preferred), who)
    else:  # it was redirected: questions on it would be answered unseen
        name = "CONOUT$"
        if sys.platform != "win32":
            name = os.ttyname(source.fileno())
        with open(name, "w", encoding=source.encoding, errors="backslashreplace") as screen:
            yield Terminal(Keyboard(source), Screen(screen), who)


def _beginning(block: re.Match[str]) -> str:
    rows = block[1].split("\n")
    left = len(rows) - _MOST_OF_BLOCK
    rest = [f"... and {left} more lines: {ALL}"] if left > 0 else []
    return "\n".join([*rows[:_MOST_OF_BLOCK], *rest])


def _show_address(screen: Screen, where: urls.Address) -> None:
    """Say where a page is: whose it is, what to look at, and all of its address."""
    place = where.place
    if where.ours:
        screen.show("  ", "A page of the application itself.")
    else:
        screen.show("  Host: ", place.host)
    if place.weak and not where.ours:
        screen.show("  Of:   ", place.strong)
    if place.letters:
        screen.show("  Reads:", f" {place.letters}")
    for danger in where.dangers:
        screen.show("  ! ", danger.text)
    screen.show("  Page: ", where.url)


def _instructions(views: list[FieldView]) -> str:
    sentences = [f"{DECLINE} declines, {CANCEL} closes the question."]
    if any(view.default is not None for view in views):
        sentences.append("Enter takes what is in [brackets].")
    if any(not view.field.required for view in views):
        sentences.append(f"{SKIP} leaves out what is optional.")
    return " ".join(sentences)


def _value(view: FieldView, text: str, offered: Any) -> Any:
    if text.strip() == SKIP and not view.field.required:
        return None
    if text.strip():
        return _parse(view, text)  # of a text the spaces around it stay
    if view.field.required and offered is None:
        raise InvalidAnswer("An answer is needed here.")
    return offered


def _parse(view: FieldView, text: str) -> Any:
    """Read a line as a field's value, or raise InvalidAnswer, which says what would fit."""
    field = view.field
    match field.kind:
        case "boolean":
            return _parse_yes_or_no(text)
        case "integer" | "number":
            return field.check(_number(field, text))
        case "choice":
            return field.check(_option(view, text))
        case "choices":
            return field.check(_options(view, text))
        case _:
            return field.check(text)


def _parse_yes_or_no(text: str) -> bool:
    word = text.strip().lower()
    if word in _YES | _NO:
        return word in _YES
    raise InvalidAnswer("Type yes or no.")


def _hint(field: Field) -> str:
    if field.format:
        return "web address" if field.format == "uri" else field.format
    return _HINTS[field.kind]


def _text(view: FieldView, value: Any) -> str:
    titles = {option.value: option.title for option in view.options}
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


def _number(field: Field, text: str) -> int | float:
    word = text.strip()
    try:
        return int(word) if re.fullmatch(r"[+-]?[0-9]+", word) else float(word)
    except ValueError:
        noun = "a whole number" if field.kind == "integer" else "a number"
        raise InvalidAnswer(f"Type {noun}.") from None


def _option(view: FieldView, text: str) -> str:
    """Return the option that a number, a title or a value names."""
    word = text.strip()
    # A number is the option's place in the list, also where an option is called by another one.
    if re.fullmatch(r"[0-9]{1,4}", word) and 1 <= int(word) <= len(view.options):
        return view.options[int(word) - 1].value
    for option in view.options:
        if word in (option.title, option.value):
            return option.value
    raise InvalidAnswer(f"Type a number from 1 to {len(view.options)}.")


def _options(view: FieldView, text: str) -> list[str]:
    if text.strip().lower() == "none":
        return []
    return list(dict.fromkeys(_option(view, word) for word in re.split(r"[,\s]+", text.strip())))
