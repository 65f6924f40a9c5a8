"""A skill asks on a page: it waits, and goes on with what a person answered there."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_types import CallToolResult

from dcc_bridge.elicitation.question import Unable
from dcc_bridge.server.pages import PagePresenter, site
from tests.live import live, status, text
from tests.server.asked import asked, consent, raw
from tests.server.skills import Skills


@pytest.fixture(autouse=True)
def _armed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test be quicker than a person."""
    monkeypatch.setattr(site, "ARM_DELAY", 0.0)


def test_a_question_that_expires_takes_its_page_along(tmp_path: Path) -> None:
    skills = Skills(has_ui=True)
    with asked(tmp_path, skills.delete(), host=skills.host, host_deadline=0.2) as stage:
        result = stage.running.call("delete")
        page = stage.browser().get(stage.urls[0])

    assert "timed_out" in text(result)
    assert len(skills.host.items) == 127
    assert (page.status_code, "Nobody answered in time" in page.text) == (410, True)


def test_a_bridge_whose_questions_are_dialogs_serves_nothing_to_a_guesser(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        port = int(running.bridge.url.split(":")[2].split("/")[0])
        assert raw(port, "/ask/x") == 404
        assert raw(port, "/") == 401
        assert raw(port, "/mcp") == 401


def test_a_skill_that_waits_on_the_main_thread_goes_on_with_the_answer(tmp_path: Path) -> None:
    skills = Skills(has_ui=True)
    with asked(tmp_path, skills.delete(), skills.read(), host=skills.host) as stage:

        async def agent() -> CallToolResult:
            async with stage.running.client() as session:
                return await session.call_tool("delete", {})

        waiting = stage.running.go(agent)
        stage.running.until(lambda: bool(stage.urls))
        person = stage.browser()
        person.get(stage.urls[0])
        meanwhile = stage.running.call("count")
        page = person.post(stage.urls[0], data={"exit": "accept"})
        stage.running.until(waiting.done)
        later = person.get(stage.urls[0])

    assert text(meanwhile) == "127"
    assert status(waiting.result()) == "done"
    assert '"by": "host"' in text(waiting.result()).replace('":"', '": "')
    assert skills.host.items == []
    assert skills.ran["delete"] == 1
    assert "Your answer was sent" in page.text
    assert "Your answer was sent" in later.text


def test_an_address_that_cannot_be_announced_ends_the_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(url: str) -> None:
        raise OSError("no terminal")

    heard: list[object] = []
    pages = PagePresenter(fail)
    with live(tmp_path, presenter=pages) as running:
        pages.show(consent(), heard.append)
        running.until(lambda: bool(heard))
    pages.show(consent(), heard.append)

    assert heard == [Unable(), Unable("bridge_closed", ends=True)]
    assert "could not be announced" in caplog.text
