"""A name that hides characters: clients see them, and name the item by what they saw."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import ElicitResult

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.text import from_visible, visible
from dcc_bridge.errors import BridgeError
from dcc_bridge.skills.skill import report_progress
from tests.live import ERAS, Live, live, text
from tests.server.test_resources import read, refused
from tests.stand_ins import FakeHost

HIDDEN = frozenset("\x1b\x9b\u202e\u200b\ud800")
NAME = "Key\x1b[31m\u202egnp\u200b"
SHOWN = "Key‹U+001B›[31m‹U+202E›gnp‹U+200B›"  # noqa: RUF001 - ours
EVERY_ERA = pytest.mark.parametrize("era", ERAS[1:])


def texts(value: Any) -> list[str]:
    """Return every text in a value of JSON, names too."""
    if isinstance(value, dict):
        return [it for pair in value.items() for part in pair for it in texts(part)]
    if isinstance(value, list):
        return [it for part in value for it in texts(part)]
    return [value] if isinstance(value, str) else []


def calling(running: Live, tool: str, era: str = ERAS[-1], **arguments: Any) -> Any:
    """Call a tool as a client that must see nothing hidden; returns what it told as data."""
    result = running.call(tool, arguments, era=era)
    sent = result.model_dump(mode="json")
    assert not HIDDEN & set("".join(texts(sent)))
    return result.structured_content


@EVERY_ERA
def test_an_item_is_named_again_by_what_a_result_showed(era: str, tmp_path: Path) -> None:
    @skill(risk="read")
    def listed() -> dict[str, Any]:
        return {"items": [NAME], NAME: {"text": "two\nlines"}}

    @skill(risk="read")
    def found(items: list[str], by_name: dict[str, str]) -> list[bool]:
        return [items == [NAME], by_name == {NAME: NAME}]

    with live(tmp_path, listed, found) as running:
        told = calling(running, "listed", era)
        name = told["items"][0]
        again = calling(running, "found", era, items=[name], by_name={name: name})

    assert told == {"items": [SHOWN], SHOWN: {"text": "two\nlines"}}
    assert again == {"result": [True, True]}


@EVERY_ERA
def test_what_a_text_an_error_or_progress_says_hides_nothing(era: str, tmp_path: Path) -> None:
    @skill(risk="read")
    def say() -> str:
        report_progress(1, 2, NAME)
        return f"It is {NAME}"

    @skill(risk="read")
    def fail() -> None:
        raise BridgeError(f"There is no {NAME}.")

    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    with live(tmp_path, say, fail) as running:

        async def agent() -> str:
            async with running.client(era) as client:
                return text(await client.call_tool("say", {}, progress_callback=hear))

        said = running.run(agent)
        failed = text(running.call("fail", era=era))

    assert said == f"It is {SHOWN}"
    assert SHOWN in failed
    assert not HIDDEN & set("".join([failed, *heard]))


@EVERY_ERA
def test_a_clients_form_hides_nothing_and_its_answer_is_what_the_skill_offered(
    era: str, tmp_path: Path
) -> None:
    heard: list[Any] = []
    answers: list[Any] = []

    @skill(risk="edit")
    def choose() -> None:
        one = {"type": "string", "title": NAME, "enum": [NAME, "Fill"], "default": NAME}
        form = {"type": "object", "properties": {"one": one}, "required": ["one"]}
        answers.append(elicit_form_sync(f"Which of {NAME}?", form).data)

    def person(params: Any) -> ElicitResult:
        heard.append(params.model_dump(mode="json"))
        (first, _) = params.requested_schema["properties"]["one"]["enum"]
        return ElicitResult(action="accept", content={"one": first})

    with live(tmp_path, choose) as running:
        running.call("choose", era=era, asked=person)

    assert not HIDDEN & set("".join(texts(heard)))
    assert answers == [{"one": NAME}]


def test_a_name_of_two_lines_is_one_item_of_a_clients_form(tmp_path: Path) -> None:
    heard: list[str] = []
    name = f"{NAME}\nNothing else"

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        confirm_sync(f"Delete {NAME}?", items=[name], verb=f"Delete {NAME}")

    def person(params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    with live(tmp_path, delete, host=FakeHost([name])) as running:
        running.call("delete", asked=person)

    (message,) = heard
    assert f"\n{SHOWN}‹U+000A›Nothing else\n" in message  # noqa: RUF001 - ours
    assert message.startswith(f"Delete {SHOWN}?\n")
    assert not HIDDEN & set(message)


@EVERY_ERA
def test_a_resource_hides_nothing_and_is_read_by_the_name_it_showed(
    era: str, tmp_path: Path
) -> None:
    host = FakeHost([NAME])
    host.select([NAME])

    with live(tmp_path, host=host) as running:
        (selected,) = read(running, "scene://selection", era)["items"]
        read(running, f"scene://{host.item_noun}/{selected['item']}", era)
        gone = refused(running, f"scene://{host.item_noun}/no{SHOWN}", era)

    assert selected["item"] == SHOWN
    assert not HIDDEN & set(str(gone))


def test_a_record_of_the_log_hides_nothing_of_a_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @skill(risk="read")
    def fail() -> None:
        raise ValueError(NAME)

    with live(tmp_path, fail) as running:
        running.call("fail")
        logging.getLogger("dcc_bridge.bridge").warning("no %s", NAME, stack_info=True)

    assert SHOWN in caplog.text
    assert f"no {SHOWN}" in caplog.text
    assert not HIDDEN & set(caplog.text)


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("‹›U+202EA0\u202e\x1b"))))  # noqa: RUF001
def test_what_is_visible_is_read_back_as_it_was(raw: str) -> None:
    shown = visible(raw)

    assert from_visible(shown) == raw
    assert not HIDDEN & set(shown)


@pytest.mark.parametrize("look", [visible, from_visible])
@pytest.mark.parametrize("plain", ["Key", "‹U+›", "Wörld", "❤️", "two\n\tlines", "of\r\nWindows"])  # noqa: RUF001
def test_a_plain_text_stays_as_it_is(plain: str, look: Callable[[str], str]) -> None:
    assert look(plain) == plain


@pytest.mark.parametrize("number", ["110000", "0041"])
def test_a_number_of_what_is_never_hidden_is_only_a_text(number: str) -> None:
    text_of_it = f"\u2039U+{number}\u203a"

    assert from_visible(text_of_it) == text_of_it
    assert from_visible(visible(text_of_it)) == text_of_it
