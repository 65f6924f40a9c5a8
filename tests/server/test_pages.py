"""A question's page: who may answer it, once, and what they read."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.elicitation.question import HandOver, Offers, Question, Reply, Unable
from dcc_bridge.server.pages import PagePresenter, site
from dcc_bridge.testing import FakeHost
from tests.server.asked import (
    CALL,
    LONG,
    Asked,
    Seen,
    ask_name,
    asked,
    consent,
    form,
    raw,
)

REAL = [
    ("Application", "fake 1.0"),
    ("Scene", "fake.scene"),
    ("Asked by", "claude-code"),
    ("Calls itself", "Claude Code 2.1 (self-reported)"),
    ("Skill", "Delete cameras"),
]
AGREE = {"exit": "accept"}
FALSE = "Asked by: root Skill: Save the scene"
TAGS = ["b", "h1", "a href='https://x'", "img src=x onerror=alert(1)", "script", "style", "form"]
CLOSERS = ["</p>", "</main>", "</form>", "</textarea>", "</style>", "</title>", "-->", "]]>", "'>"]
MARKS = [0x202A, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x200E, 0x200F, 0x200B, 0xFEFF, 0x2028]
SPOOFS = [
    *(f"<{tag}>{FALSE}</{tag.split()[0]}>" for tag in TAGS),
    *(f"{closer}<header><dl><dt>{FALSE}</dt></dl></header>" for closer in CLOSERS),
    *(f'"{closer} autofocus formaction="https://evil' for closer in CLOSERS),
    *(f"{chr(mark)}{FALSE}{chr(mark)}" for mark in MARKS),
    *(f"{char * 300}{FALSE}" for char in "\n\r\t\b\x1b\x00\v"),
    *(f"{char * 8192}" for char in ("x", "█", "\u202e", "﷽", "\ud800")),
    "&lt;b&gt;" + FALSE + "&nbsp;" * 40,
    "e" + "\u0301" * 2000,
    "<meta http-equiv=refresh content='0;url=https://evil'>",
    "${title} {0} %s {{ 7*7 }} <%= 1 %>",
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with asked(tmp_path_factory.mktemp("runtime")) as running:
        yield running


@pytest.fixture(autouse=True)
def _closed(stage: Asked) -> Iterator[None]:
    yield
    stage.close_browsers()


@pytest.fixture(autouse=True)
def _armed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test be quicker than a person."""
    monkeypatch.setattr(site, "ARM_DELAY", 0.0)


def opened(stage: Asked, question: Question) -> tuple[str, httpx2.Client, Seen]:
    """Ask a question, and open its page."""
    url, person = stage.ask(question), stage.browser()
    return url, person, Seen(person.get(url).text)


# ---- who may answer


def test_an_answer_is_taken_once_and_a_replay_changes_nothing(stage: Asked) -> None:
    url, person, _ = opened(stage, consent())

    first = person.post(url, data=AGREE)
    again = [person.post(url, data={"exit": exit}) for exit in ("accept", "decline", "cancel")]

    assert stage.heard == [Reply("accept", {"confirm": True})]
    assert (first.status_code, "Your answer was sent" in first.text) == (200, True)
    assert {one.status_code for one in again} == {410}
    assert all("used already" in one.text for one in again)


def test_of_answers_at_the_same_moment_one_counts(stage: Asked) -> None:
    url, person, _ = opened(stage, consent())
    key = person.cookies["ask"]

    def answer(_: int) -> int:
        headers = {"Cookie": f"ask={key}"}
        return stranger.post(url, data=AGREE, headers=headers, follow_redirects=False).status_code

    stranger = stage.browser()
    with ThreadPoolExecutor(16) as pool:
        seen = Counter(pool.map(answer, range(32)))

    assert seen == {303: 1, 410: 31}
    assert len(stage.heard) == 1


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("timed_out", "Nobody answered in time"),
        ("cancelled", "does not wait for an answer"),
        ("bridge_closed", "stopped its bridge"),
        ("answered", "answered in another place"),
        ("declined", "declined in another place"),
        ("handed_over", "moved to another place"),
        ("invalid_answer", "has a new address"),
        ("something else", "The question has ended"),
    ],
)
def test_a_page_ends_with_its_question_and_says_how(stage: Asked, reason: str, says: str) -> None:
    url, person, _ = opened(stage, consent())

    stage.down(reason)
    looked, answered = person.get(url), person.post(url, data=AGREE)

    assert looked.status_code == answered.status_code == 410
    assert says in looked.text
    assert says in answered.text
    assert "Your answer was not used" in answered.text
    assert stage.heard == []


def test_an_answer_that_lost_against_another_one_does_not_say_that_it_counted(
    stage: Asked,
) -> None:
    url, person, _ = opened(stage, consent())

    person.post(url, data=AGREE)
    stage.down("timed_out")

    assert "Nobody answered in time" in person.get(url).text


def test_only_the_browser_that_opened_it_first_may_see_and_answer(stage: Asked) -> None:
    url, person, _ = opened(stage, consent("Delete the hero?"))
    other = stage.browser()

    seen, answered = other.get(url), other.post(url, data=AGREE)

    assert seen.status_code == answered.status_code == 403
    assert "Opened in another browser" in seen.text
    assert "Opened in another browser" in answered.text
    assert "hero" not in seen.text
    assert stage.heard == []
    assert person.post(url, data=AGREE).status_code == 200


def test_the_browser_is_known_by_a_cookie_that_no_script_and_no_other_site_can_use(
    stage: Asked,
) -> None:
    cookie = stage.browser().get(stage.ask(consent())).headers["set-cookie"]

    path = stage.urls[-1].removeprefix(stage.origin)
    assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
        "httponly",
        "samesite=strict",
        f"path={path}",
    }


def test_a_page_that_nobody_opened_cannot_be_answered(stage: Asked) -> None:
    url = stage.ask(consent())

    codes = [
        stage.browser().post(url, data=AGREE, headers=headers).status_code
        for headers in ({}, {b"Cookie": b"ask="}, {b"Cookie": b"ask=x"}, {b"Cookie": b"ask=\xfc"})
    ]

    assert codes == [403] * 4
    assert stage.heard == []


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
def test_another_site_cannot_answer(stage: Asked, headers: dict[str, str]) -> None:
    url, person, _ = opened(stage, consent())

    refused = person.post(url, data=AGREE, headers=headers)

    assert refused.status_code == 403
    assert "another site" in refused.text or "another origin" in refused.text
    assert stage.heard == []
    own = {"Origin": stage.origin, "Sec-Fetch-Site": "same-origin"}
    assert person.post(url, data=AGREE, headers=own).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]", ""])
def test_another_host_is_refused(stage: Asked, host: str) -> None:
    url = stage.ask(consent())

    refused = [
        stage.browser().get(url, headers={"Host": host}),
        stage.browser().post(url, headers={"Host": host}),
    ]

    assert {one.status_code for one in refused} <= {400, 421}
    assert stage.heard == []


def test_an_id_cannot_be_guessed(stage: Asked) -> None:
    url = stage.ask(consent())
    id = url.rpartition("/")[2]
    guesses = [secrets.token_hex(16) for _ in range(200)]
    near = [id[:-1], id + "0", id.upper() + "x", f"{id}/", f"{id}/x", f" {id}", f"{id}%00", "", "%"]

    client = stage.browser()
    seen = [client.get(f"{stage.origin}/ask/{one}") for one in [*guesses, *near]]

    assert len(bytes.fromhex(id)) == 16
    assert {one.status_code for one in seen} == {404}
    assert all("There is no question here" in one.text for one in seen)
    assert all("set-cookie" not in one.headers for one in seen)
    assert stage.browser().get(url).status_code == 200


def test_everything_else_still_needs_the_token(stage: Asked) -> None:
    port = int(stage.origin.rpartition(":")[2])
    paths = ["/", "/mcp", "/ask", "/asked", "/ASK/x", "//ask/x", "/mcp/../ask/x", "/favicon.ico"]

    assert {path: raw(port, path) for path in paths} == dict.fromkeys(paths, 401)
    assert raw(port, "/ask/../mcp") == raw(port, "/ask/%2e%2e/mcp") == 404


def test_every_page_is_sent_with_strict_headers(stage: Asked) -> None:
    url, person, _ = opened(stage, ask_name())
    unknown = person.get(stage.origin + "/ask/x")
    foreign = stage.browser().get(url)
    drawn, wrong = person.get(url), person.post(url, data=AGREE)
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
        (b"exit=accept", "text/plain"),
        (b"exit=accept", ""),
        (b"exit=accept&x=" + b"x" * (1 << 20), "application/x-www-form-urlencoded"),
        (b"exit=accept" + b"&x=1" * 20_000, "application/x-www-form-urlencoded"),
        (b"exit=accept&x=%ff", "application/x-www-form-urlencoded"),
        (b"exit=accept&x=\xff", "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_not_an_answer_to_the_page_is_refused(stage: Asked, body: bytes, kind: str) -> None:
    url, person, _ = opened(stage, consent())

    refused = person.post(url, content=body, headers={"Content-Type": kind})

    assert refused.status_code == 400
    assert stage.heard == []
    assert person.put(url).status_code == person.head(url).status_code == 405


def test_a_click_that_was_meant_for_something_else_agrees_to_nothing(
    stage: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "ARM_DELAY", 3600.0)
    url, person, _ = opened(stage, consent())

    quick = person.post(url, data=AGREE)

    assert quick.status_code == 422
    assert "quicker than anybody reads" in quick.text
    assert stage.heard == []
    assert person.post(url, data={"exit": "decline"}).status_code == 200
    assert stage.heard == [Reply("decline")]


# ---- what they read


def test_there_are_fifty_spoofs() -> None:
    assert len(SPOOFS) >= 50


@pytest.mark.parametrize("spoof", SPOOFS, ids=range(len(SPOOFS)))
def test_a_message_leaves_the_page_as_it_was(stage: Asked, spoof: str) -> None:
    _, _, honest = opened(stage, consent("Delete?\nWhy", title="a", reason="b"))

    _, _, seen = opened(stage, consent(f"Delete?\n{spoof}", title=spoof, reason=spoof))

    assert seen.facts == REAL
    assert seen.tags == honest.tags


@pytest.mark.parametrize("spoof", SPOOFS, ids=range(len(SPOOFS)))
def test_nothing_of_a_form_or_a_list_is_read_as_markup(stage: Asked, spoof: str) -> None:
    fields: dict[str, dict[str, Any]] = {
        "text": {"type": "string", "default": "d"},
        "lines": {"type": "string", "maxLength": 9000},
        "pick": {"type": "string", "oneOf": [{"const": "c", "title": "o"}]},
        "many": {"type": "array", "items": {"enum": ["c"]}},
        "sure": {"type": "boolean"},
    }
    hostile = {
        name: {**part, "title": spoof or "x", "description": spoof} for name, part in fields.items()
    }
    hostile["text"]["default"] = spoof.replace("\n", " ")
    hostile["pick"]["oneOf"] = [{"const": spoof, "title": spoof}]
    plain_ = {name: {**part, "title": "t", "description": "d"} for name, part in fields.items()}

    _, _, honest = opened(stage, consent(form=form(**plain_), items=("i",), kinds=("k",)))
    _, _, seen = opened(stage, consent(form=form(**hostile), items=(spoof,), kinds=(spoof,)))

    assert [tag for tag, _ in seen.tags] == [tag for tag, _ in honest.tags]
    assert [set(attributes) for _, attributes in seen.tags] == [
        set(attributes) for _, attributes in honest.tags
    ]
    assert seen.facts == REAL


def test_the_header_is_cut_marked_and_shows_what_is_hidden(
    stage: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeHost, "scene", lambda self: "a\u202eb\n<c>")
    call = replace(CALL, client=Client("farm", "x" * 500, "1"), title="<b>\u2066")

    _, _, seen = opened(stage, consent(call=call))

    assert seen.facts[1] == ("Scene", "a\u2039U+202E\u203ab\u2039U+000A\u203a<c>")
    assert seen.facts[3] == ("Calls itself", "x" * 99 + "… (self-reported)")
    assert seen.facts[4] == ("Skill", "<b>\u2039U+2066\u203a")


def test_the_host_that_asks_for_itself_is_named(stage: Asked) -> None:
    _, _, seen = opened(stage, consent(call=Call("host", "The host itself")))

    assert ("Asked by", "fake 1.0 itself") in seen.facts


def test_every_control_has_a_label_and_every_reference_leads_somewhere(stage: Asked) -> None:
    url, person, _ = opened(stage, Question("Go", CALL, EVERYTHING, offers=LONG))

    seen = Seen(person.post(url, data=AGREE).text)

    ids = [attributes["id"] for _, attributes in seen.tags if "id" in attributes]
    labelled = {label["for"] for label in seen.all("label")}
    controls = [one for tag in ("input", "select", "textarea") for one in seen.all(tag)]
    described = " ".join(a.get("aria-describedby", "") for _, a in seen.tags).split()
    assert len(ids) == len(set(ids))
    assert {one["id"] for one in controls} == labelled
    assert set(described) <= set(ids)
    assert {link["href"].removeprefix("#") for link in seen.all("a")} <= set(ids)
    assert [len(seen.all(tag)) for tag in ("main", "header", "h1")] == [1, 1, 1]
    assert seen.all("html")[0]["lang"] == "en"


# ---- consent


def test_a_consent_begins_at_cancel_and_enter_cannot_agree(stage: Asked) -> None:
    _, _, seen = opened(stage, consent())

    guard, cancel, decline, verb, why = seen.all("button")
    assert {"disabled", "hidden"} <= set(guard)
    assert (cancel["value"], "autofocus" in cancel) == ("cancel", True)
    assert decline["value"] == why["value"] == "decline"
    assert (verb["value"], "autofocus" in verb) == ("accept", False)
    assert "Delete 127 cameras" in seen.text
    assert [line["id"] for line in seen.all("input")] == ["reason"]


def test_decline_may_say_why_in_a_form_of_its_own(stage: Asked) -> None:
    """So that Enter in the line can only decline; the other buttons do not take it along."""
    for sent, reason in (
        ({"reason": " not today "}, "not today"),
        ({"reason": " "}, None),
        ({}, None),
    ):
        url, person, seen = opened(stage, ask_name())
        person.post(url, data={"exit": "decline", **sent})
        assert stage.heard == [Reply("decline", reason=reason)]

    inside = seen.tags[[tag for tag, _ in seen.tags].index("details") :]
    assert [tag for tag, _ in inside if tag in ("form", "input", "button")] == [
        *("form", "input", "button")
    ]


def test_a_consent_lists_what_it_is_about(stage: Asked) -> None:
    items = tuple(f"/World/cam{number}" for number in range(2500))
    kinds = tuple("Camera" if number % 5 else "Rig" for number in range(2500))

    _, _, seen = opened(stage, consent(items=items, kinds=kinds))

    assert "2,500 items: 2,000 Camera, 500 Rig" in seen.text
    assert "and 1,500 more that are not listed" in seen.text
    assert len(seen.all("li")) == 1000
    assert "Can be undone as one step" in seen.text


def test_a_consent_says_what_cannot_be_undone(stage: Asked) -> None:
    _, _, with_items = opened(stage, consent(items=("a",), undoable=False))
    _, _, without = opened(stage, consent(undoable=False))

    assert "Cannot be undone" in with_items.text
    assert "Cannot be undone" in without.text


def test_no_yes_is_given_beforehand(stage: Asked) -> None:
    sure = {"type": "boolean", "default": True}
    two = form(["sure", "why"], sure=sure, why={"type": "string", "default": "x"})
    url, person, seen = opened(stage, consent(form=two))

    person.post(url, data={"exit": "accept", "field1": "x"})

    assert "checked" not in seen.one(id="field0")
    assert stage.heard == [Reply("accept", {"sure": False, "why": "x"})]


@pytest.mark.parametrize("exit", ["decline", "cancel"])
def test_the_other_exits_say_no_and_nothing(stage: Asked, exit: Any) -> None:
    url, person, _ = opened(stage, ask_name())

    person.post(url, data={"exit": exit, "field0": "abc"})

    assert stage.heard == [Reply(exit)]


def test_without_a_button_nothing_is_settled(stage: Asked) -> None:
    url, person, _ = opened(stage, ask_name())

    codes = {person.post(url, data={"field0": "abc", **more}).status_code for more in ODD_EXITS}

    assert codes == {422}
    assert stage.heard == []


ODD_EXITS = [{}, {"exit": ""}, {"exit": "yes"}, {"exit": "hand_over"}, {"exit": "ACCEPT"}]


def test_more_choices_are_those_that_were_offered(stage: Asked) -> None:
    offers = Offers(300.0, 300.0, "Claude Code", 12, "claude-code")
    every = {"remember": "yes", "mute": "yes"}
    for exit, wanted in (
        ("accept", Reply("accept", {"confirm": True}, remember=True)),
        ("decline", Reply("decline", mute=True)),
        ("hand_over", HandOver()),
    ):
        url, person, seen = opened(stage, consent(offers=offers))
        person.post(url, data={"exit": exit, **every})
        assert "Ask in Claude Code instead" in seen.text
        assert stage.heard == [wanted]

    url, person, seen = opened(stage, consent())
    person.post(url, data={"exit": "accept", **every})
    assert "More choices" not in seen.text
    assert stage.heard == [Reply("accept", {"confirm": True})]


# ---- fields

NUMBERS = [str(12 - number) for number in range(13)]
OPTIONS = [{"const": "a", "title": "Ay"}, {"const": "b", "title": "Bee"}]
EVERYTHING = form(
    ["text", "lines", "sure", "pick"],
    text={"type": "string", "title": "Text", "description": "Some words."},
    lines={"type": "string", "title": "Lines", "minLength": 50},
    mail={"type": "string", "format": "email"},
    site={"type": "string", "format": "uri"},
    day={"type": "string", "format": "date"},
    moment={"type": "string", "format": "date-time"},
    number={"type": "number", "maximum": 2.5},
    whole={"type": "integer", "minimum": 1, "maximum": 9, "default": 4},
    sure={"type": "boolean", "default": True},
    maybe={"type": "boolean"},
    pick={"type": "string", "oneOf": OPTIONS},
    long={"type": "string", "enum": [f"o{n}" for n in range(30)]},
    named={"type": "string", "enum": ["a", "b"], "enumNames": ["Same", "Same"]},
    many={"type": "array", "items": {"anyOf": OPTIONS}, "minItems": 1, "default": ["b"]},
    some={"type": "string", "enum": [f"o{n}" for n in range(9)]},
)
TEXT: dict[str, Any] = {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"}
VALID = [
    ({"type": "string"}, ["a\r\nb"], "a\nb"),
    ({"type": "string", "default": ""}, [""], ""),
    ({"type": "string", "maxLength": 500}, ["<b>\u202e"], "<b>\u202e"),
    ({"type": "string", "format": "email"}, ["a@b.de"], "a@b.de"),
    ({"type": "string", "format": "date"}, ["2026-11-20"], "2026-11-20"),
    ({"type": "number"}, [" -1.5e2 "], -150.0),
    ({"type": "number"}, ["2"], 2),
    ({"type": "integer", "minimum": 1}, ["7"], 7),
    ({"type": "integer"}, ["7.0"], 7.0),
    ({"type": "boolean"}, ["yes"], True),
    ({"type": "boolean"}, [], False),
    ({"type": "string", "oneOf": OPTIONS}, ["1"], "b"),
    ({"type": "string", "enum": [f"o{n}" for n in range(12)]}, ["11"], "o11"),
    ({"type": "string", "enum": [f"o{n}" for n in range(30)]}, [" O29 "], "o29"),
    ({"type": "string", "enum": [*map(str, range(13))], "enumNames": NUMBERS}, ["3"], "9"),
    ({"type": "array", "items": {"anyOf": OPTIONS}}, ["0", "1"], ["a", "b"]),
    ({"type": "array", "items": {"enum": ["x"]}}, [], []),
]
INVALID = [
    ({"type": "string"}, "", "Please fill this in."),
    (TEXT, "a", "At least 2 characters"),
    (TEXT, "abcdef", "At most 5 characters"),
    (TEXT, "ABC", "It must match ^[a-z]+$."),
    ({"type": "string", "format": "email"}, "<a@b", "is not an e-mail address"),
    ({"type": "string", "format": "date"}, "20.11.2026", "is not a date"),
    ({"type": "number"}, "1,5", "a finite number"),
    ({"type": "number"}, "nan", "a finite number"),
    ({"type": "number"}, "1e999", "a finite number"),
    ({"type": "integer"}, "1.5", "a whole number"),
    ({"type": "integer", "maximum": 9}, "9" * 5000, "not inf"),
    ({"type": "integer", "maximum": 9}, "10", "At most 9, please"),
    ({"type": "boolean"}, "on", "yes or no"),
    ({"type": "string", "oneOf": OPTIONS}, "", "Please choose one."),
    ({"type": "string", "oneOf": OPTIONS}, "2", "one of a, b"),
    ({"type": "string", "oneOf": OPTIONS}, "a", "one of a, b"),
    ({"type": "string", "oneOf": OPTIONS}, "-1", "one of a, b"),
    ({"type": "string", "enum": [f"o{n}" for n in range(30)]}, "o", "one of o0, o1"),
    ({"type": "array", "items": {"enum": ["x"]}}, "7", "one of x"),
    (
        {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2},
        "1",
        "At least 2 choices, please",
    ),
]


@pytest.mark.parametrize(("part", "sent", "value"), VALID, ids=range(len(VALID)))
def test_what_is_filled_in_is_what_arrives(
    stage: Asked, part: dict[str, Any], sent: list[str], value: object
) -> None:
    url, person, _ = opened(stage, ask_name(form=form(["it"], it=part)))

    person.post(url, data={"exit": "accept", "field0": sent})

    assert stage.heard == [Reply("accept", {"it": value})]
    (heard,) = stage.heard
    assert isinstance(heard, Reply)
    assert isinstance(heard.content, dict)
    assert type(heard.content["it"]) is type(value)


@pytest.mark.parametrize(("part", "sent", "says"), INVALID, ids=range(len(INVALID)))
def test_what_does_not_fit_is_told_beside_the_field_and_settles_nothing(
    stage: Asked, part: dict[str, Any], sent: str, says: str
) -> None:
    both = form(["it"], it={**part, "title": "It"}, other={"type": "string"})
    url, person, _ = opened(stage, ask_name(form=both))

    wrong = person.post(url, data={"exit": "accept", "field0": sent, "field1": "kept <typed>"})

    seen = Seen(wrong.text)
    assert wrong.status_code == 422
    assert stage.heard == []
    assert seen.one(id="field0-problem")
    assert seen.text.count(says) == 2
    assert "Error: " in seen.text
    assert "Please look at one field again" in seen.text
    assert seen.one(id="field1")["value"] == "kept <typed>"
    assert any("autofocus" in a for _, a in seen.tags if a.get("id", "").startswith("field0"))


def test_what_was_typed_wrongly_is_kept_too(stage: Asked) -> None:
    url, person, _ = opened(stage, Question("Go", CALL, EVERYTHING, offers=LONG))

    lines = "\n\nshort"
    typed = {"field0": '"><b>', "field1": lines, "field7": "44", "field10": "1", "field11": "o3"}
    typed["field14"] = "3"
    wrong = person.post(url, data={"exit": "accept", **typed})

    seen = Seen(wrong.text)
    assert seen.one(id="field0")["value"] == '"><b>'
    assert "<textarea" in wrong.text
    assert f">\n{lines}</textarea>" in wrong.text
    assert seen.one(id="field7")["value"] == "44"
    assert "checked" in seen.one(id="field10-1")
    assert seen.one(id="field11")["value"] == "o3"
    assert [one["value"] for one in seen.all("option") if "selected" in one] == ["3"]


def test_defaults_are_filled_in_and_what_may_be_left_out_can_be(stage: Asked) -> None:
    url, person, seen = opened(stage, Question("Go", CALL, EVERYTHING, offers=LONG))
    assert seen.one(id="field7")["value"] == "4"
    assert "checked" in seen.one(id="field8")
    assert "checked" in seen.one(id="field13-1")
    assert "checked" in seen.one(id="field9-2")
    assert "Same (a)" in seen.text

    empty = {f"field{number}": "" for number in (2, 3, 4, 5, 6, 7, 9, 11, 12)}
    needed = {"field0": "a", "field1": "x" * 50, "field10": "0"}
    person.post(url, data={"exit": "accept", **empty, **needed})

    wanted = {"text": "a", "lines": "x" * 50, "sure": False, "pick": "a"}
    assert stage.heard == [Reply("accept", wanted)]


def test_a_default_that_hides_something_is_shown_and_not_filled_in(stage: Asked) -> None:
    hiding = form(it={"type": "string", "default": "a\u202eb"})

    _, _, seen = opened(stage, ask_name(form=hiding))

    assert seen.one(id="field0")["value"] == ""
    assert "a\u2039U+202E\u203ab" in seen.text


# ---- the bridge


def test_what_cannot_be_a_page_is_said_at_once(stage: Asked) -> None:
    heard: list[object] = []

    PagePresenter(heard.append).show(consent(), heard.append)

    assert heard == [Unable()]


def test_only_the_last_pages_remember_what_became_of_them(stage: Asked) -> None:
    first = stage.ask(consent())
    stage.down("answered")
    for _ in range(70):
        stage.ask(consent())
        stage.down("answered")

    assert stage.browser().get(first).status_code == 404
    assert stage.browser().get(stage.urls[-1]).status_code == 410
