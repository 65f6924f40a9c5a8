"""A real browser without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

FLAGS = (
    "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync hide-scrollbars"
)
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
THERE = bool(BROWSER and DRIVER)


@contextmanager
def browser(profile: Path) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = BROWSER or ""
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in FLAGS.split():
        options.add_argument(f"--{flag}")
    made = Chrome(options, ChromeService(DRIVER))
    try:
        yield made
    finally:
        made.quit()
