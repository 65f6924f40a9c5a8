"""The desk: the port through which skills get pages of this application. Any thread.

`dcc_bridge.server.page_site` implements the port. Only `ask_secret` uses it.
"""

from __future__ import annotations

from typing import Protocol

from dcc_bridge.elicitation.question import Question, Visit
from dcc_bridge.elicitation.secret import Secret


class SecretVisit(Visit, Protocol):
    """A page of this application on which a secret is entered.

    Attributes:
        result: The secret, once the question was accepted; else None.
    """

    result: Secret | None


class Desk(Protocol):
    """Makes pages of this application. Any thread."""

    def secret(self, question: Question, label: str) -> tuple[str, SecretVisit]:
        """Make a page on which a secret is entered.

        Args:
            question: The question for the secret.
            label: The name of the secret, in a few words.

        Returns:
            The URL of the page, and the page. The last part of the URL is the only credential.
        """
