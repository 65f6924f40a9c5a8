"""What waits at a client can be answered or ended from a page, by whoever opened that first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.server.pages import site
from dcc_bridge.server.pages.waiting import Chip, Waiting
from dcc_bridge.testing import FakeHost
from tests.live import text
from tests.server.asked import Asked, Seen, ask_name, asked

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.fixture(autouse=True)
def _armed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test be quicker than a person."""
    monkeypatch.setattr(site, "ARM_DELAY", 0.0)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Asked]:
    with asked(tmp_path) as running:
        yield running


def wait(stage: Asked, message: str = "What is it called?", heard: list[str] | None = None) -> Any:
    """Let a question wait at a client; gives what takes it off the list."""
    into = [] if heard is None else heard
    question = ask_name(message)
    down = stage.pages.chip(
        question, "Cursor", lambda: into.append("here"), lambda: into.append("cancelled")
    )
    stage.running.until(lambda: bool(stage.urls))
    return down


def press(browser: httpx2.Client, url: str, exit: str, which: str | None = None) -> httpx2.Response:
    """Press a button of the first question that is listed."""
    if which is None:
        which = Seen(browser.get(url).text).all("input")[0]["value"]
    return browser.post(url, data={"exit": exit, "which": which})


def test_its_address_is_told_once_and_it_lists_what_waits(stage: Asked) -> None:
    wait(stage, "First?\nAt length.")
    wait(stage, "<b>Second?</b>\u202e")
    page = stage.browser().get(stage.urls[0])
    seen = Seen(page.text)

    assert len(stage.urls) == 1
    assert seen.facts == [("Application", "fake 1.0"), ("Scene", "fake.scene")]
    assert "2 questions wait" in seen.text
    assert "First? " in seen.text
    assert "At length" not in seen.text
    assert "<b>Second?</b>\u2039U+202E\u203a" in seen.text
    assert page.headers["refresh"] == "5"
    assert "script" not in page.headers["content-security-policy"]


@pytest.mark.parametrize(("exit", "heard"), [("answer_here", "here"), ("cancel", "cancelled")])
def test_a_button_does_what_it_says(
    stage: Asked, exit: str, heard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "_LOOKS", 1)
    done: list[str] = []
    wait(stage, heard=done)

    shown = press(stage.browser(), stage.urls[0], exit)

    assert done == [heard]
    assert shown.url == stage.urls[0]


def test_what_is_answered_elsewhere_is_listed_no_more_and_its_button_does_nothing(
    stage: Asked,
) -> None:
    done: list[str] = []
    down, browser = wait(stage, heard=done), stage.browser()
    which = Seen(browser.get(stage.urls[0]).text).all("input")[0]["value"]

    down("answered")
    shown = press(browser, stage.urls[0], "cancel", which)

    assert done == []
    assert "Nothing waits" in shown.text


def test_only_the_browser_that_opened_it_first_sees_it_and_acts(stage: Asked) -> None:
    done: list[str] = []
    wait(stage, heard=done)
    which = Seen(stage.browser().get(stage.urls[0]).text).all("input")[0]["value"]

    looked = stage.browser().get(stage.urls[0])
    acted = press(stage.browser(), stage.urls[0], "cancel", which)

    assert (looked.status_code, acted.status_code) == (403, 403)
    assert "What is it called" not in looked.text
    assert done == []


@pytest.mark.parametrize("headers", [{"sec-fetch-site": "cross-site"}, {"origin": "https://evil"}])
def test_another_site_presses_nothing(stage: Asked, headers: dict[str, str]) -> None:
    done: list[str] = []
    wait(stage, heard=done)
    browser = stage.browser()
    which = Seen(browser.get(stage.urls[0]).text).all("input")[0]["value"]

    sent = {"exit": "cancel", "which": which}
    refused = browser.post(stage.urls[0], data=sent, headers=headers)

    assert refused.status_code == 403
    assert done == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD"])
def test_nothing_but_looking_and_pressing(stage: Asked, method: str) -> None:
    wait(stage)

    assert stage.browser().request(method, stage.urls[0]).status_code == 405


@pytest.mark.parametrize(("away", "moves"), [(59.0, False), (61.0, True)])
def test_a_page_that_nobody_looks_at_any_more_gets_a_new_address(away: float, moves: bool) -> None:
    times = iter([0.0, away, away])
    waiting = Waiting(lambda: next(times))
    first = waiting.readdress()
    waiting.note_look()

    second = waiting.readdress()

    assert first
    assert bool(second) is moves
    assert waiting.is_at(first) is not moves


def test_a_page_that_nobody_opened_yet_keeps_its_address() -> None:
    waiting = Waiting(lambda: 0.0)

    assert waiting.readdress()
    assert waiting.readdress() == ""
    assert not waiting.is_at("")


def test_what_is_taken_off_twice_is_off() -> None:
    waiting = Waiting()
    down = waiting.add(Chip(ask_name(), "Cursor", lambda: None, lambda: None))

    down("answered")
    down("answered")

    assert waiting.chips == []


def test_a_question_that_a_client_leaves_lying_is_answered_on_the_page(tmp_path: Path) -> None:
    @skill(risk="edit")
    def name_it() -> str:
        """Ask for a name."""
        answer = elicit_form_sync("What is it called?", NAME)
        return f"{(answer.data or {}).get('name')} by {answer.answered_by}"

    async def lying(params: ElicitRequestParams) -> ElicitResult:
        played.running.pump.wake(0.0)
        while len(played.urls) < 2 or played.running.bridge.broker.open:
            await anyio.sleep(0.01)
        return ElicitResult(action="accept", content={"name": "too late"})

    async def agent() -> CallToolResult:
        async with played.running.client(asked=lying) as client:
            return await client.call_tool("name_it", {})

    with asked(tmp_path, name_it, host=FakeHost(has_ui=True)) as played:
        waiting = played.running.go(agent)
        played.running.until(lambda: bool(played.urls))
        person = played.browser()
        shown: list[httpx2.Response] = []
        played.serve(lambda: shown.append(press(person, played.urls[0], "answer_here")))
        person.post(str(shown[0].url), data={"exit": "accept", "field0": "shot"})
        played.running.until(waiting.done)
        after = person.get(played.urls[0])

    assert str(shown[0].url) == played.urls[1]
    assert text(waiting.result()) == "shot by host"
    assert "Nothing waits" in after.text
