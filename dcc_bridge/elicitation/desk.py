"""The port through which skills get pages of this application. Any thread."""

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
    """The port through which skills get pages: `dcc_bridge.server.page_site`. Any thread."""

    def secret(self, question: Question, label: str) -> tuple[str, SecretVisit]:
        """Make a page on which a secret is entered.

        Args:
            question: The question for the secret.
            label: The name of the secret, in a few words.

        Returns:
            The URL of the page, whose last part is the only credential, and the page.
        """
