"""The pages in a real browser: by keyboard, by click, at any size, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.server.pages import site
from tests.server.asked import CALL, LONG, Asked, ask_name, asked, consent, form
from tests.server.browser import THERE, browser

SHOTS = [f"shot_{number:03}" for number in range(200)]
SHOT = form(
    ["name", "mode", "sure"],
    name={"type": "string", "title": "Name", "minLength": 3, "description": "Of the new shot."},
    why={"type": "string", "title": "Why", "maxLength": 400},
    frames={"type": "integer", "title": "Frames", "minimum": 1, "default": 240},
    due={"type": "string", "format": "date", "title": "Due", "default": "2026-11-20"},
    mode={"type": "string", "title": "Mode", "enum": ["keep", "bake"]},
    show={"type": "string", "title": "Show", "enum": [f"show_{n:02}" for n in range(30)]},
    tags={"type": "array", "title": "Tags", "items": {"enum": ["hero", "crowd"]}},
    sure={"type": "boolean", "title": "Lock it afterwards"},
)
LONG_LISTS = form(
    ["shot"],
    shot={"type": "string", "title": "Shot", "enum": SHOTS},
    also={"type": "array", "title": "Also", "items": {"enum": SHOTS}, "default": ["shot_007"]},
)
ITEMS = tuple(f"/World/shot_010/cameras/cam{number:03}" for number in range(1270))
KINDS = tuple("Camera" if number % 9 else "Rig" for number in range(1270))

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not THERE, reason="needs chromium and chromedriver"),
]


class Person:
    """Somebody at a browser."""

    def __init__(self, driver: Chrome, stage: Asked) -> None:
        self.driver = driver
        self.stage = stage

    def open(self, question: Question, *, scale: int = 1, dark: bool = False) -> None:
        """Look at a question's page."""
        look = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        size = {"width": 1100 // scale, "height": 900 // scale, "mobile": False}
        self._tell("Emulation.setEmulatedMedia", features=look)
        self._tell("Emulation.setDeviceMetricsOverride", deviceScaleFactor=scale, **size)
        self.driver.get(self.stage.ask(question))

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, css: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def sees(self, text: str) -> None:
        """Wait for a text."""
        read = "return document.body ? document.body.innerText : ''"
        turning = [WebDriverException]  # between two pages there is nothing to be asked
        waiting = WebDriverWait(self.driver, 20, ignored_exceptions=turning)
        waiting.until(lambda _: text in self.driver.execute_script(read))

    @property
    def focused(self) -> str:
        """The id or the value of what has the focus."""
        element = self.driver.switch_to.active_element
        return element.get_attribute("id") or element.get_attribute("value") or ""

    def complaints(self) -> list[str]:
        """Give what the browser logged since the last time."""
        logged = self.driver.get_log("browser")  # type: ignore[no-untyped-call]  # it has no types
        return [one["message"] for one in logged]

    def is_in_sight(self, css: str) -> bool:
        """Whether nothing of an element is cut off by the window."""
        script = (
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth"
        )
        return bool(self.driver.execute_script(script, css))

    def _tell(self, command: str, **parameters: Any) -> None:
        self.driver.execute_cdp_cmd(command, parameters)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def person(driver: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setattr(site, "ARM_DELAY", 0.0)
    with asked(tmp_path) as stage:
        yield Person(driver, stage)


def test_a_form_is_filled_in_by_keyboard_alone_wrongly_and_then_rightly(person: Person) -> None:
    person.open(Question("Set up the shot", CALL, SHOT, title="Create", offers=LONG))

    person.press(Keys.TAB, "ab", Keys.ENTER)
    person.sees("At least 3 characters, please.")
    assert person.stage.heard == []
    assert person.focused == "field0"
    assert person.driver.title.startswith("Error: ")

    person.press(Keys.END, "c", Keys.TAB, "two", Keys.ENTER, "lines", Keys.TAB, Keys.TAB)
    while person.focused != "field4-0":
        person.press(Keys.TAB)
    person.press(Keys.DOWN, Keys.TAB, "show_10", Keys.TAB, Keys.SPACE, Keys.TAB, Keys.TAB)
    person.press(Keys.SPACE, Keys.TAB, Keys.ENTER)

    person.sees("Your answer was sent")
    assert person.stage.heard == [
        Reply(
            "accept",
            {
                "name": "abc",
                "why": "two\nlines",
                "frames": 240,
                "due": "2026-11-20",
                "mode": "bake",
                "show": "show_10",
                "tags": ["hero"],
                "sure": True,
            },
        )
    ]


def test_enter_where_the_focus_is_at_first_cancels_a_consent(person: Person) -> None:
    person.open(consent())

    assert person.focused == "cancel"
    person.press(Keys.ENTER)

    person.sees("Cancelled")
    assert person.stage.heard == [Reply("cancel")]


def test_enter_in_a_field_of_a_consent_does_nothing(person: Person) -> None:
    why = form(["why"], why={"type": "string"}, sure={"type": "boolean"})
    person.open(consent(form=why, title="Delete"))

    person.find("#field0").send_keys("because", Keys.ENTER, Keys.ENTER)

    assert person.find("#field0").get_attribute("value") == "because"
    person.find("button[value=decline]").click()
    person.sees("Declined")
    assert person.stage.heard == [Reply("decline")]


def test_a_consent_is_given_by_a_click_and_only_once(person: Person) -> None:
    person.open(consent(items=ITEMS, kinds=KINDS))
    url = person.driver.current_url

    person.find("button.weighty").click()
    person.sees("Your answer was sent")
    person.driver.back()
    person.driver.get(url)

    person.sees("Your answer was sent")
    assert person.stage.heard == [Reply("accept", {"confirm": True})]


def test_what_cannot_be_undone_is_agreed_to_with_its_name_typed(person: Person) -> None:
    person.open(consent(undoable=False, items=("/World/cam7",), kinds=("Camera",)))

    person.find("button.weighty").click()
    person.sees("Please type cam7 here first")
    assert person.focused == "word"
    person.press("cam7", Keys.ENTER)  # Enter agrees to nothing
    assert person.stage.heard == []
    person.find("button.weighty").click()

    person.sees("Your answer was sent")
    assert person.stage.heard == [Reply("accept", {"confirm": True})]


def test_one_of_two_hundred_and_some_of_two_hundred_are_found_by_typing(
    person: Person, tmp_path: Path
) -> None:
    person.open(Question("Which ones?", CALL, LONG_LISTS, title="Take", offers=LONG))

    person.press(Keys.TAB, "shot_042", Keys.TAB, "_19", Keys.ENTER)
    person.sees("10 of 200; a ticked one is not shown")
    person.driver.save_screenshot(str(tmp_path / "filtered.png"))
    assert person.focused == "field1-filter"
    assert person.find("#field0").get_attribute("value") == "shot_042"
    person.press(Keys.TAB, Keys.TAB, Keys.SPACE)
    person.find("button.main").click()

    person.sees("Your answer was sent")
    wanted = {"shot": "shot_042", "also": ["shot_007", "shot_190"]}
    assert person.stage.heard == [Reply("accept", wanted)]


def test_what_waits_at_a_client_is_listed_and_answered_here(person: Person, tmp_path: Path) -> None:
    pages, done = person.stage.pages, list[str]()
    pages.chip(ask_name("And this?"), "Cursor", lambda: None, lambda: done.append("cancelled"))
    asked_here = ask_name("What is it called?")
    down = pages.chip(asked_here, "Claude Code", lambda: bring(), lambda: None)

    def bring() -> None:
        down("handed_over")
        pages.show(asked_here, person.stage.heard.append)

    person.stage.running.until(lambda: bool(person.stage.urls))
    person.driver.get(person.stage.urls[0])
    person.sees("2 questions wait")
    person.driver.save_screenshot(str(tmp_path / "waiting.png"))

    def answer_here() -> None:
        person.find("li:nth-child(2) button[value=answer_here]").click()
        person.sees("Name")

    person.stage.serve(answer_here)
    person.find("#field0").send_keys("shot", Keys.ENTER)
    person.sees("Your answer was sent")
    person.driver.get(person.stage.urls[0])
    person.sees("One question waits")
    person.find("button[value=cancel]").click()

    person.sees("One question waits")
    assert done == ["cancelled"]
    assert person.stage.heard == [Reply("accept", {"name": "shot"})]
    assert len(person.stage.urls) == 2


def test_decline_may_say_why_by_keyboard_alone(person: Person) -> None:
    """Enter in the line declines, also where a form could be sent; it never agrees."""
    for question in (ask_name(), consent()):
        person.open(question)
        summary = person.find(".refusing summary")
        person.driver.execute_script("arguments[0].focus()", summary)

        person.press(Keys.ENTER, Keys.TAB, "not the hero", Keys.ENTER)

        person.sees("said no")
        assert person.stage.heard == [Reply("decline", reason="not the hero")]


def test_escape_does_nothing_for_there_is_no_script_and_decline_declines(person: Person) -> None:
    person.open(consent())

    person.press(Keys.ESCAPE)
    assert person.stage.heard == []
    person.press(Keys.TAB, Keys.SPACE)

    person.sees("Declined")
    assert person.stage.heard == [Reply("decline")]


def test_a_page_reloads_in_its_browser_and_opens_in_no_other(person: Person) -> None:
    person.open(ask_name())

    person.driver.refresh()
    person.sees("What is it called?")
    person.driver.delete_all_cookies()
    person.driver.refresh()

    person.sees("Opened in another browser")


def test_a_page_cannot_be_framed(person: Person, tmp_path: Path) -> None:
    url = person.stage.ask(consent())
    outside = tmp_path / "outside.html"
    outside.write_text(f"<iframe src='{url}'></iframe>")

    person.driver.get(outside.as_uri())
    person.driver.switch_to.frame(0)

    assert "Delete" not in person.find("body").text
    person.driver.switch_to.default_content()


def test_a_form_on_another_site_cannot_answer(person: Person, tmp_path: Path) -> None:
    person.open(consent())
    outside = tmp_path / "outside.html"
    outside.write_text(
        f"<form method=post action='{person.driver.current_url}'>"
        "<button name=exit value=accept>Win a prize</button></form>"
    )

    person.driver.get(outside.as_uri())
    person.find("button").click()

    person.sees("another site")
    assert person.stage.heard == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("scale", [1, 2, 4])
def test_who_asks_what_and_how_to_answer_is_in_sight_at_any_size(
    person: Person, scale: int, dark: bool, tmp_path: Path
) -> None:
    """The pictures are in the test's folder: look at them."""
    big = Question("Set up the shot", CALL, SHOT, title="Create", offers=LONG)
    for name, question in {
        "consent": consent(items=ITEMS, kinds=KINDS),
        "form": big,
        "long": consent("Delete?\n" + "x" * 3000 + "\n" + "why " * 900),
        "lists": Question("Which ones?", CALL, LONG_LISTS, title="Take", offers=LONG),
        "forever": consent(undoable=False, items=("/World/cam7",), kinds=("Camera",)),
    }.items():
        person.open(question, scale=scale, dark=dark)
        person.driver.save_screenshot(str(tmp_path / f"{name}.png"))

        wide = "return document.documentElement.scrollWidth <= innerWidth"
        assert person.driver.execute_script(wide)
        assert scale == 4 or all(
            person.is_in_sight(css) for css in ("header", "h1", ".exits button:last-child")
        )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_can_be_read(person: Person, dark: bool) -> None:
    """The contrast of each text is that of WCAG AA, 4.5 to 1."""
    person.open(Question("Set up\nthe shot", CALL, SHOT, title="Create", offers=LONG), dark=dark)
    person.find("button.main").click()
    wrong = person.driver.execute_script(CONTRAST)
    person.open(consent(items=ITEMS, kinds=KINDS, undoable=False, reason="Again"), dark=dark)

    assert person.driver.execute_script(CONTRAST) == wrong == []


def test_the_browser_has_nothing_to_complain_of(person: Person) -> None:
    person.complaints()
    person.open(ask_name())
    person.find("button.main").click()
    person.sees("Please fill this in")
    said = person.complaints()

    assert [one for one in said if "favicon" not in one and "(Unprocessable" not in one] == []


CONTRAST = """
const light = c => c.map(v => v / 255).map(v => v <= .04 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0)
const rgb = text => text.match(/[\\d.]+/g).map(Number)
const ground = e => {
    const c = rgb(getComputedStyle(e).backgroundColor)
    return c.length < 4 || c[3] ? c : ground(e.parentElement)
}
const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())
return [...document.body.querySelectorAll("*")].filter(own).map(e => {
    const [a, b] = [rgb(getComputedStyle(e).color), ground(e)].map(c => light(c.slice(0, 3)))
    return [e.innerText.slice(0, 40), (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]
}).filter(([_, ratio]) => ratio < 4.5)
"""
