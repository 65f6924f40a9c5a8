"""Serves the pages: looks at who comes, and reads what they send. Worker.

The door has checked Host and Origin by then. It does not ask for a token here: a page's id is its
credential, and belongs to the browser that opened it first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dcc_bridge.elicitation.question import HandOver, Question, Reply
from dcc_bridge.server.pages import asking, endings, entries
from dcc_bridge.server.pages.document import ANSWERABLE, HEADERS, document, ended, titled
from dcc_bridge.server.pages.endings import Ending
from dcc_bridge.server.pages.entries import Entries
from dcc_bridge.server.pages.page import Exit, Page
from dcc_bridge.server.pages.presenter import PREFIX, PagePresenter

ARM_DELAY: Final = 0.4
"""Seconds after which a consent that was drawn can be agreed to: no click was meant for it."""
_COOKIE: Final = "ask"
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_SENT: Final = 1 << 20
_MOST_PARTS: Final = 10_000
_TOO_QUICK: Final = "That was quicker than anybody reads, so nothing was done. Please look again."
_NO_EXIT: Final = "Please use one of the buttons."


class Site:
    """ASGI: answers below `PREFIX`, and passes everything else on."""

    def __init__(
        self, pages: PagePresenter, app: ASGIApp, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Stand before an application.

        Args:
            pages: What there is to serve.
            app: Gets every other request.
            now: A monotonic clock.
        """
        self._pages = pages
        self._app = app
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page, or pass the request on."""
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        page = self._pages.find(request.scope["path"].removeprefix(PREFIX))
        if page is None:
            return self._say(endings.UNKNOWN)
        match request.method:
            case "GET":
                return self._look(page, request)
            case "POST":
                return await self._take(page, request)
            case _:
                return self._say(endings.METHOD)

    def _look(self, page: Page, request: Request) -> Response:
        question = page.question
        if question is None:
            return self._say(endings.of(page), page)
        key = page.admit(request.cookies.get(_COOKIE, ""))
        if key is None:
            return self._say(endings.FOREIGN, page)
        filled: Entries = {}
        if question.form is not None:
            filled = entries.first(question.form, consent=question.consent)
        response = self._draw(page, question, filled, {}, "")
        path = PREFIX + page.id
        response.set_cookie(_COOKIE, key, path=path, httponly=True, samesite="strict")
        return response

    async def _take(self, page: Page, request: Request) -> Response:
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return self._say(endings.CROSS_SITE)
        sent = await _read(request)
        question = page.question
        if question is None:
            return self._say(endings.used(page), page)
        if not page.knows(request.cookies.get(_COOKIE, "")):
            return self._say(endings.FOREIGN, page)
        if sent is None:
            return self._say(endings.UNREADABLE, page)
        return self._go(page, question, sent)

    def _go(self, page: Page, question: Question, sent: Entries) -> Response:
        match next(iter(sent.get("exit", ())), ""):
            case "accept":
                return self._accept(page, question, sent)
            case "decline":
                return self._leave(page, "decline", Reply("decline", mute=_mutes(question, sent)))
            case "cancel":
                return self._leave(page, "cancel", Reply("cancel", mute=_mutes(question, sent)))
            case "hand_over" if question.offers.hand_over is not None:
                return self._leave(page, "hand_over", HandOver())
            case _:
                return self._draw(page, question, sent, {}, _NO_EXIT)

    def _accept(self, page: Page, question: Question, sent: Entries) -> Response:
        if question.consent and self._now() - page.drawn < ARM_DELAY:
            return self._draw(page, question, sent, {}, _TOO_QUICK)
        alone, form = asking.lone(question), asking.fields(question)
        content: dict[str, object] = {alone.name: True} if alone is not None else {}
        if form is not None:
            content = entries.values(form, sent)
            if problems := entries.problems(form, content):
                return self._draw(page, question, sent, problems, "")
        remember = question.offers.remember is not None and "remember" in sent
        return self._leave(page, "accept", Reply("accept", content, remember=remember))

    def _leave(self, page: Page, how: Exit, heard: Reply | HandOver) -> Response:
        if not page.leave(how, heard):
            return self._say(endings.used(page), page)
        return RedirectResponse(PREFIX + page.id, 303, HEADERS)  # going back asks nothing again

    def _draw(
        self,
        page: Page,
        question: Question,
        filled: Entries,
        problems: Mapping[str, str],
        note: str,
    ) -> Response:
        ends = page.ends.strftime("%H:%M:%S")
        main = asking.draw(question, filled, problems, note=note, ends=ends)
        title = titled(self._pages.place, wrong=bool(problems))
        headers = dict(ANSWERABLE)
        if asking.fields(question) is None:  # nothing typed would be lost
            left = (page.ends - datetime.now()).total_seconds()
            headers["Refresh"] = str(max(1, round(left) + 1))
        page.drawn = self._now()
        status = 422 if problems or note else 200
        return HTMLResponse(document(title, page.facts, main), status, headers)

    def _say(self, ending: Ending, page: Page | None = None) -> Response:
        facts = page.facts if page is not None else ()
        return HTMLResponse(ended(self._pages.place, facts, ending), ending.status, HEADERS)


def _mutes(question: Question, sent: Entries) -> bool:
    return question.offers.mute is not None and "mute" in sent


async def _read(request: Request) -> Entries | None:
    """Read what a form sent, or give None where it is not one, or too much."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return None
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_SENT:
            return None
    try:
        text = body.decode("ascii")
        return parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARTS)
    except ValueError:
        return None
