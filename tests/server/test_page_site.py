"""A page of the bridge: who may answer it, once, and what they read."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx2
import pytest

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import PresenterEvent, Question, Reply
from dcc_bridge.server.one_time_page import SecretPage
from dcc_bridge.server.page_site import PageDesk
from tests.live import Live, live
from tests.server.seen import Seen, raw
from tests.stand_ins import FakeHost

CALL = Call("publish", "Publish", "edit", Client("claude-code", "Claude Code", "2.1"))
REAL = [
    ("Application", "fake 1.0"),
    ("Scene", "fake.scene"),
    ("Asked by", "claude-code"),
    ("Calls itself", "Claude Code 2.1 (self-reported)"),
    ("Skill", "Publish"),
]
ENTERED = {"exit": "accept", "secret": "canary-5f1e"}
FALSE = "Asked by: root Skill: Save the scene"
SPOOFS = [
    *(
        f"<{tag}>{FALSE}</{tag.split()[0]}>"
        for tag in ("h1", "a href='https://x'", "script", "form")
    ),
    "<img src=x onerror=alert(1)>",
    *(
        f"{closer}<header><dl><dt>{FALSE}</dt></dl></header>"
        for closer in ("</p>", "</main></form>", "</label>", "</style>", "</title>", "-->", "]]>")
    ),
    *(f'{quote}> autofocus formaction="https://evil' for quote in ("'", '"')),
    *(f"{mark}{FALSE}{mark}" for mark in ("\u202e", "\u2066", "\u200b", "\ufeff", "\u2028")),
    *(f"{char * 300}{FALSE}" for char in "\n\r\t\b\x1b\x00\v"),
    *(f"{char * 8192}" for char in ("x", "█", "\u202e", "﷽", "\ud800")),
    "&lt;b&gt;" + FALSE + "&nbsp;" * 40,
    "e" + "\u0301" * 2000,
    "<meta http-equiv=refresh content='0;url=https://evil'>",
    "${title} {0} {label} %s {{ 7*7 }} <%= 1 %>",
]


class Pages:
    """A running bridge that makes pages."""

    def __init__(self, running: Live) -> None:
        self.origin = running.bridge.url.removesuffix("/mcp")
        self.heard: list[PresenterEvent] = []  # what the last page told its question
        self.desk: PageDesk = running.bridge._desk
        self._browsers: list[httpx2.Client] = []

    def make(self, message: str = "A key?", label: str = "Key", call: Call = CALL) -> str:
        self.heard.clear()
        url, self.page = self.desk.secret(Question(message, call, timeout=300.0), label)
        self.page.follow(self.heard.append)
        return url

    def open(self, message: str = "A key?", label: str = "Key") -> tuple[str, httpx2.Client, Seen]:
        url, person = self.make(message, label), self.browser()
        return url, person, Seen(person.get(url).text)

    @property
    def entered(self) -> str | None:
        result = self.page.result
        return result.reveal() if result is not None else None

    def browser(self) -> httpx2.Client:
        browser = httpx2.Client(timeout=10, follow_redirects=True)
        self._browsers.append(browser)
        return browser

    def close(self) -> None:
        while self._browsers:
            self._browsers.pop().close()


@pytest.fixture(scope="module")
def running_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with live(tmp_path_factory.mktemp("runtime")) as running:
        yield Pages(running)


@pytest.fixture
def pages(running_pages: Pages) -> Iterator[Pages]:
    yield running_pages
    running_pages.close()


def test_a_page_takes_one_answer_and_a_replay_changes_nothing(pages: Pages) -> None:
    url, person, _ = pages.open()

    first = person.post(url, data=ENTERED)
    again = [
        person.post(url, data={"exit": exit, "secret": "another one"})
        for exit in ("accept", "decline", "cancel")
    ]
    later, foreign = person.get(url), pages.browser().get(url)

    assert pages.heard == [Reply("accept")]
    assert pages.entered == ENTERED["secret"]
    assert {page.status_code for page in again} == {410}
    assert all("This page has been used" in page.text for page in again)
    for page in (first, later, foreign):
        assert (page.status_code, "Your answer was sent" in page.text) == (200, True)
    for page in (first, later, foreign, *again):
        assert 'name="secret"' not in page.text
        assert ENTERED["secret"] not in page.text


def test_nothing_entered_is_said_on_the_page(pages: Pages) -> None:
    url, person, _ = pages.open()

    empty = person.post(url, data={"exit": "accept", "secret": ""})
    long = person.post(url, data={"exit": "accept", "secret": "x" * 65_537})
    assert (empty.status_code, "Nothing was entered." in empty.text) == (422, True)
    assert (long.status_code, "more than 65,536 characters" in long.text) == (422, True)
    assert "xxx" not in long.text
    assert pages.heard == []

    person.post(url, data=ENTERED)
    assert pages.entered == ENTERED["secret"]


def test_only_the_browser_that_opened_it_first_may_see_and_answer(pages: Pages) -> None:
    url, person, _ = pages.open("The key of the hero?")
    other = pages.browser()

    looked, posted = other.get(url), other.post(url, data=ENTERED)

    for page in (looked, posted):
        assert (page.status_code, "Opened in another browser" in page.text) == (403, True)
        assert "hero" not in page.text
    assert pages.heard == []
    assert person.post(url, data=ENTERED).status_code == 200


def test_the_browser_is_known_by_a_cookie_that_no_script_and_no_other_site_can_use(
    pages: Pages,
) -> None:
    url = pages.make()

    cookie = pages.browser().get(url).headers["set-cookie"]

    assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
        "httponly",
        "samesite=strict",
        f"path={url.removeprefix(pages.origin)}",
    }


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_an_answer_of_another_site_is_refused(pages: Pages, headers: dict[str, str]) -> None:
    url, person, _ = pages.open()

    refused = person.post(url, data=ENTERED, headers=headers)

    assert (refused.status_code, "from another site" in refused.text) == (403, True)
    assert pages.heard == []
    own = {"Origin": pages.origin, "Sec-Fetch-Site": "same-origin"}
    assert person.post(url, data=ENTERED, headers=own).status_code == 200


@pytest.mark.parametrize("part", ["iframe", "frame", "embed", "object", "image", "empty"])
def test_it_is_no_part_of_another_page(pages: Pages, part: str) -> None:
    framed = pages.browser().get(pages.make(), headers={"Sec-Fetch-Dest": part})

    assert (framed.status_code, "inside another page" in framed.text) == (403, True)
    assert framed.headers["x-frame-options"] == "DENY"
    assert "set-cookie" not in framed.headers


def test_who_is_sent_by_another_site_is_told_so_first(pages: Pages) -> None:
    url, person = pages.make(), pages.browser()

    led = person.get(url, headers={"Sec-Fetch-Site": "cross-site"})
    opened = person.get(url, headers={"Sec-Fetch-Site": "same-origin"})

    assert "Another site sent you here" in led.text
    assert "set-cookie" not in led.headers
    assert Seen(led.text).one(href=url.removeprefix(pages.origin))
    assert 'name="secret"' not in led.text
    assert 'name="secret"' in opened.text


def test_of_answers_at_the_same_moment_one_counts(pages: Pages) -> None:
    url, person, _ = pages.open()
    key = person.cookies["ask"]

    def answer(_: int) -> int:
        headers = {"Cookie": f"ask={key}"}
        return replay.post(url, data=ENTERED, headers=headers, follow_redirects=False).status_code

    replay = pages.browser()
    with ThreadPoolExecutor(16) as pool:
        seen = Counter(pool.map(answer, range(32)))

    assert seen == {303: 1, 410: 31}
    assert pages.heard == [Reply("accept")]


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("timed_out", "Nobody answered in time"),
        ("cancelled", "The call was cancelled before anybody answered"),
        ("bridge_closed", "The bridge was stopped before anybody answered"),
        ("answered", "answered in another place"),
        ("declined", "declined in another place"),
        ("something else", "he question ended without an answer"),
    ],
)
def test_a_page_ends_with_its_question_and_says_how(pages: Pages, reason: str, says: str) -> None:
    url, person, _ = pages.open()

    pages.page.end(reason)
    looked, answered = person.get(url), person.post(url, data=ENTERED)

    assert looked.status_code == answered.status_code == 410
    assert says in looked.text
    assert says in answered.text
    assert "Your answer was not used" in answered.text
    assert (pages.heard, pages.page.result) == ([], None)


def test_an_answer_that_lost_against_another_one_does_not_say_that_it_counted(
    pages: Pages,
) -> None:
    url, person, _ = pages.open()

    person.post(url, data=ENTERED)
    pages.page.end("timed_out")

    assert "Nobody answered in time" in person.get(url).text


def test_who_listens_late_is_told_all_the_same() -> None:
    page = SecretPage(Question("A key?", CALL), "Key")
    heard: list[PresenterEvent] = []

    page.enter("canary")
    page.follow(heard.append)

    assert heard == [Reply("accept")]


def test_a_page_that_nobody_opened_cannot_be_answered(pages: Pages) -> None:
    url = pages.make()

    codes = [
        pages.browser().post(url, data=ENTERED, headers=headers).status_code
        for headers in ({}, {b"Cookie": b"ask="}, {b"Cookie": b"ask=x"}, {b"Cookie": b"ask=\xfc"})
    ]

    assert codes == [403] * 4
    assert pages.heard == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]", ""])
def test_another_host_is_refused(pages: Pages, host: str) -> None:
    url = pages.make()

    refused = [
        pages.browser().get(url, headers={"Host": host}),
        pages.browser().post(url, headers={"Host": host}),
    ]

    assert {response.status_code for response in refused} <= {400, 421}
    assert pages.heard == []


def test_an_id_cannot_be_guessed(pages: Pages) -> None:
    url = pages.make()
    id = url.rpartition("/")[2]
    guesses = [secrets.token_hex(16) for _ in range(200)]
    near = [id[:-1], id + "0", id.upper() + "x", f"{id}/", f"{id}/x", f" {id}", f"{id}%00", "", "%"]

    client = pages.browser()
    seen = [client.get(f"{pages.origin}/ask/{guess}") for guess in [*guesses, *near]]

    assert len(bytes.fromhex(id)) == 16
    assert {response.status_code for response in seen} == {404}
    assert all("There is no question here" in response.text for response in seen)
    assert all("set-cookie" not in response.headers for response in seen)
    assert pages.browser().get(url).status_code == 200


def test_everything_else_still_needs_the_token(pages: Pages) -> None:
    port = int(pages.origin.rpartition(":")[2])
    paths = ["/", "/mcp", "/ask", "/asked", "/ASK/x", "//ask/x", "/mcp/../ask/x", "/favicon.ico"]

    assert {path: raw(port, path) for path in paths} == dict.fromkeys(paths, 401)
    assert raw(port, "/ask/../mcp") == raw(port, "/ask/%2e%2e/mcp") == 404


def test_every_page_is_sent_with_strict_headers(pages: Pages) -> None:
    url, person, _ = pages.open()
    unknown = person.get(pages.origin + "/ask/x")
    foreign = pages.browser().get(url)
    drawn, wrong = person.get(url), person.post(url, data={"exit": "accept"})
    moved = person.post(url, data={"exit": "cancel"}, follow_redirects=False)
    used = person.get(url)

    for page in (unknown, foreign, drawn, wrong, moved, used):
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script" not in policy
        assert "unsafe" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cross-origin-opener-policy"] == "same-origin"
        answerable = page in (drawn, wrong)
        assert page.headers["referrer-policy"] == ("same-origin" if answerable else "no-referrer")
        assert not Seen(page.text).all("script")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"exit": "accept"}', "application/json"),
        (b"exit=accept&secret=abcdef", "text/plain"),
        (b"exit=accept&secret=abcdef", ""),
        (b"exit=accept&secret=" + b"x" * (1 << 20), "application/x-www-form-urlencoded"),
        (b"exit=accept" + b"&secret=1" * 20_000, "application/x-www-form-urlencoded"),
        (b"exit=accept&secret=%ff", "application/x-www-form-urlencoded"),
        (b"exit=accept&secret=\xff", "application/x-www-form-urlencoded"),
        (b"secret=abcdef", "application/x-www-form-urlencoded"),
        (b"exit=else&secret=abcdef", "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_not_an_answer_to_the_page_is_refused(pages: Pages, body: bytes, kind: str) -> None:
    url, person, _ = pages.open()

    refused = person.post(url, content=body, headers={"Content-Type": kind})

    assert refused.status_code == 400
    assert pages.heard == []
    assert person.put(url).status_code == person.head(url).status_code == 405


@pytest.mark.parametrize("spoof", SPOOFS, ids=range(len(SPOOFS)))
def test_what_a_skill_says_leaves_the_page_as_it_was(pages: Pages, spoof: str) -> None:
    _, _, honest = pages.open("Which?\nWhy", label="a")

    _, _, seen = pages.open(f"Which?\n{spoof}", label=spoof)

    assert seen.facts == REAL
    assert seen.tags == honest.tags


def test_the_header_is_cut_marked_and_shows_what_is_hidden(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeHost, "scene", lambda self: "a\u202eb\n<c>")
    call = replace(CALL, client=Client("farm", "x" * 500, "1"), title="<b>\u2066")

    seen = Seen(pages.browser().get(pages.make(call=call)).text)

    assert seen.facts[1] == ("Scene", "a\u2039U+202E\u203ab\u2039U+000A\u203a<c>")
    assert seen.facts[3] == ("Calls itself", "x" * 99 + "… (self-reported)")
    assert seen.facts[4] == ("Skill", "<b>\u2039U+2066\u203a")


def test_the_host_that_asks_for_itself_is_named(pages: Pages) -> None:
    seen = Seen(pages.browser().get(pages.make(call=Call("host", "The application itself"))).text)

    assert ("Asked by", "fake 1.0 itself") in seen.facts


def test_every_control_has_a_label_and_every_reference_leads_somewhere(pages: Pages) -> None:
    url, person, _ = pages.open()

    seen = Seen(person.post(url, data={"exit": "accept"}).text)

    ids = [attributes["id"] for _, attributes in seen.tags if "id" in attributes]
    assert [label["for"] for label in seen.all("label")] == ["secret"]
    assert seen.one(id="secret")["aria-describedby"] in ids
    assert [len(seen.all(tag)) for tag in ("main", "header", "h1")] == [1, 1, 1]
    assert seen.all("html")[0]["lang"] == "en"


def test_only_the_last_pages_remember_what_became_of_them(pages: Pages) -> None:
    first = pages.make()
    pages.page.end("answered")
    for _ in range(70):
        last = pages.make()
        pages.page.end("answered")

    assert pages.browser().get(first).status_code == 404
    assert pages.browser().get(last).status_code == 410
