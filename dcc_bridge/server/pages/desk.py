"""Gives out the pages that skills ask for. Any thread."""

from __future__ import annotations

from dataclasses import replace

from dcc_bridge.config import Settings
from dcc_bridge.elicitation.question import Offers, Question
from dcc_bridge.elicitation.urls import read
from dcc_bridge.elicitation.web.provider import Provider
from dcc_bridge.server.pages.kept import SIGNED_IN, Pages, asker, facts
from dcc_bridge.server.pages.oauth import Flow
from dcc_bridge.server.pages.visited import SecretPage, SignInPage, VisitedPage


class PageDesk:
    """Makes pages, and keeps them where the server finds them."""

    def __init__(self, pages: Pages, settings: Settings) -> None:
        """Take where they are kept.

        Args:
            pages: It must be open before a page is made.
            settings: Say how long a page is there.
        """
        self._pages = pages
        self._settings = settings

    def secret(self, question: Question, label: str) -> tuple[str, SecretPage]:
        """Make a page on which a secret is entered. See `dcc_bridge.elicitation.web.desk`."""
        page = SecretPage(self._lasting(question), label)
        self._say_who_asks(page, question)
        return self._pages.add(page), page

    def sign_in(self, question: Question, provider: Provider) -> tuple[str, SignInPage]:
        """Make a way to a provider and back. See `dcc_bridge.elicitation.web.desk`."""
        flow = Flow(provider, self._pages.origin + SIGNED_IN)
        page = SignInPage(self._lasting(question), flow)
        self._say_who_asks(page, question)
        self._pages.add(page)
        return read(flow.url).url, page

    def _lasting(self, question: Question) -> Question:
        limit = question.timeout or self._settings.client_deadline
        return replace(question, offers=Offers(limit, limit))

    def _say_who_asks(self, page: VisitedPage, question: Question) -> None:
        host, main = self._pages.host, self._pages.main
        if host is None or main is None:
            return

        def complete() -> None:
            page.facts = facts(host, question.call)

        if main.is_current:
            complete()
        else:
            page.facts = asker(host, question.call)
            main.post(complete)
