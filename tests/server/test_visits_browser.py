"""A secret is entered in a real browser, at any size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.live import status
from tests.server.browser import THERE, browser
from tests.server.sending import Sent

TYPED = "canary-5f1e7c0a"

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not THERE, reason="needs chromium and chromedriver"),
]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


def sees(driver: Chrome, text: str) -> None:
    read = "return document.body ? document.body.innerText : ''"
    turning = [WebDriverException]  # between two pages there is nothing to be asked
    waiting = WebDriverWait(driver, 20, ignored_exceptions=turning)
    waiting.until(lambda _: text in driver.execute_script(read))


def press(driver: Chrome, *keys: str) -> None:
    ActionChains(driver).send_keys(*keys).perform()


def enter(driver: Chrome, sent: Sent) -> None:
    """Do what the page asks for, with the keyboard alone."""
    press(driver, TYPED, Keys.ENTER)
    sees(driver, "Your answer was sent")


def test_a_secret_is_entered_by_keyboard_alone(driver: Chrome, sent: Sent) -> None:
    driver.get(sent.url)
    field = driver.switch_to.active_element
    assert (field.get_attribute("id"), field.get_attribute("type")) == ("secret", "password")
    assert field.accessible_name == "API key of the tracker"

    enter(driver, sent)

    assert status(sent.end()) == "done"
    assert sent.secrets == [TYPED]
    assert driver.get_log("browser") == []  # type: ignore[no-untyped-call]  # it has no types


@pytest.mark.parametrize("scale", [1, 2])
def test_it_can_be_read_at_any_size(driver: Chrome, sent: Sent, scale: int) -> None:
    size = {"width": 1100 // scale, "height": 900 // scale, "mobile": False}
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"deviceScaleFactor": scale, **size}
    )
    driver.get(sent.url)
    inside = (
        "const r = arguments[0].getBoundingClientRect();"
        "return r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth"
    )

    for part in driver.find_elements(By.CSS_SELECTOR, "#secret, button, header"):
        assert driver.execute_script(inside, part)
    assert not driver.execute_script(
        "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    enter(driver, sent)
