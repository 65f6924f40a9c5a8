"""A thousand secrets, entered and mishandled in every way: none is found anywhere afterwards."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from dcc_bridge import elicit_form_sync, report_progress, skill
from dcc_bridge.elicitation.ask_secret import Secret, ask_secret_sync
from tests.live import ERAS, Tap, live, status

RUNS = 1000
CANARY = "canary-77b0"
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
log = logging.getLogger("a.skill")


class Both(Tap):
    """Keeps what goes over the wire, in both directions."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.heard += repr(request.headers.raw).encode() + request.url.raw_path + request.content
        return await super().handle_async_request(request)


class PagePerson:
    """Enters a secret, or does something wrong on its page."""

    def __init__(self) -> None:
        self.number = 0  # of the run
        self.browser = httpx2.Client(timeout=10, follow_redirects=True)

    @property
    def secret(self) -> str:
        return f"{CANARY}-{self.number:04}-é+/&%"

    def enter(self, url: str) -> None:
        data = {"exit": "accept", "secret": self.secret}
        browser = self.browser
        if self.number % 11 == 1:  # never opened by that browser
            browser.post(url, data=data)
        browser.get(url)
        if self.number % 11 == 2:
            browser.post(url, data=data, headers={"Origin": "https://evil.example"})
        if self.number % 11 == 3:
            browser.post(url, content=self.secret.encode(), headers={"Content-Type": "a/b"})
        if self.number % 11 == 4:
            data = {"exit": "decline", "secret": self.secret}
        if self.number % 11 == 5:
            browser.post(url, data={**data, "exit": self.secret})
        if self.number % 11 == 6:
            browser.post(f"{url}x", data=data)
        browser.post(url, data=data)
        browser.post(url, data=data)

    async def asked(self, params: ElicitRequestParams) -> ElicitResult:
        if isinstance(params, ElicitRequestURLParams):
            await anyio.to_thread.run_sync(self.enter, params.url)
        return ElicitResult(action="accept", content={})


def keep(got: Secret) -> Any:
    log.warning("got %s and %r", got, {"it": got})
    return {"length": len(got.reveal())}


def fail(got: Secret) -> Any:
    raise RuntimeError(f"401 for {got.reveal()}", got, [got.reveal()])


def fail_inside(got: Secret) -> Any:
    try:
        raise KeyError(got.reveal())
    except KeyError as error:
        raise ValueError("no") from error


def ask(got: Secret) -> Any:
    return elicit_form_sync(f"Use {got.reveal()}?", EMPTY).action


def tell(got: Secret) -> Any:
    report_progress(1, 2, f"signing in with {got.reveal()}")
    return "signed in"


FAULTS: tuple[Callable[[Secret], Any], ...] = (
    keep,
    fail,
    fail_inside,
    ask,
    tell,
    lambda got: got,
    lambda got: got.reveal(),
    lambda got: {"a": [{"b": (got,)}]},
    lambda got: f"Bearer {got.reveal()}".encode(),
)


@pytest.mark.long
@pytest.mark.timeout(290)
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_none_of_a_thousand_secrets_is_found_anywhere(tmp_path: Path) -> None:
    person, tap, ends = PagePerson(), Both(), Counter[str]()
    revealed: list[str] = []

    @skill(risk="edit")
    def sign_in() -> Any:
        got = ask_secret_sync("The tracker needs a key.", label="API key")
        revealed.append(got.reveal())
        assert not _processes(only=person.number % 100 == 0)
        return FAULTS[person.number % len(FAULTS)](got)

    written = tmp_path / "all.log"
    handler = logging.FileHandler(written)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with live(tmp_path / "run", sign_in, audit=tmp_path / "audit") as running:

            async def agent(era: str, first: int) -> None:
                async with running.client(era, person.asked, tap=tap) as session:
                    for number in range(first, first + RUNS // 2):
                        person.number = number
                        ends[status(await session.call_tool("sign_in", {}))] += 1

            running.run(agent, ERAS[1], 0, limit=140)
            running.run(agent, ERAS[2], RUNS // 2, limit=140)
    finally:
        person.browser.close()
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()

    assert ends.total() == RUNS
    assert len(set(revealed)) == RUNS - ends["refused"] > RUNS * 0.8
    assert min(ends["done"], ends["failed"], ends["refused"]) > 50
    found = [file for file in _files(tmp_path) if CANARY.encode() in file.read_bytes()]
    assert (found, CANARY.encode() in bytes(tap.heard)) == ([], False)
    assert sum(file.stat().st_size for file in _files(tmp_path / "audit")) > RUNS * 100
    assert written.stat().st_size > RUNS * 100
    assert len(tap.heard) > RUNS * 100


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def _processes(*, only: bool) -> list[str]:
    """List the processes whose arguments or environment hold a secret, every now and then."""
    if not only:
        return []
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        for part in ("cmdline", "environ"):
            try:
                text = (process / part).read_bytes()
            except OSError:  # it is somebody else's, or gone
                continue
            if CANARY.encode() in text:
                found.append(str(process / part))
    return found
