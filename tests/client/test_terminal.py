"""A question in a terminal, every way in which it may be answered there, and by a script."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcc_bridge.client import Script, terminal, terminal_io
from dcc_bridge.client.terminal import Terminal, open_page
from dcc_bridge.client.terminal_io import Keyboard, Screen, lines
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.types import Action
from tests.client.tty import LIMIT, Tty, tty

CONFIRM = {"confirm": {"type": "boolean", "title": "Delete 127 cameras"}}
NAME = {"name": {"type": "string", "minLength": 3}}


class Asked:
    """A terminal in which questions are asked, one after the other."""

    def __init__(self, screen: Tty) -> None:
        self.tty = screen
        self.opened: list[str] = []
        self.has_browser = True
        self.until, self.type, self.press = screen.until, screen.type, screen.press
        self.answer = screen.answer

    def ask(
        self, fields: dict[str, Any], message: str = "Delete?", required: Any = None
    ) -> Future[list[Reply]]:
        names = list(fields) if required is None else required
        form = parse({"type": "object", "properties": fields, "required": names})
        return self.put(lambda person: person.ask(message, form))

    def _open(self, url: str) -> bool:
        if self.has_browser:
            self.opened.append(url)
        return self.has_browser

    def put(self, *questions: Any) -> Future[list[Reply]]:
        """Put questions in turn, on a thread of their own."""
        future: Future[list[Reply]] = Future()

        async def all_of_them() -> list[Reply]:
            with self.tty.open("r") as keys, self.tty.open("w") as screen:
                person = Terminal(Keyboard(keys), Screen(screen), "The host", self._open)
                return [await question(person) for question in questions]

        def work() -> None:
            try:
                future.set_result(anyio.run(all_of_them))
            except BaseException as error:  # noqa: BLE001 - it belongs to the future
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future


@pytest.fixture
def person() -> Iterator[Asked]:
    with tty() as screen:
        yield Asked(screen)


def reply(future: Future[list[Reply]]) -> Reply:
    return future.result(LIMIT)[0]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("yes", Reply("accept", {"confirm": True})),
        (" Y ", Reply("accept", {"confirm": True})),
        ("no", Reply("decline")),
        ("/decline", Reply("decline")),
        ("/cancel", Reply("cancel")),
    ],
)
def test_a_confirmation_takes_a_yes_a_no_or_neither(
    person: Asked, typed: str, wanted: Reply
) -> None:
    answer = person.ask(CONFIRM)

    person.answer("Delete 127 cameras? Type yes or no. /cancel closes the question.\n  > ", typed)

    assert reply(answer) == wanted


def test_enter_alone_never_agrees(person: Asked) -> None:
    answer = person.ask({"confirm": {"type": "boolean", "default": True}})

    person.answer("> ", "")
    person.answer("! Type yes or no.", "no")

    assert reply(answer) == Reply("decline")


def test_enter_alone_never_agrees_to_what_a_form_requires(person: Asked) -> None:
    answer = person.ask({"confirm": {"type": "boolean", "default": True}, **NAME})

    person.answer("Confirm (yes or no)\n  > ", "")
    person.answer("! An answer is needed here.\n  > ", "/cancel")

    assert reply(answer) == Reply("cancel")


def test_the_end_of_the_input_closes_the_question(person: Asked) -> None:
    answer = person.ask(CONFIRM)

    person.until("> ")
    person.press("\x04")

    assert reply(answer) == Reply("cancel")


def test_a_terminal_that_is_hung_up_closes_the_question() -> None:
    with tty() as screen:
        answer = Asked(screen).ask(CONFIRM)
        screen.until("> ")
        screen.close()

        assert reply(answer) == Reply("cancel")


def test_an_answer_typed_before_the_question_does_not_count(person: Asked) -> None:
    person.type("yes")
    person.until("yes\n")  # its echo
    answer = person.ask(CONFIRM)

    person.answer("closes the question.\n  > ", "no")

    assert reply(answer) == Reply("decline")


def test_an_answer_typed_before_a_second_question_does_not_count(person: Asked) -> None:
    form = parse({"properties": CONFIRM, "required": ["confirm"]})
    arrived = threading.Event()

    async def hold(_: Terminal) -> Reply:
        person.type("true")
        await anyio.to_thread.run_sync(arrived.wait, LIMIT)
        return Reply("cancel")

    answers = person.put(lambda one: one.ask("a", form), hold, lambda one: one.ask("b", form))
    person.until("| a")
    person.answer("> ", "yes")
    person.until("true\n")  # its echo; one thread alone reads a terminal
    arrived.set()
    person.until("| b")
    person.answer("> ", "no")

    assert [one.action for one in answers.result(LIMIT)] == ["accept", "cancel", "decline"]


class Interrupted:
    """A terminal in which the next question comes just as a line of it was read."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self.fileno = source.fileno
        self.forget: Callable[[], None]
        self.forgot = threading.Event()
        self.is_next = False

    @property
    def encoding(self) -> str:
        if self.is_next and not self.forgot.is_set():
            asks = threading.Thread(target=self._ask, daemon=True)
            asks.start()
            asks.join(0.2)  # by then it is done, where nothing keeps it from it
        return self._source.encoding

    def _ask(self) -> None:
        self.forget()
        self.forgot.set()


def test_a_line_that_is_being_read_as_a_question_comes_does_not_count(person: Asked) -> None:
    with person.tty.open("r") as keys:
        source = Interrupted(keys)
        keyboard = Keyboard(cast(TextIO, source))
        source.forget = keyboard.forget

        async def typed() -> list[str | None]:
            person.type("one")
            first = await keyboard.line()
            source.is_next = True
            person.type("two")
            assert await anyio.to_thread.run_sync(source.forgot.wait, LIMIT)
            person.type("three")
            return [first, await asyncio.wait_for(keyboard.line(), LIMIT)]

        assert asyncio.run(typed()) == ["one", "three"]


def test_what_a_shell_reads_in_place_of_a_question_holds_up_nobody(
    person: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there as the keyboard was told of it, and is gone as it reads."""
    looks = threading.Semaphore(0)

    def tell(*_: object) -> None:
        looks.release()
        time.sleep(0.001)

    monkeypatch.setattr(terminal_io, "select", SimpleNamespace(select=tell))
    with person.tty.open("r") as keys:
        keyboard = Keyboard(keys)

        async def typed() -> str | None:
            line = asyncio.create_task(keyboard.line())
            for _ in range(3):
                assert await anyio.to_thread.run_sync(looks.acquire, True, LIMIT)
            asks = threading.Thread(target=keyboard.forget, daemon=True)
            asks.start()
            await anyio.to_thread.run_sync(asks.join, LIMIT)
            assert not asks.is_alive()
            person.type("yes")
            return await asyncio.wait_for(line, LIMIT)

        assert asyncio.run(typed()) == "yes"


def test_the_end_of_the_input_between_two_questions_closes_neither(person: Asked) -> None:
    with person.tty.open("r") as keys:
        keyboard = Keyboard(keys)

        async def typed() -> list[str | None]:
            person.type("one")
            first = await keyboard.line()
            person.press("\x04")
            with anyio.fail_after(LIMIT):
                while any(it.name == "dcc_bridge keyboard" for it in threading.enumerate()):
                    await anyio.sleep(0.01)
            keyboard.forget()
            person.type("two")
            return [first, await asyncio.wait_for(keyboard.line(), LIMIT)]

        assert asyncio.run(typed()) == ["one", "two"]


def test_a_field_is_asked_again_until_it_fits(person: Asked) -> None:
    answer = person.ask(NAME)

    person.answer("Name (text)\n    At least 3 characters.\n  > ", "ab")
    person.answer("! name: at least 3 characters, please.\n  > ", "")
    person.answer("! An answer is needed here.\n  > ", "abc")

    assert reply(answer) == Reply("accept", {"name": "abc"})


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ({"type": "integer"}, "-12", -12),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "string", "enum": ["a", "b"]}, "2", "b"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "Wide"}]}, "Wide", "x"),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
            "3, 1",
            ["c", "a"],
        ),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, "none", []),
        ({"type": "string", "format": "email"}, "a@b.org", "a@b.org"),
        ({"type": "string"}, "decline", "decline"),
        ({"type": "string"}, " spaces stay ", " spaces stay "),
    ],
)
def test_each_kind_of_field_is_read_as_its_kind(
    person: Asked, field: dict[str, Any], typed: str, value: object
) -> None:
    answer = person.ask({"it": field})

    person.answer("> ", typed)

    assert reply(answer) == Reply("accept", {"it": value})


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ({"type": "integer"}, "2.5", "it: expected a whole number, not 2.5."),
        ({"type": "integer"}, "two", "Type a whole number."),
        ({"type": "number"}, "nan", "it: expected a finite number, not nan."),
        ({"type": "number", "maximum": 5}, "6", "it: at most 5, please."),
        ({"type": "string", "enum": ["a", "b"]}, "3", "Type a number from 1 to 2."),
        ({"type": "boolean"}, "maybe", "Type yes or no."),
        ({"type": "string", "format": "date"}, "soon", "it: 'soon' is not a date"),
    ],
)
def test_what_does_not_fit_is_said_and_asked_again(
    person: Asked, field: dict[str, Any], typed: str, said: str
) -> None:
    answer = person.ask({"it": field}, required=[])

    person.answer("> ", typed)
    person.until(f"! {said}")
    person.answer("> ", "/skip")

    assert reply(answer) == Reply("accept", {})


def test_enter_takes_the_default_and_skip_leaves_the_field_out(person: Asked) -> None:
    number = {"type": "integer", "default": 35}
    answer = person.ask({"first": number, "second": number}, required=[])

    person.until("/skip skips an optional field.")
    person.answer("First (whole number, optional) [35]\n  > ", "")
    person.answer("> ", "/skip")
    person.answer("First: 35\n    Second: (left out)\n  Send these answers?", "yes")

    assert reply(answer) == Reply("accept", {"first": 35})


def test_what_will_be_sent_is_shown_and_can_be_changed(person: Asked) -> None:
    shot = {"type": "string", "oneOf": [{"const": "w", "title": "Wide"}]}
    answer = person.ask({**NAME, "shot": shot})

    person.answer("> ", "abc")
    person.answer(" 1  Wide\n  > ", "1")
    person.until(
        "Name: abc\n    Shot: Wide\n"
        "  Send these answers? Type yes to send them or no to change them.\n  > "
    )
    person.type("no")
    person.answer("[abc]\n    At least 3 characters.\n  > ", "abcd")
    person.answer("> ", "")
    person.until("Name: abcd")
    person.answer("> ", "yes")

    assert reply(answer) == Reply("accept", {"name": "abcd", "shot": "w"})


def test_a_page_is_shown_whole_with_its_host_and_opens_on_a_yes(person: Asked) -> None:
    answer = person.put(lambda one: one.visit("Sign in.", "https://www.exämple.org/a?b=c"))

    person.until("Host: www.xn--exmple-cua.org")
    person.until("Of:   xn--exmple-cua.org")
    person.until("Reads: www.exämple.org")
    person.until("! Its name has letters outside a to z")
    person.until("Page: https://www.xn--exmple-cua.org/a?b=c")
    person.until("Open it in your browser?")
    assert person.opened == []
    person.type("yes")

    assert answer.result(LIMIT) == [Reply("accept")]
    assert person.opened == ["https://www.xn--exmple-cua.org/a?b=c"]


@pytest.mark.parametrize(("typed", "action"), [("no", "decline"), ("/cancel", "cancel")])
def test_without_a_yes_no_page_opens(person: Asked, typed: str, action: Action) -> None:
    answer = person.put(lambda one: one.visit("Sign in.", "https://example.org/"))
    person.answer("Open it in your browser?", typed)

    assert answer.result(LIMIT) == [Reply(action)]
    assert person.opened == []


@pytest.mark.parametrize(("typed", "action"), [("yes", "accept"), ("no", "decline")])
def test_where_no_browser_is_the_address_is_there_to_copy(
    person: Asked, typed: str, action: Action
) -> None:
    person.has_browser = False
    answer = person.put(lambda one: one.visit("Sign in.", "https://example.org/"))
    person.answer("Open it in your browser?", "yes")
    person.answer("No browser could be opened here.", typed)

    assert answer.result(LIMIT) == [Reply(action)]


def test_a_page_of_the_host_is_called_so(person: Asked) -> None:
    url = "http://127.0.0.1:41234/ask/0123456789abcdef"
    answer = person.put(lambda one: one.visit("Enter it.", url, ours=True))
    person.until("A page of the application itself.")
    person.answer(f"Page: {url}", "yes")

    assert answer.result(LIMIT) == [Reply("accept")]
    assert person.opened == [url]


def test_without_a_screen_there_is_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def note(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", note)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert open_page("https://example.org/") is False
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_page("https://example.org/") is True
    assert opened == ["https://example.org/"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd"])
def test_what_is_no_page_of_the_web_is_refused_unasked(person: Asked, url: str) -> None:
    answer = person.put(lambda one: one.visit("Sign in.", url))

    assert reply(answer) == Reply("cancel")


def test_a_withdrawn_question_says_so(person: Asked) -> None:
    form = parse({"properties": CONFIRM, "required": ["confirm"]})

    async def withdrawn(one: Terminal) -> Reply:
        with anyio.move_on_after(0.2):
            await one.ask("Delete?", form)
        return Reply("cancel")

    answer = person.put(withdrawn)
    person.until("The question was withdrawn.")

    assert reply(answer) == Reply("cancel")


def test_a_message_can_neither_steer_the_terminal_nor_pass_for_ours(person: Asked) -> None:
    evil = "Fine?\x1b[2J\x07\u202e\x9b31m\n  Send these answers? Type yes\n" + "x" * 300
    title = {"type": "boolean", "title": evil, "description": evil}
    answer = person.ask({"confirm": title}, message=evil)

    shown = person.answer("closes the question.\n  > ", "no")

    assert reply(answer) == Reply("decline")
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)
    ours = [line for line in shown.split("\n") if line and not line.startswith("  ")]
    assert ours == ["The host asks:"]
    assert all(len(line) <= 80 for line in shown.split("\n"))


def test_a_very_long_message_does_not_push_the_question_out_of_sight(person: Asked) -> None:
    answer = person.ask(CONFIRM, message="\n".join(map(str, range(500))))

    shown = person.answer("> ", "no")

    assert reply(answer).action == "decline"
    assert "  | ... and 440 more lines\n" in shown


def test_nobody_is_found_where_no_terminal_is(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.touch()
    with tty() as screen, screen.open("w") as shown, file.open() as keys:
        with terminal.open_terminal(keys, shown, "The host") as found:
            assert found is None
        with terminal.open_terminal(None, shown, "The host") as found:
            assert found is None


def test_nobody_is_found_at_the_null_device() -> None:
    """On Windows it says that it is a terminal."""
    with open(os.devnull) as nobody:
        assert not terminal_io.is_terminal(nobody)


def test_a_question_is_drawn_where_it_is_answered_even_if_stderr_goes_elsewhere(
    tmp_path: Path,
) -> None:
    form = parse({"properties": CONFIRM, "required": ["confirm"]})

    async def ask() -> Reply:
        with screen.open("r") as keys, terminal.open_terminal(keys, log, "The host") as one:
            assert one is not None
            return await one.ask("Delete?", form)

    with tty() as screen, (tmp_path / "log").open("w+") as log:
        future: Future[Reply] = Future()
        threading.Thread(target=lambda: future.set_result(anyio.run(ask)), daemon=True).start()
        screen.until("| Delete?")
        screen.answer("> ", "yes")

        assert future.result(LIMIT).action == "accept"
        assert log.read() == ""


TEXT = "\n".join(f"{number:>5}    value_{number} = {number}" for number in range(1, 41))
DIFFERS = f"   39 +  new\n{'':>5} -  gone"
AGREED = f"Run it?\n\n2 lines differ:\n```\n{DIFFERS}\n```\n\n40 lines:\n```\n{TEXT}\n```"


def test_of_a_long_text_the_beginning_is_shown_and_the_rest_on_demand(person: Asked) -> None:
    answer = person.ask(CONFIRM, AGREED)

    first = person.answer("> ", "/diff")
    differs = person.answer("> ", "/foo")
    unknown = person.answer("> ", "/all")
    whole = person.answer("> ", "yes")

    assert "value_20 = 20" in first
    assert "value_21" not in first
    assert "|... and 20 more lines: /all" in first.replace("| ", "|")
    assert "/all shows the whole text, /diff the changes." in first
    assert ("gone" in differs, "value_1 " in differs) == (True, False)
    assert "There is no /foo here; there is: /all, /diff, /decline, /cancel." in unknown
    assert ("value_40 = 40" in whole, "```" in whole) == (True, False)
    assert all("Delete 127 cameras? Type yes or no" in it for it in (differs, whole))
    assert reply(answer) == Reply("accept", {"confirm": True})


def test_no_part_of_a_line_can_pass_for_the_next_one(person: Asked) -> None:
    forged = f"    1    {'x' * 60}  2    nothing_is_lost()"
    answer = person.ask(CONFIRM, f"Run it?\n```\n{forged}\n```")

    shown = person.answer("Delete 127 cameras?", "/cancel")

    (line,) = [line for line in shown.splitlines() if "nothing_is_lost" in line]
    assert line.startswith("  |" + " " * 10)
    assert reply(answer) == Reply("cancel")


def test_where_no_text_is_asked_about_its_words_are_an_answer(person: Asked) -> None:
    answer = person.ask({"name": {"type": "string"}}, "Which?")

    person.answer("> ", "/all")

    assert reply(answer) == Reply("accept", {"name": "/all"})


FORM = parse(
    {
        "properties": {
            "confirm": {"type": "boolean", "default": False},
            "lens": {"type": "integer", "default": 35},
            "keep": {"type": "boolean", "default": False},
            "notes": {"type": "string"},
        },
        "required": ["confirm", "lens"],
    }
)
OPEN = parse({"properties": {"name": {"type": "string"}}, "required": ["name"]})
OPTIONAL = parse({"properties": {"name": {"type": "string"}, "lens": {"type": "integer"}}})


def ask(answer: Any, form: Any) -> tuple[Reply, list[str]]:
    told: list[str] = []
    reply = anyio.run(Script(answer, told.append).ask, "Sure?", form)
    return reply, told


@pytest.mark.parametrize(
    ("answer", "form", "wanted"),
    [
        ("accept", FORM, Reply("accept", {"confirm": True, "lens": 35, "keep": False})),
        ("decline", FORM, Reply("decline")),
        ("cancel", FORM, Reply("cancel")),
        ({"name": "a", "other": 1}, OPEN, Reply("accept", {"name": "a"})),
    ],
)
def test_a_script_answers_with_defaults_or_fields_that_the_form_knows_or_with_nothing(
    answer: Any, form: Any, wanted: Reply
) -> None:
    """Accept says yes to what is required, and takes the other defaults."""
    assert ask(answer, form) == (wanted, [])


@pytest.mark.parametrize(
    ("answer", "form", "why"),
    [
        ("accept", OPEN, "name is required and has no default"),
        ({"name": 3}, OPEN, "name: expected a text, not 3"),
        ({"nmae": "a"}, OPTIONAL, "the form asks for name, lens."),
    ],
)
def test_a_script_closes_a_question_that_it_does_not_fit_and_says_why(
    answer: Any, form: Any, why: str
) -> None:
    reply, told = ask(answer, form)

    assert reply.action == "cancel"
    assert why in told[0]


@pytest.mark.parametrize(
    ("answer", "action"), [("accept", "accept"), ("decline", "decline"), ({"a": 1}, "accept")]
)
def test_a_page_is_agreed_to_or_not(answer: Any, action: str) -> None:
    assert anyio.run(Script(answer).visit, "Go?", "https://example.org").action == action


@given(st.text(), st.integers(min_value=20, max_value=200))
def test_nothing_that_a_terminal_acts_on_is_left(text: str, columns: int) -> None:
    kinds = {unicodedata.category(char) for part in lines(text, columns) for char in part}

    assert {kind for kind in kinds if kind[0] == "C" or kind in ("Zl", "Zp")} == set()


@given(st.text(), st.integers(min_value=20, max_value=200))
def test_no_line_is_wider_than_it_may_be(text: str, columns: int) -> None:
    assert all(_width(part) <= columns for part in lines(text, columns))


@given(st.lists(st.text("abc .", min_size=1), min_size=1))
def test_no_word_is_lost(parts: list[str]) -> None:
    shown = " ".join(lines("\n".join(parts), 40))

    assert shown.replace(" ", "") == "".join(parts).replace(" ", "")


def test_what_follows_of_a_point_cannot_pass_for_the_next_point() -> None:
    shown = lines("Turn?\n- path: «" + "x " * 30 + "- axis: y»\n- count: «2»", 30)

    assert [part for part in shown if part.startswith("-")] == [shown[1], "- count: «2»"]
    assert all(part.startswith("  ") for part in shown[2:-1])


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
