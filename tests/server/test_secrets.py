"""A secret is entered on a page: the skill gets it, nobody else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.elicitation.ask_secret import Secret, ask_secret_sync
from tests.live import ERAS, Tap, live, status, text
from tests.server.seen import Seen
from tests.server.sending import CANARY, ENTERED, Browser, Sent, Tracker
from tests.stand_ins import FakeHost, Person

LETTERS = CANARY.partition("-ü")[0]
"""What stays of it however it is encoded."""


class Entering(Browser):
    """Somebody who enters the secret there."""

    def look(self, browser: httpx2.Client, url: str) -> None:
        super().look(browser, url)
        self.pages.append(browser.post(url, data=ENTERED))


@pytest.mark.parametrize("era", ERAS[1:])
@pytest.mark.parametrize("kind", ["sync", "on_loop"])
def test_it_comes_by_way_of_a_client_that_opens_pages(tmp_path: Path, era: str, kind: str) -> None:
    tracker, person, tap = Tracker(), Entering(), Tap()
    with live(tmp_path, getattr(tracker, kind)()) as running:
        result = running.call("sign_in", era=era, asked=person.asked, tap=tap)

    assert (status(result), text(result)) == ("done", "signed in")
    assert tracker.texts() == [CANARY]
    assert CANARY.encode() not in bytes(tap.heard)
    completed = b"notifications/elicitation/complete" in bytes(tap.heard)
    assert completed == (era == "2025-11-25")


def browser() -> httpx2.Client:
    return httpx2.Client(timeout=10, follow_redirects=True)


def test_it_comes_by_way_of_the_host_where_the_client_opens_no_pages(sent: Sent) -> None:
    with browser() as person:
        seen = Seen(person.get(sent.url).text)
        after = person.post(sent.url, data=ENTERED)

    assert (status(sent.end()), sent.secrets) == ("done", [CANARY])
    assert ("Skill", "Sign in") in seen.facts
    assert ("Application", "fake 1.0") in seen.facts
    assert seen.one(id="secret")["type"] == "password"
    assert seen.one(**{"for": "secret"})
    assert "The tracker needs a key." in seen.text
    assert "Your answer was sent" in after.text
    assert CANARY not in after.text


@pytest.mark.parametrize(
    ("exit", "word"),
    [
        ("decline", "Declined in the app"),
        ("cancel", "The question was closed in the app"),
    ],
)
def test_who_enters_nothing_is_not_asked_for_it_in_another_way(
    sent: Sent, exit: str, word: str
) -> None:
    with browser() as person:
        person.get(sent.url)
        person.post(sent.url, data={"exit": exit, "secret": CANARY})

    result = sent.end()
    assert status(result) == "refused"
    assert word in text(result)
    assert sent.secrets == []


def test_it_expires_with_its_question(tmp_path: Path) -> None:
    tracker, host = Tracker(), Person()
    fake, skill = FakeHost(has_ui=True), tracker.sync(timeout=0.2)
    with live(tmp_path, skill, host=fake, presenter=host) as running:
        sent = Sent(running, tracker, host)
        result = sent.end()
        with browser() as person:
            late = person.get(sent.url)
            posted = person.post(sent.url, data=ENTERED)

    assert status(result) == "refused"
    assert "Nobody answered in time" in text(result)
    for page in (late, posted):
        assert (page.status_code, "Nobody answered in time" in page.text) == (410, True)
    assert tracker.got == []


def test_without_anybody_it_is_not_supported_at_once(tmp_path: Path) -> None:
    tracker = Tracker()
    with live(tmp_path, tracker.sync()) as running:
        result = running.call("sign_in")

    assert "Nobody could be asked" in text(result)


def test_what_was_sent_to_a_page_wrongly_is_in_no_log_and_in_no_record(
    sent: Sent, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with browser() as person:
        person.post(sent.url, data=ENTERED)  # this browser never opened it
        person.get(sent.url)
        person.post(sent.url, data=ENTERED, headers={"Origin": "https://evil.example"})
        person.post(sent.url, content=CANARY.encode(), headers={"Content-Type": "a/b"})
        person.post(sent.url, data={"exit": CANARY, "secret": CANARY})
        person.post(f"{sent.url}x", data=ENTERED)
        person.post(sent.url, data=ENTERED)

    assert status(sent.end()) == "done"
    assert LETTERS not in caplog.text + record(tmp_path)


def record(tmp_path: Path) -> str:
    files = list((tmp_path / "audit").glob("*.jsonl"))
    assert files
    return "".join(file.read_text() for file in files)


IN_RESULT = "There is a secret in the result of sign_in"


class Holder:
    """An object that holds a secret."""

    def __init__(self, secret: Secret) -> None:
        self.secret = secret


def fail(got: Secret) -> None:
    raise RuntimeError(f"401 for {got.reveal()}")


def ask(got: Secret) -> None:
    elicit_form_sync(f"Use {got.reveal()}?", {"type": "object", "properties": {}})


@pytest.mark.parametrize(
    ("give", "says"),
    [
        (lambda got: got, IN_RESULT),
        (lambda got: {got: 1}, IN_RESULT),
        (lambda got: {"header": f"Bearer {got.reveal()}"}, IN_RESULT),
        (Holder, IN_RESULT),
        (ask, "There is a secret in a question"),
        (fail, "401 for Secret(hidden)"),
    ],
)
def test_it_is_refused_in_a_result_and_a_question_and_cut_out_of_an_error_the_log_and_the_record(
    tmp_path: Path,
    give: Callable[[Secret], Any],
    says: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tracker, person, tap = Tracker(), Entering(), Tap()
    with live(tmp_path, tracker.sync(give)) as running:
        result = running.call("sign_in", asked=person.asked, tap=tap)

    assert status(result) == "failed"
    assert says in text(result)
    assert (says in caplog.text) is (give is fail)
    assert LETTERS not in caplog.text + record(tmp_path)
    assert CANARY.encode() not in bytes(tap.heard)


def test_a_page_to_which_nobody_could_be_sent_is_not_kept(tmp_path: Path) -> None:
    """An agent that asks on and on would fill the memory."""
    host, person = FakeHost(has_ui=True), Person(None)

    @skill(risk="edit", thread="any")
    def sign() -> None:
        ask_secret_sync("Which key?", label="Key")

    with live(tmp_path, sign, host=host, presenter=person, open_questions=1) as running:
        first = running.start("sign")
        running.until(lambda: bool(person.shown))
        refused = [running.call("sign") for _ in range(3)]
        open_pages = [page for page in running.bridge._desk.pages if page.question]
        running.bridge.broker.dismiss(person.shown[0])
        running.until(first.done)

    assert [status(one) for one in refused] == ["failed"] * 3
    assert len(open_pages) == 1
