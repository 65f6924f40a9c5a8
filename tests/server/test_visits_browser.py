"""A secret in a real browser, and what other sites try with its page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


@contextmanager
def hostile(html: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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


def test_going_back_and_sending_again_changes_nothing(driver: Chrome, sent: Sent) -> None:
    driver.get(sent.url)
    enter(driver, sent)
    driver.back()
    driver.get(sent.url)
    sees(driver, "Your answer was sent")

    assert driver.find_elements(By.ID, "secret") == []
    sent.end()
    assert sent.secrets == [TYPED]


def test_in_a_frame_there_is_nothing_to_enter(driver: Chrome, sent: Sent) -> None:
    with hostile(f"<h1>Evil</h1><iframe src='{sent.url}'></iframe>") as url:
        driver.get(url)
        driver.switch_to.frame(0)
        fields = driver.find_elements(By.ID, "secret")
        driver.switch_to.default_content()
    driver.get(sent.url)
    enter(driver, sent)

    assert fields == []
    sent.end()
    assert sent.secrets == [TYPED]


def test_another_site_can_send_nothing(driver: Chrome, sent: Sent) -> None:
    driver.get(sent.url)  # so that the cookie is there
    form = (
        f"<form method=post action='{sent.url}'><input name=secret value=evil-secret>"
        "<button name=exit value=accept>Go</button></form>"
    )
    with hostile(form) as url:
        driver.get(url)
        driver.find_element(By.TAG_NAME, "button").click()
        sees(driver, "came from another site")
        driver.get(url)
        answer = driver.execute_async_script(
            "const done = arguments[1]; const body = new URLSearchParams({exit: 'accept', "
            "secret: 'evil-secret'}); fetch(arguments[0], {method: 'POST', body, "
            "mode: 'no-cors', credentials: 'include'}).then(r => done(r.type), e => done('no'))",
            sent.url,
        )
    assert answer in ("opaque", "no")
    driver.get(sent.url)
    enter(driver, sent)

    sent.end()
    assert sent.secrets == [TYPED]


def test_who_follows_a_link_of_another_site_is_told_so_first(driver: Chrome, sent: Sent) -> None:
    with hostile(f"<a href='{sent.url}'>Win a prize</a>") as url:
        driver.get(url)
        driver.find_element(By.TAG_NAME, "a").click()
        sees(driver, "Another site sent you here")
    assert driver.find_elements(By.ID, "secret") == []
    driver.find_element(By.LINK_TEXT, "Continue to the page").click()
    sees(driver, "The tracker needs a key.")
    enter(driver, sent)

    sent.end()
    assert sent.secrets == [TYPED]
