"""Makes and serves the pages on which a person enters a secret.

`PageDesk` is made on the host's main thread before the server exists, so slow modules are imported
later. `PageSite` answers on the worker. The server has checked Host by then. The pages need no
token: a page's id is its credential, and belongs to the browser that opened it first. Browsers tell
the origin of a request in ``Origin`` and ``Sec-Fetch-*`` (https://www.w3.org/TR/fetch-metadata/),
which no page can change.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from dcc_bridge import config
from dcc_bridge.elicitation import caller_view
from dcc_bridge.elicitation.question import Caller, Offers, Question
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.host import Host
from dcc_bridge.server import one_time_page
from dcc_bridge.server.one_time_page import Html, PageEnding, SecretPage
from dcc_bridge.threads import main_thread

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX: Final = "/ask/"
"""The prefix of the pages' paths; a page's id follows."""
_MAX_ENDED: Final = 64
"""Pages of ended questions that are still served."""
_COOKIE: Final = "ask"
_FORM: Final = "application/x-www-form-urlencoded"
_MAX_FORM_BYTES: Final = 1 << 20
_MAX_FORM_FIELDS: Final = 100
# For a page with a form: with no-referrer a browser would send "Origin: null".
_ANSWERABLE: Final = {**one_time_page.HEADERS, "Referrer-Policy": "same-origin"}

_UNKNOWN: Final = PageEnding(
    404,
    "There is no question here",
    "The address is incomplete, or its question ended some time ago. Nothing was done.",
)
_OTHER_BROWSER: Final = PageEnding(
    403,
    "Opened in another browser",
    "A question can be answered only in the browser that opened it first. Go back to that window. "
    "If it was this one, it does not keep cookies, which is how it would be recognised.",
)
_CROSS_SITE: Final = PageEnding(
    403, "Refused", "This answer came from another site. It was not used, and nothing was done."
)
_FRAMED: Final = PageEnding(
    403,
    "Refused",
    "This page is not shown inside another page. Open its address in a window of its own.",
)
_LED_HERE: Final = PageEnding(
    200,
    "Another site sent you here",
    "This page belongs to an application on this computer. Go on only if you came here to answer "
    "a question of it; nothing was done so far.",
)
_UNREADABLE: Final = PageEnding(
    400, "This could not be read", "The data sent is not an answer to this page. Nothing was done."
)
_METHOD: Final = PageEnding(405, "Refused", "A question can only be looked at and answered here.")
_MAIN: Final = '<div class="words ended" role="status"><h1>{title}</h1><p>{text}</p>{link}</div>'
_LINK: Final = '<p><a href="{href}">Continue to the page</a></p>'


class PageDesk:
    """Makes pages, and stores them for `PageSite`. Any thread.

    Attributes:
        origin: The server's, such as ``http://127.0.0.1:1234``; set before any page is made.
        place: The application and its version, as its users call it.
    """

    origin = ""

    def __init__(self, settings: config.Settings, host: Host, main: main_thread.MainThread) -> None:
        """Prepare for pages.

        Args:
            settings: Contain the lifetime of pages.
            host: The application that asks.
            main: The application's main thread.
        """
        self._settings = settings
        self._host = host
        self._main = main
        self._lock = threading.Lock()
        self._pages: dict[str, SecretPage] = {}
        self.place = safe_line(f"{host.name} {host.version}".strip(), caller_view.MAX_HEADER_CHARS)

    def secret(self, question: Question, label: str) -> tuple[str, SecretPage]:
        """Make a page on which a person enters a secret, for `dcc_bridge.elicitation.ask_secret`.

        Args:
            question: The question.
            label: The caption of the input.

        Returns:
            The page's address, and the page.
        """
        page = SecretPage(self._limited(question), label)
        self._add(page, question)
        return f"{self.origin}{PREFIX}{page.id}", page

    @property
    def pages(self) -> list[SecretPage]:
        """All pages that can still be opened, the oldest first."""
        with self._lock:
            return list(self._pages.values())

    def find(self, id: str) -> SecretPage | None:
        """Return the page of an id, if it is stored."""
        with self._lock:
            return self._pages.get(id)

    def _limited(self, question: Question) -> Question:
        limit = question.timeout or self._settings.deadline
        return replace(question, offers=Offers(limit, limit))

    def _add(self, page: SecretPage, question: Question) -> None:
        self._fill_facts(page, question.call)
        with self._lock:
            ended = [id for id, other in self._pages.items() if other.question is None]
            for id in ended[: max(0, len(ended) - _MAX_ENDED)]:
                del self._pages[id]
            self._pages[page.id] = page

    def _fill_facts(self, page: SecretPage, call: Caller) -> None:
        """Fill in the header of a page. The main thread adds the scene's name as soon as it can."""
        application = ("Application", self.place)
        asker = caller_view.asker(call, self.place)
        page.facts = (application, *asker)

        def add_scene() -> None:
            scene = ("Scene", safe_line(self._host.scene(), caller_view.MAX_HEADER_CHARS))
            page.facts = (application, scene, *asker)

        if self._main.is_current:
            add_scene()
        else:
            self._main.post(add_scene)


class PageSite:
    """ASGI middleware: serves the pages, and passes on all other requests."""

    def __init__(self, desk: PageDesk, app: ASGIApp, direct: Mapping[str, ASGIApp]) -> None:
        """Prepare for requests.

        Args:
            desk: The pages.
            app: Serves all other requests.
            direct: Applications by path, which serve these paths in place of `app`.
        """
        self._desk = desk
        self._app = app
        self._direct = direct

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a page, or pass the request on."""
        from starlette.requests import Request  # already imported on the worker

        path = ""
        if scope["type"] == "http":
            path = scope["path"]
        if not path.startswith(PREFIX):
            app = self._direct.get(path, self._app)
            await app(scope, receive, send)
            return
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        page = self._desk.find(request.scope["path"].removeprefix(PREFIX))
        if page is None:
            return self._ending_response(_UNKNOWN)
        if _is_part(request):
            return self._ending_response(_FRAMED)
        if request.method == "GET":
            return self._open(page, request)
        if request.method == "POST":
            return await self._submit(page, request)
        return self._ending_response(_METHOD)

    def _open(self, page: SecretPage, request: Request) -> Response:
        """Show a page to the browser that opened it first."""
        question = page.question
        if question is None:
            return self._ending_response(page.ending, page)
        path = PREFIX + page.id
        if _was_led_here(request):
            link = one_time_page.fill(_LINK, href=path)
            return self._ending_response(_LED_HERE, link=link)
        key = page.admit(request.cookies.get(_COOKIE, ""))
        if key is None:
            return self._ending_response(_OTHER_BROWSER, page)
        response = self._form_response(page, question)
        response.set_cookie(_COOKIE, key, path=path, httponly=True, samesite="strict")
        return response

    async def _submit(self, page: SecretPage, request: Request) -> Response:
        """Take the answer in a form, from the browser that opened the page first."""
        if _is_foreign(request):
            return self._ending_response(_CROSS_SITE)
        fields = await _read_form(request)
        question = page.question
        if question is None:
            return self._ending_response(page.used, page)
        if not page.knows(request.cookies.get(_COOKIE, "")):
            return self._ending_response(_OTHER_BROWSER, page)
        match fields.get("exit"):
            case "accept":
                text = fields.get(one_time_page.FIELD, "")
                problem = one_time_page.problem_with(text)
                if problem:
                    return self._form_response(page, question, problem)
                return self._answered_response(page, page.enter(text))
            case "decline" | "cancel" as action:
                return self._answered_response(page, page.leave(action))
            case _:
                return self._ending_response(_UNREADABLE, page)

    def _answered_response(self, page: SecretPage, was_first: bool) -> Response:
        from starlette.responses import RedirectResponse  # as above

        if not was_first:
            return self._ending_response(page.used, page)
        # After a redirect, reloading the page does not send the form again.
        return RedirectResponse(PREFIX + page.id, 303, one_time_page.HEADERS)

    def _form_response(self, page: SecretPage, question: Question, problem: str = "") -> Response:
        title = f"A question for you · {self._desk.place}"
        status = 200
        if problem:
            title = f"Error: {title}"
            status = 422
        html = one_time_page.document(title, page.facts, page.draw(question, problem))
        return _response(html, status, _ANSWERABLE)

    def _ending_response(
        self, ending: PageEnding, page: SecretPage | None = None, link: Html | None = None
    ) -> Response:
        facts: one_time_page.Facts = (("Application", self._desk.place),)
        if page is not None and page.facts:
            facts = page.facts
        main = one_time_page.fill(_MAIN, title=ending.title, text=ending.text, link=link or "")
        html = one_time_page.document(f"{ending.title} · {self._desk.place}", facts, main)
        return _response(html, ending.status, one_time_page.HEADERS)


def _response(html: Html, status: int, headers: Mapping[str, str]) -> Response:
    from starlette.responses import HTMLResponse  # as above

    return HTMLResponse(html, status, headers)


def _is_foreign(request: Request) -> bool:
    """Return whether a request comes from a page of another origin."""
    origin = request.headers.get("origin")
    own_origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if origin not in (None, own_origin):
        return True
    return request.headers.get("sec-fetch-site", "same-origin") != "same-origin"


def _was_led_here(request: Request) -> bool:
    """Return whether another site opened the page, and not the person's typing or click."""
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    return "origin" in request.headers and _is_foreign(request)


def _is_part(request: Request) -> bool:
    """Return whether the page would be a part of another page, such as a frame or an image."""
    return request.headers.get("sec-fetch-dest", "document") != "document"


async def _read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; {} if the request has no form, or the form is too large."""
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != _FORM:
        return {}
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MAX_FORM_BYTES:
            return {}
    try:
        fields = parse_qs(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FORM_FIELDS,
        )
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}
