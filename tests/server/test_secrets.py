"""A secret is entered on a page, or a person signs in at a site: the skill gets it, nobody else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.elicitation.ask_secret import Secret, ask_secret_sync
from dcc_bridge.elicitation.sign_in import Provider, SignInFlow, Tokens, sign_in, sign_in_sync
from dcc_bridge.errors import MissingExtra, RefusedAddress
from tests.live import ERAS, Tap, live, status, text
from tests.server.provider import ACCESS, REFRESH, Site, provider
from tests.server.seen import Seen
from tests.server.sending import CANARY, ENTERED, Browser, Sent, Tracker
from tests.stand_ins import FakeHost, ScriptedPresenter


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
    ("exit", "word"), [("decline", "Declined at the host"), ("cancel", "Closed at the host")]
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
    tracker, host = Tracker(), ScriptedPresenter()
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
def test_it_is_refused_in_a_result_and_a_question_and_cut_out_of_an_error_and_of_the_log(
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
    assert CANARY not in caplog.text
    assert CANARY.encode() not in bytes(tap.heard)


def test_a_page_to_which_nobody_could_be_sent_is_not_kept(tmp_path: Path) -> None:
    """An agent that asks on and on would fill the memory."""
    host, person = FakeHost(has_ui=True), ScriptedPresenter(None)

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


class SigningIn:
    """A skill that has the person sign in."""

    def __init__(self, site: Site, **more: Any) -> None:
        self.site = site
        self.more = more
        self.got: list[Tokens] = []

    def sync(self) -> Callable[..., Any]:
        @skill(risk="read")
        def tasks() -> str:
            self.got.append(sign_in_sync(self.site.provider(**self.more)))
            return "signed in"

        return tasks

    def on_loop(self) -> Callable[..., Any]:
        @skill(risk="read")
        async def tasks() -> str:
            self.got.append(await sign_in(self.site.provider(**self.more)))
            return "signed in"

        return tasks


@pytest.mark.parametrize("era", ERAS[1:])
@pytest.mark.parametrize("kind", ["sync", "on_loop"])
def test_the_skill_gets_the_tokens(
    tmp_path: Path, era: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    person, tap = Browser(), Tap()
    with provider() as site:
        tracker = SigningIn(site)
        with live(tmp_path, getattr(tracker, kind)()) as running:
            result = running.call("tasks", era=era, asked=person.asked, tap=tap)

    assert (status(result), text(result)) == ("done", "signed in")
    (got,) = tracker.got
    assert got.refresh is not None
    assert (got.access.reveal(), got.refresh.reveal()) == (ACCESS, REFRESH)
    assert (got.expires_in, got.scopes, got.identity) == (3600.0, ("tasks",), None)
    assert "You are signed in" in person.pages[0].text
    assert "code=" not in str(person.pages[0].url)
    assert b"canary" not in bytes(tap.heard)
    assert "canary" not in caplog.text + repr(got)
    (asked,) = site.asked
    assert (asked["code_challenge_method"], asked["audience"]) == ("S256", "studio")
    assert asked["scope"] == "tasks versions"
    assert urlsplit(asked["redirect_uri"]).path == "/signed-in"


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("wrong issuer", "another issuer"),
        ("no issuer", "another issuer"),
        ("server_error", "it says server_error"),
        ("no code", "it says"),
        ("used code", "it says invalid_grant"),
        ("other token", "of an unknown kind"),
        ("not json", "it says"),
        ("odd", "its answer cannot be read"),
        ("list", "its answer cannot be read"),
        ("too long", "its answer is too long"),
        ("away", "it cannot be reached"),
        ("slow", "it did not answer in time"),
    ],
)
def test_an_answer_that_is_not_right_signs_nobody_in(
    tmp_path: Path, how: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcc_bridge.elicitation.sign_in._TIMEOUT", 0.5 if how == "slow" else 20.0)
    person, tap = Browser(), Tap()
    with provider(how) as site:
        tracker = SigningIn(site)
        with live(tmp_path, tracker.sync()) as running:
            result = running.call("tasks", asked=person.asked, tap=tap)

    assert status(result) == "failed"
    assert "The sign-in at the tracker failed: " in text(result)
    assert why in text(result)
    assert "You are not signed in" in person.pages[0].text
    assert why in person.pages[0].text
    assert "<script>" not in person.pages[0].text + text(result)
    assert b"canary" not in bytes(tap.heard)
    assert tracker.got == []


def test_who_says_no_at_the_site_has_declined(tmp_path: Path) -> None:
    person = Browser()
    with provider("access_denied") as site, live(tmp_path, SigningIn(site).sync()) as running:
        result = running.call("tasks", asked=person.asked)

    assert status(result) == "refused"
    assert "Declined in the client" in text(result)
    assert "Declined" in person.pages[0].text


def test_an_answer_with_another_state_belongs_to_no_sign_in(tmp_path: Path) -> None:
    person = Browser()
    with provider("wrong state") as site:
        tracker = SigningIn(site)
        with live(tmp_path, tracker.sync(), client_deadline=1.0) as running:
            result = running.call("tasks", asked=person.asked)

    assert "Nobody answered in time" in text(result)
    assert person.pages[0].status_code == 404
    assert "No sign-in is waiting for this" in person.pages[0].text
    assert (tracker.got, site.changed) == ([], [])


def test_an_answer_is_used_once(tmp_path: Path) -> None:
    person, fake, host = Browser(), FakeHost(has_ui=True), ScriptedPresenter()
    with provider() as site:
        tracker = SigningIn(site)
        with live(tmp_path, tracker.sync(), host=fake, presenter=host) as running:
            calling = running.start("tasks")
            running.until(lambda: bool(host.shown))
            assert host.shown[0].page is not None
            url = host.shown[0].page.url
            assert url is not None
            with httpx2.Client(timeout=10) as browser:
                back = browser.get(url).headers["location"]
            foreign = httpx2.get(back.replace("state=", "state=x"))
            framed = httpx2.get(back, headers={"Sec-Fetch-Dest": "iframe"})
            posted = httpx2.post(back)
            person.visit(back)
            person.visit(back)
            running.until(calling.done)

    first, second = person.pages
    assert foreign.status_code == posted.status_code == 404
    assert (framed.status_code, "inside another page" in framed.text) == (403, True)
    assert "You are signed in" in first.text
    assert (second.status_code, "has been used" in second.text) == (410, True)
    assert len(site.changed) == len(tracker.got) == 1


def test_the_address_of_the_site_is_looked_at_like_any_other(tmp_path: Path) -> None:
    with pytest.raises(RefusedAddress):
        Provider("http://tracker.example/authorize", "https://tracker.example/token", "dcc")
    with pytest.raises(RefusedAddress):
        Provider("https://tracker.example/authorize", "http://tracker.example/token", "dcc")


def test_two_sign_ins_share_nothing() -> None:
    site = Provider("https://tracker.example/authorize", "https://tracker.example/token", "dcc")
    flows = [SignInFlow(site, "http://127.0.0.1:1/signed-in") for _ in range(2)]
    asked = [parse_qs(urlsplit(flow.url).query) for flow in flows]

    assert asked[0]["state"] != asked[1]["state"]
    assert asked[0]["code_challenge"] != asked[1]["code_challenge"]
    assert len(asked[0]["state"][0]) >= 43
    assert flows[0].url.startswith("https://tracker.example/authorize?")


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Provider("https://tracker.example/authorize", "https://tracker.example/token", "dcc")
    monkeypatch.setitem(sys.modules, "oauthlib.oauth2", None)

    with pytest.raises(MissingExtra, match=r"dcc-bridge-mcp\[signin\]"):
        SignInFlow(site, "http://127.0.0.1:1/signed-in")
