"""A person signs in at a site, and the skill gets the tokens: nobody else does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from dcc_bridge import skill
from dcc_bridge.elicitation.sign_in import Provider, SignInFlow, Tokens, sign_in, sign_in_sync
from dcc_bridge.errors import MissingExtra, RefusedAddress
from tests.live import ERAS, Tap, live, status, text
from tests.server.provider import ACCESS, REFRESH, Site, provider
from tests.server.sending import Browser
from tests.stand_ins import FakeHost, ScriptedPresenter


class Tracker:
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
        tracker = Tracker(site)
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
        tracker = Tracker(site)
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
    with provider("access_denied") as site, live(tmp_path, Tracker(site).sync()) as running:
        result = running.call("tasks", asked=person.asked)

    assert status(result) == "refused"
    assert "Declined in the client" in text(result)
    assert "Declined" in person.pages[0].text


def test_an_answer_with_another_state_belongs_to_no_sign_in(tmp_path: Path) -> None:
    person = Browser()
    with provider("wrong state") as site:
        tracker = Tracker(site)
        with live(tmp_path, tracker.sync(), client_deadline=1.0) as running:
            result = running.call("tasks", asked=person.asked)

    assert "Nobody answered in time" in text(result)
    assert person.pages[0].status_code == 404
    assert "No sign-in is waiting for this" in person.pages[0].text
    assert (tracker.got, site.changed) == ([], [])


def test_an_answer_is_used_once(tmp_path: Path) -> None:
    person, fake, host = Browser(), FakeHost(has_ui=True), ScriptedPresenter()
    with provider() as site:
        tracker = Tracker(site)
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
