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

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dcc_bridge.elicitation.question import HandOver, Question, Reply
from dcc_bridge.elicitation.wording import lone
from dcc_bridge.server.pages import (
    asking,
    endings,
    entering,
    entries,
    filters,
    origins,
    signin,
    visiting,
)
from dcc_bridge.server.pages.document import ANSWERABLE, HEADERS, document, ended, titled
from dcc_bridge.server.pages.endings import Ending
from dcc_bridge.server.pages.entries import Entries
from dcc_bridge.server.pages.kept import PREFIX, SIGNED_IN, Pages
from dcc_bridge.server.pages.page import Exit, Page
from dcc_bridge.server.pages.visited import SecretPage
from dcc_bridge.server.pages.waiting import AGAIN
from dcc_bridge.server.pages.waiting import draw as draw_waiting

ARM_DELAY: Final = 0.4
"""Seconds after which a consent that was drawn can be agreed to: no click was meant for it."""
_COOKIE: Final = "ask"
_LOOKS: Final = 40
_BETWEEN_LOOKS: Final = 0.05
"""Seconds; the main thread has the page made, and is busy at times."""
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_SENT: Final = 1 << 20
_MOST_PARTS: Final = 10_000
_TOO_QUICK: Final = "That was quicker than anybody reads, so nothing was done. Please look again."
_NO_EXIT: Final = "Please use one of the buttons."


class Site:
    """ASGI: answers below `PREFIX`, and passes everything else on."""

    def __init__(
        self, pages: Pages, app: ASGIApp, *, now: Callable[[], float] = time.monotonic
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
        path = scope["path"] if scope["type"] == "http" else ""
        if path != SIGNED_IN and not path.startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer = self._come_back if path == SIGNED_IN else self._answer
        response = await answer(request)
        await response(scope, receive, send)

    async def _come_back(self, request: Request) -> Response:
        """Take what a provider sends a person back with; another site always does that."""
        page = signin.find(self._pages, request)
        if request.method != "GET" or page is None:
            return self._say(endings.NO_SIGN_IN)
        if origins.is_part(request):
            return self._say(endings.FRAMED)
        was_first = await signin.finish(page, request)
        if not was_first and page.question is not None:
            return self._say(endings.FINISHING, page)
        return self._after(page, was_first)

    async def _answer(self, request: Request) -> Response:
        id = request.scope["path"].removeprefix(PREFIX)
        is_list = self._pages.waiting.is_at(id)
        page = self._pages.find(id)
        if page is None and not is_list:
            return self._say(endings.UNKNOWN)
        if origins.is_part(request):
            return self._say(endings.FRAMED)
        if page is None:
            return await self._list(PREFIX + id, request)
        match request.method:
            case "GET":
                return self._look(page, request)
            case "POST":
                return await self._take(page, request)
            case _:
                return self._say(endings.METHOD)

    async def _list(self, path: str, request: Request) -> Response:
        """Serve the page of what waits at clients."""
        waiting, key = self._pages.waiting, request.cookies.get(_COOKIE, "")
        if request.method == "POST":
            return await self._bring(path, request)
        if request.method != "GET":
            return self._say(endings.METHOD)
        if origins.is_sent(request):
            return self._say(endings.SENT, again=path)
        admitted = waiting.seat.admit(key)
        if admitted is None:
            return self._say(endings.FOREIGN)
        waiting.note_look()
        main = draw_waiting(waiting.chips, self._pages.here)
        html = document(f"What waits · {self._pages.place}", waiting.facts, main)
        response = HTMLResponse(html, 200, {**ANSWERABLE, "Refresh": str(AGAIN)})
        response.set_cookie(_COOKIE, admitted, path=path, httponly=True, samesite="strict")
        return response

    async def _bring(self, path: str, request: Request) -> Response:
        """Do what was pressed beside a question that waits, and go where it is then."""
        waiting = self._pages.waiting
        if origins.is_foreign(request):
            return self._say(endings.CROSS_SITE)
        sent = await _read(request)
        if not waiting.seat.knows(request.cookies.get(_COOKIE, "")):
            return self._say(endings.FOREIGN)
        if sent is None:
            return self._say(endings.UNREADABLE)
        chip = waiting.find(next(iter(sent.get("which", ())), ""))
        match next(iter(sent.get("exit", ())), ""):
            case "answer_here" if chip is not None:
                chip.answer_here()
                path = await self._page_of(chip.question) or path
            case "cancel" if chip is not None:
                chip.cancel()
        return RedirectResponse(path, 303, HEADERS)

    async def _page_of(self, question: Question) -> str:
        """Wait a moment for the page of a question that comes here; "" if it is not there soon."""
        for _ in range(_LOOKS):
            for path, one in self._pages.here:
                if one.id == question.id:
                    return path
            await anyio.sleep(_BETWEEN_LOOKS)
        return ""

    def _look(self, page: Page, request: Request) -> Response:
        question = page.question
        if question is None:
            return self._say(endings.of(page), page)
        if origins.is_sent(request):
            return self._say(endings.SENT, again=PREFIX + page.id)
        key = page.seat.admit(request.cookies.get(_COOKIE, ""))
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
        if origins.is_foreign(request):
            return self._say(endings.CROSS_SITE)
        sent = await _read(request)
        question = page.question
        if question is None:
            return self._say(endings.used(page), page)
        if not page.seat.knows(request.cookies.get(_COOKIE, "")):
            return self._say(endings.FOREIGN, page)
        if sent is None:
            return self._say(endings.UNREADABLE, page)
        return self._go(page, question, sent)

    def _go(self, page: Page, question: Question, sent: Entries) -> Response:
        exit, _, key = next(iter(sent.get("exit", ())), "").partition(" ")
        form = asking.fields(question)
        if exit == filters.ENTER and form is not None:
            key = filters.meant(form, sent)
            exit = filters.EXIT if key else "accept"
        match exit:
            case filters.EXIT:
                return self._draw(page, question, sent, {}, "", filtering=key)
            case "accept":
                return self._accept(page, question, sent)
            case "decline":
                return self._leave(page, "decline", _declining(question, sent))
            case "cancel":
                return self._leave(page, "cancel", Reply("cancel", mute=_mutes(question, sent)))
            case "hand_over" if question.offers.hand_over is not None:
                return self._leave(page, "hand_over", HandOver())
            case _:
                return self._draw(page, question, sent, {}, _NO_EXIT)

    def _accept(self, page: Page, question: Question, sent: Entries) -> Response:
        if question.consent and self._now() - page.drawn < ARM_DELAY:
            return self._draw(page, question, sent, {}, _TOO_QUICK)
        if isinstance(page, SecretPage):
            return self._enter(page, question, sent)
        alone, form = lone(question), asking.fields(question)
        content: dict[str, object] = {alone.name: True} if alone is not None else {}
        if form is not None:
            content = entries.values(form, sent)
        problems = entries.problems(form, content) if form is not None else {}
        if problems := {**problems, **asking.unarmed(question, sent)}:
            return self._draw(page, question, sent, problems, "")
        remember = question.offers.remember is not None and "remember" in sent
        return self._leave(page, "accept", Reply("accept", content, remember=remember))

    def _enter(self, page: SecretPage, question: Question, sent: Entries) -> Response:
        text = entering.entered(sent)
        if wrong := entering.problem(text):
            return self._draw(page, question, {}, {entering.FIELD: wrong}, "")
        return self._after(page, page.enter(text))

    def _leave(self, page: Page, how: Exit, heard: Reply | HandOver) -> Response:
        return self._after(page, page.leave(how, heard))

    def _after(self, page: Page, was_first: bool) -> Response:
        if not was_first:
            return self._say(endings.used(page), page)
        return RedirectResponse(PREFIX + page.id, 303, HEADERS)  # going back asks nothing again

    def _draw(
        self,
        page: Page,
        question: Question,
        filled: Entries,
        problems: Mapping[str, str],
        note: str,
        *,
        filtering: str = "",
    ) -> Response:
        ends = page.ends.strftime("%H:%M:%S")
        if isinstance(page, SecretPage):
            wrong = problems.get(entering.FIELD, "")
            main = entering.draw(page, question, wrong, note=note, ends=ends)
        elif question.url is not None:
            main = visiting.draw(question, note=note, ends=ends)
        else:
            main = asking.draw(
                question, filled, problems, note=note, ends=ends, filtering=filtering
            )
        title = titled(self._pages.place, wrong=bool(problems))
        headers = dict(ANSWERABLE)
        typed = isinstance(page, SecretPage) or asking.fields(question) is not None
        if not typed:  # nothing typed would be lost
            left = (page.ends - datetime.now()).total_seconds()
            headers["Refresh"] = str(max(1, round(left) + 1))
        page.drawn = self._now()
        status = 422 if problems or note else 200
        return HTMLResponse(document(title, page.facts, main), status, headers)

    def _say(self, ending: Ending, page: Page | None = None, again: str = "") -> Response:
        facts = page.facts if page is not None else ()
        html = ended(self._pages.place, facts, ending, again)
        return HTMLResponse(html, ending.status, HEADERS)


def _mutes(question: Question, sent: Entries) -> bool:
    return question.offers.mute is not None and "mute" in sent


def _declining(question: Question, sent: Entries) -> Reply:
    reason = next(iter(sent.get(asking.REASON, ())), "").strip()
    return Reply("decline", mute=_mutes(question, sent), reason=reason or None)


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
