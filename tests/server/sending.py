"""A skill that needs a secret, and the page on which it is entered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread
import httpx2
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from dcc_bridge import skill
from dcc_bridge.elicitation.ask_secret import Secret, ask_secret, ask_secret_sync
from tests.live import Live
from tests.stand_ins import Person

CANARY = "canary-5f1e7c0a-ünï"
ENTERED = {"exit": "accept", "secret": CANARY}


class Tracker:
    """A skill that needs a key, and what it got."""

    def __init__(self) -> None:
        self.got: list[Secret] = []

    def sync(
        self,
        give: Callable[[Secret], Any] = lambda got: "signed in",
        timeout: float | None = None,
    ) -> Callable[..., Any]:
        @skill(risk="read")
        def sign_in() -> Any:
            label = "API key of the tracker"
            got = ask_secret_sync("The tracker needs a key.", label=label, timeout=timeout)
            self.got.append(got)
            return give(got)

        return sign_in

    def on_loop(self) -> Callable[..., Any]:
        @skill(risk="read")
        async def sign_in() -> str:
            got = await ask_secret("The tracker needs a key.", label="API key of the tracker")
            self.got.append(got)
            return "signed in"

        return sign_in

    def texts(self) -> list[str]:
        return [got.reveal() for got in self.got]


class Browser:
    """Somebody who opens what they are sent to, and follows wherever it leads."""

    def __init__(self) -> None:
        self.pages: list[httpx2.Response] = []

    def visit(self, url: str) -> None:
        with httpx2.Client(timeout=20, follow_redirects=True) as browser:
            self.look(browser, url)

    def look(self, browser: httpx2.Client, url: str) -> None:
        self.pages.append(browser.get(url))

    async def asked(self, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        await anyio.to_thread.run_sync(self.visit, params.url)
        return ElicitResult(action="accept")


class Sent:
    """A skill that waits for its secret, and the page on which it is entered."""

    def __init__(self, running: Live, tracker: Tracker, host: Person) -> None:
        self.running = running
        self._tracker = tracker
        self.calling = running.start("sign_in")
        running.until(lambda: bool(host.shown))
        self.question = host.shown[-1]
        assert self.question.page is not None
        self.url = self.question.page.url

    @property
    def secrets(self) -> list[str]:
        """What the skill got, as soon as it ended or still waits."""
        return self._tracker.texts()

    def end(self) -> Any:
        self.running.until(self.calling.done)
        return self.calling.result()
