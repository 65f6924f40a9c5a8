"""Asks a person at a terminal, one field of a form after another. On one asyncio loop."""

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
from dcc_bridge.client.typed_answers import SKIP, hint, parse_yes_or_no, read_value, value_text
from dcc_bridge.elicitation import schema, types, urls
from dcc_bridge.elicitation.field_view import FieldView, field_view
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.errors import RefusedAddress

DECLINE: Final = "/decline"
CANCEL: Final = "/cancel"
ALL: Final = "/all"
DIFFERENCE: Final = "/diff"
_FENCED: Final = re.compile(r"^```\n(.*?)\n```$", re.MULTILINE | re.DOTALL)  # a long text
_MAX_BLOCK_LINES: Final = 20  # lines of a long text that are shown at first
_ACTIONS: Final[Mapping[str, types.Action]] = {DECLINE: "decline", CANCEL: "cancel"}
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


class _Closed(Exception):
    """The person closed the question without sending an answer.

    Attributes:
        action: "decline" or "cancel".
    """

    def __init__(self, action: types.Action) -> None:
        self.action = action


def open_page(url: str) -> bool:
    """Open a page in the person's browser, and return whether there was a browser."""
    # Without a display only a browser for terminals could open, and draw over the question.
    has_display = any(os.environ.get(name) for name in _DISPLAYS)
    if sys.platform.startswith("linux") and not has_display:
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


class Terminal:
    """A `Person` at a terminal, who is asked one question at a time.

    Args:
        keyboard: The lines that the person types.
        screen: The terminal on which the question is drawn.
        who: The asking application, in a few words.
        open_page: Opens a page, and returns whether that was possible.
    """

    def __init__(
        self,
        keyboard: Keyboard,
        screen: Screen,
        who: str,
        open_page: Callable[[str], bool] = open_page,
    ) -> None:
        self._open = open_page
        self._keyboard = keyboard
        self._screen = screen
        self._who = who
        self._lock = anyio.Lock()
        # The long texts of the question, by the commands that show them: `ALL` and `DIFFERENCE`.
        self._texts: dict[str, str] = {}

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> Reply:
        """Draw a form and return the person's reply.

        Args:
            message: What is asked.
            form: The fields to fill in.
            until: When the question ends, as the person reads it: "by 14:32"; "" for no limit.
        """
        return await self._ask(message, until, lambda: self._fill(form))

    async def visit(self, message: str, url: str, *, ours: bool = False, until: str = "") -> Reply:
        """Show the address of a page, and open the page if the person says yes.

        Args:
            message: What is asked.
            url: The address.
            ours: Whether the page is one of the asking application itself.
            until: When the question ends, as the person reads it: "by 14:32"; "" for no limit.
        """
        return await self._ask(message, until, lambda: self._visit(url, ours))

    async def _ask(self, message: str, until: str, answer: Callable[[], Awaitable[Reply]]) -> Reply:
        async with self._lock:
            self._keyboard.forget()  # an earlier line cannot be meant for this question
            self._screen.say()
            self._screen.show("", f"{safe_line(self._who)} asks:")
            self._screen.say()
            self._quote(message)
            limit = ""
            if until:
                limit = f"\n  Answer {until}.\n"
            self._screen.say(limit)
            try:
                return await answer()
            except _Closed as closed:
                return Reply(closed.action)
            except anyio.get_cancelled_exc_class():
                self._screen.say("\n  The question was withdrawn.")
                raise

    def _quote(self, message: str) -> None:
        """Show a message, with the beginning of each long text in it."""
        self._texts = {}
        self._screen.quote("  ", _FENCED.sub(_beginning, message))
        blocks = _FENCED.findall(message)
        if not blocks:
            return
        self._texts[ALL] = _FENCED.sub(r"\1", message)
        difference = ""
        if len(blocks) > 1:
            self._texts[DIFFERENCE] = blocks[0]
            difference = f", {DIFFERENCE} the changes"
        self._screen.say(f"\n  {ALL} shows the whole text{difference}.")

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
        confirmation = form.lone_confirmation
        if confirmation is not None:
            if confirmation.description:
                self._screen.quote("  ", confirmation.description)
            await self._confirm(safe_line(confirmation.title))
            return Reply("accept", {confirmation.name: True})
        if not form.fields:
            await self._confirm("Agree")
            return Reply("accept", {})
        # A required yes may be the consent itself, so Enter must not stand for yes there.
        views = [field_view(field, consent=field.required) for field in form.fields]
        self._screen.show("  ", _instructions(views))
        content: dict[str, Any] = {}
        while True:
            for view in views:
                self._screen.say()
                content = await self._ask_field(view, content)
            # A single field, typed just now, needs no review.
            if len(views) == 1 or await self._confirm_content(views, content):
                return Reply("accept", form.check(content))

    async def _ask_field(self, view: FieldView, content: dict[str, Any]) -> dict[str, Any]:
        """Ask for one field, offering its value in `content`, and return the content with it."""
        name = view.field.name
        offered = content.get(name, view.default)
        self._introduce(view, offered)
        while True:
            text = await self._read_line()
            try:
                value = read_value(view, text, offered)
            except InvalidAnswer as error:
                self._screen.show("  ! ", str(error))
                continue
            answered = {**content}
            answered.pop(name, None)
            if value is not None:
                answered[name] = value
            return answered

    def _introduce(self, view: FieldView, offered: Any) -> None:
        """Show which field is asked for, and what may be typed."""
        heading = f"{view.title} ({hint(view.field)}"
        if not view.field.required:
            heading += ", optional"
        heading += ")"
        if offered is not None:
            heading += f" [{safe_line(value_text(view, offered))}]"
        self._screen.show("  ", heading)
        if view.description:
            self._screen.quote("    ", view.description)
        for line in (view.limits, view.withheld):
            if line:
                self._screen.show("    ", line)
        for number, option in enumerate(view.options, 1):
            self._screen.show(f"    {number:>2}  ", option.title)

    async def _confirm_content(self, views: list[FieldView], content: Mapping[str, Any]) -> bool:
        """Show the values that would be sent, and ask whether to send them."""
        self._screen.say()
        for view in views:
            text = safe_line(value_text(view, content.get(view.field.name)))
            self._screen.show("    ", f"{view.title}: {text}")
        return await self._agrees("Send these answers? Type yes to send them or no to change them.")

    async def _confirm(self, title: str) -> None:
        """Ask for a yes; a no closes the question as a decline."""
        if not await self._agrees(f"{title}? Type yes or no. {CANCEL} closes the question."):
            raise _Closed("decline")

    async def _agrees(self, prompt: str) -> bool:
        self._screen.show("  ", prompt)
        while True:
            try:
                return parse_yes_or_no(await self._read_line(prompt))
            except InvalidAnswer as error:
                self._screen.show("  ! ", str(error))

    async def _read_line(self, prompt: str = "") -> str:
        """Read lines until one is no command, and return that line.

        Args:
            prompt: Shown again after each command. If there is a prompt, each line that begins with
                a slash counts as a command; else only the known commands do.
        """
        self._screen.prompt("  > ")
        text = await self._keyboard.line()
        if text is None:  # Ctrl+D, or the terminal was hung up
            self._screen.say()
            raise _Closed("cancel")
        word = text.strip()
        if word in _ACTIONS:
            raise _Closed(_ACTIONS[word])
        if word in self._texts:
            self._screen.quote("  ", self._texts[word], whole=True)
            self._screen.show("  ", prompt)
            return await self._read_line(prompt)
        if prompt and word.startswith("/"):
            commands = ", ".join([*self._texts, *_ACTIONS])
            self._screen.show("  ! ", f"There is no {safe_line(word)} here; there is: {commands}.")
            return await self._read_line(prompt)
        return text


@contextmanager
def open_terminal(source: TextIO | None, preferred: TextIO, who: str) -> Iterator[Terminal | None]:
    """Open a terminal at which a person can be asked, for the length of a ``with`` block.

    Args:
        source: The stream from which the person's lines come, if any.
        preferred: The stream to draw on. If it is redirected, the terminal of `source` is used.
        who: The asking application, in a few words.

    Yields:
        The person; None if `source` is not a terminal.

    Raises:
        OSError: The terminal cannot be opened.
    """
    if source is None or not is_terminal(source):
        yield None
    elif is_terminal(preferred):
        yield Terminal(Keyboard(source), Screen(preferred), who)
    else:  # questions on a redirected stream would be answered unseen
        name = "CONOUT$"
        if sys.platform != "win32":
            name = os.ttyname(source.fileno())
        with open(name, "w", encoding=source.encoding, errors="backslashreplace") as screen:
            yield Terminal(Keyboard(source), Screen(screen), who)


def _beginning(block: re.Match[str]) -> str:
    """Return the first lines of a long text, and the command that shows the others."""
    rows = block[1].split("\n")
    excess = len(rows) - _MAX_BLOCK_LINES
    if excess > 0:
        rows = [*rows[:_MAX_BLOCK_LINES], f"... and {excess} more lines: {ALL}"]
    return "\n".join(rows)


def _show_address(screen: Screen, address: urls.Address) -> None:
    """Show the host of a page, the dangers in its address, and the whole address."""
    place = address.place
    if address.ours:
        screen.show("  ", "A page of the application itself.")
    else:
        screen.show("  Host: ", place.host)
    if place.weak and not address.ours:
        screen.show("  Of:   ", place.strong)
    if place.letters:
        screen.show("  Reads:", f" {place.letters}")
    for danger in address.dangers:
        screen.show("  ! ", danger.text)
    screen.show("  Page: ", address.url)


def _instructions(views: list[FieldView]) -> str:
    """Return which commands a person can type in a form."""
    sentences = [f"{DECLINE} declines, {CANCEL} closes the question."]
    if any(view.default is not None for view in views):
        sentences.append("Enter accepts the value in [brackets].")
    if any(not view.field.required for view in views):
        sentences.append(f"{SKIP} skips an optional field.")
    return " ".join(sentences)
