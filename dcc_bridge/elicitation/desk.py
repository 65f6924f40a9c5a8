"""The port through which skills get pages of this application. Any thread."""

from __future__ import annotations

from typing import Protocol

from dcc_bridge.elicitation.question import Question, Visit
from dcc_bridge.elicitation.secret import Secret


class SecretVisit(Visit, Protocol):
    """A page of this application on which a secret is entered."""

    result: Secret | None  # what was entered, once the question was accepted


class Desk(Protocol):
    """The port through which skills get pages: `dcc_bridge.server.page_site`. Any thread."""

    def secret(self, question: Question, label: str) -> tuple[str, SecretVisit]:
        """Make a page on which a secret with that label is entered; gives its URL and the page.

        The last part of the URL is its only credential.
        """
