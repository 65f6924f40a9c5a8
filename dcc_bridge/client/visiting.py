"""Going to a page from a terminal: what a person sees before, and the one place that opens it.

On the client's loop; the browser is opened on a thread of its own, because some of them wait.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from functools import partial
from typing import Final

import anyio.to_thread

from dcc_bridge.client.terminal_io import Screen
from dcc_bridge.elicitation.urls import Address

Open = Callable[[str], bool]
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def open_page(url: str) -> bool:
    """Open a page in the person's browser.

    Returns:
        Whether one was found. Without a screen there is none: a browser of the terminal's own would
        draw over the question.
    """
    if sys.platform.startswith("linux") and not any(map(os.environ.get, _DISPLAYS)):
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


async def opened(open_it: Open, where: Address) -> bool:
    """Open a page without holding up the loop."""
    return await anyio.to_thread.run_sync(partial(open_it, where.url))


def show(screen: Screen, where: Address) -> None:
    """Say where a page is: whose it is, what to look at, and all of its address."""
    place = where.place
    if where.ours:
        screen.show("  ", "A page of the application itself.")
    else:
        screen.show("  Host: ", place.host)
    if place.weak and not where.ours:
        screen.show("  Of:   ", place.strong)
    if place.letters:
        screen.show("  Reads:", f" {place.letters}")
    for danger in where.dangers:
        screen.show("  ! ", danger.text)
    screen.show("  Page: ", where.url)
